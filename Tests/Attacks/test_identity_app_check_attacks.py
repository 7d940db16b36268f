"""Attacks on App Check: forged attestations, challenges and debug tokens used again, tokens used twice."""

import base64
import concurrent.futures
import hashlib

import pytest

from app_attest import DEVELOPMENT, FakeApple
from identity import APP_CHECK
from identity_scene import scene_of, stage  # noqa: F401

APP = '1:12345:ios:abcdef0123456789'
OTHER = '1:12345:ios:ffffffffffffffff'
DEBUG_TOKEN = '11111111-2222-4333-8444-555555555555'
PLACEHOLDER = 'eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=='

debugging = scene_of(appCheck={'debugTokens': [DEBUG_TOKEN]}, functions={'whoami': {}, 'strictFn': {}, 'onceFn': {}})
attesting = scene_of(appCheck={'appAttest': {'teamId': 'TEAM123456', 'bundleId': 'com.example.app', 'rootCA': '${fakeAppleRoot}'}})
plain = scene_of()


def exchange(scene, verb, app=APP, project='demo-p', **body):
    return scene.identity.ask('POST', f'{APP_CHECK}/v1/projects/{project}/apps/{app}:{verb}?key={scene.identity.key}', body, {})


def challenge(scene):
    answer = exchange(scene, 'generateAppAttestChallenge')
    assert answer.status == 200, answer.body
    return answer.json['challenge']


def attest(scene, key, given=None, statement=None, app=APP, key_id=None, **options):
    """The answer to an attestation of a key with a fresh or a given challenge."""
    given = given or challenge(scene)
    statement = statement or key.attestation(base64.b64decode(given), **options)
    return exchange(scene, 'exchangeAppAttestAttestation', app, keyId=key_id or key.identifier, attestationStatement=statement, challenge=given)


def test_a26_debug_tokens(debugging, plain):
    assert exchange(debugging, 'exchangeDebugToken', debugToken=DEBUG_TOKEN).status == 200
    wrong = [(debugging, APP, token) for token in (DEBUG_TOKEN[:-1] + '6', '', DEBUG_TOKEN[:-1], PLACEHOLDER)]
    for scene, app, token in (*wrong, (debugging, OTHER, DEBUG_TOKEN), (plain, APP, DEBUG_TOKEN)):
        answer = exchange(scene, 'exchangeDebugToken', app, debugToken=token)
        assert answer.status in (400, 403, 404), answer.body
        assert 'token' not in answer.json


def test_a26_other_projects(debugging):
    assert exchange(debugging, 'exchangeDebugToken', project='other', debugToken=DEBUG_TOKEN).status in (403, 404)


@pytest.mark.parametrize('token', [PLACEHOLDER, 'x', 'a.b.c', 'e30.e30.'])
def test_a26_the_placeholder_and_garbage(debugging, token):
    assert debugging.host.result('whoami', app=token)['appId'] is None
    assert debugging.host.callable('strictFn', app=token).status == 401


def test_a26_a_token_is_used_up_once(debugging):
    token = exchange(debugging, 'exchangeDebugToken', debugToken=DEBUG_TOKEN, limitedUse=True).json['token']
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: debugging.host.result('onceFn', app=token), range(8)))
    assert sorted(answer['alreadyConsumed'] for answer in answers) == [False, *[True] * 7], answers


def test_a26_a_used_token_stays_used_after_a_restart(debugging):
    token = exchange(debugging, 'exchangeDebugToken', debugToken=DEBUG_TOKEN, limitedUse=True).json['token']
    assert debugging.host.result('onceFn', app=token)['alreadyConsumed'] is False
    debugging.identity.close()
    debugging.host.kill()
    debugging.host.start()
    assert debugging.host.result('onceFn', app=token)['alreadyConsumed'] is True


def test_a26_a_right_attestation(attesting):
    key = attesting.apple.new_key()
    answer = attest(attesting, key)
    assert answer.status == 200, answer.body
    artifact = answer.json['artifact']
    for counter in (1, 2):
        given = challenge(attesting)
        assertion = key.assertion(base64.b64decode(artifact), base64.b64decode(given), counter)
        answer = exchange(attesting, 'exchangeAppAttestAssertion', artifact=artifact, assertion=assertion, challenge=given)
        assert answer.status == 200, answer.body
    # The counter went back, or stayed.
    for counter in (2, 1, 0):
        given = challenge(attesting)
        assertion = key.assertion(base64.b64decode(artifact), base64.b64decode(given), counter)
        assert exchange(attesting, 'exchangeAppAttestAssertion', artifact=artifact, assertion=assertion, challenge=given).status == 403


