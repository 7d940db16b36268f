"""Text messages that a program asks for: with `auth.recaptcha`, only people get them."""

import urllib.parse

import pytest

from identity import Identity, refusal, sign_in_host
from identity_providers import Provider

PHONE, SECRET = '+15555550100', 'recaptcha-secret-do-not-leak'


class Verifier(Provider):
    """The verification of reCAPTCHA v2, whose answers have no score."""

    def answer(self, method, path, query, body, headers):
        form = dict(urllib.parse.parse_qsl(body.decode()))
        self.note(**form)
        if form.get('secret') != SECRET:
            return 200, {'success': False, 'error-codes': ['invalid-input-secret']}
        return 200, {'success': form.get('response') == 'a-person', 'hostname': 'evil.test' if form.get('response') == 'elsewhere' else 'localhost'}


@pytest.fixture(scope='module')
def verifier():
    verifier = Verifier()
    yield verifier
    verifier.close()


@pytest.fixture(scope='module')
def host(tmp_path_factory, verifier):
    folder = tmp_path_factory.mktemp('recaptcha')
    (folder / 'secret.txt').write_text(SECRET + '\n')
    (folder / 'secret.txt').chmod(0o600)
    site = {'siteKey': 'site-key', 'secretFile': str(folder / 'secret.txt'), 'url': f'{verifier.url}/siteverify', 'hostnames': ['localhost']}
    config = {'auth': {'recaptcha': site, 'testHooks': True, 'mfa': {'state': 'ENABLED', 'providers': ['PHONE_SMS']}}}
    host = sign_in_host(folder / 'host', config=config).start()
    yield host
    host.stop()


@pytest.fixture
def identity(host, verifier):
    verifier.misbehave()
    with Identity(host) as identity:
        yield identity


def sent(identity):
    """The number of text messages so far."""
    return len(identity.ask('GET', f'/emulator/v1/projects/{identity.project}/verificationCodes').json['verificationCodes'])


@pytest.mark.parametrize('proof,message', [
    ({}, 'MISSING_APP_CREDENTIAL'), ({'recaptchaToken': ''}, 'MISSING_APP_CREDENTIAL'), ({'recaptchaToken': 'x'}, 'CAPTCHA_CHECK_FAILED'),
    ({'recaptchaToken': 'elsewhere'}, 'CAPTCHA_CHECK_FAILED'), ({'recaptchaToken': 'x' * 20_000}, 'CAPTCHA_CHECK_FAILED'),
    ({'iosReceipt': 'r', 'iosSecret': 's'}, 'INVALID_APP_CREDENTIAL'), ({'playIntegrityToken': 't'}, 'INVALID_APP_CREDENTIAL'),
], ids=lambda value: str(value)[:40])
def test_programs_get_no_message(identity, proof, message):
    before = sent(identity)
    assert refusal(identity.post('accounts:sendVerificationCode', phoneNumber=PHONE, **proof)) == message
    assert sent(identity) == before


def test_a_person_signs_in(identity, verifier):
    found = identity.ask('GET', f'/identitytoolkit.googleapis.com/v1/recaptchaParams?key={identity.key}', headers={})
    assert found.json['recaptchaSiteKey'] == 'site-key'
    session = identity.do('accounts:sendVerificationCode', phoneNumber=PHONE, recaptchaToken='a-person')['sessionInfo']
    code = identity.text_code()
    assert identity.do('accounts:signInWithPhoneNumber', sessionInfo=session, code=code)['phoneNumber'] == PHONE
    assert verifier.requests[-1] == {'secret': SECRET, 'response': 'a-person'}


def test_second_factors_need_it_too(identity):
    user = identity.sign_up('factor@example.com')
    identity.managed('accounts:update', localId=user['localId'], emailVerified=True)
    user = identity.sign_in('factor@example.com')

    def enrol(**proof):
        return identity.post('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'],
                             phoneEnrollmentInfo={'phoneNumber': '+15555550101', **proof})
    assert refusal(enrol()) == 'MISSING_APP_CREDENTIAL'
    session = enrol(recaptchaToken='a-person').json['phoneSessionInfo']['sessionInfo']
    identity.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'],
                phoneVerificationInfo={'sessionInfo': session, 'code': identity.text_code()})
    pending = identity.sign_in('factor@example.com')

    def begin(**proof):
        return identity.post('accounts/mfaSignIn:start', version='v2', mfaPendingCredential=pending['mfaPendingCredential'],
                             mfaEnrollmentId=pending['mfaInfo'][0]['mfaEnrollmentId'], phoneSignInInfo=proof)
    assert refusal(begin()) == 'MISSING_APP_CREDENTIAL'
    assert begin(recaptchaToken='a-person').json['phoneResponseInfo']['sessionInfo']


def test_trouble_of_the_verifier_is_no_permission(identity, verifier):
    before = sent(identity)
    verifier.misbehave(status=500)
    assert identity.post('accounts:sendVerificationCode', phoneNumber=PHONE, recaptchaToken='a-person').status == 503
    assert sent(identity) == before


def test_the_secret_is_in_no_log(host):
    assert SECRET not in host.log and 'programs can have text messages sent' not in host.log


def test_a_host_without_it_says_so(tmp_path):
    host = sign_in_host(tmp_path).start()
    host.stop()
    assert 'programs can have text messages sent: only auth.limits bound them' in host.log


@pytest.mark.parametrize('mode', [0o644, 0o600], ids=['exposed', 'private'])
def test_secrets_that_others_can_read_are_named(tmp_path, mode):
    key, named = tmp_path / 'recaptcha.txt', tmp_path / '.secret.local'
    for path in (key, named):
        path.write_text('GOOGLE_SECRET=a\n')
        path.chmod(mode)
    config = {'auth': {'recaptcha': {'siteKey': 'k', 'secretFile': 'recaptcha.txt'},
                       'google': {'clientIds': ['a'], 'clientSecretName': 'GOOGLE_SECRET'}}}
    host = sign_in_host(tmp_path, config=config).start()
    host.stop()
    for path in (key, named):
        assert (f'other users of this machine can read {path}; chmod 600 it' in host.log) == (mode == 0o644)
