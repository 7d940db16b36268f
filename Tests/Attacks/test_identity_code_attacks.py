"""Attacks on codes, second factors and refresh tokens: guessed, used twice, used for something else, used too late."""

import concurrent.futures
import urllib.parse

import pytest

from identity import refusal
from identity_answers import totp
from identity_attackers import is_ended, pending
from identity_scene import scene_of, stage  # noqa: F401


scene = scene_of(testHooks=True)
functions = scene_of(functions={'whoami': {}}, testHooks=True)


@pytest.fixture
def identity(scene):
    return scene.identity


# -- A16, A17: codes and links

def test_a16_a_code_is_good_for_one(scene, identity):
    identity.sign_up('code@example.com')
    identity.do('accounts:sendOobCode', requestType='PASSWORD_RESET', email='code@example.com')
    code = identity.mail_code()
    assert len(code) >= 43 and not set(code) - set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')

    def use(number):
        with scene.from_elsewhere() as other:
            return other.post('accounts:resetPassword', oobCode=code, newPassword=f'password{number}').status
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(use, range(8))) == [200, *[400] * 7]


@pytest.mark.parametrize('change', ['reset', 'update', 'administrator'])
def test_a16_a_changed_password_ends_the_links_that_change_it(identity, change):
    user = identity.sign_up('links@example.com')
    for _ in range(2):
        identity.do('accounts:sendOobCode', requestType='PASSWORD_RESET', email='links@example.com')
    first, second = [entry['oobCode'] for entry in identity.codes() if entry['email'] == 'links@example.com'][-2:]
    if change == 'reset':
        identity.do('accounts:resetPassword', oobCode=second, newPassword='password1')
    elif change == 'update':
        identity.do('accounts:update', idToken=user['idToken'], password='password1')
    else:
        identity.managed('accounts:update', localId=user['localId'], password='password1')
    assert identity.refused('accounts:resetPassword', oobCode=first, newPassword='password2').startswith('INVALID_OOB_CODE')
    identity.sign_in('links@example.com', 'password1')


def test_links_have_the_key_of_the_request(identity):
    """SDKs recognize no link without a key."""
    identity.do('accounts:sendOobCode', requestType='EMAIL_SIGNIN', email='key@example.com', continueUrl='http://localhost/', canHandleCodeInApp=True)
    link = urllib.parse.urlsplit(identity.codes()[-1]['oobLink'])
    assert urllib.parse.parse_qs(link.query)['apiKey'] == ['fake-api-key']


def test_a16_a_new_code_does_not_come_from_the_old_one(identity):
    identity.sign_up('many@example.com')
    for _ in range(3):
        identity.do('accounts:sendOobCode', requestType='PASSWORD_RESET', email='many@example.com')
    codes = [entry['oobCode'] for entry in identity.codes() if entry['email'] == 'many@example.com']
    assert len(set(codes)) == len(codes) >= 3
    changed = codes[0][:-1] + ('A' if codes[0][-1] != 'A' else 'B')
    for guess in (changed, codes[0][:-1], codes[0] + 'A', codes[0].lower(), '', ' ' + codes[0]):
        assert identity.refused('accounts:resetPassword', oobCode=guess).startswith(('INVALID_OOB_CODE', 'MISSING_OOB_CODE'))


TYPES = {'PASSWORD_RESET': 3600, 'VERIFY_EMAIL': 3 * 86400, 'EMAIL_SIGNIN': 6 * 3600}


@pytest.mark.parametrize('kind', TYPES)
def test_a16_codes_expire(scene, identity, kind):
    user = identity.sign_up('expiry@example.com')
    more = {'idToken': user['idToken']} if kind == 'VERIFY_EMAIL' else {'email': 'expiry@example.com'}
    if kind == 'EMAIL_SIGNIN':
        more['continueUrl'], more['canHandleCodeInApp'] = 'http://localhost/', True
    identity.do('accounts:sendOobCode', requestType=kind, **more)
    code = identity.mail_code()
    scene.clock.advance(TYPES[kind] + 60)
    answer = {'PASSWORD_RESET': lambda: identity.post('accounts:resetPassword', oobCode=code, newPassword='another1'),
              'VERIFY_EMAIL': lambda: identity.post('accounts:update', oobCode=code),
              'EMAIL_SIGNIN': lambda: identity.post('accounts:signInWithEmailLink', email='expiry@example.com', oobCode=code)}[kind]()
    assert refusal(answer).startswith(('EXPIRED_OOB_CODE', 'INVALID_OOB_CODE'))
    if kind == 'PASSWORD_RESET':
        assert refusal(answer).startswith('EXPIRED_OOB_CODE')


