"""App Check with Play Integrity: a server on loopback stands for Google's, which gives access tokens and decodes the tokens of devices."""

import base64
import contextlib
import json
import urllib.parse

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from hearth import Host
from identity import APP_CHECK, Identity
from identity_providers import Provider, decoded
from wire import Wire

APP, PACKAGE = '1:12345:android:abcdef0123456789', 'com.example.app'
CERTIFICATE = bytes(range(32))


class FakePlay(Provider):
    """`verdicts` has the content of each device's token."""

    def __init__(self):
        super().__init__()
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.verdicts, self.refuses_account = {}, False
        self.given, self.refused = 0, set()

    @property
    def key_file(self):
        pem = self.private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
        return {'type': 'service_account', 'project_id': 'demo-p', 'private_key_id': 'k1', 'private_key': pem,
                'client_email': 'play@demo-p.iam.gserviceaccount.com', 'token_uri': f'{self.url}/token'}

    def answer(self, method, path, query, body, headers):
        self.note(path=path)
        if path == '/token':
            form = dict(urllib.parse.parse_qsl(body.decode()))
            content = jwt.decode(form['assertion'], self.private.public_key(), algorithms=['RS256'], audience=f'{self.url}/token')
            assert content['scope'] == 'https://www.googleapis.com/auth/playintegrity'
            if self.refuses_account:
                return 401, {'error': 'invalid_grant'}
            self.given += 1
            return 200, {'access_token': f'access-{self.given}', 'expires_in': 3600}
        if path != f'/v1/{PACKAGE}:decodeIntegrityToken' or headers.get('Authorization') != f'Bearer access-{self.given}':
            return 403, {'error': {'code': 403}}
        if self.given in self.refused:
            return 401, {'error': {'code': 401}}
        verdict = self.verdicts.get(json.loads(body)['integrity_token'])
        return (200, {'tokenPayloadExternal': verdict}) if verdict else (400, {'error': {'code': 400, 'status': 'INVALID_ARGUMENT'}})

    def device(self, name, nonce, **changes):
        """Makes the token of a device good, but for `changes`."""
        digest = base64.urlsafe_b64encode(changes.get('certificate', CERTIFICATE)).decode().rstrip('=')
        self.verdicts[name] = {
            'requestDetails': {'requestPackageName': changes.get('request', PACKAGE), 'timestampMillis': '1', 'nonce': nonce},
            'appIntegrity': {'appRecognitionVerdict': changes.get('verdict', 'PLAY_RECOGNIZED'), 'packageName': changes.get('package', PACKAGE),
                             'certificateSha256Digest': [digest]},
            'deviceIntegrity': {'deviceRecognitionVerdict': changes.get('device', ['MEETS_DEVICE_INTEGRITY'])}}
        return name


class Scene:
    """A host with Play Integrity."""

    def __init__(self, folder):
        self.play = FakePlay()
        (folder / 'play.json').write_text(json.dumps(self.play.key_file))
        settings = {'packageName': PACKAGE, 'certificates': [CERTIFICATE.hex(':')], 'serviceAccount': str(folder / 'play.json'),
                    'url': f'{self.play.url}/v1'}
        check = {'projectNumber': '12345', 'apps': [APP], 'playIntegrity': settings}
        self.host = Host(folder / 'host', (), config={'project': 'demo-p', 'appCheck': check}).start()
        self.identity = Identity(self.host)

    def ask(self, verb, **body):
        return self.identity.ask('POST', f'{APP_CHECK}/v1/projects/demo-p/apps/{APP}:{verb}', body, {})

    def challenge(self):
        return self.ask('generatePlayIntegrityChallenge').json['challenge']

    def exchange(self, token):
        return self.ask('exchangePlayIntegrityToken', playIntegrityToken=token)

    def close(self):
        self.identity.close()
        try:
            self.host.stop()
        finally:
            self.host.abandon()
            self.play.close()


@pytest.fixture
def scene(tmp_path):
    with contextlib.closing(Scene(tmp_path)) as scene:
        yield scene


def test_a_device(scene):
    nonce = scene.challenge()
    assert set(nonce) <= set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'), 'Play takes no other letters'
    answer = scene.exchange(scene.play.device('good', nonce))
    assert answer.status == 200, answer.body
    assert decoded(answer.json['token'])[1]['sub'] == APP
    assert scene.exchange('good').status == 403, 'a challenge is used once'
    # Google may write the challenge with the padding and letters of the other alphabet.
    other = base64.b64encode(base64.urlsafe_b64decode(scene.challenge() + '=')).decode()
    assert scene.exchange(scene.play.device('again', other)).status == 200
    assert [request['path'] for request in scene.play.requests].count('/token') == 1


@pytest.mark.parametrize('change', [{'request': 'com.evil'}, {'package': 'com.evil'}, {'certificate': bytes(32)}, {'verdict': 'UNRECOGNIZED_VERSION'},
                                    {'device': []}, {'device': ['MEETS_BASIC_INTEGRITY']}], ids=str)
def test_devices_and_apps_that_are_refused(scene, change):
    nonce = scene.challenge()
    assert scene.exchange(scene.play.device('bad', nonce, **change)).status == 403
    assert scene.exchange(scene.play.device('good', nonce)).status == 200, 'a verdict about another app uses up nothing'


def test_tokens_without_a_challenge_of_this_host(scene):
    for nonce in ('', 'AAAA', base64.urlsafe_b64encode(bytes(32)).decode(), '*' * 43):
        assert scene.exchange(scene.play.device('strange', nonce)).status == 403
    assert scene.exchange('unknown').status == 403
    assert scene.exchange('').status == 400 and scene.exchange('x' * 40_000).status == 400


@pytest.mark.parametrize('trouble', [{'status': 500}, {'status': 429}, {'status': 403}, {'body': b'no json'}], ids=str)
def test_trouble_is_no_rejection(scene, trouble):
    """Clients that are rejected wait for a day."""
    nonce = scene.challenge()
    scene.exchange('unknown')
    scene.play.misbehave(**trouble)
    assert scene.exchange(scene.play.device('good', nonce)).status == 503
    scene.play.misbehave()
    assert scene.exchange('good').status == 200


def test_an_access_token_that_google_refuses(scene):
    assert scene.exchange(scene.play.device('first', scene.challenge())).status == 200
    scene.play.refused = {1}
    assert scene.exchange(scene.play.device('second', scene.challenge())).status == 200, 'a fresh access token is used'
    # It is tried once more only.
    scene.play.refused = set(range(10))
    nonce = scene.challenge()
    assert scene.exchange(scene.play.device('third', nonce)).status == 503
    assert scene.play.given == 3
    scene.play.refused = set()
    assert scene.exchange('third').status == 200


def test_a_service_account_that_google_refuses(scene):
    scene.play.refuses_account = True
    assert scene.exchange(scene.play.device('good', scene.challenge())).status == 503
    scene.host.until_logged('cannot get an access token')
    with Wire(scene.host.port) as wire:
        assert wire.request('GET', '/_/ready').status == 200


def test_a_key_file_that_is_none(tmp_path):
    (tmp_path / 'play.json').write_text('{}')
    settings = {'packageName': PACKAGE, 'certificates': [CERTIFICATE.hex()], 'serviceAccount': str(tmp_path / 'play.json')}
    host = Host(tmp_path / 'host', (), config={'project': 'demo-p', 'appCheck': {'playIntegrity': settings}})
    with pytest.raises(AssertionError, match='not the key file of a service account'):
        host.start()
    host.abandon()
