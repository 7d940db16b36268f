"""Authentication: the matrix of specification section 3, with keys that the tests made."""

import hashlib
import hmac
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from hearth import UNAUTHENTICATED, Host
from tokens import PROJECT, SigningKey, app_check_claims, base64url, id_claims, unsigned, with_bad_signature


def hmac_with_public_key(keys):
    """The classic confusion: the public key's bytes as the secret of HS256."""
    secret = keys.id.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = base64url(json.dumps({'alg': 'HS256', 'typ': 'JWT', 'kid': keys.id.kid}).encode())
    body = base64url(json.dumps(id_claims()).encode())
    return f'{head}.{body}.{base64url(hmac.new(secret, f"{head}.{body}".encode(), hashlib.sha256).digest())}'


REFUSED = {
    'expired': lambda keys: keys.id_token(lifetime=-300),
    'no expiry': lambda keys: keys.id_token(exp=None),
    'issued in the future': lambda keys: keys.id_token(iat=int(time.time()) + 3900),
    'signed in in the future': lambda keys: keys.id_token(auth_time=int(time.time()) + 3900),
    'bad signature': lambda keys: with_bad_signature(keys.id_token()),
    'no signature': lambda keys: keys.id_token().rpartition('.')[0] + '.',
    'unsigned': lambda keys: unsigned(id_claims()),
    'other audience': lambda keys: keys.id_token(aud='other'),
    'list of audiences': lambda keys: keys.id_token(aud=[PROJECT, 'other']),
    'other issuer': lambda keys: keys.id_token(iss='https://securetoken.google.com/other'),
    'issuer on http': lambda keys: keys.id_token(iss=f'http://securetoken.google.com/{PROJECT}'),
    'empty subject': lambda keys: keys.id_token(''),
    'no subject': lambda keys: keys.id_token(sub=None),
    'subject of 129 characters': lambda keys: keys.id_token('u' * 129),
    'unknown key id': lambda keys: SigningKey('never-seen').sign(id_claims()),
    'no key id': lambda keys: jwt.encode(id_claims(), SigningKey().private, algorithm='RS256'),
    'another key under the same id': lambda keys: SigningKey(keys.id.kid).sign(id_claims()),
    'the App Check key': lambda keys: keys.app.sign(id_claims()),
    'an App Check token': lambda keys: keys.app_token(),
    'HS256 with the public key': hmac_with_public_key,
    'no JWT': lambda keys: 'abc',
    'three empty parts': lambda keys: '..',
    'parts that are no JSON': lambda keys: 'YWJj.YWJj.YWJj',
    'payload that is a list': lambda keys: base64url(b'{"alg":"none"}') + '.' + base64url(b'[1]') + '.',
    'four parts': lambda keys: keys.id_token() + '.x',
    'very long': lambda keys: 'x' * 6000,
}


@pytest.mark.parametrize('kind', REFUSED)
def test_refused_in_production(kind, conformance, keys):
    answer = conformance.callable('contextInfo', token=REFUSED[kind](keys))
    assert (answer.status, answer.json) == (401, UNAUTHENTICATED)


@pytest.mark.parametrize('value', ['Bearer', 'Bearer ', 'Beaver x', 'Basic dTpw', 'token', 'BearerX x'])
def test_refused_scheme(value, conformance):
    answer = conformance.callable('contextInfo', headers={'Authorization': value})
    assert (answer.status, answer.json) == (401, UNAUTHENTICATED)


def test_empty_header_is_no_token(conformance):
    assert conformance.result('contextInfo', headers={'Authorization': ''})['hasAuth'] is False


@pytest.mark.parametrize('uid', ['u', 'u' * 128, 'ü 😀', 'a/b.c'])
def test_accepted_in_production(uid, conformance, keys):
    result = conformance.result('contextInfo', token=keys.id_token(uid))
    assert (result['hasAuth'], result['uid'], result['tokenSub'], result['rawTokenMatches']) == (True, uid, uid, True)


def test_a_bad_body_with_a_bad_token_is_a_bad_body(conformance):
    answer = conformance.request('POST', conformance.path('echo'), {'Content-Type': 'application/json', 'Authorization': 'Bearer x'}, '{}')
    assert answer.status == 400


