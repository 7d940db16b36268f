"""Attacks on HTTP/2 that others have suffered: cheap frames that cause costly work, and clients that never take what they asked for."""

import contextlib
import struct
import time

import pytest

from databases import OPEN_RULES, OWNER, Database
from hearth import Host, callable_headers
from http2 import (
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HEADERS, INITIAL_WINDOW_SIZE, INTERNAL_ERROR, PING,
    PRIORITY, PROTOCOL_ERROR, RST_STREAM, SETTINGS, WINDOW_UPDATE, Frames, frame, literal, settings_payload)
from processes import anonymous_kib, until

CANCEL = struct.pack('>I', 8)
CALM = {ENHANCE_YOUR_CALM}
# The connection may be gone before the code could be read.
CALM_OR_GONE = {ENHANCE_YOUR_CALM, None}
GONE = {ENHANCE_YOUR_CALM, PROTOCOL_ERROR, INTERNAL_ERROR, None}


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('http2-attacks'), ['Conformance', 'probe'], mode='development',
                config={'server': {'limits': {'headerSeconds': 1.5, 'bodySeconds': 1.5}}}).start()
    host.result('pid')
    yield host
    host.stop()


@pytest.fixture
def client(host):
    with Frames(host.port) as client:
        client.until(lambda: client.remote_settings is not None)
        yield client


@pytest.fixture(autouse=True)
def served(host):
    """Other connections are served during and after an attack."""
    yield
    assert host.result('echo', 1) == 1
    until(lambda: host.result('open') == 1, 'no call is left')


def flood(client, piece, times):
    """Sends as much as the host takes."""
    with contextlib.suppress(OSError):
        for _ in range(times):
            client.raw(piece)


# -- resets

def test_rapid_reset(host, client):
    """CVE-2023-44487: requests are cancelled as soon as they are sent, so that the limit of streams is never reached."""
    fields = client.fields('POST', host.path('waits'), callable_headers())
    head, body = client.encoded(fields), b'{"data":null}'
    again = client.encoded(fields)
    piece = b''
    for number in range(400):
        stream = 2 * number + 1
        piece += frame(HEADERS, END_HEADERS, stream, again if number else head) + frame(DATA, END_STREAM, stream, body)
        piece += frame(RST_STREAM, 0, stream, CANCEL)
    flood(client, piece, 1)
    assert client.ending() in CALM_OR_GONE
    until(lambda: host.result('open') == 1, 'the cancelled calls have ended')


def test_faults_that_make_the_host_reset(host, client):
    """CVE-2025-8671: the client causes faults, so that the host cancels its requests for it."""
    fields = client.fields('POST', host.path('waits'), callable_headers())
    pieces = []
    for number in range(400):
        stream = 2 * number + 1
        pieces.append(frame(HEADERS, END_HEADERS, stream, client.encoded(fields)) + frame(DATA, END_STREAM, stream, b'{"data":null}')
                      + frame(WINDOW_UPDATE, 0, stream, struct.pack('>I', 0)))
    flood(client, b''.join(pieces), 1)
    assert client.ending() in {ENHANCE_YOUR_CALM, PROTOCOL_ERROR, None}


def test_some_resets_are_fine(host, client):
    for _ in range(100):
        stream = client.call(host, 'waits')
        client.send(RST_STREAM, 0, stream, CANCEL)
    client.ping()
    assert client.result(host, 'echo', 1) == 1


# -- heads

def test_continuations_without_end(host, client):
    """CVE-2024-24549 and others: a head that never ends."""
    before = anonymous_kib(host.pid)
    client.send(HEADERS, END_STREAM, 1, client.encoded(client.fields()))
    flood(client, frame(CONTINUATION, 0, 1, client.encoded([('x-filler', 'y' * 8000)])), 1000)
    assert client.ending() in GONE
    assert anonymous_kib(host.pid) - before < 4096


def test_empty_continuations(client):
    client.send(HEADERS, END_STREAM, 1, client.encoded(client.fields()))
    flood(client, frame(CONTINUATION, 0, 1) * 100, 1000)
    assert client.ending() in GONE


def test_a_small_block_with_large_fields(host, client):
    """A field of 4 KiB in the table of the compression, and thousands of references to it of one byte each."""
    before = anonymous_kib(host.pid)
    entry = b'\x40\x01x' + b'\x7f\xc0\x1e' + b'y' * 4031
    client.send(HEADERS, END_STREAM | END_HEADERS, 1, literal(client.fields()) + entry)
    assert client.answer(1).status == 200
    client.send(HEADERS, END_STREAM | END_HEADERS, 3, literal(client.fields()) + b'\xbe' * 16000)
    assert client.ending() in CALM
    assert anonymous_kib(host.pid) - before < 4096


def test_a_block_that_is_only_too_large(host, client):
    """Refused, and the connection goes on: the tables of the compression stay in step."""
    assert client.request('GET', '/_/health', [('x-large', 'z' * 9000), ('x-larger', 'z' * 9000)]).status == 431
    assert client.result(host, 'echo', 1) == 1


