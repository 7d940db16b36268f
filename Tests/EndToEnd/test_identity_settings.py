"""Settings of sign-in that an administrator changes at run time: each has its effect, or is refused."""

import contextlib
import time

import pytest

from identity import API, Identity, addresses, refusal, sign_in_host, succeeded
from mail_server import MailServer, TextService

NUMBER, FRENCH, CODE = '+15555550100', '+33612345678', '246810'


@contextlib.contextmanager
def running(folder, mode='production', config=None, **auth):
    host = sign_in_host(folder / 'host', mode, {'auth': {'testHooks': True, **auth}, **(config or {})}).start()
    try:
        with Identity(host, source=next(addresses)) as identity:
            yield identity
    finally:
        host.stop()


@pytest.fixture(scope='module', params=['development', 'production'])
def both(request, tmp_path_factory):
    with running(tmp_path_factory.mktemp('settings'), request.param) as identity:
        yield identity


@pytest.fixture(scope='module')
def strict(tmp_path_factory):
    with running(tmp_path_factory.mktemp('settings'), mfa={'state': 'ENABLED'}) as identity:
        yield identity


def change(identity, mask, place='config', **body):
    return identity.ask('PATCH', f'{API}/v2/projects/{identity.project}/{place}?updateMask={mask}', body)


def changed(identity, mask, place='config', **body):
    return succeeded(change(identity, mask, place, **body), mask)


def get(identity, path, **headers):
    return identity.send('GET', path, headers)


# -- domains

def test_domains_count_at_once(strict):
    strict.sign_up('ada@example.com')

    def reset(url):
        return strict.post('accounts:sendOobCode', requestType='PASSWORD_RESET', email='ada@example.com', continueUrl=url)

    def policy():
        return get(strict, '/__/auth/iframe?apiKey=x&appName=y').header('Content-Security-Policy')

    assert refusal(reset('https://app.example.org/')).startswith('UNAUTHORIZED_DOMAIN')
    assert 'example.org' not in policy()
    changed(strict, 'authorizedDomains', authorizedDomains=['example.org', '127.0.0.1'])
    assert reset('https://app.example.org/').status == 200
    assert refusal(reset('http://localhost/')).startswith('UNAUTHORIZED_DOMAIN')
    found = strict.ask('GET', f'{API}/v1/projects?key={strict.key}', headers={}).json['authorizedDomains']
    assert found == ['example.org', '127.0.0.1']
    assert 'example.org' in policy()
    page = '/__/auth/handler?apiKey=x&appName=y&providerId=google.com&authType=signInViaRedirect&redirectUrl=https%3A%2F%2F'
    assert get(strict, f'{page}app.example.org%2F').status == 200
    assert get(strict, f'{page}evil.example.net%2F').status == 400
    asked = strict.post('accounts:createAuthUri', providerId='google.com', continueUri='https://evil.example.net/')
    assert refusal(asked).startswith('UNAUTHORIZED_DOMAIN')
    # The link of a mail that is older than the change leads to no other page.
    assert refusal(change(strict, 'authorizedDomains', authorizedDomains=['a b'])).startswith('INVALID_CONFIG')


def test_a_host_that_does_not_know_its_address_says_so(strict):
    assert 'set auth.publicUrl to this host' in strict.host.log


# -- passwords

