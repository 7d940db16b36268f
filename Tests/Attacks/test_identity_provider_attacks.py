"""Attacks with credentials of providers: tokens of other apps and people, replays, look-alikes, addresses that belong to others."""

import concurrent.futures
import json
import time
import urllib.parse

import pytest

from identity import PASSWORD, refusal, succeeded
from identity_providers import JWKS_PATH, RAW_NONCE, hashed
from identity_scene import scene_of, stage  # noqa: F401
from local_server import Handler, LocalServer

scene = scene_of()
trusting = scene_of(facebook={'trustEmail': True})
impatient = scene_of(facebook={'timeoutMs': 500})
phones = scene_of(nativeApps=['com.example.app'])


def is_refused(answer, *codes):
    return refusal(answer).startswith(codes or ('INVALID_IDP_RESPONSE',))


@pytest.mark.parametrize('token', ['fb-wrong-app', 'fb-app-token', 'fb-id-mismatch', 'fb-me-400', 'fb-expired', 'fb-revoked', 'fb-past-expires-at',
                                   'unknown'])
def test_a07_a08_access_tokens_of_others(scene, token):
    assert is_refused(scene.identity.with_provider(access_token=token))
    assert scene.identity.every_user() == []


def test_a07_a_token_is_not_sent_where_it_could_change_the_question(scene):
    """Characters of a URL in a token stay a part of the token."""
    for token in ('x&access_token=y', 'x#y', '../me?x=', 'fb-classic-alice&input_token=fb-classic-bob', 'x\r\nHost: evil', 'é', '%00'):
        answer = scene.identity.with_provider(access_token=token)
        assert answer.status in (400, 503), answer.body
    asked = [request['inputToken'] for request in scene.facebook.requests if request['path'] == '/debug_token']
    assert 'fb-classic-alice' not in asked and 'x' not in asked, asked
    assert scene.identity.every_user() == []


@pytest.mark.parametrize('claims', [
    {'nonce': RAW_NONCE}, {'nonce': hashed(RAW_NONCE).upper()}, {'nonce': ''}, {'nonce': None}, {'nonce': hashed('another')},
    {'nonce': [hashed(RAW_NONCE)]},
    {'aud': '999'}, {'aud': ['1234567890', '999']}, {'aud': 1234567890}, {'aud': None},
    {'iss': 'https://www.facebook.com.evil.test'}, {'iss': 'https://www.facebook.com/'}, {'iss': 'http://www.facebook.com'},
    {'iss': 'HTTPS://WWW.FACEBOOK.COM'},
    {'iss': None}, {'sub': ''}, {'sub': None}, {'sub': 20001}, {'exp': None}, {'exp': '9999999999'}, {'exp': 1}, {'iat': 1},
], ids=lambda claims: json.dumps(claims)[:40])
def test_a09_a10_limited_logins(scene, claims):
    answer = scene.identity.with_provider(**scene.limited(**claims))
    assert is_refused(answer, 'INVALID_IDP_RESPONSE', 'MISSING_OR_INVALID_NONCE')
    assert scene.identity.every_user() == []


@pytest.mark.parametrize('nonce', ['', None, hashed(RAW_NONCE), 'x', RAW_NONCE + ' ', RAW_NONCE.lower()])
def test_a09_nonces_of_the_request(scene, nonce):
    credential = scene.limited()
    token = credential['id_token']
    answer = scene.identity.with_provider(id_token=token, **({} if nonce is None else {'nonce': nonce}))
    assert is_refused(answer, 'MISSING_OR_INVALID_NONCE')
    # A failed check has not used the token up.
    assert succeeded(scene.identity.with_provider(**credential), 'Limited Login')['isNewUser'] is True


def test_a09_a_replay_after_a_restart(scene):
    credential = scene.limited()
    succeeded(scene.identity.with_provider(**credential), 'Limited Login')
    assert is_refused(scene.identity.with_provider(**credential), 'MISSING_OR_INVALID_NONCE')
    scene.identity.close()
    scene.host.kill()
    scene.host.start()
    assert is_refused(scene.identity.with_provider(**credential), 'MISSING_OR_INVALID_NONCE')


@pytest.mark.parametrize('change', [lambda token: token[:-6] + 'AAAAAA', lambda token: token.rpartition('.')[0] + '.', lambda token: token + '.x',
                                    lambda token: 'e30' + token[token.index('.'):]], ids=['signature', 'none', 'longer', 'header'])
def test_a01_changed_limited_logins(scene, change):
    credential = scene.limited()
    assert is_refused(scene.identity.with_provider(id_token=change(credential['id_token']), nonce=RAW_NONCE))


