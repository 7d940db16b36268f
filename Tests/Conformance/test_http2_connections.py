"""Settings, windows and ends of connections of HTTP/2 (RFC 9113), and the fields of requests."""

import struct

import pytest

from hearth import callable_headers
from http2 import (
    ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE, NO_ERROR, PING, PREFACE,
    PROTOCOL_ERROR, REFUSED_STREAM, SETTINGS, Frames, frame, settings_payload)


@pytest.fixture
def client(conformance):
    with Frames(conformance.port) as client:
        yield client


def number(value):
    return struct.pack('>I', value)


def opened(client, path='/_/health', method='POST', headers=()):
    """A stream whose request is not complete."""
    return client.open(client.fields(method, path, headers), END_HEADERS)


def changed(client, method='GET', extra=(), drop=()):
    """Sends a head with further fields, or without some, and returns the answer."""
    fields = [pair for pair in client.fields(method) if pair[0] not in drop]
    return client.answer(client.open([*fields, *extra]))


def test_the_server_begins_with_its_settings(client):
    first = client.read_frame()
    assert (first.type, first.flags) == (SETTINGS, 0)
    announced = first.settings()
    assert announced[MAX_CONCURRENT_STREAMS] == 100
    assert announced[INITIAL_WINDOW_SIZE] == 262144
    assert announced[MAX_HEADER_LIST_SIZE] >= 16384
    assert announced[9] == 1, 'priorities of RFC 7540 are not used'


def test_settings_are_acknowledged(client):
    client.until(lambda: any(one.type == SETTINGS and one.flags == ACK for one in client.seen))


def test_pings_are_answered_with_their_payload(client):
    client.ping(b'abcdefgh')


@pytest.mark.parametrize('first', [b'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', b'PRJ * HTTP/2.0\r\n\r\nSM\r\n\r\n', b'PRI * HTTP/2.0\r\n\r\n\r\n\r\n'])
def test_another_preface_is_not_http2(first, conformance):
    with Frames(conformance.port, preface=b'') as client:
        client.raw(first)
        answer = client.socket.recv(65536)
    assert answer.startswith((b'HTTP/1.1 400', b'HTTP/1.1 505')), answer


def test_the_preface_in_pieces(conformance):
    with Frames(conformance.port, preface=b'') as client:
        for byte in PREFACE + frame(SETTINGS, 0, 0):
            client.raw(bytes([byte]))
        assert client.request('GET', '/_/health').status == 200


def test_the_first_frame_is_settings(conformance):
    with Frames(conformance.port, preface=b'') as client:
        client.raw(PREFACE + frame(PING, 0, 0, b'12345678'))
        assert client.ending() == PROTOCOL_ERROR


def test_more_streams_than_allowed_are_refused(conformance):
    with Frames(conformance.port, acknowledges=False) as client:
        streams = [opened(client) for _ in range(101)]
        assert client.answer(streams[-1]).reset == REFUSED_STREAM
        client.send(DATA, END_STREAM, streams[0], b'x')
        assert client.answer(streams[0]).status == 200


def test_after_the_acknowledgement_more_streams_are_a_fault(client):
    client.until(lambda: client.remote_settings is not None)
    for _ in range(101):
        opened(client)
    assert client.ending() in (PROTOCOL_ERROR, REFUSED_STREAM)


def test_nothing_is_sent_beyond_the_window(conformance):
    with Frames(conformance.port, settings={INITIAL_WINDOW_SIZE: 1}) as client:
        stream = client.call(conformance, 'echo', 'abc')
        answer = client.head(stream)
        client.ping()
        assert len(answer.body) == 1
        client.widen(2, stream)
        client.until(lambda: len(answer.body) == 3)
        # A change of the setting holds for open streams too.
        client.send(SETTINGS, 0, 0, settings_payload({INITIAL_WINDOW_SIZE: 100}))
        assert client.answer(stream).json == {'result': 'abc'}


def test_a_window_may_become_negative(conformance):
    with Frames(conformance.port, settings={INITIAL_WINDOW_SIZE: 3}) as client:
        stream = client.call(conformance, 'echo', 'abc')
        answer = client.head(stream)
        client.until(lambda: len(answer.body) == 3)
        client.send(SETTINGS, 0, 0, settings_payload({INITIAL_WINDOW_SIZE: 2}))
        client.widen(1, stream)
        client.ping()
        assert len(answer.body) == 3
        client.widen(100, stream)
        assert client.answer(stream).json == {'result': 'abc'}


def test_the_end_of_the_client_is_respected(conformance):
    """Earlier requests are answered; then the connection closes."""
    with Frames(conformance.port) as client:
        stream = client.call(conformance, 'echo', 1)
        client.send(GOAWAY, 0, 0, number(0) + number(NO_ERROR))
        assert client.answer(stream).json == {'result': 1}
        assert client.ending() in (None, NO_ERROR)


def test_host_and_authority(conformance, client):
    def status(*extra, drop=()):
        return changed(client, extra=extra, drop=drop).status

    assert status(('host', client.authority)) == 200
    assert status(('host', client.authority), drop=[':authority']) == 200
    assert status(('host', 'other.example')) == 400


def test_connect_and_unknown_methods(client):
    assert changed(client, 'CONNECT', drop=[':scheme', ':path']).status == 501
    assert changed(client, 'BREW').status == 501


def test_pieces_of_a_cookie_are_joined(conformance, client):
    fields = client.fields('POST', conformance.path('contextInfo'), [*callable_headers(), ('cookie', 'a=1'), ('x', 'y'), ('cookie', 'b=2')])
    stream = client.open(fields, END_HEADERS)
    client.send(DATA, END_STREAM, stream, b'{"data":null}')
    assert client.answer(stream).status == 200


def test_expectations(conformance, client):
    stream = client.open(client.fields('POST', conformance.path('echo'), [*callable_headers(), ('expect', '100-continue')]), END_HEADERS)
    client.until(lambda: client.answers.get(stream) and client.answers[stream].interim)
    client.send(DATA, END_STREAM, stream, b'{"data":1}')
    assert client.answer(stream).json == {'result': 1}
    stream = client.open(client.fields('POST', conformance.path('echo'), [*callable_headers(), ('expect', 'wonders')]), END_HEADERS)
    assert client.answer(stream).status == 417