def test_a_password_that_the_policy_forbids_does_not_sign_in(both):
    both.empty()
    both.sign_up('ada@example.com', 'letters')
    policy = {'passwordPolicyEnforcementState': 'ENFORCE', 'passwordPolicyVersions': [{'customStrengthOptions': {'containsNumericCharacter': True}}]}
    changed(both, 'passwordPolicyConfig', passwordPolicyConfig=policy)
    both.sign_in('ada@example.com', 'letters')
    changed(both, 'passwordPolicyConfig', passwordPolicyConfig={**policy, 'forceUpgradeOnSignin': True})
    body = {'email': 'ada@example.com', 'password': 'letters'}
    assert both.refused('accounts:signInWithPassword', **body) == (
        'PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [Password must contain a numeric character]')
    wrong = both.refused('accounts:signInWithPassword', **{**body, 'password': 'others'})
    assert wrong in ('INVALID_LOGIN_CREDENTIALS', 'INVALID_PASSWORD'), 'only who knows the password is told'
    both.do('accounts:sendOobCode', requestType='PASSWORD_RESET', email='ada@example.com')
    both.do('accounts:resetPassword', oobCode=both.mail_code(), newPassword='letters 1')
    both.sign_in('ada@example.com', 'letters 1')
    told = both.ask('GET', f'{API}/v2/passwordPolicy?key={both.key}', headers={}).json
    assert told['forceUpgradeOnSignin'] is True and told['customStrengthOptions']['containsNumericCharacter'] is True
    changed(both, 'passwordPolicyConfig', passwordPolicyConfig={})


# -- text messages

def test_regions_of_text_messages(both):
    def ask(number):
        return both.post('accounts:sendVerificationCode', phoneNumber=number, recaptchaToken='x')

    changed(both, 'smsRegionConfig', smsRegionConfig={'allowByDefault': {'disallowedRegions': ['FR']}})
    assert refusal(ask(FRENCH)) == 'OPERATION_NOT_ALLOWED : SMS unable to be sent until this region enabled by the app developer.'
    assert ask(NUMBER).status == 200
    changed(both, 'smsRegionConfig', smsRegionConfig={'allowlistOnly': {'allowedRegions': ['FR']}})
    assert ask(FRENCH).status == 200 and ask(NUMBER).status == 400
    changed(both, 'smsRegionConfig', smsRegionConfig={})
    assert ask(NUMBER).status == 200


def test_regions_of_a_tenant(strict):
    tenant = strict.managed('tenants', version='v2', displayName='one')['tenantId']
    strict.managed(f'tenants/{tenant}/accounts', localId='ada', email='a@example.com', password='letters', emailVerified=True)
    mfa = {'state': 'ENABLED', 'enabledProviders': ['PHONE_SMS']}
    changed(strict, 'mfaConfig,allowPasswordSignup,smsRegionConfig', f'tenants/{tenant}', mfaConfig=mfa, allowPasswordSignup=True,
            smsRegionConfig={'allowByDefault': {'disallowedRegions': ['FR']}})
    token = strict.sign_in('a@example.com', 'letters', tenantId=tenant)['idToken']

    def enrol(number):
        return strict.post('accounts/mfaEnrollment:start', version='v2', idToken=token, phoneEnrollmentInfo={'phoneNumber': number})
    assert refusal(enrol(FRENCH)).startswith('OPERATION_NOT_ALLOWED : SMS unable')
    assert enrol(NUMBER).status == 200


@pytest.mark.parametrize('mode', ['development', 'production'])
def test_a_number_for_tests(mode, tmp_path):
    """Nothing is sent to it, nobody is asked whether a person wants it, and its code is the known one, also for second factors."""
    (tmp_path / 'secret').write_text('s')
    (tmp_path / 'secret').chmod(0o600)
    with TextService() as service:
        site = {'siteKey': 'k', 'secretFile': str(tmp_path / 'secret'), 'url': 'http://127.0.0.1:1/'}
        with running(tmp_path, mode, recaptcha=site, texts={'url': f'{service.url}/send'}, limits={'textsPerAccount': 2},
                     mfa={'state': 'ENABLED'}) as identity:
            changed(identity, 'signIn.phoneNumber.testPhoneNumbers', signIn={'phoneNumber': {'testPhoneNumbers': {NUMBER: CODE}}})
            for _ in range(4):
                session = identity.do('accounts:sendVerificationCode', phoneNumber=NUMBER)['sessionInfo']
            assert identity.refused('accounts:signInWithPhoneNumber', sessionInfo=session, code='000000') == 'INVALID_CODE'
            assert identity.do('accounts:signInWithPhoneNumber', sessionInfo=session, code=CODE)['phoneNumber'] == NUMBER
            user = identity.sign_up('ada@example.com')
            identity.managed('accounts:update', localId=user['localId'], emailVerified=True)
            started = identity.do('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'],
                                  phoneEnrollmentInfo={'phoneNumber': NUMBER})
            proof = {'sessionInfo': started['phoneSessionInfo']['sessionInfo'], 'code': CODE}
            identity.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'], phoneVerificationInfo=proof)
            pending = identity.sign_in('ada@example.com')
            started = identity.do('accounts/mfaSignIn:start', version='v2', mfaPendingCredential=pending['mfaPendingCredential'],
                                  mfaEnrollmentId=pending['mfaInfo'][0]['mfaEnrollmentId'], phoneSignInInfo={})
            proof = {'sessionInfo': started['phoneResponseInfo']['sessionInfo'], 'code': CODE}
            identity.do('accounts/mfaSignIn:finalize', version='v2', mfaPendingCredential=pending['mfaPendingCredential'],
                        phoneVerificationInfo=proof)
            if mode == 'development':
                # Other numbers get messages. They are sent in the order in which they were asked for.
                identity.do('accounts:sendVerificationCode', phoneNumber=FRENCH)
                assert [message['to'] for _, message in service.wait()] == [FRENCH]
    assert all(message['to'] != NUMBER for _, message in service.requests)


