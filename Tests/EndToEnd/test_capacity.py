"""Many connections at once."""

import os
import resource
import selectors
import signal
import socket
import time

import pytest

from hearth import callable_headers
from processes import children, cpu_ticks, descriptors, resident_kib, steady, until
from wire import request_bytes

CONNECTIONS = 10_000
MEMORY_KIB_MAX = 60 * 1024
# Without a prewarmed worker nothing but connections comes and goes.
NOTHING_ELSE = {'workers': {'prewarmed': 0}}


@pytest.fixture
def many_descriptors():
    """The limit covers both ends of each connection, because the host inherits it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + 2000
    assert hard == resource.RLIM_INFINITY or hard >= wanted, f'the hard limit of open files is {hard}; {wanted} are needed'
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_connections(port, count):
    """Connects without waiting for each one, a few hundred at a time."""
    opened, waiting = [], selectors.DefaultSelector()
    while len(opened) < count:
        batch = [socket.socket() for _ in range(min(250, count - len(opened)))]
        for client in batch:
            client.setblocking(False)
            client.connect_ex(('127.0.0.1', port))
            waiting.register(client, selectors.EVENT_WRITE)
        left = len(batch)
        while left:
            for key, _ in waiting.select(30):
                assert key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
                waiting.unregister(key.fileobj)
                left -= 1
        opened += batch
    return opened


def answer_on(client, host, data):
    client.settimeout(30)
    client.sendall(request_bytes('POST', host.path('echo'), callable_headers(), '{"data":%d}' % data))
    return client.recv(4096)


@pytest.mark.timeout(120)
def test_ten_thousand_idle_connections(launch, many_descriptors):
    host = launch(config=NOTHING_ELSE)
    assert host.result('echo', 1) == 1
    before, memory = len(descriptors(host.pid)), resident_kib(host.pid)
    clients = open_connections(host.port, CONNECTIONS)
    try:
        # The connection of the call before may still have been open when they were counted.
        until(lambda: len(descriptors(host.pid)) >= before + CONNECTIONS - 1, 'every connection is accepted', 60)
        for index in range(0, CONNECTIONS, 100):
            assert answer_on(clients[index], host, index).endswith(b'{"result":%d}' % index)
        assert resident_kib(host.pid) - memory < MEMORY_KIB_MAX
    finally:
        for client in clients:
            client.close()
    until(lambda: len(descriptors(host.pid)) <= before, 'every descriptor is given back', 60)
    assert host.result('echo', 2) == 2


def test_connections_that_come_and_go_leave_nothing(launch):
    host = launch(config=NOTHING_ELSE)
    host.result('echo', 1)
    before = len(descriptors(host.pid))
    for number in range(500):
        with host.wire() as wire:
            if number % 3 == 0:
                wire.send(b'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Le')
            elif number % 3 == 1:
                wire.reset()
    until(lambda: len(descriptors(host.pid)) <= before, 'descriptors are back')
    assert host.result('echo', 2) == 2
    assert not [process for process in children(host.pid) if process.is_zombie]


def test_descriptors_running_out_is_survived(prepare):
    """At its limit of open files a host answers its open connections, and accepts new ones when others are closed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (150, hard))
    try:
        host = prepare().start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    resource.prlimit(host.pid, resource.RLIMIT_NOFILE, (150, 150))
    with host.wire() as first:
        first.send(request_bytes('POST', host.path('echo'), callable_headers(), '{"data":1}'))
        assert first.response().json == {'result': 1}
        crowd = [socket.create_connection(('127.0.0.1', host.port)) for _ in range(300)]
        until(lambda: len(descriptors(host.pid)) >= 140, 'the host is full')
        first.send(request_bytes('POST', host.path('echo'), callable_headers(), '{"data":2}'))
        assert first.response().json == {'result': 2}
        for client in crowd:
            client.close()
    until(lambda: len(descriptors(host.pid)) < 100, 'the crowd has gone')
    assert host.result('echo', 3) == 3


def test_a_worker_is_started_with_the_last_descriptors(launch):
    """Four sockets have two ends each while a process starts, and there is the memory that it shares with the host; then one more is
    wanted, to learn of its end."""
    host = launch()
    with host.wire() as wire:
        wire.send(request_bytes('POST', host.path('echo'), callable_headers(), '{"data":1}'))
        assert wire.response().json == {'result': 1}
        # The worker that only read the plugin's manifest ends and does not count.
        until(lambda: len(host.loaded_workers()) == len(prewarmed(host)) == 1, 'a worker serves and one is prewarmed')
        steady(lambda: (descriptors(host.pid), prewarmed(host)), 'the host rests')
        waiting = prewarmed(host)
        numbers = descriptors(host.pid)
        fillers = open_connections(host.port, max(numbers) + 1 - len(numbers))
        until(lambda: len(descriptors(host.pid)) == max(descriptors(host.pid)) + 1, 'there are no gaps')
        room = len(descriptors(host.pid)) + 4  # The old worker gives five back: nine in all.
        resource.prlimit(host.pid, resource.RLIMIT_NOFILE, (room, room))
        for _ in range(3):
            before = set(waiting)
            os.kill(waiting.pop(), signal.SIGKILL)
            waiting = until(lambda before=before: prewarmed(host) - before, 'another one is prewarmed')
        for filler in fillers:
            filler.close()


def prewarmed(host):
    """The process ids of those without a plugin."""
    return {worker.pid for worker in host.workers()} - {worker.pid for worker in host.loaded_workers()}


def test_a_full_backlog_costs_no_processor_time(launch):
    """Idle connections are idle: nothing is polled."""
    host = launch()
    clients = open_connections(host.port, 500)
    until(lambda: len(descriptors(host.pid)) > 500, 'accepted')
    start = cpu_ticks(host.pid)
    time.sleep(1)
    assert cpu_ticks(host.pid) - start <= 10
    for client in clients:
        client.close()
