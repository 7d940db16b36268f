"""Attacks that take an account over: with a code of before, an e-mail written in another way, an old token, or a phone in place of two factors."""

import unicodedata

import pytest

from identity import PASSWORD, refusal
from identity_answers import totp
from identity_attackers import processor_seconds
from identity_scene import scene_of, stage  # noqa: F401


scene = scene_of(testHooks=True)
private = scene_of(testHooks=True, emailPrivacyConfig={'enableImprovedEmailPrivacy': True}, limits={'mailsPerAccount': 2, 'signUpsPerAddress': 4})

OLD = 'CREDENTIAL_TOO_OLD_LOGIN_AGAIN'


@pytest.fixture
def identity(scene):
    return scene.identity


def old_token(scene, user):
    """A new ID token of a sign-in of long ago."""
    scene.clock.advance(400)
    return scene.identity.refreshed(user['refreshToken'])['id_token']


def code_of(identity, kind, email, token=None, **more):
    """A code that was mailed."""
    identity.do('accounts:sendOobCode', requestType=kind, **({'idToken': token} if token else {'email': email}), **more)
    return identity.mail_code()


def use(identity, code):
    """Uses a code in every way. Returns the answers."""
    return [identity.post('accounts:update', oobCode=code), identity.post('accounts:resetPassword', oobCode=code, newPassword='stolen-one')]


# -- Codes belong to a user

@pytest.mark.parametrize('kind', ['PASSWORD_RESET', 'VERIFY_EMAIL', 'VERIFY_AND_CHANGE_EMAIL'])
@pytest.mark.parametrize('end', ['deleted', 'moved'])
def test_a_code_is_not_for_the_next_user_of_an_address(identity, kind, end):
    user = identity.sign_up('bound@example.com')
    more = {'newEmail': 'evil@example.com'} if kind == 'VERIFY_AND_CHANGE_EMAIL' else {}
    code = code_of(identity, kind, 'bound@example.com', None if kind == 'PASSWORD_RESET' else user['idToken'], **more)
    if end == 'deleted':
        identity.do('accounts:delete', idToken=user['idToken'])
    else:
        identity.do('accounts:update', idToken=user['idToken'], email='away@example.com')
    victim = identity.sign_up('bound@example.com', 'password-of-the-victim')
    for answer in use(identity, code):
        assert refusal(answer).startswith('INVALID_OOB_CODE')
    known = identity.user(victim['localId'])
    assert known['email'] == 'bound@example.com' and known['emailVerified'] is False
    identity.sign_in('bound@example.com', 'password-of-the-victim')


@pytest.mark.parametrize('way', ['link', 'reset'])
def test_a_recovery_does_not_survive_the_owner(scene, identity, way):
    """An attacker moves an account to the victim's address, and keeps the link that moves it back."""
    attacker = identity.sign_up('attacker@example.com')
    identity.do('accounts:update', idToken=attacker['idToken'], email='victim@example.com')
    recovery = identity.codes()[-1]
    assert recovery['requestType'] == 'RECOVER_EMAIL'
    scene.clock.advance(2)
    if way == 'link':
        code = code_of(identity, 'EMAIL_SIGNIN', 'victim@example.com', continueUrl='http://localhost/', canHandleCodeInApp=True)
        identity.do('accounts:signInWithEmailLink', email='victim@example.com', oobCode=code)
    else:
        code = code_of(identity, 'PASSWORD_RESET', 'victim@example.com')
        identity.do('accounts:resetPassword', oobCode=code, newPassword='password-of-the-victim')
    assert identity.refused('accounts:update', oobCode=recovery['oobCode']).startswith('INVALID_OOB_CODE')
    assert identity.user(attacker['localId'])['email'] == 'victim@example.com'


def test_a_recovery_survives_a_password_of_the_intruder(identity):
    user = identity.sign_up('owner@example.com')
    moved = identity.do('accounts:update', idToken=user['idToken'], email='intruder@example.com')
    recovery = identity.codes()[-1]['oobCode']
    identity.do('accounts:update', idToken=moved['idToken'], password='another1')
    assert identity.do('accounts:update', oobCode=recovery)['email'] == 'owner@example.com'