# -- settings without effect

def test_what_has_no_effect_is_refused_in_production(strict):
    assert refusal(change(strict, 'recaptchaConfig', recaptchaConfig={'emailPasswordEnforcementState': 'ENFORCE'})) == (
        'OPERATION_NOT_ALLOWED : This host does not use recaptchaConfig; auth.recaptcha of functions.json guards text messages.')
    triggers = {'triggers': {'beforeCreate': {'functionUri': 'https://example.org'}}}
    assert refusal(change(strict, 'blockingFunctions', blockingFunctions=triggers)).startswith('OPERATION_NOT_ALLOWED')
    assert refusal(strict.manage('tenants', version='v2', testPhoneNumbers={'1': '2'})).startswith('INVALID_TESTING_PHONE_NUMBER')


def test_no_key_of_recaptcha_is_made_up_in_production(strict):
    found = strict.ask('GET', f'{API}/v1/recaptchaParams?key={strict.key}', headers={})
    assert found.json == {'kind': 'identitytoolkit#GetRecaptchaParamResponse'}


def test_saml_is_refused_in_production(strict):
    body = {'idpConfig': {'idpEntityId': 'e', 'ssoUrl': 'https://idp.example.com'}, 'spConfig': {'spEntityId': 's'}, 'enabled': True}
    said = 'OPERATION_NOT_ALLOWED : Sign-in with SAML is not supported by this host.'
    place = f'{API}/v2/projects/{strict.project}/inboundSamlConfigs'
    assert refusal(strict.ask('POST', f'{place}?inboundSamlConfigId=saml.x', body)) == said
    assert refusal(strict.ask('PATCH', f'{place}/saml.x', body)) == said
    assert strict.ask('GET', place).json == {}
    assert refusal(strict.with_provider('saml.x', id_token='{}')) == said
    assert refusal(strict.post('accounts:createAuthUri', providerId='saml.x', continueUri='http://127.0.0.1/')) == said


# -- mails about changes

def test_the_mail_about_a_changed_or_removed_email(tmp_path):
    with MailServer() as server:
        mail = {'host': '127.0.0.1', 'port': server.port, 'security': 'none', 'from': 'no-reply@example.org', 'pauseSeconds': 0.05}
        with running(tmp_path, mail=mail) as identity:
            token = identity.sign_up('ada@example.com')['idToken']
            identity.do('accounts:update', idToken=token, email='new@example.com')
            assert 'was changed to new@example.com. If you did not' in ' '.join(server.wait()[0].text.split())
            token = identity.sign_up('bob@example.com')['idToken']
            identity.do('accounts:update', idToken=token, deleteProvider=['password'])
            text = ' '.join(server.wait(2)[1].text.split())
            assert 'The e-mail address bob@example.com was removed from your account.' in text and 'changed' not in text


# -- App Check

