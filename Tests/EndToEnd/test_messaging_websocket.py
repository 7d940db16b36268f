"""Devices on WebSockets: the protocol of devices, and RFC 6455 below it."""

import struct

import pytest

from messaging import OWN, Messaging, Receiver
from processes import resident_kib, until
from tokens import PROJECT
from websocket import BINARY, CLOSE, PING, PONG, TEXT, WebSocket

PATH, PROTOCOL = f'{OWN}/connect', 'fcm-device.v1'


@pytest.fixture(scope='module')
def host(messaging_host):
    return messaging_host


@pytest.fixture
def device(admin):
    return admin.register()


def connect(host, token):
    socket = WebSocket(host.port, PATH, [('Authorization', f'Bearer {token}')], PROTOCOL)
    assert socket.head.status == 101
    return socket


def test_a_device_receives_and_acknowledges(host, admin, device):
    waiting = admin.send({'token': device['token'], 'data': {'n': '1'}})
    with connect(host, device['token']) as socket:
        assert socket.head.header('Sec-WebSocket-Protocol') == PROTOCOL
        assert socket.hear() == {'type': 'ready', 'fid': device['fid'], 'pending': 1}
        frame = socket.hear()
        assert frame['data'] == {'n': '1'}
        socket.say(type='ack', message_id=frame['message_id'])
        until(lambda: admin.message(waiting)['pending_count'] == 0, 'the acknowledgement is stored')
        admin.send({'token': device['token'], 'notification': {'title': 't'}})
        assert socket.hear()['notification'] == {'title': 't'}


def test_a_hello_instead_of_a_header(host, device):
    with WebSocket(host.port, PATH) as socket:
        assert socket.head.header('Sec-WebSocket-Protocol') is None
        socket.say(type='hello', token=device['token'], state='idle')
        assert socket.hear()['type'] == 'ready'
        socket.say(type='ping')
        assert socket.hear() == {'type': 'pong'}


def test_an_unknown_token(host):
    with connect(host, 'cUnknown:APA91bUnknownUnknownUnknownUnknown') as socket:
        assert socket.closed() == 4401


def test_another_connection_of_the_same_token(host, device):
    with connect(host, device['token']) as first:
        assert first.hear()['type'] == 'ready'
        with Receiver(host, device['token']):
            assert first.closed() == 4409


def test_states(host, admin, device):
    with connect(host, device['token']) as socket:
        assert socket.hear()['type'] == 'ready'
        socket.say(type='state', state='idle')
        socket.say(type='ping')
        assert socket.hear() == {'type': 'pong'}
        admin.send({'token': device['token'], 'data': {'n': 'normal'}})
        admin.send({'token': device['token'], 'data': {'n': 'high'}, 'android': {'priority': 'high'}})
        assert socket.hear()['data'] == {'n': 'high'}
        socket.say(type='state', state='foreground')
        assert socket.hear()['data'] == {'n': 'normal'}


def test_topics_and_unregistering(host, admin, device):
    with connect(host, device['token']) as socket:
        assert socket.hear()['type'] == 'ready'
        socket.say(type='subscribe', topic='mine')
        assert socket.hear() == {'type': 'subscribed', 'topic': 'mine'}
        admin.send({'topic': 'mine', 'data': {'k': 'v'}})
        assert socket.hear()['from'] == '/topics/mine'
        socket.say(type='unsubscribe', topic='mine')
        assert socket.hear() == {'type': 'unsubscribed', 'topic': 'mine'}
        socket.say(type='subscribe', topic='not a topic')
        assert socket.hear()['type'] == 'error'
        socket.say(type='unregister')
        assert socket.closed() == 4401
    assert admin.refused({'token': device['token']})['status'] == 'NOT_FOUND'


@pytest.mark.parametrize('send, code', [
    (lambda socket: socket.send(BINARY, b'x'), 1003),
    (lambda socket: socket.send(TEXT, 'not JSON'), 1003),
    (lambda socket: socket.send(TEXT, b'\xff'), 1007),
    (lambda socket: socket.send(TEXT, b'x' * 70_000), 1009),
    (lambda socket: socket.send(3), 1002),
    (lambda socket: socket.send(0, b'x'), 1002),
    (lambda socket: socket.send(PING, b'x' * 126), 1002),
    (lambda socket: socket.wire.send(b'\x81\x01x'), 1002),
    (lambda socket: socket.send(CLOSE, struct.pack('>H', 1000)), 1000),
], ids=['binary', 'not-json', 'not-utf8', 'too-long', 'opcode', 'continuation', 'long-ping', 'unmasked', 'close'])
def test_a_close(host, device, send, code):
    with connect(host, device['token']) as socket:
        assert socket.hear()['type'] == 'ready'
        send(socket)
        assert socket.closed() == code


def test_pings_between_fragments(host, device):
    with connect(host, device['token']) as socket:
        assert socket.hear()['type'] == 'ready'
        socket.send(TEXT, '{"type":', is_final=False)
        socket.send(PING, b'are you there')
        assert socket.frame() == (PONG, b'are you there')
        socket.send(0, '"ping"}')
        assert socket.hear() == {'type': 'pong'}


def test_who_does_not_read_is_not_listened_to(host, device):
    """Answers to pings do not pile up in the host."""
    with connect(host, device['token']) as socket:
        assert socket.hear()['type'] == 'ready'
        before = resident_kib(host.pid)
        ping = b'\x89\xfd\0\0\0\0' + b'x' * 125
        socket.wire.socket.settimeout(2)
        with pytest.raises(TimeoutError):
            for _ in range(64):
                socket.wire.send(ping * 8000)
        assert resident_kib(host.pid) - before < 16 * 1024
        for _ in range(10_000):
            assert socket.frame() == (PONG, b'x' * 125)


@pytest.mark.parametrize('headers, status', [
    ({}, 426),
    ({'Upgrade': 'websocket', 'Connection': 'Upgrade', 'Sec-WebSocket-Version': '8', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ=='}, 426),
    ({'Upgrade': 'websocket', 'Connection': 'Upgrade', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'short'}, 400),
    ({'Upgrade': 'websocket', 'Connection': 'close', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ=='}, 426),
], ids=['none', 'version', 'key', 'connection'])
def test_what_is_no_handshake(host, headers, status):
    answer = host.request('GET', PATH, headers)
    assert answer.status == status
    assert answer.header('Sec-WebSocket-Version') == '13'


def test_a_host_that_stops(launch):
    host = launch([], mode='development', config={'project': PROJECT})
    admin = Messaging(host, PROJECT)
    device = admin.register()
    with connect(host, device['token']) as socket:
        assert socket.hear()['type'] == 'ready'
        host.begin_stop()
        assert socket.closed() == 1001
    admin.close()