def test_an_intruder_does_not_come_back(scene, identity):
    """The intruder changes the e-mail twice, so that a link to undo the second change comes to the first address of the intruder."""
    scene.clock.advance(4000)
    owner = identity.sign_up('robbed@example.com')
    first = identity.do('accounts:update', idToken=owner['idToken'], email='thief1@example.com', password='of-the-thief')
    undo = identity.codes()[-1]
    second = identity.do('accounts:update', idToken=first['idToken'], email='thief2@example.com')
    retake = identity.codes()[-1]
    assert (undo['email'], retake['email']) == ('robbed@example.com', 'thief1@example.com')
    identity.do('accounts:update', oobCode=undo['oobCode'])
    assert identity.user(owner['localId'])['email'] == 'robbed@example.com'
    assert identity.refused('accounts:update', oobCode=retake['oobCode']).startswith('INVALID_OOB_CODE')
    assert refusal(identity.refresh(second['refreshToken'])).startswith('INVALID_REFRESH_TOKEN')
    for password in (PASSWORD, 'of-the-thief'):
        answer = identity.post('accounts:signInWithPassword', email='robbed@example.com', password=password)
        assert refusal(answer).startswith(('INVALID_PASSWORD', 'INVALID_LOGIN_CREDENTIALS'))
    code = code_of(identity, 'PASSWORD_RESET', 'robbed@example.com')
    identity.do('accounts:resetPassword', oobCode=code, newPassword='a-new-one')
    assert identity.sign_in('robbed@example.com', 'a-new-one')['localId'] == owner['localId']


def test_a_link_to_undo_cannot_be_asked_for(identity):
    user = identity.sign_up('asks@example.com')
    assert identity.post('accounts:sendOobCode', requestType='RECOVER_EMAIL', idToken=user['idToken']).status == 501
    assert identity.manage('accounts:sendOobCode', requestType='RECOVER_EMAIL', email='asks@example.com', returnOobLink=True).status == 501


def test_a_change_by_link_is_announced(identity):
    user = identity.sign_up('quiet@example.com')
    code = code_of(identity, 'VERIFY_AND_CHANGE_EMAIL', 'quiet@example.com', user['idToken'], newEmail='loud@example.com')
    identity.do('accounts:update', oobCode=code)
    last = identity.codes()[-1]
    assert (last['requestType'], last['email']) == ('RECOVER_EMAIL', 'quiet@example.com')
    assert identity.do('accounts:update', oobCode=last['oobCode'])['email'] == 'quiet@example.com'


# -- Texts that only look the same

COMPOSED = unicodedata.normalize('NFC', 'jos\u00e9@example.com')
DECOMPOSED = unicodedata.normalize('NFD', COMPOSED)


def test_an_address_is_one_however_it_is_written(identity):
    identity.sign_up(COMPOSED)
    assert identity.refused('accounts:signUp', email=DECOMPOSED, password=PASSWORD).startswith('EMAIL_EXISTS')
    assert identity.sign_in(DECOMPOSED)['email'] == COMPOSED


def test_ids_that_look_the_same_are_two_users(identity):
    first, second = unicodedata.normalize('NFC', 'us\u00e9r'), unicodedata.normalize('NFD', 'us\u00e9r')
    for uid, email in ((first, 'first@example.com'), (second, 'second@example.com')):
        identity.managed('accounts', localId=uid, email=email, password=PASSWORD)
    assert refusal(identity.manage('accounts:update', localId=second, email='first@example.com')).startswith('EMAIL_EXISTS')
    assert len(identity.managed('accounts:lookup', localId=[first, second])['users']) == 2


# -- Old tokens

def test_an_old_token_does_not_move_an_account(scene, identity):
    token = old_token(scene, identity.sign_up('old@example.com'))
    code = code_of(identity, 'EMAIL_SIGNIN', 'thief@example.com', continueUrl='http://localhost/', canHandleCodeInApp=True)
    assert identity.refused('accounts:signInWithEmailLink', idToken=token, email='thief@example.com', oobCode=code).startswith(OLD)
    assert identity.refused('accounts:update', idToken=token, deleteProvider=['password']).startswith(OLD)
    assert identity.refused('accounts:update', idToken=token, deleteAttribute=['EMAIL']).startswith(OLD)
    change = {'requestType': 'VERIFY_AND_CHANGE_EMAIL', 'newEmail': 'thief@example.com'}
    assert identity.refused('accounts:sendOobCode', idToken=token, **change).startswith(OLD)
    identity.do('accounts:sendVerificationCode', phoneNumber='+15555550190', recaptchaToken='x')
    proof = {'sessionInfo': identity.codes('verificationCodes')[-1]['sessionInfo'], 'code': identity.text_code()}
    assert identity.refused('accounts:signInWithPhoneNumber', idToken=token, **proof).startswith(OLD)


def test_an_old_token_of_an_anonymous_user_is_old_after_the_upgrade(scene, identity):
    user = identity.sign_up()
    identity.managed('accounts:update', localId=user['localId'], email='upgraded@example.com')
    token = old_token(scene, user)
    assert identity.refused('accounts:update', idToken=token, email='thief@example.com').startswith(OLD)
    assert identity.refused('accounts:delete', idToken=token).startswith(OLD)