APP, DEBUG = '1:12345:ios:abcdef0123456789', '11111111-2222-4333-8444-555555555555'


def app_token(identity):
    path = f'/firebaseappcheck.googleapis.com/v1/projects/{identity.project}/apps/{APP}:exchangeDebugToken?key={identity.key}'
    return succeeded(identity.ask('POST', path, {'debugToken': DEBUG}, {}), 'exchange')['token']


@pytest.mark.parametrize('mode', ['development', 'production'])
@pytest.mark.parametrize('enforcement', ['ENFORCE', 'AUDIT', 'OFF'])
def test_app_check_of_sign_in(mode, enforcement, tmp_path):
    check = {'apps': [APP], 'debugTokens': [DEBUG], 'enforceOnAuth': enforcement}
    with running(tmp_path, mode, {'appCheck': check}) as identity:
        token = app_token(identity)
        good = {'X-Firebase-AppCheck': token}
        bad = [{}, {'X-Firebase-AppCheck': ''}, {'X-Firebase-AppCheck': 'x'}, {'X-Firebase-AppCheck': token[:-9] + 'AAAAAAAAA'}]
        user = succeeded(identity.post('accounts:signUp', good, returnSecureToken=True), 'signUp')
        for header in bad:
            for answer in (identity.post('accounts:signUp', header, returnSecureToken=True),
                           identity.post('accounts:lookup', header, idToken=user['idToken']),
                           identity.ask('POST', f'/securetoken.googleapis.com/v1/token?key={identity.key}',
                                        {'grantType': 'refresh_token', 'refreshToken': user['refreshToken']}, header)):
                if enforcement == 'ENFORCE':
                    error = answer.json['error']
                    assert (answer.status, error['message'], error['status']) == (401, 'Firebase App Check token is invalid.', 'UNAUTHENTICATED')
                else:
                    assert answer.status == 200, answer.body
        assert identity.post('accounts:lookup', good, idToken=user['idToken']).status == 200
        # Administrators need none, nor do the documents that everybody may read.
        assert identity.user(user['localId'])
        assert identity.ask('GET', f'{API}/v1/projects?key={identity.key}', headers={}).status == 200
        log = identity.host.log_path.read_text()
        assert ('App Check token' in log) == (enforcement != 'OFF')
        assert token not in log


# -- the time of refusals

def test_the_time_of_a_wrong_password_tells_nothing(tmp_path):
    """An expensive hash, a cheap one, one of the host's own, none, and no user: a refusal takes as long for each."""
    with running(tmp_path, rateLimit={'perAccountFailures': 1000, 'perAddressFailures': 1000}) as identity:
        identity.sign_up('own@example.com')

        def refusals(email, count=3):
            times = []
            for _ in range(count):
                begun = time.monotonic()
                assert identity.refused('accounts:signInWithPassword', email=email, password='wrong password') == 'INVALID_LOGIN_CREDENTIALS'
                times.append(time.monotonic() - begun)
            return times

        assert min(refusals('nobody@example.com')) < 0.45, 'hashes of one cost need no time to hide theirs'
        cheap = {'users': [{'localId': 'cheap', 'email': 'cheap@example.com', 'passwordHash': 'AAAAAAAAAAAAAAAAAAAAAA==', 'salt': ''}],
                 'hashAlgorithm': 'MD5', 'rounds': 0}
        hashed = 'A' * 43 + '='
        dear = {'users': [{'localId': 'dear', 'email': 'dear@example.com', 'passwordHash': hashed, 'salt': 'c2FsdA=='}],
                'hashAlgorithm': 'PBKDF2_SHA256', 'rounds': 60_000}
        for body in (cheap, dear, {'users': [{'localId': 'none', 'email': 'none@example.com'}]}):
            assert 'error' not in identity.managed('accounts:batchCreate', **body)
        for email in ('own', 'cheap', 'dear', 'none', 'nobody'):
            times = refusals(f'{email}@example.com')
            # At a half second, which is the first one on a machine that does nothing else.
            assert min(times) > 0.49 and min(seconds % 0.5 for seconds in times) < 0.05, (email, times)
