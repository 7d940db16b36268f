"""Google, Apple and OpenID Connect from functions.json, in production: issuers on loopback stand for them."""

import contextlib
import re
import subprocess
import urllib.parse

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from hearth import Host
from identity import API, Clock, Identity, addresses, claims, refusal, sign_in_host, succeeded
from identity_providers import FakeIssuer
from processes import until
from tokens import SigningKey

NONCE, HANDLER = 'a-raw-nonce', 'http://localhost/__/auth/handler'
KINDS = ('google.com', 'apple.com', 'oidc.company')
SECRETS = {'GOOGLE_SECRET': 'google-secret-do-not-leak', 'COMPANY_SECRET': 'company-secret-do-not-leak'}


class Scene:
    """A host with three providers."""

    def __init__(self, folder):
        key = ec.generate_private_key(ec.SECP256R1())
        self.apple_key = key.public_key()
        (folder / 'apple.p8').write_bytes(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self.issuers = {
            'google.com': FakeIssuer(client_id='google-web', client_secret=SECRETS['GOOGLE_SECRET']),
            'apple.com': FakeIssuer(client_id='com.example.web', secret_of=self.is_apples, posts=True),
            'oidc.company': FakeIssuer(client_id='company-web', client_secret=SECRETS['COMPANY_SECRET'])}
        self.clock = Clock(folder / 'clock')
        self.host = sign_in_host(folder / 'host', config={'auth': self.settings(folder)}, clock=self.clock,
                                 env={**self.clock.variables, 'GOOGLE_SECRET': SECRETS['GOOGLE_SECRET']})
        (folder / 'host/.secret.local').write_text(f"COMPANY_SECRET={SECRETS['COMPANY_SECRET']}\n")
        (folder / 'host/.secret.local').chmod(0o600)
        self.host.start()
        self.identity = Identity(self.host)

    def settings(self, folder):
        google, apple, company = (self.issuers[name].url for name in KINDS)
        return {
            'google': {
                'clientIds': ['google-web', 'google-ios'], 'clientSecretName': 'GOOGLE_SECRET', 'issuers': [google], 'jwksUrl': f'{google}/jwks',
                'tokenInfoUrl': f'{google}/tokeninfo', 'userInfoUrl': f'{google}/userinfo', 'authorizationUrl': f'{google}/authorize',
                'tokenUrl': f'{google}/token', 'timeoutSeconds': 1},
            'apple': {
                'clientIds': ['com.example.web', 'com.example.app'], 'teamId': 'TEAM123456', 'keyId': 'KEY1234567',
                'privateKey': str(folder / 'apple.p8'), 'issuer': apple, 'jwksUrl': f'{apple}/jwks', 'authorizationUrl': f'{apple}/authorize',
                'tokenUrl': f'{apple}/token', 'revocationUrl': f'{apple}/revoke', 'timeoutSeconds': 1},
            'oidc': {'oidc.company': {
                'issuer': company, 'clientIds': ['company-web', 'company-ios'], 'clientSecretName': 'COMPANY_SECRET', 'displayName': 'Company',
                'timeoutSeconds': 1}}}

    def is_apples(self, secret):
        """Whether a text is a client secret of the team, for now and for the client of the issuer."""
        apple = self.issuers['apple.com']
        content = jwt.decode(secret, self.apple_key, algorithms=['ES256'], audience=apple.url, issuer='TEAM123456',
                             options={'verify_exp': False, 'verify_iat': False})
        header = jwt.get_unverified_header(secret)
        assert (content['sub'], header['kid'], header['alg']) == (apple.client_id, 'KEY1234567', 'ES256')
        assert abs(content['iat'] - self.clock.now()) < 60 and 0 < content['exp'] - content['iat'] <= 600
        return True

    def token(self, name, **more):
        now = self.clock.now()
        return self.issuers[name].token(**{'raw_nonce': NONCE, 'iat': now, 'exp': now + 3600, **more})

    def sign_in(self, name, token=None, **more):
        more = {'nonce': NONCE, **more}
        return self.identity.with_provider(name, id_token=token or self.token(name), **more)

    def close(self):
        self.identity.close()
        try:
            self.host.stop()
        finally:
            self.host.abandon()
            self.clock.close()
            for issuer in self.issuers.values():
                issuer.close()


@pytest.fixture(scope='module')
def built(tmp_path_factory):
    with contextlib.closing(Scene(tmp_path_factory.mktemp('providers'))) as scene:
        yield scene


@pytest.fixture
def scene(built):
    """The scene without users, with issuers that behave, after the time in which the keys of an earlier test are used."""
    built.identity.close()
    built.identity.source = next(addresses)
    built.identity.empty()
    for issuer in built.issuers.values():
        issuer.misbehave()
    built.clock.advance(3 * 86_400)
    yield built


@pytest.mark.parametrize('name', KINDS)
def test_a_new_user(scene, name):
    answer = succeeded(scene.sign_in(name), 'sign-in')
    assert (answer['providerId'], answer['isNewUser'], answer['email']) == (name, True, 'oidc30001@example.com')
    token = claims(answer['idToken'])
    assert token['firebase']['sign_in_provider'] == name and token['firebase']['identities'][name] == ['30001']
    again = succeeded(scene.sign_in(name, scene.token(name, raw_nonce='b'), nonce='b'), 'sign-in')
    assert again['localId'] == answer['localId'] and 'isNewUser' not in again


@pytest.mark.parametrize('name,audience', [('google.com', 'google-ios'), ('apple.com', 'com.example.app'), ('oidc.company', 'company-ios')])
def test_several_clients(scene, name, audience):
    assert scene.sign_in(name, scene.token(name, aud=audience)).status == 200
    other = refusal(scene.sign_in(name, scene.token(name, aud=f'{audience}.evil', raw_nonce='b'), nonce='b'))
    assert other == 'INVALID_IDP_RESPONSE : The ID token audience does not match.'


@pytest.mark.parametrize('name', KINDS)
@pytest.mark.parametrize('change', [{'iss': 'http://127.0.0.1:1'}, {'aud': 'other'}, {'exp': 1}, {'sub': ''}, {'iat': 99999999999}], ids=str)
def test_wrong_tokens(scene, name, change):
    assert refusal(scene.sign_in(name, scene.token(name, **change))).startswith('INVALID_IDP_RESPONSE : ')
    assert scene.identity.every_user() == []


@pytest.mark.parametrize('name', KINDS)
def test_nonces(scene, name):
    token = scene.token(name)
    for nonce in ('other', ''):
        assert refusal(scene.sign_in(name, token, nonce=nonce)).startswith('MISSING_OR_INVALID_NONCE')
    assert scene.sign_in(name, token).status == 200
    assert refusal(scene.sign_in(name, token)).startswith('MISSING_OR_INVALID_NONCE : Duplicate')


@pytest.mark.parametrize('name', KINDS)
def test_an_unknown_key_that_is_rotated_in(scene, name):
    issuer = scene.issuers[name]
    assert scene.sign_in(name).status == 200
    old, issuer.key = issuer.key, SigningKey(f'{name}-rotated')
    try:
        forged = scene.token(name, raw_nonce='b', key=SigningKey('of-nobody'))
        scene.clock.advance(61)
        assert refusal(scene.sign_in(name, forged, nonce='b')).startswith('INVALID_IDP_RESPONSE : No key')
        scene.clock.advance(61)
        assert scene.sign_in(name, scene.token(name, raw_nonce='c'), nonce='c').status == 200
        by_old_key = scene.token(name, raw_nonce='d', key=old)
        assert scene.sign_in(name, by_old_key, nonce='d').status == 400
    finally:
        issuer.key = old


@pytest.mark.parametrize('name', KINDS)
@pytest.mark.parametrize('trouble', [{'status': 500}, {'body': b'no json'}, {'delay': 5}, {'silent': True}], ids=str)
def test_a_provider_in_trouble(scene, name, trouble):
    """Nobody signs in, the client may try again, and the host goes on at once when the provider does."""
    scene.issuers[name].misbehave(**trouble)
    assert scene.sign_in(name).status == 503
    assert scene.identity.every_user() == []
    scene.issuers[name].misbehave()
    scene.clock.advance(120)
    assert scene.sign_in(name, scene.token(name, raw_nonce='b'), nonce='b').status == 200


def test_a_provider_that_cannot_be_reached_is_logged(scene):
    """Once a minute for each provider, without what was asked."""
    issuer, line = scene.issuers['google.com'], r'an identity provider does not answer.*'

    def lines():
        return [found for found in re.findall(line, scene.host.log) if issuer.url in found]
    # The line of an earlier test may be less than a minute old.
    scene.clock.advance(61)
    before = len(lines())
    issuer.misbehave(status=503)
    for number in range(5):
        assert scene.identity.with_provider('google.com', access_token=f'ya29.secret-{number}').status == 503
    until(lambda: len(lines()) > before, 'a line in the log')
    assert len(lines()) == before + 1 and 'status 503' in lines()[-1]
    scene.clock.advance(61)
    assert scene.identity.with_provider('google.com', access_token='ya29.secret-5').status == 503
    until(lambda: len(lines()) > before + 1, 'another line in the log')
    assert len(lines()) == before + 2 and re.search(r'unreported\W+9', lines()[-1]), lines()
    assert 'ya29.secret' not in scene.host.log


@pytest.mark.parametrize('client', ['com.example.web', 'com.example.app'])
def test_tokens_of_apple_are_revoked(scene, client):
    """For the client whose token it is; a code is exchanged first, as apps on Apple's systems send one."""
    issuer, identity = scene.issuers['apple.com'], scene.identity
    user, (issuer.client_id, before) = identity.sign_up('a@example.com'), (client, issuer.client_id)
    try:
        issuer.codes['code-1'] = {}
        ask = {'idToken': user['idToken'], 'providerId': 'apple.com'}
        assert identity.do('accounts:revokeToken', version='v2', token='code-1', tokenType='3', **ask) == {}
        assert issuer.revoked == [('issuer-refresh', 'refresh_token')]
        assert identity.do('accounts:revokeToken', version='v2', token='issuer-access', tokenType='ACCESS_TOKEN', **ask) == {}
        assert issuer.revoked[1:] == [('issuer-access', 'access_token')]
        wrong = identity.post('accounts:revokeToken', version='v2', token='of-nobody', tokenType='3', **ask)
        assert refusal(wrong).startswith('INVALID_IDP_RESPONSE')
        assert refusal(identity.post('accounts:revokeToken', version='v2', token='x', tokenType='3', providerId='apple.com')) == 'MISSING_ID_TOKEN'
        issuer.misbehave(status=500)
        assert identity.post('accounts:revokeToken', version='v2', token='issuer-access', tokenType='1', **ask).status == 503
    finally:
        issuer.client_id, issuer.revoked = before, []


def test_access_tokens_of_google(scene):
    issuer = scene.issuers['google.com']
    issuer.access = {'ya29.good': {'sub': '7', 'email': 'seven@example.com', 'email_verified': True},
                     'ya29.other': {'sub': '8', 'aud': 'another-app'}}
    answer = succeeded(scene.identity.with_provider('google.com', access_token='ya29.good'), 'sign-in')
    assert (answer['federatedId'], answer['email']) == ('https://accounts.google.com/7', 'seven@example.com')
    assert 'different application' in refusal(scene.identity.with_provider('google.com', access_token='ya29.other'))
    assert refusal(scene.identity.with_provider('google.com', access_token='ya29.unknown')).startswith('INVALID_IDP_RESPONSE')


@pytest.mark.parametrize('name', KINDS)
def test_the_flow_with_a_code(scene, name):
    issuer = scene.issuers[name]
    started = scene.identity.do('accounts:createAuthUri', providerId=name, continueUri=HANDLER)
    address = urllib.parse.urlsplit(started['authUri'])
    query = dict(urllib.parse.parse_qsl(address.query))
    assert started['authUri'].startswith(f'{issuer.url}/authorize?') and query['client_id'] == issuer.client_id
    issuer.codes['the-code'] = query
    token = issuer.token
    issuer.token = lambda **more: token(**{'iat': scene.clock.now(), 'exp': scene.clock.now() + 60, **more})
    back = f'{HANDLER}?{urllib.parse.urlencode({"state": query["state"], "code": "the-code"})}'
    try:
        assert scene.identity.post('accounts:signInWithIdp', requestUri=back, sessionId='other', returnSecureToken=True).status == 400
        answer = scene.identity.post('accounts:signInWithIdp', requestUri=back, sessionId=started['sessionId'], returnSecureToken=True)
        assert succeeded(answer, 'sign-in')['providerId'] == name
    finally:
        issuer.token = token


def test_administrators_see_providers_without_secrets(scene):
    identity = scene.identity
    listed = succeeded(identity.ask('GET', f'{API}/v2/projects/demo-p/defaultSupportedIdpConfigs'), 'list')['defaultSupportedIdpConfigs']
    assert [entry['name'].rpartition('/')[2] for entry in listed] == ['apple.com', 'google.com']
    assert listed[0]['appleSignInConfig'] == {'bundleIds': ['com.example.web', 'com.example.app'],
                                              'codeFlowConfig': {'teamId': 'TEAM123456', 'keyId': 'KEY1234567'}}
    one = succeeded(identity.ask('GET', f'{API}/v2/projects/demo-p/defaultSupportedIdpConfigs/google.com'), 'get')
    assert one == {'name': 'projects/demo-p/defaultSupportedIdpConfigs/google.com', 'enabled': True, 'clientId': 'google-web'}
    oidc = succeeded(identity.ask('GET', f'{API}/v2/projects/demo-p/oauthIdpConfigs'), 'list')['oauthIdpConfigs']
    assert oidc == [{'name': 'projects/demo-p/oauthIdpConfigs/oidc.company', 'enabled': True, 'clientId': 'company-web', 'displayName': 'Company',
                     'issuer': scene.issuers['oidc.company'].url, 'responseType': {'code': True}}]
    for method, path in (('PATCH', 'oauthIdpConfigs/oidc.company'), ('DELETE', 'oauthIdpConfigs/oidc.company'),
                         ('PATCH', 'defaultSupportedIdpConfigs/google.com'), ('POST', 'defaultSupportedIdpConfigs?idpId=google.com')):
        assert refusal(identity.ask(method, f'{API}/v2/projects/demo-p/{path}', {'enabled': False})).startswith('OPERATION_NOT_ALLOWED')
    assert identity.ask('GET', f'{API}/v2/projects/demo-p/defaultSupportedIdpConfigs/facebook.com').status == 404


def test_an_administrators_provider_counts_more(scene):
    identity = scene.identity
    body = {'clientId': 'company-web', 'issuer': scene.issuers['oidc.company'].url, 'enabled': False}
    succeeded(identity.ask('POST', f'{API}/v2/projects/demo-p/oauthIdpConfigs?oauthIdpConfigId=oidc.company', body), 'create')
    try:
        assert refusal(scene.sign_in('oidc.company')).startswith('OPERATION_NOT_ALLOWED')
        listed = succeeded(identity.ask('GET', f'{API}/v2/projects/demo-p/oauthIdpConfigs'), 'list')['oauthIdpConfigs']
        assert [entry['enabled'] for entry in listed] == [False]
    finally:
        succeeded(identity.ask('DELETE', f'{API}/v2/projects/demo-p/oauthIdpConfigs/oidc.company'), 'delete')
    assert scene.sign_in('oidc.company', scene.token('oidc.company', raw_nonce='z'), nonce='z').status == 200


def test_no_secret_is_in_the_log(scene):
    for secret in SECRETS.values():
        assert secret not in scene.host.log


FACEBOOK = {'appId': '1234567890'}


@pytest.mark.parametrize('auth,message', [
    ({'facebook': {**FACEBOOK, 'appSecretName': 'NO_SUCH_SECRET'}}, r'auth\.facebook is missing: there is no environment variable NO_SUCH_SECRET'),
    ({'facebook': FACEBOOK}, r'auth\.facebook: expected one of appSecret and appSecretName, found neither'),
    ({'facebook': {**FACEBOOK, 'appSecret': 'a', 'appSecretName': 'B'}},
     r'auth\.facebook\.appSecretName: expected the secret or its name, found both'),
    ({'google': {'clientIds': ['a'], 'jwksUrl': 'http://keys.example.org/'}}, r'auth\.google\.jwksUrl: http://keys\.example\.org/ cannot be used'),
    ({'oidc': {'oidc.a': {'issuer': 'http://id.example.org', 'clientIds': ['a']}}}, r'auth\.oidc\."oidc\.a"\.issuer: .* cannot be used'),
    ({'oidc': {'saml.a': {'issuer': 'https://id.example.org', 'clientIds': ['a']}}}, r'expected an id such as "oidc\.company"'),
    ({'apple': {'clientIds': ['a'], 'teamId': 'T'}}, r'auth\.apple: expected teamId, keyId and privateKey together'),
    ({'apple': {'clientIds': ['a'], 'teamId': 'T', 'keyId': 'K', 'privateKey': 'functions.json'}}, r'functions\.json is not a P-256 key in PEM'),
    ({'google': {'clientIds': []}}, r'auth\.google\.clientIds: expected a list with at least 1 element'),
], ids=lambda value: value if isinstance(value, str) else None)
def test_configurations_that_production_refuses(tmp_path, auth, message):
    host = Host(tmp_path, (), config={'project': 'demo-p', 'auth': auth})
    with pytest.raises(AssertionError):
        host.start()
    host.abandon()
    assert re.search(message, host.log), host.log
    checked = subprocess.run([*host.command(), '--check'], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert checked.returncode == 1 and re.search(message, checked.stderr), checked.stderr