@pytest.mark.parametrize('action', ['update', 'signUp'])
def test_an_old_token_costs_no_hash(scene, identity, action):
    token = old_token(scene, identity.sign_up('cheap@example.com'))

    def try_often():
        for _ in range(20):
            assert identity.refused(f'accounts:{action}', idToken=token, email='cheap@example.com', password='another1').startswith(OLD)
    assert processor_seconds(scene.host, try_often) < 0.4


def test_every_change_of_the_address_is_announced(identity):
    user = identity.sign_up('before@example.com')
    identity.do('accounts:signUp', idToken=user['idToken'], email='after@example.com', password=PASSWORD)
    last = identity.codes()[-1]
    assert (last['requestType'], last['email']) == ('RECOVER_EMAIL', 'before@example.com')


# -- A phone is no way around a second factor

def test_a_phone_does_not_replace_two_factors(scene, identity):
    user = identity.sign_up('totp@example.com')
    identity.managed('accounts:update', localId=user['localId'], emailVerified=True, phoneNumber='+15555550191')
    started = identity.do('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'], totpEnrollmentInfo={})['totpSessionInfo']
    identity.do('accounts:sendVerificationCode', phoneNumber='+15555550191', recaptchaToken='x')
    message = {'sessionInfo': identity.codes('verificationCodes')[-1]['sessionInfo'], 'code': identity.text_code()}
    proof = {'sessionInfo': started['sessionInfo'], 'verificationCode': totp(started['sharedSecretKey'], scene.clock.now())}
    identity.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'], totpVerificationInfo=proof)
    assert identity.refused('accounts:signInWithPhoneNumber', **message).startswith('UNSUPPORTED_FIRST_FACTOR')
    assert identity.refused('accounts:sendVerificationCode', phoneNumber='+15555550191', recaptchaToken='x').startswith('UNSUPPORTED_FIRST_FACTOR')


# -- Bounds, and what limits tell

def test_texts_of_a_user_are_bounded(identity):
    user = identity.sign_up('texts@example.com')
    for field, length in (('displayName', 256), ('photoUrl', 2048)):
        identity.do('accounts:update', idToken=user['idToken'], **{field: 'x' * length})
        assert field in identity.refused('accounts:update', idToken=user['idToken'], **{field: 'x' * (length + 1)})
        assert field in refusal(identity.manage('accounts:update', localId=user['localId'], **{field: 'x' * (length + 1)}))


def test_a_limit_does_not_tell_who_has_an_account(private):
    private.clock.advance(4000)
    private.identity.sign_up('listed@example.com')
    private.identity.managed('accounts:update', localId=private.identity.sign_up('off@example.com')['localId'], disableUser=True)
    answers = []
    for name in ('listed', 'nobody', 'off'):
        with private.from_elsewhere() as other:
            answers.append([(answer.status, answer.body.replace(name.encode(), b'')) for answer in (
                other.post('accounts:sendOobCode', requestType='PASSWORD_RESET', email=f'{name}@example.com') for _ in range(3))])
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][2][0] == 400


def test_an_address_asks_for_few_taken_addresses(private):
    private.clock.advance(4000)
    private.identity.sign_up('taken@example.com')
    with private.from_elsewhere() as other:
        messages = [other.refused('accounts:signUp', email='taken@example.com', password=PASSWORD) for _ in range(5)]
    assert [message.split(' ')[0] for message in messages] == ['EMAIL_EXISTS'] * 4 + ['TOO_MANY_ATTEMPTS_TRY_LATER']


def test_mails_are_counted_for_their_receiver(private):
    private.clock.advance(4000)
    answers = []
    for number in range(3):
        with private.from_elsewhere() as other:
            token = other.sign_up(f'sender{number}@example.com')['idToken']
            answers.append(other.post('accounts:sendOobCode', requestType='VERIFY_AND_CHANGE_EMAIL', idToken=token, newEmail='flooded@example.com'))
    assert [answer.status for answer in answers] == [200, 200, 400]
    assert refusal(answers[2]).startswith('TOO_MANY_ATTEMPTS_TRY_LATER')


def test_nobody_refreshes_in_a_tenant_that_is_off(identity):
    tenant = identity.managed('tenants', version='v2', displayName='a tenant', allowPasswordSignup=True)['tenantId']
    user = identity.sign_up('tenant@example.com', tenantId=tenant)
    identity.managed(f'tenants/{tenant}?updateMask=disableAuth', method='PATCH', version='v2', disableAuth=True)
    assert refusal(identity.refresh(user['refreshToken'])).startswith('PROJECT_DISABLED')