def test_a04_unknown_keys_do_not_flood_the_provider(scene):
    tokens = []
    for number in range(40):
        scene.keys['attacker-key'].kid = f'unknown-{number}'
        scene.facebook.keys['attacker'] = scene.keys['attacker-key']
        tokens.append({**scene.limited(key='attacker')})

    def attempt(credential):
        with scene.from_elsewhere() as other:
            return other.with_provider(**credential).status
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(attempt, tokens)) <= {400, 503}
    assert len([request for request in scene.facebook.requests if request['path'] == JWKS_PATH]) <= 2
    # Tokens with a known key work meanwhile.
    succeeded(scene.identity.with_provider(**scene.limited()), 'Limited Login')


def test_a11_somebody_who_was_there_before(trusting):
    """An attacker has registered the victim's address; the provider vouches for the victim, and nothing of the attacker is left."""
    identity = trusting.identity
    attacker = identity.sign_up('collide@example.com')
    identity.managed('accounts:update', localId=attacker['localId'], phoneNumber='+15555550180')
    identity.managed('accounts:update', localId=attacker['localId'], linkProviderUserInfo={'providerId': 'google.com', 'rawId': 'attacker'})
    trusting.clock.advance(2)
    victim = succeeded(identity.with_provider(access_token='fb-classic-collide'), 'Facebook')
    assert victim['localId'] == attacker['localId'] and victim['emailVerified'] is True
    assert identity.refused('accounts:signInWithPassword', email='collide@example.com', password=PASSWORD).startswith(
        ('INVALID_PASSWORD', 'INVALID_LOGIN_CREDENTIALS'))
    assert identity.refused('accounts:lookup', idToken=attacker['idToken']).startswith('TOKEN_EXPIRED')
    assert identity.refresh(attacker['refreshToken']).status == 400
    user = identity.lookup(victim['idToken'])
    assert [entry['providerId'] for entry in user['providerUserInfo']] == ['facebook.com'] and 'phoneNumber' not in user


def test_a12_an_address_that_the_provider_has_not_verified(scene):
    identity = scene.identity
    victim = identity.sign_up('collide@example.com')
    before = identity.user(victim['localId'])
    answer = succeeded(identity.with_provider(access_token='fb-classic-collide'), 'Facebook')
    assert answer['needConfirmation'] is True and not {'idToken', 'refreshToken', 'expiresIn'} & set(answer), answer
    assert identity.user(victim['localId']) == before
    # The handle of the pending credential is none of a session.
    assert identity.refused('accounts:lookup', idToken=answer['pendingToken']).startswith('INVALID_ID_TOKEN')
    assert identity.refresh(answer['pendingToken']).status == 400


def test_a12_a_pending_token_ends(scene):
    identity = scene.identity
    identity.sign_up('collide@example.com')
    pending = succeeded(identity.with_provider(access_token='fb-classic-collide'), 'Facebook')['pendingToken']
    scene.clock.advance(700)
    user = identity.sign_in('collide@example.com')
    assert is_refused(identity.post('accounts:signInWithIdp', requestUri='http://localhost', idToken=user['idToken'], pendingToken=pending),
                      'INVALID_PENDING_TOKEN')
    for forged in ('', 'x', pending[:-1], pending + 'A'):
        answer = identity.post('accounts:signInWithIdp', requestUri='http://localhost', idToken=user['idToken'], pendingToken=forged)
        assert is_refused(answer, 'INVALID_PENDING_TOKEN', 'INVALID_CREDENTIAL_OR_PROVIDER_ID', 'MISSING_')


BODIES = [b'not json', b'{}', b'{"data":{"is_valid":true}}', b'[' * 100_000, b'x' * 20_000_000]


@pytest.mark.parametrize('trouble', [{'status': 500}, {'status': 503, 'body': b'<html>'}, {'status': 302}, {'delay': 3}, {'silent': True},
                                     *({'status': 200, 'body': body} for body in BODIES)], ids=lambda trouble: str(trouble)[:30])
def test_a_provider_in_trouble(impatient, trouble):
    """Nobody is signed in, the answer comes in time, and the host serves others meanwhile."""
    identity = impatient.identity
    impatient.facebook.misbehave(**trouble)
    began = time.monotonic()
    answers = [identity.with_provider(access_token='fb-classic-alice'), identity.with_provider(**impatient.limited())]
    seconds = time.monotonic() - began
    impatient.facebook.misbehave()
    assert all(answer.status in (400, 503) for answer in answers), [(answer.status, answer.body) for answer in answers]
    assert seconds < 10, f'{seconds} s'
    assert identity.every_user() == []
    impatient.clock.advance(120)
    assert succeeded(identity.with_provider(access_token='fb-classic-alice'), 'Facebook')['isNewUser'] is True


