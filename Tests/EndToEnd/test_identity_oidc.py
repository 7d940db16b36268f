"""Signing in with a provider of OpenID Connect that an administrator has configured, in production: an issuer on loopback stands for it."""

import contextlib
import urllib.error
import urllib.parse
import urllib.request

import pytest

from identity import API, Identity, claims, refusal, succeeded
from identity_providers import FakeIssuer
from identity_scene import scene_of, stage  # noqa: F401
from tokens import SigningKey

NONCE = 'a-raw-nonce'
scene = scene_of()


@pytest.fixture
def issuer(scene):
    """An issuer that is configured as `oidc.test`."""
    with contextlib.closing(FakeIssuer()) as issuer:
        configure(scene.identity, issuer)
        yield issuer
        scene.identity.ask('DELETE', f'{API}/v2/projects/demo-p/oauthIdpConfigs/oidc.test')


def configure(identity, issuer, **more):
    body = {'clientId': issuer.client_id, 'issuer': issuer.issuer, 'enabled': True, 'clientSecret': issuer.client_secret,
            'responseType': {'idToken': True}, **more}
    succeeded(identity.ask('POST', f'{API}/v2/projects/demo-p/oauthIdpConfigs?oauthIdpConfigId=oidc.test', body), 'create')


def sign_in(scene, **more):
    return scene.identity.with_provider('oidc.test', **more)


def times(scene):
    now = scene.clock.now()
    return {'iat': now, 'exp': now + 3600}


def test_a_new_user(scene, issuer):
    answer = succeeded(sign_in(scene, id_token=issuer.token(raw_nonce=NONCE, **times(scene)), nonce=NONCE), 'sign-in')
    assert (answer['providerId'], answer['federatedId'], answer['isNewUser']) == ('oidc.test', '30001', True)
    assert (answer['email'], answer['emailVerified'], answer['displayName']) == ('oidc30001@example.com', True, 'Olga Fake')
    token = claims(answer['idToken'])
    assert token['firebase']['sign_in_provider'] == 'oidc.test' and token['firebase']['identities']['oidc.test'] == ['30001']
    again = succeeded(sign_in(scene, id_token=issuer.token(raw_nonce='other', **times(scene)), nonce='other'), 'sign-in')
    assert again['localId'] == answer['localId'] and 'isNewUser' not in again


@pytest.mark.parametrize('change', [{'aud': 'other'}, {'iss': 'http://127.0.0.1:1'}, {'aud': ['client-1', 'other']}, {'sub': None}, {'sub': ''},
                                    {'exp': 1}, {'exp': None}, {'iat': 99999999999}], ids=str)
def test_wrong_tokens(scene, issuer, change):
    token = issuer.token(raw_nonce=NONCE, **{**times(scene), **change})
    assert refusal(sign_in(scene, id_token=token, nonce=NONCE)).startswith('INVALID_IDP_RESPONSE')
    assert scene.identity.every_user() == []


def test_a_token_of_another_key(scene, issuer):
    forged = issuer.token(raw_nonce=NONCE, key=SigningKey(issuer.key.kid), **times(scene))
    assert refusal(sign_in(scene, id_token=forged, nonce=NONCE)).startswith('INVALID_IDP_RESPONSE')


def test_nonces(scene, issuer):
    token = issuer.token(raw_nonce=NONCE, **times(scene))
    for more in ({}, {'nonce': 'other'}, {'nonce': ''}):
        assert refusal(sign_in(scene, id_token=token, **more)).startswith('MISSING_OR_INVALID_NONCE')
    assert sign_in(scene, id_token=token, nonce=NONCE).status == 200
    assert refusal(sign_in(scene, id_token=token, nonce=NONCE)).startswith('MISSING_OR_INVALID_NONCE')


def test_a_provider_that_is_off_or_unknown(scene, issuer):
    identity = scene.identity
    succeeded(identity.ask('PATCH', f'{API}/v2/projects/demo-p/oauthIdpConfigs/oidc.test?updateMask=enabled', {'enabled': False}), 'patch')
    token = issuer.token(raw_nonce=NONCE, **times(scene))
    assert refusal(sign_in(scene, id_token=token, nonce=NONCE)).startswith('OPERATION_NOT_ALLOWED')
    assert refusal(identity.with_provider('oidc.unknown', id_token=token, nonce=NONCE)).startswith('OPERATION_NOT_ALLOWED')


def test_an_issuer_in_trouble(scene, issuer):
    issuer.misbehave(status=500)
    token = issuer.token(raw_nonce=NONCE, **times(scene))
    assert sign_in(scene, id_token=token, nonce=NONCE).status == 503
    assert scene.identity.every_user() == []
    issuer.misbehave()
    scene.clock.advance(120)
    assert sign_in(scene, id_token=issuer.token(raw_nonce='later', **times(scene)), nonce='later').status == 200


def test_a_new_key(scene, issuer):
    assert sign_in(scene, id_token=issuer.token(raw_nonce=NONCE, **times(scene)), nonce=NONCE).status == 200
    issuer.key = SigningKey('issuer-key-2')
    scene.clock.advance(61)
    assert sign_in(scene, id_token=issuer.token(raw_nonce='second', **times(scene)), nonce='second').status == 200


def test_the_flow_of_a_browser(scene, issuer):
    """The host names the issuer's page, and exchanges the code that comes from there."""
    identity = scene.identity
    body = {'responseType': {'code': True}}
    succeeded(identity.ask('PATCH', f'{API}/v2/projects/demo-p/oauthIdpConfigs/oidc.test?updateMask=responseType', body), 'patch')
    custom = {'access_type': 'offline', 'redirect_uri': 'http://evil.example'}
    started = identity.do('accounts:createAuthUri', providerId='oidc.test', continueUri='http://localhost/__/auth/handler', customParameter=custom)
    assert started['authUri'].startswith(f'{issuer.url}/authorize?') and started['sessionId']
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(started['authUri']).query))
    assert query['client_id'] == issuer.client_id and 'openid' in query['scope'].split()
    assert query['redirect_uri'] == 'http://localhost/__/auth/handler' and query['access_type'] == 'offline'

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None
    with pytest.raises(urllib.error.HTTPError) as redirect:
        urllib.request.build_opener(Stay).open(started['authUri'])
    back = redirect.value.headers['Location']
    # The issuer's tokens carry the time of this machine, the host's clock is ahead.
    issuer.token = lambda **more: FakeIssuer.token(issuer, **{**times(scene), **more})
    answer = identity.post('accounts:signInWithIdp', requestUri=back, sessionId=started['sessionId'], returnSecureToken=True)
    assert succeeded(answer, 'sign-in')['federatedId'] == '30001'
    # The code and the session are good for one sign-in, and a session of nobody for none.
    assert identity.post('accounts:signInWithIdp', requestUri=back, sessionId=started['sessionId'], returnSecureToken=True).status == 400


def test_tokens_of_development(stage):  # noqa: F811
    """In development the credential of a provider is what the page of the emulator makes, without any issuer."""
    host, _ = stage.host('emulator', {})
    with Identity(host) as identity:
        answer = succeeded(identity.with_provider('google.com', id_token='{"sub":"g1","email":"g@example.com","email_verified":true}'), 'google')
        assert (answer['providerId'], answer['email'], answer['emailVerified']) == ('google.com', 'g@example.com', True)
        assert claims(answer['idToken'])['firebase']['identities']['google.com'] == ['g1']