def test_a16_a_link_of_another_address_is_not_burnt(identity):
    identity.do('accounts:sendOobCode', requestType='EMAIL_SIGNIN', email='link@example.com', continueUrl='http://localhost/',
                canHandleCodeInApp=True)
    code = identity.mail_code()
    assert identity.refused('accounts:signInWithEmailLink', email='evil@example.com', oobCode=code).startswith('INVALID_EMAIL')
    assert identity.do('accounts:signInWithEmailLink', email='link@example.com', oobCode=code)['isNewUser'] is True
    assert identity.refused('accounts:signInWithEmailLink', email='link@example.com', oobCode=code).startswith('INVALID_OOB_CODE')


def test_a16_a_scanner_of_mails_burns_nothing(identity):
    user = identity.sign_up('scanner@example.com')
    identity.do('accounts:sendOobCode', requestType='VERIFY_EMAIL', idToken=user['idToken'])
    entry = identity.codes()[-1]
    link = urllib.parse.urlsplit(entry['oobLink'])
    for method in ('GET', 'HEAD'):
        identity.send(method, f'{link.path}?{link.query}')
    assert identity.do('accounts:update', oobCode=entry['oobCode'])['emailVerified'] is True


@pytest.mark.parametrize('url', ['http://evil.example/', 'https://localhost.evil.example/', 'https://evil.example/#localhost', 'javascript:alert(1)',
                                 'https://localhost@evil.example/', '//evil.example/', 'https://evil.example\\@localhost/', 'data:text/html,x'])
def test_a17_links_lead_to_known_domains_only(identity, url):
    identity.sign_up('redirect@example.com')
    for action, body in (('sendOobCode', {'requestType': 'PASSWORD_RESET', 'email': 'redirect@example.com', 'continueUrl': url}),
                         ('sendOobCode', {'requestType': 'EMAIL_SIGNIN', 'email': 'redirect@example.com', 'continueUrl': url}),
                         ('createAuthUri', {'providerId': 'facebook.com', 'continueUri': url})):
        message = identity.refused(f'accounts:{action}', **body)
        assert message.startswith(('UNAUTHORIZED_DOMAIN', 'INVALID_CONTINUE_URI')), (action, message)


@pytest.mark.parametrize('page', ['/__/auth/handler', '/__/auth/iframe', '/emulator/auth/handler'])
def test_a17_the_pages_of_the_host_redirect_and_repeat_nothing(identity, page):
    evil = "</script><script>alert('x')</script>"
    query = urllib.parse.urlencode({
        'apiKey': evil, 'appName': evil, 'redirectUrl': 'https://evil.example/', 'providerId': evil, 'authType': 'signInViaRedirect',
        'eventId': evil, 'continueUrl': 'https://evil.example/', 'v': evil})
    answer = identity.send('GET', f'{page}?{query}')
    assert 'evil.example' not in (answer.header('Location') or '')
    assert evil.encode() not in answer.body
    assert answer.status < 500


# -- A18, A19, A20: second factors and text messages

def test_a18_guessing_a_text_message(identity):
    session = identity.do('accounts:sendVerificationCode', phoneNumber='+15555550150', recaptchaToken='x')['sessionInfo']
    code = identity.text_code()
    wrong = [guess for guess in ('000000', '111111', '222222', '333333', '444444', '555555') if guess != code][:5]
    for guess in wrong:
        assert identity.refused('accounts:signInWithPhoneNumber', sessionInfo=session, code=guess).startswith('INVALID_CODE')
    message = identity.refused('accounts:signInWithPhoneNumber', sessionInfo=session, code=code)
    assert message.startswith(('SESSION_EXPIRED', 'INVALID_SESSION_INFO', 'TOO_MANY_ATTEMPTS_TRY_LATER', 'INVALID_CODE')), message