def test_a_head_that_takes_too_long(client):
    client.send(HEADERS, END_STREAM, 1, client.encoded(client.fields()))
    assert client.ending() in CALM


def test_a_preface_that_takes_too_long(host):
    with Frames(host.port, preface=b'') as client:
        client.raw(b'PRI * HTTP')
        assert client.socket.recv(100).startswith(b'HTTP/1.1 408')


# -- floods

@pytest.mark.parametrize('piece', [
    frame(PING, 0, 0, b'12345678'), frame(SETTINGS, 0, 0), frame(SETTINGS, 0, 0, settings_payload({4: 65535}) * 30),
    frame(PRIORITY, 0, 3, struct.pack('>IB', 0, 1)), frame(WINDOW_UPDATE, 0, 0, struct.pack('>I', 1)), frame(PING, ACK, 0, b'12345678'),
], ids=['pings', 'settings', 'many settings', 'priorities', 'windows', 'answers to pings'])
def test_floods_of_frames(piece, host, client):
    before = anonymous_kib(host.pid)
    flood(client, piece * 100, 300)
    assert client.ending() in CALM_OR_GONE
    assert anonymous_kib(host.pid) - before < 4096


def test_flood_of_empty_data(host, client):
    """CVE-2019-9518."""
    stream = client.open(client.fields('POST', host.path('echo'), callable_headers()), END_HEADERS)
    flood(client, frame(DATA, 0, stream) * 100, 300)
    assert client.ending() in CALM_OR_GONE


def test_flood_by_a_client_that_does_not_read(host):
    """CVE-2019-9512 and CVE-2019-9515: what answers the flood is not read."""
    with Frames(host.port, receive_buffer=4096, timeout=5, acknowledges=False) as client:
        before = anonymous_kib(host.pid)
        flood(client, frame(PING, 0, 0, b'12345678') * 1000, 1000)
        assert anonymous_kib(host.pid) - before < 4096


def test_pings_of_a_client_that_works_are_answered(host, client):
    for number in range(2000):
        client.ping(struct.pack('>Q', number))
        if number % 2 == 0:
            assert client.request('GET', '/_/health').status == 200


# -- bodies and windows

def test_a_body_that_takes_too_long(host, client):
    stream = client.open(client.fields('POST', host.path('echo'), callable_headers()), END_HEADERS)
    client.send(DATA, 0, stream, b'{')
    answer = client.answer(stream)
    assert answer.status == 408
    assert client.result(host, 'echo', 1) == 1


def test_a_drop_now_and_then_is_too_slow(host, client):
    stream = client.open(client.fields('POST', host.path('echo'), callable_headers()), END_HEADERS)
    client.socket.settimeout(0.2)
    began = time.monotonic()
    while stream not in client.answers or not client.answers[stream].headers:
        assert time.monotonic() - began < 20
        client.send(DATA, 0, stream, b' ')
        with contextlib.suppress(TimeoutError):
            client.read_frame()
    assert client.answers[stream].status == 408


def test_data_without_regard_for_windows(host, client):
    before = anonymous_kib(host.pid)
    stream = client.open(client.fields('POST', '/unknown'), END_HEADERS)
    flood(client, frame(DATA, 0, stream, b'x' * 16384), 2000)
    assert anonymous_kib(host.pid) - before < 4096


def test_answers_that_nobody_takes(launch):
    """A hundred streams, of which each asks for a large value and never opens its window."""
    host = launch([], mode='development', config={'server': {'memoryBytes': 16 << 20}})
    with Database(host, 'slow') as database:
        database.use_rules(OPEN_RULES)
        database.put('/large.json', {f'k{number:03}': 'x' * 10_000 for number in range(200)})
        target = database.target('/large.json')
        before = anonymous_kib(host.pid)
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                client = stack.enter_context(Frames(host.port, settings={INITIAL_WINDOW_SIZE: 0}))
                for _ in range(100):
                    client.start('GET', target, OWNER)
                client.ping()
            grown = until(lambda: anonymous_kib(host.pid) - before, 'memory is read')
            assert grown < 48 << 10
            assert database.get('/large/k001.json') == 'x' * 10_000
        until(lambda: host.request('GET', '/_/metrics').body.decode().count('hearth_http2_streams_open 0') == 1, 'the streams are gone')


def test_bodies_without_end_on_many_streams(launch):
    """A hundred uploads of one client that never end are bounded by the share of one client."""
    host = launch(['Conformance'], config={'server': {'memoryBytes': 16 << 20}})
    before = anonymous_kib(host.pid)
    with Frames(host.port) as client:
        for _ in range(100):
            stream = client.open(client.fields('POST', host.path('echo'), callable_headers()), END_HEADERS)
            client.upload(stream, b' ' * 200_000, ends=False)
        client.ping()
        statuses = {answer.status for answer in client.answers.values() if answer.headers}
        assert statuses <= {429, 503}
        assert anonymous_kib(host.pid) - before < 24 << 10
    assert host.result('echo', 1) == 1