APP_REFUSED = {
    'absent': lambda keys: None,
    'empty': lambda keys: '',
    'placeholder': lambda keys: 'eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==',
    'expired': lambda keys: keys.app_token(lifetime=-300),
    'bad signature': lambda keys: with_bad_signature(keys.app_token()),
    'unsigned': lambda keys: unsigned(app_check_claims()),
    'other project': lambda keys: keys.app_token(aud=['projects/1', 'projects/other']),
    'other issuer': lambda keys: keys.app_token(iss='https://example.com/1'),
    'no subject': lambda keys: keys.app_token(sub=None),
    'the ID token key': lambda keys: keys.id.sign(app_check_claims()),
    'an ID token': lambda keys: keys.id_token(),
}


@pytest.mark.parametrize('kind', APP_REFUSED)
def test_app_check_enforced(kind, conformance, keys):
    answer = conformance.callable('enforcesAppCheck', app=APP_REFUSED[kind](keys))
    assert (answer.status, answer.json) == (401, UNAUTHENTICATED)


@pytest.mark.parametrize('kind', APP_REFUSED)
def test_app_check_not_enforced(kind, conformance, keys):
    result = conformance.result('contextInfo', app=APP_REFUSED[kind](keys))
    assert (result['hasApp'], result['appId']) == (False, None)


@pytest.mark.parametrize('name', ['enforcesAppCheck', 'contextInfo'])
def test_app_check_valid(name, conformance, keys):
    assert conformance.result(name, app=keys.app_token('1:2:ios:x'))['appId'] == '1:2:ios:x'


@pytest.mark.parametrize('name', ['enforcesAppCheck', 'contextInfo'])
def test_bad_id_token_is_refused_whatever_app_check_says(name, conformance, keys):
    assert conformance.callable(name, token='junk', app=keys.app_token()).status == 401


def test_consuming_tells_tokens_apart(conformance, keys):
    first, second = keys.app_token(), keys.app_token()
    consumed = [conformance.result('consumesAppCheck', app=token)['alreadyConsumed'] for token in (first, second, first, second)]
    assert consumed == [False, False, True, True]


def test_a_token_used_without_consuming_is_still_fresh(conformance, keys):
    token = keys.app_token()
    conformance.result('enforcesAppCheck', app=token)
    assert conformance.result('consumesAppCheck', app=token)['alreadyConsumed'] is False


def test_options_of_the_configuration_win(launch, keys):
    host = launch(keys=keys, config={'functions': {'enforcesAppCheck': {'enforceAppCheck': False}, 'echo': {'enforceAppCheck': True}}})
    assert host.callable('enforcesAppCheck').status == 200
    assert host.callable('echo').status == 401
    assert host.callable('echo', 1, app=keys.app_token()).status == 200


@pytest.fixture(scope='module')
def development(tmp_path_factory, keys):
    host = Host(tmp_path_factory.mktemp('development'), mode='development', keys=keys).start()
    yield host
    host.stop()


class TestDevelopment:
    def test_the_banner_says_that_unsigned_tokens_are_accepted(self, development, conformance):
        assert 'unsigned' in development.banner.lower()
        assert 'unsigned' not in conformance.banner.lower()

    def test_unsigned_tokens_are_accepted(self, development):
        result = development.result('contextInfo', token=unsigned(id_claims('dev')), app=unsigned(app_check_claims('app')))
        assert (result['uid'], result['appId']) == ('dev', 'app')

    def test_signed_tokens_are_still_verified(self, development, keys):
        assert development.result('contextInfo', token=keys.id_token('u'))['uid'] == 'u'
        assert development.callable('contextInfo', token=with_bad_signature(keys.id_token())).status == 401

    @pytest.mark.parametrize('token', ['abc', '..', base64url(b'{"alg":"none"}') + '.' + base64url(b'[1]') + '.',
                                       base64url(b'{"alg":"none"}') + '.' + base64url(b'{}') + '.'])
    def test_garbage_is_refused(self, token, development):
        assert development.callable('contextInfo', token=token).status == 401

    def test_enforcing_holds_here_too(self, development, keys):
        assert development.callable('enforcesAppCheck').status == 401
        assert development.callable('enforcesAppCheck', app=keys.app_token()).status == 200

    def test_headers_of_the_emulator_shell_are_ignored(self, development, conformance):
        headers = {'X-Callable-Context-Auth': '%7B%22uid%22%3A%22x%22%7D'}
        assert conformance.result('contextInfo', headers=headers)['hasAuth'] is False