def test_a18_a_code_of_a_text_message_expires(scene, identity):
    session = identity.do('accounts:sendVerificationCode', phoneNumber='+15555550151', recaptchaToken='x')['sessionInfo']
    code = identity.text_code()
    scene.clock.advance(700)
    assert identity.refused('accounts:signInWithPhoneNumber', sessionInfo=session, code=code).startswith(('SESSION_EXPIRED', 'INVALID_SESSION_INFO'))


def test_a18_pumping_text_messages(scene):
    """A number gets few messages an hour, from however many addresses they are asked for."""
    messages = []
    for _ in range(8):
        with scene.from_elsewhere() as other:
            answer = other.post('accounts:sendVerificationCode', phoneNumber='+15555550152', recaptchaToken='x')
            messages.append(None if answer.status == 200 else refusal(answer))
    assert messages[0] is None and messages.count(None) <= 5, messages
    assert all(message.startswith(('TOO_MANY_ATTEMPTS_TRY_LATER', 'QUOTA_EXCEEDED')) for message in messages if message), messages


def test_a19_a_pending_sign_in_is_no_sign_in(functions):
    identity = functions.identity
    identity.enroll_phone(identity.sign_up('pending@example.com'))
    credential, _ = pending(identity, 'pending@example.com')
    for action in ('accounts:lookup', 'accounts:update', 'accounts:delete'):
        assert identity.refused(action, idToken=credential).startswith('INVALID_ID_TOKEN')
    assert refusal(identity.refresh(credential)).startswith('INVALID_REFRESH_TOKEN')
    assert functions.host.callable('whoami', token=credential).status == 401


def test_a19_a_session_of_one_user_or_purpose_is_none_of_another(identity):
    first, second = (identity.sign_up(f'{name}@example.com') for name in ('first', 'second'))
    for user in (first, second):
        identity.managed('accounts:update', localId=user['localId'], emailVerified=True)
    started = identity.do('accounts/mfaEnrollment:start', version='v2', idToken=first['idToken'], phoneEnrollmentInfo={'phoneNumber': '+15555550160'})
    proof = {'sessionInfo': started['phoneSessionInfo']['sessionInfo'], 'code': identity.text_code()}
    refused = identity.post('accounts/mfaEnrollment:finalize', version='v2', idToken=second['idToken'], phoneVerificationInfo=proof)
    assert refusal(refused).startswith(('INVALID_SESSION_INFO', 'INVALID_CODE', 'SESSION_EXPIRED'))
    assert identity.refused('accounts:signInWithPhoneNumber', **proof).startswith(('INVALID_SESSION_INFO', 'SESSION_EXPIRED', 'INVALID_CODE'))
    assert 'mfaInfo' not in identity.user(second['localId'])
    assert not [user for user in identity.every_user() if user.get('phoneNumber')]


def test_a19_the_second_factor_of_another_user(identity):
    """A session that was started for one user's factor does not complete the sign-in of another."""
    identity.enroll_phone(identity.sign_up('mine@example.com'), '+15555550161')
    identity.enroll_phone(identity.sign_up('yours@example.com'), '+15555550162')
    mine, factor = pending(identity, 'mine@example.com')
    yours, other = pending(identity, 'yours@example.com')
    answer = identity.post('accounts/mfaSignIn:start', version='v2', mfaPendingCredential=yours, mfaEnrollmentId=factor, phoneSignInInfo={})
    assert refusal(answer).startswith('MFA_ENROLLMENT_NOT_FOUND')
    started = identity.do('accounts/mfaSignIn:start', version='v2', mfaPendingCredential=mine, mfaEnrollmentId=factor, phoneSignInInfo={})
    proof = {'sessionInfo': started['phoneResponseInfo']['sessionInfo'], 'code': identity.text_code()}
    answer = identity.post('accounts/mfaSignIn:finalize', version='v2', mfaPendingCredential=yours, phoneVerificationInfo=proof)
    assert refusal(answer).startswith(('INVALID_SESSION_INFO', 'MFA_ENROLLMENT_NOT_FOUND', 'INVALID_CODE'))
    assert other