def test_a_silent_provider_holds_nobody_else(impatient):
    impatient.facebook.misbehave(silent=True)

    def ask(_):
        with impatient.from_elsewhere() as other:
            return other.with_provider(access_token='fb-classic-alice').status
    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        waiting = [pool.submit(ask, number) for number in range(30)]
        began = time.monotonic()
        impatient.identity.sign_up('meanwhile@example.com')
        impatient.identity.sign_in('meanwhile@example.com')
        assert time.monotonic() - began < 3
        assert {future.result() for future in waiting} <= {400, 429, 503}
    impatient.facebook.misbehave()


def test_a25_addresses_of_a_request_are_not_fetched(scene):
    asked = []

    class Exchange(Handler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)
        do_POST = do_GET

    with LocalServer(Exchange) as server:
        identity = scene.identity
        identity.with_provider(access_token='fb-classic-bob', requestUri=f'{server.url}/a')
        identity.post('accounts:sendOobCode', requestType='PASSWORD_RESET', email='x@example.com', continueUrl=f'{server.url}/b')
        identity.post('accounts:createAuthUri', providerId='facebook.com', continueUri=f'{server.url}/c')
        user = identity.sign_up('ssrf@example.com')
        identity.do('accounts:update', idToken=user['idToken'], photoUrl=f'{server.url}/d')
        identity.lookup(user['idToken'])
        assert asked == []


@pytest.mark.parametrize('issuer', ['http://169.254.169.254/latest', 'http://10.0.0.1', 'ftp://example.com', 'file:///etc/passwd', 'x'])
def test_a25_issuers_of_providers(scene, issuer):
    """An issuer without TLS is refused, or never asked."""
    identity = scene.identity
    answer = identity.ask('POST', f'/identitytoolkit.googleapis.com/v2/projects/{identity.project}/oauthIdpConfigs?oauthIdpConfigId=oidc.evil',
                          {'clientId': 'c', 'issuer': issuer, 'enabled': True})
    assert answer.status in (200, 400), answer.body
    if answer.status == 200:
        began = time.monotonic()
        refused = identity.with_provider('oidc.evil', id_token=scene.limited()['id_token'])
        assert refused.status in (400, 503) and time.monotonic() - began < 5, refused.body
        identity.ask('DELETE', f'/identitytoolkit.googleapis.com/v2/projects/{identity.project}/oauthIdpConfigs/oidc.evil')


# -- the page that leads to providers

def handler(scene, *more):
    """The status of the page for a link with these parameters."""
    pairs = [('apiKey', 'fake-api-key'), ('providerId', 'facebook.com'), ('sessionId', 'of-the-attacker'), *more]
    return scene.identity.send('GET', f'/__/auth/handler?{urllib.parse.urlencode(pairs)}').status


def test_a_link_does_not_choose_the_application_that_gets_a_sign_in(scene, phones):
    """Every application on a phone can claim a scheme, and the session's id is in the link."""
    for pair in (('apn', 'com.evil'), ('ibi', 'com.evil'), ('ibi', 'com.example.app')):
        assert handler(scene, pair) == 400, 'none is named'
    assert handler(phones, ('apn', 'com.example.app')) == 200 == handler(phones, ('ibi', 'com.example.app'))
    for pairs in ([('apn', 'com.evil')], [('ibi', 'com.evil')], [('ibi', 'com.example.app'), ('clientId', 'evil')],
                  [('ibi', 'com.example.app'), ('appId', '1:1:ios:evil')], [('apn', 'com.example.app'), ('ibi', 'com.evil')]):
        assert handler(phones, *pairs) == 400, pairs


def test_the_page_reads_what_the_host_has_checked(scene, phones):
    """A script takes the first of two parameters with the same name."""
    good, evil = 'http://localhost/', 'https://evil.test/'
    assert handler(scene, ('redirectUrl', evil), ('redirectUrl', good)) == 400
    assert handler(phones, ('apn', 'com.evil'), ('apn', 'com.example.app')) == 400
    many = '&'.join(f'a{number}=1' for number in range(1100))
    tail = urllib.parse.urlencode([('apiKey', 'k'), ('providerId', 'facebook.com'), ('redirectUrl', evil)])
    assert scene.identity.send('GET', f'/__/auth/handler?{many}&{tail}').status == 400
