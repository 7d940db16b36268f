"""Bounds of what clients may cause: per address, account and day; over a restart, by network, behind a proxy, and not in development."""

import contextlib
import json

import pytest

from identity import API, Clock, Identity, addresses, refusal, sign_in_host, succeeded
from identity_answers import totp
from identity_providers import FakeIssuer

LIMITS = {'signUpsPerAddress': 3, 'mailsPerAccount': 2, 'mailsPerAddress': 4, 'mailsPerDay': 6, 'textsPerAccount': 2, 'textsPerAddress': 3,
          'textsPerDay': 5, 'wrongCodesPerAccount': 4, 'wrongCodesPerAddress': 6}
HOUR, DAY = 3600, 86_400


class Scene:
    """A host with small limits and a clock that is later than all that earlier tests have left."""

    def __init__(self, folder, mode='production', **more):
        self.clock = Clock(folder / 'clock')
        auth = {'limits': LIMITS, 'testHooks': True, 'mfa': {'state': 'ENABLED'}, **more.pop('auth', {})}
        self.host = sign_in_host(folder / 'host', mode, {'auth': auth, **more}, clock=self.clock).start()

    @contextlib.contextmanager
    def client(self, source=None):
        with Identity(self.host, source=source or next(addresses)) as identity:
            yield identity

    def close(self):
        try:
            self.host.stop()
        finally:
            self.host.abandon()
            self.clock.close()


@pytest.fixture(scope='module')
def built(tmp_path_factory):
    with contextlib.closing(Scene(tmp_path_factory.mktemp('limits'))) as scene:
        yield scene


@pytest.fixture
def scene(built):
    built.clock.advance(2 * DAY)
    with built.client() as identity:
        identity.empty()
    return built


def texts(identity, number='+15555550100'):
    return identity.post('accounts:sendVerificationCode', phoneNumber=number, recaptchaToken='x')


def mails(identity, email='ada@example.com', kind='PASSWORD_RESET'):
    return identity.post('accounts:sendOobCode', requestType=kind, email=email)


def test_sign_ups_of_an_address(scene):
    with scene.client() as identity, scene.client() as other:
        identity.sign_up()
        identity.sign_up('one@example.com')
        identity.sign_up('two@example.com')
        assert identity.refused('accounts:signUp', returnSecureToken=True).startswith('TOO_MANY_ATTEMPTS_TRY_LATER : Too many accounts')
        message = identity.refused('accounts:signUp', email='three@example.com', password='notasecret')
        assert message.startswith('TOO_MANY_ATTEMPTS_TRY_LATER')
        # Users sign in, administrators create users, and other addresses are not concerned.
        identity.sign_in('one@example.com')
        identity.managed('accounts', email='made@example.com', password='notasecret')
        other.sign_up('three@example.com')
        scene.clock.advance(HOUR + 1)
        identity.sign_up('four@example.com')


def test_sign_ups_in_every_way_count(scene):
    """Links of mails, text messages and identity providers make users, too."""
    with contextlib.closing(FakeIssuer()) as issuer, scene.client() as identity:
        body = {'clientId': issuer.client_id, 'issuer': issuer.issuer, 'enabled': True}
        succeeded(identity.ask('POST', f'{API}/v2/projects/demo-p/oauthIdpConfigs?oauthIdpConfigId=oidc.test', body), 'create')
        try:
            mails(identity, 'link@example.com', 'EMAIL_SIGNIN')
            identity.do('accounts:signInWithEmailLink', email='link@example.com', oobCode=identity.mail_code())
            session = succeeded(texts(identity), 'text')['sessionInfo']
            identity.do('accounts:signInWithPhoneNumber', sessionInfo=session, code=identity.text_code())
            now = scene.clock.now()
            token = issuer.token(iat=now, exp=now + 60)
            assert identity.with_provider('oidc.test', id_token=token).status == 200
            other = issuer.token(sub='2', email='other@example.com', iat=now, exp=now + 60)
            assert refusal(identity.with_provider('oidc.test', id_token=other)).startswith('TOO_MANY_ATTEMPTS_TRY_LATER')
            # The user that exists still signs in.
            assert identity.with_provider('oidc.test', id_token=token).status == 200
        finally:
            identity.ask('DELETE', f'{API}/v2/projects/demo-p/oauthIdpConfigs/oidc.test')


def test_mails_to_an_account(scene):
    with scene.client() as first, scene.client() as second:
        first.sign_up('ada@example.com')
        assert [mails(client).status for client in (first, second)] == [200, 200]
        assert refusal(mails(first)) == 'RESET_PASSWORD_EXCEED_LIMIT'
        assert refusal(mails(second, kind='EMAIL_SIGNIN')) == 'TOO_MANY_ATTEMPTS_TRY_LATER'
        scene.clock.advance(HOUR + 1)
        assert mails(first).status == 200


def test_mails_of_an_address_and_of_a_day(scene):
    with scene.client() as first, scene.client() as second:
        for number in range(4):
            assert mails(first, f'{number}@example.com', 'EMAIL_SIGNIN').status == 200
        assert refusal(mails(first, 'more@example.com', 'EMAIL_SIGNIN')).startswith('TOO_MANY_ATTEMPTS_TRY_LATER : Too many mails')
        for number in range(2):
            assert mails(second, f'second{number}@example.com', 'EMAIL_SIGNIN').status == 200
        assert refusal(mails(second, 'more@example.com', 'EMAIL_SIGNIN')) == 'QUOTA_EXCEEDED : Exceeded the daily quota for mails.'
        # Links for an administrator are no mails.
        first.managed('accounts:sendOobCode', requestType='EMAIL_SIGNIN', email='admin@example.com', returnOobLink=True)
        scene.clock.advance(HOUR + 1)
        assert refusal(mails(second, 'more@example.com', 'EMAIL_SIGNIN')).startswith('QUOTA_EXCEEDED')
        scene.clock.advance(DAY)
        assert mails(second, 'more@example.com', 'EMAIL_SIGNIN').status == 200


