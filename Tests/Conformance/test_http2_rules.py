"""The rules of RFC 9113 and RFC 7541 for servers, one by one, as the h2spec suite has them: a fault ends the stream or the connection with the
code that the rule names, and everything else goes on."""

import struct

import pytest

from http2 import (
    ACK, COMPRESSION_ERROR, CONTINUATION, DATA, ENABLE_PUSH, END_HEADERS, END_STREAM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, GOAWAY, HEADERS,
    INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, PADDED, PING, PRIORITY, PRIORITY_FLAG, PROTOCOL_ERROR, PUSH_PROMISE, RST_STREAM, SETTINGS,
    STREAM_CLOSED, WINDOW_UPDATE, Frames, frame, settings_payload)


@pytest.fixture
def client(conformance):
    with Frames(conformance.port) as client:
        yield client


def number(value):
    return struct.pack('>I', value)


def opened(client, path='/_/health', method='POST', headers=()):
    """A stream whose request is not complete."""
    return client.open(client.fields(method, path, headers), END_HEADERS)


def block(client, **options):
    return client.encoded(client.fields(**options))


def goes_on(client):
    """The connection still serves."""
    assert client.request('GET', '/_/health').status == 200


# -- faults that end the connection

def data_on_idle_stream(client):
    client.send(DATA, END_STREAM, 1, b'x')


def reset_of_idle_stream(client):
    client.send(RST_STREAM, 0, 1, number(8))


def window_of_idle_stream(client):
    client.send(WINDOW_UPDATE, 0, 1, number(100))


def continuation_of_idle_stream(client):
    client.send(CONTINUATION, END_HEADERS, 1, block(client))


def even_stream(client):
    client.send(HEADERS, END_STREAM | END_HEADERS, 2, block(client))


def smaller_stream(client):
    client.open(client.fields(), stream=5)
    client.open(client.fields(), stream=3)


def answered_slowly(client):
    """A stream whose request is complete, and whose answer waits for a window."""
    client.send(SETTINGS, 0, 0, settings_payload({INITIAL_WINDOW_SIZE: 0}))
    return client.open(client.fields('GET', '/_/health'))


def data_after_the_end(client):
    stream = answered_slowly(client)
    client.send(DATA, END_STREAM, stream, b'x')


def head_after_the_end(client):
    stream = answered_slowly(client)
    client.open(client.fields(), stream=stream)


def data_after_reset(client):
    stream = opened(client)
    client.send(RST_STREAM, 0, stream, number(8))
    client.send(DATA, END_STREAM, stream, b'x')


def priority_within_a_block(client):
    client.send(HEADERS, END_STREAM, 1, block(client))
    client.send(PRIORITY, 0, 1, number(0) + b'\x10')


def another_head_within_a_block(client):
    client.send(HEADERS, END_STREAM, 1, block(client))
    client.send(HEADERS, END_STREAM | END_HEADERS, 3, block(client))


def unknown_frame_within_a_block(client):
    client.send(HEADERS, END_STREAM, 1, block(client))
    client.send(0x16, 0, 0, b'x')


def continuation_of_another_stream(client):
    client.send(HEADERS, END_STREAM, 1, block(client))
    client.send(CONTINUATION, END_HEADERS, 3, block(client))


def continuation_after_the_block(client):
    client.send(HEADERS, END_HEADERS, 1, block(client, method='POST'))
    client.send(CONTINUATION, END_HEADERS, 1, block(client))


def continuation_after_data(client):
    stream = opened(client)
    client.send(DATA, 0, stream, b'x')
    client.send(CONTINUATION, END_HEADERS, stream, block(client))


def plain(kind, flags, stream, payload):
    return lambda client: client.send(kind, flags, stream, payload)


def setting(key, value):
    return lambda client: client.send(SETTINGS, 0, 0, settings_payload({key: value}))


def raw_block(payload):
    return lambda client: client.send(HEADERS, END_STREAM | END_HEADERS, 1, payload)


def after_block(payload):
    return lambda client: client.send(HEADERS, END_STREAM | END_HEADERS, 1, block(client) + payload)


def padded(kind):
    def act(client):
        if kind == DATA:
            client.send(DATA, PADDED | END_STREAM, opened(client), b'\x10abc')
        else:
            client.send(HEADERS, PADDED | END_HEADERS | END_STREAM, 1, b'\xff' + block(client))
    return act


def wide_window(client):
    client.widen(0x7FFFFFFF)


LARGE = b'x' * 16385

