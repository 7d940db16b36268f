"""Fetching keys: once, kept as long as allowed, fetched again when a token names an unknown key."""

import datetime
import json

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from hearth import free_port
from identity import Identity, sign_in_host
from load import Load
from processes import until
from tokens import PROJECT, KeyServer, SigningKey, app_check_claims, id_claims


def config(server, **more):
    return {'auth': {'keys': {'jwksUrl': server.url}, **more}, 'appCheck': {'keys': {'jwksUrl': server.url}}}


def status(host, key, **claims):
    return host.callable('contextInfo', token=key.sign(id_claims(**claims))).status


def certificate(key):
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, 'tests')])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.private.public_key())
    builder = builder.serial_number(1).not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    return builder.sign(key.private, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


def test_keys_are_fetched_once(launch):
    key = SigningKey('a')
    with KeyServer(key) as server:
        host = launch(config=config(server))
        assert [status(host, key) for _ in range(5)] == [200] * 5
        assert server.calls == 1
        result = host.result('contextInfo', app=key.sign(app_check_claims()))
        assert result['hasApp'] is True


def test_certificates_by_their_ids(launch):
    """The hosted service publishes its keys in this form."""
    key, renewed = SigningKey('a'), SigningKey('b')
    with KeyServer(key, document=lambda *keys: {key.kid: certificate(key) for key in keys}) as server:
        host = launch(config={'auth': {'keys': {'certificatesUrl': server.url}}})
        assert status(host, key) == 200
        server.keys = [renewed]
        until(lambda: status(host, renewed) == 200, 'the new key is trusted', 40)
        assert status(host, key) == 401


def test_many_at_once_cause_one_fetch(launch):
    key = SigningKey('a')
    with KeyServer(key) as server:
        host = launch(config=config(server))
        with Load(host, 'contextInfo', token=key.sign(id_claims())) as load:
            until(lambda: load.count() > 100, 'calls')
        assert server.calls == 1
        assert set(load.answers()) == {(200, None)}


def test_rotation(launch):
    """The new key's first token makes the host look again; the old key is no longer trusted then."""
    old, new = SigningKey('old'), SigningKey('new')
    with KeyServer(old) as server:
        host = launch(config=config(server))
        assert status(host, old) == 200
        server.keys = [new]
        assert until(lambda: status(host, new) == 200, 'the new key is trusted', 40)
        assert status(host, old) == 401


def test_unknown_keys_do_not_flood_the_source(launch):
    known = SigningKey('known')
    with KeyServer(known) as server:
        host = launch(config=config(server))
        assert status(host, known) == 200
        forged = SigningKey('x')
        for number in range(30):
            forged.kid = f'unknown-{number}'
            assert status(host, forged) == 401
        assert server.calls <= 3
        assert status(host, known) == 200


@pytest.mark.parametrize('cache_control', ['max-age=1', 'public, max-age=1, must-revalidate'])
def test_keys_are_fetched_again_when_their_time_is_over(cache_control, launch):
    key = SigningKey('a')
    with KeyServer(key, cache_control=cache_control) as server:
        host = launch(config=config(server))
        assert status(host, key) == 200
        until(lambda: status(host, key) == 200 and server.calls >= 2, 'a second fetch', 40)


def test_a_source_that_comes_late(launch):
    """While there are no keys every token is refused; then they are found without a restart."""
    key = SigningKey('a')
    with KeyServer(key) as server:
        server.status = 500
        host = launch(config=config(server))
        assert status(host, key) in (401, 503)
        assert host.result('contextInfo')['hasAuth'] is False
        server.status = 200
        until(lambda: status(host, key) == 200, 'the keys are found', 40)


def test_a_source_that_fails_later_keeps_its_keys(launch):
    key = SigningKey('a')
    with KeyServer(key, cache_control='max-age=1') as server:
        host = launch(config=config(server))
        assert status(host, key) == 200
        server.status = 500
        until(lambda: status(host, key) == 200 and server.calls >= 2, 'a fetch that failed', 40)
        assert status(host, key) == 200


def test_a_source_that_is_not_there_is_named_in_the_log(launch):
    url = f'http://127.0.0.1:{free_port()}/jwks'
    host = launch(config={'auth': {'keys': {'jwksUrl': url}}})
    assert status(host, SigningKey('a')) in (401, 503)
    host.until_logged(url)


def test_certificates_in_a_file(prepare):
    key = SigningKey('c1')
    host = prepare()
    path = host.folder / 'certificates.json'
    path.write_text(json.dumps({'c1': certificate(key)}))
    host.write_config(('Conformance',), {'auth': {'keys': {'certificatesFile': 'certificates.json'}}})
    host.start()
    assert status(host, key) == 200
    assert status(host, SigningKey('c1')) == 401


def test_issuer_of_ones_own(launch):
    key = SigningKey('a')
    with KeyServer(key) as server:
        host = launch(config=config(server, issuer='https://id.example.org/x'))
        assert status(host, key, iss='https://id.example.org/x') == 200
        assert status(host, key) == 401


@pytest.mark.parametrize('mode', ['production', 'development'])
def test_only_own_tokens_by_default(mode, launch):
    """Nothing is asked for keys: the log says at once why a token of Firebase for this project is refused."""
    host = launch(mode=mode)
    key = SigningKey('of-firebase')
    assert status(host, key) == 401
    host.until_logged('accepts only its own tokens')
    assert host.result('contextInfo', app=key.sign(app_check_claims()))['hasApp'] is False
    assert 'could not be read' not in host.log


def test_own_tokens_beside_those_of_another_issuer(tmp_path):
    key = SigningKey('a')
    with KeyServer(key) as server:
        auth = {'keys': {'jwksUrl': server.url}, 'issuer': 'https://id.example.org/x'}
        host = sign_in_host(tmp_path / 'host', config={'project': PROJECT, 'auth': auth}, plugins=('Conformance',)).start()
        try:
            with Identity(host) as identity:
                token = identity.sign_up('ada@example.com')['idToken']
            assert host.result('contextInfo', token=token)['hasAuth'] is True
            assert status(host, key, iss='https://id.example.org/x') == 200
            assert status(host, key) == 401
        finally:
            host.stop()


def test_clock_skew(launch):
    key = SigningKey('a')
    with KeyServer(key) as server:
        host = launch(config=config(server, clockSkewSeconds=600))
        assert status(host, key, lifetime=-120) == 200
        assert status(host, key, lifetime=-1200) == 401


@pytest.mark.parametrize('text', ['', '{', '[]', '{"keys": 1}', '{"keys": [{"kty": "RSA", "kid": "a", "n": "!", "e": "AQAB"}]}'])
def test_key_file_that_is_broken(text, prepare):
    """No token could be trusted then: that is reported at once, not at the first sign-in."""
    host = prepare()
    (host.folder / 'keys.json').write_text(text)
    host.write_config(('Conformance',), {'auth': {'keys': {'jwksFile': 'keys.json'}}})
    host.spawn()
    assert host.process.wait(30) == 1
    host.process = None
    assert 'keys.json' in host.log.splitlines()[-1]
