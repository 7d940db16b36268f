"""HTTPS with a certificate made here."""

import resource
import socket
import ssl
import subprocess

import pytest

from certificates import make_certificate, trusting
from hearth import callable_headers
from processes import until
from secure_host import TLS, Secure
from wire import Wire


@pytest.fixture
def secure(prepare):
    return Secure(prepare(config=TLS)).start()


def test_call(secure):
    assert secure.call('"x"').json == {'result': 'x'}


def test_large_bodies(secure):
    text = '"' + 'x' * 3_000_000 + '"'
    assert secure.call(text).body == b'{"result":' + text.encode() + b'}'


def test_many_requests_on_one_connection(secure):
    with secure.wire() as wire:
        for number in range(50):
            assert wire.request('POST', secure.host.path('echo'), callable_headers(), '{"data":%d}' % number).json == {'result': number}


@pytest.mark.parametrize('version', [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions(version, secure):
    with secure.wire(tls=trusting(secure.folder, minimum_version=version, maximum_version=version)) as wire:
        assert wire.socket.version() == {ssl.TLSVersion.TLSv1_2: 'TLSv1.2', ssl.TLSVersion.TLSv1_3: 'TLSv1.3'}[version]


def test_old_version_is_refused(secure):
    outcome = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{secure.host.port}', '-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0'],
                             input=b'', capture_output=True, timeout=20)
    assert outcome.returncode != 0
    assert b'Cipher is (NONE)' in outcome.stdout or b'alert' in outcome.stderr
    assert secure.call('1').status == 200


@pytest.mark.parametrize('offered, chosen', [(['http/1.1'], 'http/1.1'), (['h2', 'http/1.1'], 'h2'), (['h2'], 'h2')])
def test_protocol_negotiation(offered, chosen, secure):
    with secure.wire(tls=trusting(secure.folder, offered)) as wire:
        assert wire.socket.selected_alpn_protocol() == chosen


def test_protocol_that_is_not_spoken(secure):
    """Refused, or left out of the answer; never agreed to."""
    try:
        with secure.wire(tls=trusting(secure.folder, ['h3'])) as wire:
            assert wire.socket.selected_alpn_protocol() is None
    except ssl.SSLError as error:
        assert 'ALERT' in str(error).upper()


def test_certificate_that_changes(secure):
    """Open connections go on with the old one, new ones get the new one."""
    assert 'localhost' in secure.subject()
    with secure.wire() as old:
        assert old.request('GET', '/_/health').status == 200
        make_certificate(secure.folder, 'renewed')
        until(lambda: 'renewed' in secure.subject(), 'the new certificate is used')
        assert old.request('GET', '/_/health').status == 200


def test_broken_certificate_keeps_the_old_one(secure):
    (secure.folder / 'cert.pem').write_text('broken')
    secure.host.until_logged('cert.pem')
    assert 'localhost' in secure.subject()


def test_certificate_that_could_not_be_read_is_read_again(secure):
    limits = resource.prlimit(secure.host.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(secure.host.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    make_certificate(secure.folder, 'renewed')
    secure.host.until_logged('the certificate could not be reloaded')
    resource.prlimit(secure.host.pid, resource.RLIMIT_NOFILE, limits)
    until(lambda: 'renewed' in secure.subject(), 'the new certificate is used')


@pytest.mark.parametrize('data', [b'GET / HTTP/1.1\r\nHost: a\r\n\r\n', b'\x16\x03\x01\x40\x00' + b'x' * 100, b'\0' * 1000])
def test_what_is_no_handshake(data, secure):
    with Wire(secure.host.port) as wire:
        wire.send(data)
        wire.socket.shutdown(socket.SHUT_WR)
        assert b'200' not in wire.read_to_end()
    assert secure.call('1').status == 200


def test_handshake_that_never_ends_is_let_go(prepare):
    host = prepare(config={'server': {**TLS['server'], 'limits': {'headerSeconds': 0.3, 'idleSeconds': 0.3}}})
    make_certificate(host.folder)
    host.spawn()

    def listening():
        try:
            return Wire(host.port)
        except ConnectionRefusedError:
            return None

    with until(listening, 'it listens') as wire:
        wire.send(b'\x16\x03\x01')
        wire.read_to_end()


@pytest.mark.parametrize('broken', ['certificate', 'key'])
def test_file_that_is_not_there(broken, prepare):
    host = prepare(config=TLS)
    make_certificate(host.folder)
    (host.folder / {'certificate': 'cert.pem', 'key': 'key.pem'}[broken]).unlink()
    host.spawn()
    assert host.process.wait(30) == 1
    host.process = None
    assert {'certificate': 'cert.pem', 'key': 'key.pem'}[broken] in host.log


def test_key_of_another_certificate(prepare):
    host = prepare(config=TLS)
    make_certificate(host.folder)
    kept = (host.folder / 'cert.pem').read_bytes()
    make_certificate(host.folder)
    (host.folder / 'cert.pem').write_bytes(kept)
    host.spawn()
    assert host.process.wait(30) == 1
    host.process = None
    assert 'key.pem' in host.log