FATAL = [
    ('4.2 head larger than a frame may be', plain(HEADERS, END_STREAM | END_HEADERS, 1, LARGE), {FRAME_SIZE_ERROR}),
    ('4.2 data larger than a frame may be', lambda client: client.send(DATA, END_STREAM, opened(client), LARGE), {FRAME_SIZE_ERROR}),
    ('4.3 broken block', raw_block(b'\x40'), {COMPRESSION_ERROR}),
    ('4.3 priority within a block', priority_within_a_block, {PROTOCOL_ERROR}),
    ('4.3 another head within a block', another_head_within_a_block, {PROTOCOL_ERROR}),
    ('5.1 data on an idle stream', data_on_idle_stream, {PROTOCOL_ERROR}),
    ('5.1 reset of an idle stream', reset_of_idle_stream, {PROTOCOL_ERROR}),
    ('5.1 window of an idle stream', window_of_idle_stream, {PROTOCOL_ERROR}),
    ('5.1 continuation of an idle stream', continuation_of_idle_stream, {PROTOCOL_ERROR}),
    ('5.1 data after the end', data_after_the_end, {STREAM_CLOSED}),
    ('5.1 head after the end', head_after_the_end, {STREAM_CLOSED, PROTOCOL_ERROR}),
    ('5.1.1 even number', even_stream, {PROTOCOL_ERROR}),
    ('5.1.1 smaller number', smaller_stream, {PROTOCOL_ERROR, STREAM_CLOSED}),
    ('5.5 unknown frame within a block', unknown_frame_within_a_block, {PROTOCOL_ERROR}),
    ('6.1 data on stream 0', plain(DATA, END_STREAM, 0, b'x'), {PROTOCOL_ERROR}),
    ('6.1 padding of data', padded(DATA), {PROTOCOL_ERROR}),
    ('6.2 head on stream 0', lambda client: client.send(HEADERS, END_STREAM | END_HEADERS, 0, block(client)), {PROTOCOL_ERROR}),
    ('6.2 padding of a head', padded(HEADERS), {PROTOCOL_ERROR, FRAME_SIZE_ERROR}),
    ('6.3 priority on stream 0', plain(PRIORITY, 0, 0, number(0) + b'\x10'), {PROTOCOL_ERROR}),
    ('6.4 reset on stream 0', plain(RST_STREAM, 0, 0, number(8)), {PROTOCOL_ERROR}),
    ('6.4 size of a reset', lambda client: client.send(RST_STREAM, 0, opened(client), b'abc'), {FRAME_SIZE_ERROR}),
    ('6.5 acknowledgement with payload', plain(SETTINGS, ACK, 0, settings_payload({1: 1})), {FRAME_SIZE_ERROR}),
    ('6.5 settings on a stream', plain(SETTINGS, 0, 1, settings_payload({3: 1})), {PROTOCOL_ERROR}),
    ('6.5 size of settings', plain(SETTINGS, 0, 0, b'abc'), {FRAME_SIZE_ERROR}),
    ('6.5.2 push neither on nor off', setting(ENABLE_PUSH, 2), {PROTOCOL_ERROR}),
    ('6.5.2 window too large', setting(INITIAL_WINDOW_SIZE, 0x80000000), {FLOW_CONTROL_ERROR}),
    ('6.5.2 frames too small', setting(MAX_FRAME_SIZE, 16383), {PROTOCOL_ERROR}),
    ('6.5.2 frames too large', setting(MAX_FRAME_SIZE, 1 << 24), {PROTOCOL_ERROR}),
    ('6.6 push by a client', lambda client: client.send(PUSH_PROMISE, END_HEADERS, opened(client), number(2) + block(client)), {PROTOCOL_ERROR}),
    ('6.7 ping on a stream', plain(PING, 0, 1, b'12345678'), {PROTOCOL_ERROR}),
    ('6.7 size of a ping', plain(PING, 0, 0, b'1234567'), {FRAME_SIZE_ERROR}),
    ('6.8 end on a stream', plain(GOAWAY, 0, 1, number(0) + number(0)), {PROTOCOL_ERROR}),
    ('6.9 window of the connection by 0', lambda client: client.widen(0), {PROTOCOL_ERROR}),
    ('6.9 window of a stream by 0', lambda client: client.widen(0, opened(client)), {PROTOCOL_ERROR}),
    ('6.9 size of a window update', plain(WINDOW_UPDATE, 0, 0, b'abc'), {FRAME_SIZE_ERROR}),
    ('6.9.1 window of the connection too wide', wide_window, {FLOW_CONTROL_ERROR}),
    ('6.10 continuation of another stream', continuation_of_another_stream, {PROTOCOL_ERROR}),
    ('6.10 continuation on stream 0', plain(CONTINUATION, END_HEADERS, 0, b''), {PROTOCOL_ERROR}),
    ('6.10 continuation after the block', continuation_after_the_block, {PROTOCOL_ERROR}),
    ('6.10 continuation after data', continuation_after_data, {PROTOCOL_ERROR}),
    ('HPACK 2.3.3 index beyond the tables', after_block(b'\xfe'), {COMPRESSION_ERROR}),
    ('HPACK 2.3.3 name beyond the tables', after_block(b'\x7f\x40\x01a'), {COMPRESSION_ERROR}),
    ('HPACK 4.2 size of the table at the end', after_block(b'\x20'), {COMPRESSION_ERROR}),
    ('HPACK 5.2 padding longer than 7 bits', after_block(b'\x00\x85\xf2\xb2\x4a\x84\xff\x84\x49\x50\x9f\xff'), {COMPRESSION_ERROR}),
    ('HPACK 5.2 padding of zeros', after_block(b'\x00\x85\xf2\xb2\x4a\x84\xff\x83\x49\x50\x90'), {COMPRESSION_ERROR}),
    ('HPACK 5.2 end of string', after_block(b'\x00\x85\xf2\xb2\x4a\x84\xff\x87\x49\x51\xff\xff\xff\xfa\x7f'), {COMPRESSION_ERROR}),
    ('HPACK 6.1 index 0', after_block(b'\x80'), {COMPRESSION_ERROR}),
    ('HPACK 6.3 table larger than agreed', raw_block(b'\x3f\xe1\x7f'), {COMPRESSION_ERROR}),
]