def test_a26_challenges_for_all(attesting):
    """One address does not take the challenges of the others."""
    answers = [exchange(attesting, 'generateAppAttestChallenge').status for _ in range(502)]
    assert answers[:490] == [200] * 490 and answers[-1] == 429
    attesting.clock.advance(301)
    assert exchange(attesting, 'generateAppAttestChallenge').status == 200


@pytest.mark.parametrize('app', ['1:12345:web:abcdef0123456789', '1:12345:android:abcdef0123456789'])
def test_a26_a_proof_of_another_platform(attesting, app):
    assert attesting.identity.ask('POST', f'{APP_CHECK}/v1/projects/demo-p/apps', {'appId': app}).status == 200
    key, given = attesting.apple.new_key(), challenge(attesting)
    assert attest(attesting, key, given, app=app).status == 400
    assert exchange(attesting, 'generateAppAttestChallenge', app).status == 400
    assert attest(attesting, key, given).status == 200


def test_a26_a_challenge_is_used_once(attesting):
    given = challenge(attesting)
    assert attest(attesting, attesting.apple.new_key(), given).status == 200
    assert attest(attesting, attesting.apple.new_key(), given).status in (400, 403)


def test_a26_a_challenge_of_nobody_or_of_long_ago(attesting):
    own = base64.b64encode(bytes(32)).decode()
    assert attest(attesting, attesting.apple.new_key(), own).status in (400, 403)
    given = challenge(attesting)
    attesting.clock.advance(400)
    assert attest(attesting, attesting.apple.new_key(), given).status in (400, 403)


def test_a26_another_app_or_authority(attesting):
    stranger = FakeApple('TEAM123456', 'com.example.app')
    other_bundle = attesting.apple.new_key(app=hashlib.sha256(b'TEAM123456.com.example.evil').digest())
    for key in (stranger.new_key(), other_bundle, attesting.apple.new_key(aaguid=DEVELOPMENT), attesting.apple.new_key(aaguid=bytes(16))):
        answer = attest(attesting, key)
        assert answer.status == 403, answer.body
    assert attest(attesting, attesting.apple.new_key(), counter=1).status == 403
    one, two = attesting.apple.new_key(), attesting.apple.new_key()
    assert attest(attesting, one, key_id=two.identifier).status == 403
    assert attest(attesting, attesting.apple.new_key(), app=OTHER).status in (403, 404)


CBOR = [b'\x9f' * 5000, b'\x5b' + b'\xff' * 8, b'\xa3' + b'\x61a' * 3, b'\x81' * 3000]


@pytest.mark.parametrize('statement', ['', 'AA==', 'not base64!', 'A' * 500_000, *(base64.b64encode(data).decode() for data in CBOR)],
                         ids=lambda text: text[:10])
def test_a26_malformed_statements(attesting, statement):
    answer = attest(attesting, attesting.apple.new_key(), statement=statement or ' ')
    assert answer.status in (400, 403, 413), answer.body[:300]
    assert attest(attesting, attesting.apple.new_key()).status == 200


def test_a26_changed_statements(attesting):
    """No byte of a statement can be changed, but the receipt's and those of the authority's own certificate fields."""
    given = challenge(attesting)
    key = attesting.apple.new_key()
    right = bytearray(base64.b64decode(key.attestation(base64.b64decode(given))))
    data = right.index(b'authData')
    for place in (data + 12, data + 20, data + 45, data + 48, data + 60, data + 90, data + 140, data + 170):
        changed = bytearray(right)
        changed[place] ^= 1
        given = challenge(attesting)
        assert attest(attesting, key, given, base64.b64encode(changed).decode()).status in (400, 403), place


def test_a26_an_assertion_of_another_key(attesting):
    key, other = attesting.apple.new_key(), attesting.apple.new_key()
    artifact = attest(attesting, key).json['artifact']
    attest(attesting, other)
    given = challenge(attesting)
    for artifact_sent in (artifact, 'AAAA', artifact[:-4] + 'AAAA'):
        assertion = other.assertion(base64.b64decode(artifact_sent), base64.b64decode(given), 5)
        answer = exchange(attesting, 'exchangeAppAttestAssertion', artifact=artifact_sent, assertion=assertion, challenge=given)
        assert answer.status in (400, 403), answer.body
        given = challenge(attesting)
