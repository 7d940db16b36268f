"""Clients and plugins that fill the host's memory: bodies that never end, answers that are not read, calls of services."""

import json
import os
import re
import signal
import socket
import zlib

import pytest

from databases import Database
from identity import Identity
from processes import resident_kib, until
from tokens import PROJECT
from wire import gzipped

MEBIBYTE = 1 << 20
# More than this the host does not take for any of these attacks, in a build with or without optimisation.
GROWTH_KIB_MAX = 400 * 1024
ONE_LOOP = {'server': {'loops': 1}}


@pytest.fixture
def grown(request):
    """How much memory the host has taken since it was first asked."""
    first = {}

    def measure(host):
        now = resident_kib(host.pid)
        return now - first.setdefault(host.pid, now)

    return measure


def held(host):
    """The memory that the host reports as held, by purpose."""
    text = host.request('GET', '/_/metrics').text
    return {what: int(value) for what, value in re.findall(r'^hearth_memory_held_bytes\{for="(\w+)"\} (\d+)$', text, re.MULTILINE)}


def until_nothing_is_held(host):
    until(lambda: held(host) == {'requests': 0, 'answers': 0, 'services': 0}, f'everything is given back: {held(host)}')


class Client:
    """A connection that answers are read from when it has something to say."""

    def __init__(self, host, source='127.0.0.1', receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.bind((source, 0))
        self.socket.settimeout(20)
        self.socket.connect(('127.0.0.1', host.port))

    def send(self, data):
        try:
            self.socket.sendall(data if isinstance(data, bytes) else data.encode())
        except ConnectionError:
            pass

    def status(self):
        """The status of the answer, when it comes; 0 where the connection was cut instead."""
        try:
            data = self.socket.recv(64)
        except ConnectionError:
            return 0
        return int(data.split()[1]) if data else 0

    def close(self):
        self.socket.close()


@pytest.fixture
def clients():
    made = []

    def make(*args, **options):
        made.append(Client(*args, **options))
        return made[-1]

    yield make
    for client in made:
        client.close()


def bomb(size):
    """A JSON text of so many bytes, compressed, without its last bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(b'{"data":"') + packer.compress(b'x' * size) + packer.flush(zlib.Z_SYNC_FLUSH)


def post(path, length, *fields, type='application/json'):
    lines = [f'POST {path} HTTP/1.1', 'Host: localhost', f'Content-Type: {type}', f'Content-Length: {length}', *fields]
    return '\r\n'.join(lines) + '\r\n\r\n'


def test_compressed_bodies_that_do_not_end(launch, clients, grown):
    """40 anonymous requests of 31 KB each, which are 31 MiB when they are inflated."""
    host = launch(config=ONE_LOOP)
    host.result('echo', 1)
    grown(host)
    body = bomb(31 * MEBIBYTE)
    assert len(body) < 40_000
    attackers = []
    for _ in range(40):
        attacker = clients(host)
        attacker.send(post(host.path('echo'), len(body) + 10, 'Content-Encoding: gzip').encode() + body)
        attackers.append(attacker)
    # Each call is answered after what was sent before it was read.
    assert host.result('echo', 1) == 1
    assert grown(host) < GROWTH_KIB_MAX
    # A client that has used up its share gets an error; others are served.
    other = clients(host, source='127.0.0.9')
    answer = json.dumps({'data': 'y' * 200_000})
    other.send(post(host.path('echo'), len(answer)) + answer)
    assert other.status() == 200
    for attacker in attackers:
        attacker.close()
    until_nothing_is_held(host)


def test_a_body_beyond_the_share_of_its_client(launch, clients):
    host = launch(config={'server': {'loops': 1, 'memoryBytes': 16 * MEBIBYTE}})
    path = host.path('echo')
    # 16 MiB: 8 for requests, of which one client has 4. One body may exceed that.
    first = clients(host)
    first.send(post(path, 6 * MEBIBYTE) + 'x' * (5 * MEBIBYTE))
    until(lambda: held(host)['requests'] >= 5 * MEBIBYTE, 'the first has arrived')
    second = host.wire()
    second.send(post(path, 2 * MEBIBYTE))
    try:
        second.send('x' * MEBIBYTE)
    except ConnectionError:
        pass
    answer = second.response()
    assert (answer.status, answer.header('Retry-After')) == (429, '1')
    assert answer.json['error']['status'] == 'RESOURCE_EXHAUSTED'
    second.close()
    # The others' part is left: 3 MiB for the next, and then everything is taken.
    third = clients(host, source='127.0.0.9')
    third.send(post(path, 4 * MEBIBYTE) + 'x' * (2 * MEBIBYTE))
    until(lambda: held(host)['requests'] >= 7 * MEBIBYTE, 'the third has arrived')
    fourth = clients(host, source='127.0.0.10')
    fourth.send(post(path, 4 * MEBIBYTE) + 'x' * (2 * MEBIBYTE))
    assert fourth.status() == 503
    # Small ones continue.
    assert host.result('echo', 'small') == 'small'
    for client in (first, third, fourth):
        client.close()
    until_nothing_is_held(host)


@pytest.mark.parametrize('loops', [1, 2])
def test_calls_that_wait(launch, clients, grown, loops):
    """An instance that takes one call at a time, and hundreds of MiB that wait for it."""
    host = launch(['hoards'], config={'server': {'loops': loops}})
    grown(host)
    callers = []
    for number in range(45):
        caller = clients(host, source=f'127.0.0.{10 + number % 3}')
        caller.send(post(host.path('silent'), 16 * MEBIBYTE, type='text/plain') + ' ' * (16 * MEBIBYTE))
        callers.append(caller)
    assert grown(host) < GROWTH_KIB_MAX
    refused = [caller for caller in callers[-15:] if is_answered(caller)]
    assert {caller.status() for caller in refused} <= {429, 503}
    assert refused
    for caller in callers:
        caller.close()
    until_nothing_is_held(host)


def is_answered(client):
    client.socket.settimeout(0.2)
    try:
        return client.socket.recv(1, socket.MSG_PEEK) is not None
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_short_bodies_of_many_values(launch):
    """16 KB that become a tree of eight million values, by a client that may write nothing; and a call with as many."""
    host = launch(config=ONE_LOOP)
    host.result('echo', 1)
    values = b'1,' * (8 << 20) + b'1]'
    fields = [('Content-Encoding', 'gzip'), ('Content-Type', 'application/json')]
    peak = Peak(host)
    answer = host.request('PUT', '/a.json', fields, gzipped(b'[' + values), timeout=60)
    assert (answer.status, 'maximum size' in answer.json['error']) == (400, True)
    wrapped = b'{"data":[{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"1"},' + values + b'}'
    answer = host.request('POST', host.path('echo'), fields, gzipped(wrapped), timeout=60)
    assert (answer.status, answer.json['error']['status']) == (400, 'INVALID_ARGUMENT')
    assert peak.stop() - peak.first < GROWTH_KIB_MAX
    until_nothing_is_held(host)


def test_answers_that_nobody_reads(launch, clients, grown):
    host = launch(['hoards'], config=ONE_LOOP)
    with host.wire() as wire:
        assert len(wire.request('POST', host.path('large'), body='20').body) == 20 * MEBIBYTE
    grown(host)
    idle = []
    for _ in range(60):
        client = clients(host, receive_buffer=4096)
        client.send(post(host.path('large'), 2, type='text/plain') + '20')
        idle.append(client)
    # All of them have started, and another client's call is answered.
    until(lambda: resolved(host) >= 61, 'every call is answered', 30)
    assert grown(host) < GROWTH_KIB_MAX
    for client in idle:
        client.close()
    until_nothing_is_held(host)
    with host.wire() as wire:
        assert len(wire.request('POST', host.path('large'), body='20').body) == 20 * MEBIBYTE


def test_pages_of_users_that_nobody_reads(launch, clients):
    host = launch([], mode='development', config={'server': {'loops': 1, 'memoryBytes': 16 * MEBIBYTE}})
    with Identity(host) as identity:
        identity.managed('accounts:batchCreate', users=[
            {'localId': f'u{number}', 'photoUrl': 'x' * 2000, 'displayName': 'x' * 250, 'customAttributes': json.dumps({'a': 'x' * 900})}
            for number in range(1000)])
        [(name, value)] = identity.admin.items()
    idle = []
    for _ in range(30):
        client = clients(host, receive_buffer=4096)
        client.send(f'GET /identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:batchGet?maxResults=1000 HTTP/1.1\r\n'
                    f'Host: localhost\r\n{name}: {value}\r\n\r\n')
        idle.append(client)
    statuses = [client.status() for client in idle]
    # The pages are read beside the loop, so any of the thirty may be among the first.
    assert set(statuses) == {200, 503}, statuses
    assert held(host)['answers'] < 8 * MEBIBYTE
    for client in idle:
        client.close()
    until_nothing_is_held(host)


def resolved(host):
    """How many invocations are over."""
    text = host.request('GET', '/_/metrics').text
    return sum(int(count) for count in re.findall(r'^hearth_function_invocations_total\{[^}]*\} (\d+)$', text, re.MULTILINE))


def test_chunks_that_nobody_reads(launch, clients, grown):
    """A function that sends and does not wait, to clients that do not read."""
    host = launch(['hoards'], config=ONE_LOOP)
    with host.wire() as wire:
        wire.request('POST', host.path('flood'), body='1')
    grown(host)
    idle = []
    for _ in range(100):
        client = clients(host, receive_buffer=4096)
        client.send(post(host.path('flood'), 2, type='text/plain') + '16')
        idle.append(client)
    until(lambda: resolved(host) >= 101, 'every call is over', 30)
    assert grown(host) < GROWTH_KIB_MAX
    # A client that reads gets the whole answer.
    with host.wire() as wire:
        assert len(wire.request('POST', host.path('flood'), body='8').body) == 8 * MEBIBYTE
    for client in idle:
        client.close()
    until_nothing_is_held(host)


def test_service_calls_that_nobody_waits_for(launch, grown):
    """2,000 reads of 1 MB at once: the instance is held back, and every one is answered."""
    host = launch(['hoards'], mode='development', config=ONE_LOOP)
    with Database(host, 'demo-hearth-default-rtdb') as database:
        database.put('/value.json', 'x' * 1_000_000)
    assert host.result('reads', 10) == 0
    grown(host)
    peak = Peak(host)
    assert host.result('reads', 2000, timeout=60) == 0
    assert peak.stop() - peak.first < GROWTH_KIB_MAX
    until_nothing_is_held(host)


class Peak:
    """The most memory that the host has had: the kernel keeps it, and begins anew when it is told to."""

    def __init__(self, host):
        self.pid = host.pid
        with open(f'/proc/{self.pid}/clear_refs', 'w') as file:
            file.write('5')
        self.first = resident_kib(self.pid)

    def stop(self):
        with open(f'/proc/{self.pid}/status') as file:
            return next(int(line.split()[1]) for line in file if line.startswith('VmHWM:'))


def test_an_instance_that_dies_gives_everything_back(launch, clients):
    host = launch(['hoards'], config={**ONE_LOOP, 'workers': {'queueWaitMilliseconds': 2000}})
    for _ in range(4):
        caller = clients(host)
        caller.send(post(host.path('silent'), 4 * MEBIBYTE, type='text/plain') + ' ' * (4 * MEBIBYTE))
    until(lambda: held(host)['requests'] >= 8 * MEBIBYTE, 'calls wait')
    for worker in host.loaded_workers():
        os.kill(worker.pid, signal.SIGKILL)
    until_nothing_is_held(host)


def test_web_sockets_with_unfinished_messages(launch, clients, grown):
    """Connections that say nothing but the beginning of a message."""
    host = launch([], mode='development', config={'server': {'loops': 1, 'memoryBytes': 16 * MEBIBYTE}})
    frame = b'\x01\xfe' + (60_000).to_bytes(2, 'big') + b'\0\0\0\0' + b'x' * 59_000
    devices = []
    for _ in range(120):
        devices.append(device := clients(host))
        device.send('GET /_messaging/v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n')
        assert device.status() == 101
        device.send(frame)
    # A quarter of the memory is what one client may have, and one message more.
    until(lambda: held(host)['requests'] > 3 * MEBIBYTE, 'messages have arrived')
    assert held(host)['requests'] <= 4 * MEBIBYTE + 65536
    for device in devices:
        device.close()
    until_nothing_is_held(host)


def test_web_sockets_with_unfinished_compressed_messages(launch, clients):
    """Two bytes of a compressed message, for which the host needs a decompressor."""
    host = launch([], mode='development', config={'server': {'loops': 1, 'memoryBytes': 16 * MEBIBYTE}})
    devices = []
    for _ in range(120):
        devices.append(device := clients(host))
        device.send('GET /_messaging/v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
                    'Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n')
        assert device.status() == 101
        device.send(b'\x41\x82\0\0\0\0\xf2\x48')
    # A quarter of the memory is what one client may have.
    until(lambda: held(host)['requests'] > 3 * MEBIBYTE, 'messages have arrived')
    assert held(host)['requests'] <= 4 * MEBIBYTE + 65536
    for device in devices:
        device.close()
    until_nothing_is_held(host)


def test_live_connections_with_unfinished_messages(launch, clients, grown):
    """Clients of the database that announce many segments and send some."""
    host = launch([], mode='development', config={'server': {'loops': 1, 'memoryBytes': 16 * MEBIBYTE}})
    segment = b'\x81\xfe' + (60_000).to_bytes(2, 'big') + b'\0\0\0\0' + b'x' * 60_000
    senders = []
    for _ in range(12):
        senders.append(sender := clients(host))
        sender.send('GET /.ws?v=5 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n')
        assert sender.status() == 101
        sender.send(b'\x81\x83\0\0\0\0' + b'200' + segment * 20)
    until(lambda: held(host)['requests'] > 3 * MEBIBYTE, 'messages have arrived')
    # A quarter of the memory is what one client may have, and one message more.
    assert held(host)['requests'] <= 6 * MEBIBYTE
    assert any(b'too much is being sent at this moment' in sender.socket.recv(1 << 16) for sender in senders[-3:])
    for sender in senders:
        sender.close()
    until_nothing_is_held(host)


def test_clients_that_open_polling_and_never_poll(launch):
    """They have no connection of their own, so descriptors do not limit them."""
    host = launch([], mode='development', config={'server': {'loops': 1, 'memoryBytes': 16 * MEBIBYTE}})
    statuses = []
    for _ in range(700):
        statuses.append(host.request('GET', '/.lp?start=t&cb=1&ser=1&v=5').status)
    # A quarter of the memory is what one client may have.
    assert statuses.count(200) in range(500, 520) and statuses[-1] == 503
    assert held(host)['requests'] <= 4 * MEBIBYTE + 65536
    assert host.request('GET', '/a.json').status == 401


def test_the_largest_body_reaches_a_function(launch):
    """The request has the largest head that can be configured; each of its bytes takes three in the function's context."""
    host = launch(['hoards'], config={'server': {'loops': 1, 'limits': {'bodyBytes': 64 * MEBIBYTE, 'headerBytes': MEBIBYTE}}})
    assert host.request('POST', host.path('swallow'), body='1').text == '1'
    before = {worker.pid for worker in host.loaded_workers()}
    head = post(host.path('swallow'), 64 * MEBIBYTE, type='text/plain').encode()
    with host.wire() as wire:
        wire.send(head.replace(b'\r\n\r\n', b'\r\nX-Long: ' + b'\xff' * 1_000_000 + b'\r\n\r\n'))
        wire.send(b' ' * (64 * MEBIBYTE))
        answer = wire.response()
    assert (answer.status, answer.text) == (200, str(64 * MEBIBYTE))
    assert {worker.pid for worker in host.loaded_workers()} == before


def test_a_body_that_no_worker_takes_cannot_be_configured(prepare):
    host = prepare(config={'server': {'limits': {'bodyBytes': 64 * MEBIBYTE + 1}}})
    host.spawn()
    assert host.process.wait(20) == 1
    host.process = None
    assert 'server.limits.bodyBytes' in host.log and '67108864' in host.log
