"""Compressed messages on the host's WebSockets (RFC 7692)."""

import json
import struct
import zlib

import pytest
from websockets.sync.client import connect

from databases import OPEN_RULES, Database
from fixtures import own_database, shared_host
from live import Live
from messaging import OWN
from processes import anonymous_kib, resident_kib, until
from websocket import BINARY, CLOSE, COMPRESSED, PING, PONG, TEXT, WebSocket, deflated

OFFER = 'permessage-deflate; client_max_window_bits'
AGREED = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover'
LARGE = {f'key{n}': {'name': f'the name of number {n}', 'n': n} for n in range(400)}


host = shared_host()
database = own_database()


def live(database, extensions=OFFER):
    return Live(database.host.port, database.namespace, extensions=extensions)


def test_a_live_connection_is_compressed(database):
    with live(database) as client:
        assert client.socket.agreement == AGREED
        client.do('p', p='/large', d=LARGE)
        assert client.socket.compressed == 0, 'short messages are sent as they are'
        assert client.listen('/large') == [('d', {'p': 'large', 'd': LARGE})]
        # The number of segments, and each of them.
        assert client.socket.compressed >= 2
        with live(database, None) as other:
            assert other.socket.agreement is None
            assert other.listen('/large') == [('d', {'p': 'large', 'd': LARGE})]


def test_changes_reach_clients_with_different_agreements(database):
    offers = [OFFER, None, OFFER, 'permessage-deflate; server_max_window_bits=9', 'permessage-deflate; server_max_window_bits=8']
    clients = [live(database, offer) for offer in offers]
    assert [client.socket.agreement for client in clients] == [AGREED, None, AGREED, f'{AGREED}; server_max_window_bits=9', None]
    for client in clients:
        client.listen('/chat')
    text = 'the same words again and again, ' * 60
    for n in range(3):
        clients[0].do('p', p='/chat', d={'n': n, 'text': text})
        for client in clients[1:]:
            assert client.push() == ('d', {'p': 'chat', 'd': {'n': n, 'text': text}})
    assert [client.socket.compressed for client in clients[1:]] == [0, 3, 3, 0]
    for client in clients:
        client.cut()


def test_another_implementation(database):
    """The client of a package, with the compression that it offers by default."""
    with connect(f'ws://127.0.0.1:{database.host.port}/.ws?v=5&ns={database.namespace}') as socket:
        assert socket.response.headers['Sec-WebSocket-Extensions'] == AGREED
        assert json.loads(socket.recv(timeout=20))['d']['t'] == 'h'
        text = 'a text of some length, ' * 200
        for n in range(1, 20):
            socket.send(json.dumps({'t': 'd', 'd': {'r': n, 'a': 'p', 'b': {'p': '/text', 'd': f'{n} {text}'}}}))
            assert json.loads(socket.recv(timeout=20)) == {'t': 'd', 'd': {'r': n, 'b': {'s': 'ok', 'd': ''}}}
            socket.send(json.dumps({'t': 'd', 'd': {'r': n, 'a': 'g', 'b': {'p': '/text'}}}))
            assert json.loads(socket.recv(timeout=20))['d']['b']['d'] == f'{n} {text}'


def test_fragments_of_a_compressed_message(database):
    with live(database) as client:
        message = deflated(b'{"t":"c","d":{"t":"p","d":{}}}')
        client.socket.send(TEXT | COMPRESSED, message[:5], is_final=False)
        client.socket.send(PING, b'between')
        assert client.socket.frame() == (PONG, b'between')
        client.socket.send(0, message[5:])
        assert client.control() == ('o', {})


@pytest.mark.parametrize('frames, code', [
    ([(TEXT | COMPRESSED, deflated(b' ' * (16 * 1024 * 1024 + 1)))], 1009),
    ([(TEXT | COMPRESSED, b'\x07\xff')], 1007),
    ([(TEXT | COMPRESSED, deflated(b'{}')[:-2])], 1007),
    ([(TEXT | COMPRESSED, deflated(b'\xff'))], 1007),
    ([(PING | COMPRESSED, b'')], 1002),
    ([(COMPRESSED, b'')], 1002),
    ([(TEXT | 0x20, b'')], 1002),
    ([(BINARY | COMPRESSED, deflated(b'x'))], 1003),
], ids=['bomb', 'block-type', 'cut', 'not-utf8', 'control', 'continuation', 'reserved', 'binary'])
def test_a_close(database, frames, code):
    with live(database) as client:
        for opcode, payload in frames:
            client.socket.send(opcode, payload)
        assert client.socket.closed() == code


def test_compression_that_is_not_agreed(database):
    with live(database, None) as client:
        client.socket.send(TEXT | COMPRESSED, deflated(b'{}'))
        assert client.socket.closed() == 1002


def test_a_malformed_offer(host):
    assert WebSocket(host.port, '/.ws?v=5', extensions='permessage-deflate;;').head.status == 400


def test_a_bomb_takes_no_memory(launch):
    """Messages that grow a thousandfold, cut off before their end."""
    host = launch([], mode='development', config={'server': {'loops': 1}})
    stream = zlib.compressobj(9, wbits=-15)
    bomb = stream.compress(bytes(256 * 1024 * 1024)) + stream.flush()
    before = resident_kib(host.pid)
    for _ in range(20):
        with WebSocket(host.port, f'{OWN}/connect', extensions=OFFER) as socket:
            try:
                socket.send(TEXT | COMPRESSED, bomb, is_final=False)
            except ConnectionError:
                # The host has closed before everything was sent.
                continue
            assert socket.closed() == 1009
    assert resident_kib(host.pid) - before < 8 * 1024


def test_idle_connections_keep_nothing_of_their_messages(launch):
    """No state of compression, and no buffers of long messages."""
    host = launch([], mode='development', config={'server': {'loops': 1}})
    with Database(host, 'idle') as database:
        database.use_rules(OPEN_RULES)
        clients = []

        def use(count):
            for _ in range(count):
                clients.append(client := live(database))
                client.do('s', c={'text': 'x' * 30_000})
                assert client.do('g', p='/large') == LARGE and client.socket.compressed

        clients.append(writer := live(database))
        writer.do('p', p='/large', d=LARGE)
        use(20)
        before = anonymous_kib(host.pid)
        use(200)
        assert (anonymous_kib(host.pid) - before) / 200 <= 12
        for client in clients:
            client.cut()


def test_messages_for_devices(messaging_host, admin):
    device = admin.register()
    with WebSocket(messaging_host.port, f'{OWN}/connect', [('Authorization', f'Bearer {device["token"]}')], 'fcm-device.v1',
                   extensions=OFFER) as socket:
        assert socket.agreement == AGREED
        assert socket.hear()['type'] == 'ready'
        waiting = admin.send({'token': device['token'], 'data': {'text': 'some words, ' * 100}})
        frame = socket.hear()
        assert frame['data'] == {'text': 'some words, ' * 100} and socket.compressed == 1
        socket.say(type='ack', message_id=frame['message_id'])
        until(lambda: admin.message(waiting)['pending_count'] == 0, 'the acknowledgement is stored')
        socket.send(CLOSE, struct.pack('>H', 1000))
        assert socket.closed() == 1000