@pytest.mark.parametrize('act, codes', [rule[1:] for rule in FATAL], ids=[rule[0] for rule in FATAL])
def test_fault_that_ends_the_connection(act, codes, client):
    act(client)
    assert client.ending() in codes


# -- faults that end the stream

def wide_stream(client):
    stream = opened(client)
    client.widen(0x7FFFFFFF, stream)
    return stream


def changed(method='GET', path='/_/health', extra=(), drop=(), first=(), flags=END_STREAM | END_HEADERS):
    """Sends a head with further fields in front or behind, or without some."""
    def act(client):
        fields = [pair for pair in client.fields(method, path) if pair[0] not in drop]
        return client.open([*first, *fields, *extra], flags)
    return act


def with_trailers(*fields):
    def act(client):
        stream = opened(client)
        client.send(DATA, 0, stream, b'x')
        client.send(HEADERS, END_STREAM | END_HEADERS, stream, client.encoded(fields))
        return stream
    return act


def second_head(client):
    stream = opened(client)
    client.send(HEADERS, END_HEADERS, stream, block(client))
    return stream


def body(length, *pieces):
    def act(client):
        stream = opened(client, headers=[('content-length', str(length))])
        for index, piece in enumerate(pieces):
            client.send(DATA, END_STREAM if index == len(pieces) - 1 else 0, stream, piece)
        return stream
    return act