def enrolled_totp(scene, email):
    """Enrols an authenticator app, and returns the user and its secret."""
    identity = scene.identity
    user = identity.sign_up(email)
    identity.managed('accounts:update', localId=user['localId'], emailVerified=True)
    started = identity.do('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'], totpEnrollmentInfo={})['totpSessionInfo']
    proof = {'sessionInfo': started['sessionInfo'], 'verificationCode': totp(started['sharedSecretKey'], scene.clock.now())}
    identity.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'], totpVerificationInfo=proof, displayName='app')
    return user, started['sharedSecretKey']


def test_a19_a_code_of_an_app_in_parallel(scene, identity):
    _, secret = enrolled_totp(scene, 'totp@example.com')
    scene.clock.advance(31)
    code = totp(secret, scene.clock.now())
    credentials = [pending(identity, 'totp@example.com') for _ in range(4)]

    def finish(pair):
        with scene.from_elsewhere() as other:
            return other.post('accounts/mfaSignIn:finalize', version='v2', mfaPendingCredential=pair[0], mfaEnrollmentId=pair[1],
                              totpVerificationInfo={'verificationCode': code}).status
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(finish, credentials)) == [200, 400, 400, 400]


def test_a19_guessing_codes_of_an_app(scene, identity):
    _, secret = enrolled_totp(scene, 'guess@example.com')
    scene.clock.advance(31)
    credential, factor = pending(identity, 'guess@example.com')

    def attempt(code):
        return identity.post('accounts/mfaSignIn:finalize', version='v2', mfaPendingCredential=credential, mfaEnrollmentId=factor,
                             totpVerificationInfo={'verificationCode': code})
    code = totp(secret, scene.clock.now())
    for guess in [guess for guess in ('000000', '111111', '222222', '333333', '444444', '555555') if guess != code][:5]:
        assert refusal(attempt(guess)).startswith('INVALID_CODE')
    assert attempt(code).status == 400


def test_a20_a_first_factor_does_not_remove_the_second(scene, identity):
    user = identity.sign_up('downgrade@example.com')
    identity.enroll_phone(user)
    enrollment = identity.user(user['localId'])['mfaInfo'][0]['mfaEnrollmentId']
    scene.clock.advance(400)
    answer = identity.refresh(user['refreshToken'])
    # A session of before the enrolment has one factor only. It may have ended; if not, it may not withdraw the second.
    if answer.status == 200:
        refused = identity.post('accounts/mfaEnrollment:withdraw', version='v2', idToken=answer.json['id_token'], mfaEnrollmentId=enrollment)
        assert refused.status == 400, refused.body
    identity.do('accounts:sendOobCode', requestType='PASSWORD_RESET', email='downgrade@example.com')
    identity.do('accounts:resetPassword', oobCode=identity.mail_code(), newPassword='another1')
    assert 'mfaPendingCredential' in identity.sign_in('downgrade@example.com', 'another1')


# -- A21: refresh tokens

def test_a21_a_refresh_token_is_used_once(scene, identity):
    user = identity.sign_up('rotate@example.com')
    first = user['refreshToken']
    second = identity.refreshed(first)['refresh_token']
    assert second != first
    # Two tabs, or an answer that was lost: the same successor for a minute.
    assert identity.refreshed(first)['refresh_token'] == second
    scene.clock.advance(70)
    third = identity.refreshed(second)['refresh_token']
    # A stolen token is used after its successor: everything that came from it ends.
    assert is_ended(identity.refresh(first))
    for token in (second, third):
        assert is_ended(identity.refresh(token))
    # Other sessions of the user go on.
    other = identity.sign_in('rotate@example.com')
    identity.refreshed(other['refreshToken'])


def test_a21_reuse_is_seen_after_a_restart(scene, identity):
    first = identity.sign_up('rotate2@example.com')['refreshToken']
    second = identity.refreshed(first)['refresh_token']
    identity.close()
    scene.host.kill()
    scene.host.start()
    scene.clock.advance(70)
    assert is_ended(identity.refresh(first))
    assert identity.refresh(second).status == 400


def test_a21_parallel_refreshes_have_one_successor(scene, identity):
    first = identity.sign_up('rotate3@example.com')['refreshToken']

    def once(_):
        with scene.from_elsewhere() as other:
            return other.refreshed(first)['refresh_token']
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(once, range(8)))) == 1