def test_text_messages(scene):
    with scene.client() as first, scene.client() as second:
        assert [texts(first).status, texts(second).status] == [200, 200]
        assert refusal(texts(second)) == 'TOO_MANY_ATTEMPTS_TRY_LATER'
        assert [texts(first, f'+1555555020{number}').status for number in range(2)] == [200, 200]
        assert refusal(texts(first, '+15555550300')).startswith('TOO_MANY_ATTEMPTS_TRY_LATER : Too many messages')
        assert texts(second, '+15555550301').status == 200
        assert refusal(texts(second, '+15555550302')) == 'QUOTA_EXCEEDED : Exceeded the daily quota for verifying phone numbers.'


def test_wrong_codes_of_an_address(scene):
    """Many messages do not give many attempts."""
    with scene.client() as identity, scene.client() as other:
        first = succeeded(texts(identity), 'text')['sessionInfo']
        second = succeeded(texts(identity), 'text')['sessionInfo']
        code = identity.text_code()
        wrong = '000000' if code != '000000' else '111111'
        for session in (first, first, first, second, second, second):
            assert identity.refused('accounts:signInWithPhoneNumber', sessionInfo=session, code=wrong) == 'INVALID_CODE'
        message = identity.refused('accounts:signInWithPhoneNumber', sessionInfo=second, code=code)
        assert message.startswith('TOO_MANY_ATTEMPTS_TRY_LATER : Too many codes were wrong')
        other.do('accounts:signInWithPhoneNumber', sessionInfo=second, code=code)


def enrolled(scene, identity, email='ada@example.com'):
    """A user with an authenticator program, and its secret."""
    user = identity.sign_up(email)
    identity.managed('accounts:update', localId=user['localId'], emailVerified=True)
    started = identity.do('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'], totpEnrollmentInfo={})['totpSessionInfo']
    proof = {'sessionInfo': started['sessionInfo'], 'verificationCode': totp(started['sharedSecretKey'], scene.clock.now())}
    identity.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'], totpVerificationInfo=proof)
    return started['sharedSecretKey']


def second_step(identity, code, email='ada@example.com'):
    first = identity.sign_in(email)
    body = {'mfaPendingCredential': first['mfaPendingCredential'], 'mfaEnrollmentId': first['mfaInfo'][0]['mfaEnrollmentId'],
            'totpVerificationInfo': {'verificationCode': code}}
    return identity.post('accounts/mfaSignIn:finalize', version='v2', **body)


def test_wrong_codes_of_an_account(scene):
    """An intruder with the password has few attempts, from however many addresses and with however many sign-ins."""
    with scene.client() as identity:
        secret = enrolled(scene, identity)
        scene.clock.advance(60)
        for _ in range(4):
            with scene.client() as intruder:
                assert refusal(second_step(intruder, '0000000')) == 'INVALID_CODE'
        right = totp(secret, scene.clock.now())
        with scene.client() as intruder:
            assert refusal(second_step(intruder, right)).startswith('TOO_MANY_ATTEMPTS_TRY_LATER')
        scene.clock.advance(HOUR + 1)
        assert second_step(identity, totp(secret, scene.clock.now())).status == 200


def test_a_restart_forgets_nothing(scene):
    with scene.client() as identity:
        source = identity.source
        for _ in range(3):
            identity.sign_up()
    scene.host.stop()
    scene.host.start()
    with scene.client(source) as identity:
        assert identity.refused('accounts:signUp', returnSecureToken=True).startswith('TOO_MANY_ATTEMPTS_TRY_LATER')


def sign_up_for(identity, address):
    body = json.dumps({'returnSecureToken': True}).encode()
    headers = {'Content-Type': 'application/json', 'X-Forwarded-For': address}
    return identity.send('POST', f'{API}/v1/accounts:signUp?key={identity.key}', headers, body).status


def test_clients_behind_a_proxy_and_networks_of_ipv6(tmp_path):
    with contextlib.closing(Scene(tmp_path, server={'trustedProxies': ['127.0.0.0/8']})) as scene, scene.client() as proxy:
        assert [sign_up_for(proxy, '203.0.113.7') for _ in range(4)] == [200, 200, 200, 400]
        assert sign_up_for(proxy, '203.0.113.8') == 200
        # The address that a client itself has written does not count.
        assert sign_up_for(proxy, '198.51.100.1, 203.0.113.7') == 400
        assert [sign_up_for(proxy, f'2001:db8:1:2::{number}') for number in range(1, 5)] == [200, 200, 200, 400]
        assert sign_up_for(proxy, '2001:db8:1:2:ffff::1') == 400 and sign_up_for(proxy, '2001:db8:1:3::1') == 200


def test_development_has_no_limits_unless_they_are_set(tmp_path):
    with contextlib.closing(Scene(tmp_path, 'development', auth={'limits': {'textsPerDay': 2}, 'testHooks': False})) as scene, \
            scene.client() as identity:
        for number in range(101):
            succeeded(mails(identity, f'{number}@example.com', 'EMAIL_SIGNIN'), 'mail')
        assert [texts(identity).status for _ in range(3)] == [200, 200, 400]


def test_production_has_limits_without_configuration(tmp_path):
    with contextlib.closing(Scene(tmp_path, auth={'limits': {}})) as scene, scene.client() as identity:
        for number in range(20):
            assert mails(identity, kind='EMAIL_SIGNIN').status == 200
        assert refusal(mails(identity, kind='EMAIL_SIGNIN')) == 'TOO_MANY_ATTEMPTS_TRY_LATER'
