"""Tokens that nobody issued, and tokens of another kind, as ID tokens: refused by sign-in, functions and the database alike."""

import hashlib
import hmac
import json

import jwt
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from identity import API, APP_CHECK, claims
from identity_cases import KEYS_PATH, decoded, public_pem
from identity_scene import scene_of, stage  # noqa: F401
from local_server import Handler, LocalServer
from tokens import base64url

DEBUG_TOKEN = '11111111-2222-4333-8444-555555555555'
scene = scene_of(functions={'whoami': {}}, appCheck={'debugTokens': [DEBUG_TOKEN]}, testHooks=True)


def joined(header, body, signature=b''):
    """A token of these parts; a part may be an object or a text."""
    parts = [part if isinstance(part, str) else json.dumps(part) for part in (header, body)]
    return '.'.join([*(base64url(part.encode()) for part in parts), base64url(signature)])


def signed(key, header, body):
    text = joined(header, body).rpartition('.')[0]
    return f'{text}.{base64url(key.private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}'


def refusals(scene, token):
    """Shows a token to every service: all of them must refuse it."""
    identity, host = scene.identity, scene.host
    answers = [
        identity.post('accounts:lookup', idToken=token), identity.post('accounts:update', idToken=token, displayName='x'),
        identity.post('accounts:delete', idToken=token),
        identity.post('accounts:sendOobCode', requestType='VERIFY_EMAIL', idToken=token),
        identity.manage(':createSessionCookie', idToken=token, validDuration=3600),
        identity.post('accounts/mfaEnrollment:start', version='v2', idToken=token, totpEnrollmentInfo={}),
        identity.with_provider(access_token='fb-classic-alice', idToken=token),
        host.callable('whoami', token=token),
        host.request('GET', f'/mine.json?ns=demo-p-default-rtdb&auth={token}'),
    ]
    for number, answer in enumerate(answers):
        if number < 7:
            assert answer.status == 400, f'{number}: {answer.status} {answer.body!r}'
            assert answer.json['error']['message'].startswith(('INVALID_ID_TOKEN', 'TOKEN_EXPIRED', 'INVALID_ARGUMENT')), answer.body
        else:
            # A token of 10 kB is too long for a URL.
            assert answer.status in (401, 414), f'{number}: {answer.status} {answer.body!r}'


@pytest.fixture
def user(scene):
    user = scene.identity.sign_up('victim@example.com')
    yield user
    # The user and the real token are as they were before the attack.
    now = scene.identity.lookup(user['idToken'])
    assert (now['localId'], now.get('displayName')) == (user['localId'], None)
    assert scene.host.result('whoami', token=user['idToken'])['uid'] == user['localId']


@pytest.mark.parametrize('name', ['none', 'None', 'nOnE', 'NONE', '', None])
@pytest.mark.parametrize('has_signature', [False, True])
def test_a01_no_algorithm(scene, user, name, has_signature):
    header, body = decoded(user['idToken'])
    header = {**header, 'alg': name} if name is not None else {key: value for key, value in header.items() if key != 'alg'}
    refusals(scene, joined(header, body, b'x' * 256 if has_signature else b''))


def test_a01_an_empty_signature(scene, user):
    refusals(scene, user['idToken'].rpartition('.')[0] + '.')
    refusals(scene, user['idToken'].rpartition('.')[0])


@pytest.mark.parametrize('algorithm', ['HS256', 'HS384', 'HS512'])
def test_a02_the_public_key_as_a_secret(scene, user, algorithm):
    header, body = decoded(user['idToken'])
    key = scene.active_key(user['idToken'])
    published = json.dumps(scene.host.request('GET', KEYS_PATH).json['keys'][0]).encode()
    for secret in (public_pem(key), public_pem(key).strip(), published, key.private.public_key().public_numbers().n.to_bytes(256, 'big')):
        text = joined({**header, 'alg': algorithm}, body).rpartition('.')[0]
        digest = {'HS256': hashlib.sha256, 'HS384': hashlib.sha384, 'HS512': hashlib.sha512}[algorithm]
        refusals(scene, f'{text}.{base64url(hmac.new(secret, text.encode(), digest).digest())}')


@pytest.mark.parametrize('algorithm', ['RS384', 'RS512', 'PS256'])
def test_a02_another_algorithm_of_the_same_key(scene, user, algorithm):
    header, body = decoded(user['idToken'])
    key = scene.active_key(user['idToken'])
    refusals(scene, jwt.encode(body, key.private, algorithm, headers=header | {'alg': algorithm}))


@pytest.mark.parametrize('kid', ['../../dev/null', "' OR '1'='1", 'http://127.0.0.1:1/jwks', 'k' * 10_000, '', 7, None, ['x'], {'x': 1}],
                         ids=lambda kid: repr(kid)[:20])
def test_a03_strange_names_of_keys(scene, user, kid):
    header, body = decoded(user['idToken'])
    refusals(scene, signed(scene.keys['attacker-key'], {**header, 'kid': kid}, body))