class TestVerificationLog:
    """Each callable request leaves a line that says what was verified."""

    def test_failed(self, conformance):
        conformance.callable('contextInfo', token='junk')
        conformance.until_logged('Callable request verification failed')

    @pytest.mark.parametrize('kind, reason', [
        ('expired', r'the token expired 3\d\d s ago'),
        ('no expiry', 'iat.*or.*exp.*is missing'),
        ('issued in the future', r'not valid yet: its \W*iat\W* is 3\d\d\d s in the future'),
        ('bad signature', 'the signature does not match'),
        ('unsigned', 'the token has no signature'),
        ('other audience', r"the token's audience is \W*other\W*; this host's project is \W*demo-hearth"),
        ('list of audiences', r"the token's audience is \W*demo-hearth\W*,\W*other\W*; this host's project is \W*demo-hearth"),
        ('other issuer', r"the token's issuer is \W*https://securetoken.google.com/other\W*; this host accepts"),
        ('no subject', r'the token has no \W*sub\W*"'),
        ('subject of 129 characters', r'\W*sub\W* must be a text of 1 to 128 characters'),
        ('unknown key id', r'no key has the id \W*never-seen\W* that the token names'),
        ('no key id', r"the token's header has no \W*kid"),
        ('HS256 with the public key', r'the token is signed with \W*HS256\W*; this host accepts'),
        ('no JWT', 'it is not a token: a JSON Web Token is'),
    ])
    def test_the_reason_is_told(self, kind, reason, conformance, keys):
        conformance.callable('contextInfo', token=REFUSED[kind](keys))
        conformance.until_logged(rf'Callable request verification failed.*"auth":"INVALID","reason":"[^}}]*{reason}')

    def test_other_reasons(self, conformance, keys):
        conformance.callable('contextInfo', headers={'Authorization': 'Basic dTpw'})
        conformance.until_logged(r'verification failed.*"reason":"the Authorization header does not begin with \W*Bearer')
        conformance.callable('enforcesAppCheck')
        conformance.until_logged('verification failed.*"app":"MISSING".*"reason":"the function has enforceAppCheck, and the call has no')
        conformance.callable('enforcesAppCheck', app=keys.app_token(aud=['projects/other']))
        conformance.until_logged(r'verification failed.*"reason":"App Check: the token\'s audience is .*projects/other.* accepts a list with')

    def test_a_claim_is_shortened_and_escaped(self, conformance, keys):
        conformance.callable('contextInfo', token=keys.id_token(aud='evil\n\u202e"; ' + 'x' * 1000))
        line = conformance.until_logged(r'verification failed.*evil')
        reason = json.loads(line)['reason']
        assert reason.startswith(r"""the token's audience is "evil\u{a}\u{202e}\"; xxx""")
        assert len(reason) < 200 and '\n' not in reason

    def test_of_a_token_for_the_database(self, development):
        token = unsigned(id_claims(aud='another-project'))
        for _ in range(5):
            answer = development.request('GET', f'/x.json?ns={PROJECT}-default-rtdb&auth={token}')
            assert (answer.status, answer.json) == (401, {'error': 'Unauthorized request.'})
        reason = 'a token for the database was refused'
        line = json.loads(development.until_logged(reason))
        assert line['reason'] == f'the token\'s audience is "another-project"; this host\'s project is "{PROJECT}"'
        assert development.log.count(reason) < 4, 'a client that repeats its request does not fill the log'

    def test_tokens_are_not_in_the_log(self, conformance, keys):
        token, app = keys.id_token('secretive'), keys.app_token('secretive')
        conformance.result('contextInfo', token=token, app=app)
        bad = with_bad_signature(token)
        conformance.callable('contextInfo', token=bad)
        conformance.until_logged('verification failed')
        for text in (token, app, bad):
            assert text not in conformance.log
            assert text.rpartition('.')[2] not in conformance.log