MALFORMED = [
    ('8.1 second head without end', second_head),
    ('8.1 pseudo-field in trailers', with_trailers((':path', '/'))),
    ('8.2.1 capitals', changed(extra=[('X-Name', 'x')])),
    ('8.2.1 space in a name', changed(extra=[('x name', 'x')])),
    ('8.2.1 NUL in a value', changed(extra=[('x-name', 'a\0b')])),
    ('8.2.1 line feed in a value', changed(extra=[('x-name', 'a\nb')])),
    ('8.2.1 carriage return in a value', changed(extra=[('x-name', 'a\rb')])),
    ('8.2.1 space before a value', changed(extra=[('x-name', ' a')])),
    ('8.2.2 connection', changed(extra=[('connection', 'keep-alive')])),
    ('8.2.2 keep-alive', changed(extra=[('keep-alive', 'timeout=5')])),
    ('8.2.2 transfer-encoding', changed(extra=[('transfer-encoding', 'chunked')])),
    ('8.2.2 upgrade', changed(extra=[('upgrade', 'websocket')])),
    ('8.2.2 proxy-connection', changed(extra=[('proxy-connection', 'keep-alive')])),
    ('8.2.2 te', changed(extra=[('te', 'trailers, deflate')])),
    ('8.3 unknown pseudo-field', changed(first=[(':test', 'x')])),
    ('8.3 pseudo-field of answers', changed(first=[(':status', '200')])),
    ('8.3 pseudo-field after others', changed(drop=[':path'], extra=[('x-name', 'x'), (':path', '/_/health')])),
    ('8.3.1 empty path', changed(path='')),
    ('8.3.1 no method', changed(drop=[':method'])),
    ('8.3.1 no scheme', changed(drop=[':scheme'])),
    ('8.3.1 no path', changed(drop=[':path'])),
    ('8.3.1 two methods', changed(first=[(':method', 'GET')])),
    ('8.3.1 two schemes', changed(first=[(':scheme', 'http')])),
    ('8.3.1 two paths', changed(first=[(':path', '/')])),
    ('8.3.1 path without slash', changed(path='health')),
    ('8.3.1 neither authority nor host', changed(drop=[':authority'])),
    ('8.1.1 length longer than the body', body(5, b'abc')),
    ('8.1.1 length shorter than the body', body(2, b'abc')),
    ('8.1.1 length of several pieces', body(5, b'abc', b'def')),
    ('8.1.1 length of no body', changed('POST', extra=[('content-length', '5')])),
    ('RFC 8441 connect with a protocol, which is not offered', changed('CONNECT', first=[(':protocol', 'websocket')])),
]
RESET = [*((name, act, {PROTOCOL_ERROR}) for name, act in MALFORMED),
         ('6.9.1 window too wide', wide_stream, {FLOW_CONTROL_ERROR})]


@pytest.mark.parametrize('act, codes', [rule[1:] for rule in RESET], ids=[rule[0] for rule in RESET])
def test_fault_that_ends_the_stream(act, codes, client):
    answer = client.answer(act(client))
    assert answer.reset in codes
    assert answer.headers == []
    goes_on(client)


# -- everything else goes on

def unknown_setting(client):
    client.send(SETTINGS, 0, 0, settings_payload({0xFF: 1}))


def reserved_bit(client):
    client.raw(frame(HEADERS, END_STREAM | END_HEADERS, 0x80000001, block(client)))
    client.next_stream = 3
    assert client.answer(1).status == 200


def pieces_of_a_block(client):
    whole = block(client, headers=[('x-text', 'a' * 300)])
    client.send(HEADERS, END_STREAM, 1, whole[:1])
    for position in range(1, 6):
        client.send(CONTINUATION, 0, 1, whole[position:position + 1])
    client.send(CONTINUATION, END_HEADERS, 1, whole[6:])
    client.next_stream = 3
    assert client.answer(1).status == 200


def padding(client):
    client.send(HEADERS, PADDED | END_HEADERS, 1, b'\x05' + block(client, method='POST') + bytes(5))
    client.send(DATA, PADDED | END_STREAM, 1, b'\x03abc' + bytes(3))
    client.next_stream = 3
    assert client.answer(1).status == 200


def priority_of_a_head(client):
    client.send(HEADERS, PRIORITY_FLAG | END_STREAM | END_HEADERS, 1, number(0) + b'\x10' + block(client))
    client.next_stream = 3
    assert client.answer(1).status == 200


def trailers(client):
    assert client.answer(with_trailers(('x-checksum', '1'))(client)).status == 200


def no_push(client):
    client.send(SETTINGS, 0, 0, settings_payload({ENABLE_PUSH: 0}))
    goes_on(client)
    assert not any(one.type == PUSH_PROMISE for one in client.seen)


HARMLESS = [
    ('4.1 unknown frame', plain(0x16, 0, 0, b'12345678')),
    ('4.1 unknown flags', plain(PING, 0x16, 0, b'12345678')),
    ('4.1 reserved bit', reserved_bit),
    ('4.3 pieces of a block', pieces_of_a_block),
    ('5.1 data after a reset', data_after_reset),
    ('5.1 priority of an idle stream', plain(PRIORITY, 0, 1, number(0) + b'\x10')),
    ('6.1 padding', padding),
    ('6.2 priority', priority_of_a_head),
    ('6.5.2 unknown setting', unknown_setting),
    ('6.6 no push', no_push),
    ('6.7 unasked answer to a ping', plain(PING, ACK, 0, b'12345678')),
    ('7 unknown code of a reset', lambda client: client.send(RST_STREAM, 0, opened(client), number(0xFF))),
    ('8.1 trailers', trailers),
]


@pytest.mark.parametrize('act', [rule[1] for rule in HARMLESS], ids=[rule[0] for rule in HARMLESS])
def test_harmless(act, client):
    act(client)
    goes_on(client)