def test_a03_keys_that_the_token_brings(scene, user):
    header, body = decoded(user['idToken'])
    attacker, asked = scene.keys['attacker-key'], []

    class Exchange(Handler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

    with LocalServer(Exchange) as server:
        for more in ({'jwk': attacker.jwk}, {'jku': f'{server.url}/jwks'}, {'x5u': f'{server.url}/cert'}, {'x5c': ['AAAA']}):
            for kid in (header['kid'], 'attacker-key'):
                refusals(scene, signed(attacker, {**header, 'kid': kid, **more}, body))
        assert asked == []


def test_a03_a_header_twice(scene, user):
    header, body = decoded(user['idToken'])
    twice = '{"alg":"RS256","alg":"none","typ":"JWT","kid":"%s"}' % header['kid']
    refusals(scene, joined(twice, body))
    refusals(scene, signed(scene.keys['attacker-key'], twice, body))


def test_a05_tokens_of_other_kinds(scene, user):
    identity = scene.identity
    cookie = identity.managed(':createSessionCookie', idToken=user['idToken'], validDuration=600)['sessionCookie']
    account = identity.service_account()
    now = scene.clock.now()
    custom = jwt.encode({
        'iss': account['client_email'], 'sub': account['client_email'], 'uid': user['localId'], 'iat': now, 'exp': now + 3600,
        'aud': 'https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit'}, account['private_key'], 'RS256')
    check = identity.ask('POST', f'{APP_CHECK}/v1/projects/demo-p/apps/1:12345:ios:abcdef0123456789:exchangeDebugToken?key={identity.key}',
                         {'debug_token': DEBUG_TOKEN}, {}).json['token']
    for token in (cookie, custom, check, user['refreshToken']):
        refusals(scene, token)
    # And an ID token is no App Check token.
    assert scene.host.result('whoami', app=user['idToken'])['appId'] is None
    consumed = identity.manage(':verifyAppCheckToken', version='v1beta', app_check_token=user['idToken'])
    assert consumed.status in (403, 404), consumed.body


def test_a05_each_kind_has_keys_of_its_own(scene, user):
    paths = (KEYS_PATH, f'{API}/v1/sessionCookiePublicKeys', f'{APP_CHECK}/v1/jwks')
    names = [{key['kid'] for key in scene.host.request('GET', path).json['keys']} for path in paths]
    assert all(names) and not names[0] & names[1] and not names[0] & names[2] and not names[1] & names[2], names


def test_a05_a_token_of_another_tenant(scene):
    identity = scene.identity
    tenants = [identity.manage('tenants', version='v2', displayName='t', allowPasswordSignup=True).json['tenantId'] for _ in range(2)]
    token = identity.sign_up('tenant@example.com', tenantId=tenants[0])['idToken']
    assert identity.refused('accounts:lookup', idToken=token, tenantId=tenants[1]).startswith('TENANT_ID_MISMATCH')
    assert identity.refused('accounts:update', idToken=token, tenantId=tenants[1], displayName='x').startswith('TENANT_ID_MISMATCH')


def changed(name, value):
    return lambda body, now: {**{key: item for key, item in body.items() if key != name}, **({} if value is None else {name: value})}


WRONG_CLAIMS = {
    'another issuer': changed('iss', 'https://securetoken.google.com/other'), 'no issuer': changed('iss', None),
    'an issuer like it': changed('iss', 'https://securetoken.google.com/demo-p/'),
    'another audience': changed('aud', 'other'), 'audiences': changed('aud', ['demo-p']), 'no audience': changed('aud', None),
    'no subject': changed('sub', None), 'an empty subject': changed('sub', ''), 'a long subject': changed('sub', 'x' * 129),
    'a number as a subject': changed('sub', 5),
    'an end as a text': lambda body, now: {**body, 'exp': str(now + 3600)}, 'no end': changed('exp', None), 'a negative end': changed('exp', -1),
    'a huge end': changed('exp', 10 ** 30), 'ended': lambda body, now: {**body, 'iat': now - 3610, 'auth_time': now - 3610, 'exp': now - 100},
    'issued later': lambda body, now: {**body, 'iat': now + 1000, 'exp': now + 4600},
    'signed in later': lambda body, now: {**body, 'auth_time': now + 1000},
    'no time of issue': changed('iat', None), 'a text as time of issue': lambda body, now: {**body, 'iat': str(now)},
}


@pytest.mark.parametrize('name', WRONG_CLAIMS)
def test_a06_wrong_claims_with_the_right_signature(scene, user, name):
    header, body = decoded(user['idToken'])
    token = signed(scene.active_key(user['idToken']), header, WRONG_CLAIMS[name](body, scene.clock.now()))
    refusals(scene, token)


@pytest.mark.parametrize('name, values', [('aud', ['other', 'demo-p']), ('aud', ['demo-p', 'other']), ('sub', ['nobody', None])])
def test_a06_claims_twice(scene, user, name, values):
    header, body = decoded(user['idToken'])
    values = [body[name] if value is None else value for value in values]
    rest = json.dumps({key: value for key, value in body.items() if key != name})[1:]
    twice = '{' + ','.join(f'{json.dumps(name)}:{json.dumps(value)}' for value in values) + ',' + rest
    answer = scene.identity.post('accounts:lookup', idToken=signed(scene.active_key(user['idToken']), header, twice))
    # A token with a claim twice is refused, or read as its last value says, which libraries agree on; never as both.
    assert answer.status == 400 or values[-1] in (claims(user['idToken'])[name],), answer.body


def test_a06_a_right_token_is_accepted(scene, user):
    """The other tests of this file would pass against a host that refuses everything."""
    header, body = decoded(user['idToken'])
    token = signed(scene.active_key(user['idToken']), header, body)
    assert scene.identity.lookup(token)['localId'] == user['localId']
    assert scene.host.result('whoami', token=token)['uid'] == user['localId']


@pytest.mark.parametrize('token', ['', '.', '..', '...', 'a.b', 'a.b.c.d', '\x00.\x00.\x00', 'é.é.é', '{}.{}.{}', 'e30.e30.', 'x' * 100_000])
def test_malformed_tokens(scene, token):
    answer = scene.identity.post('accounts:lookup', idToken=token)
    assert answer.status == 400, answer.body
    assert answer.json['error']['message'].startswith(('INVALID_ID_TOKEN', 'MISSING_ID_TOKEN')), answer.body
