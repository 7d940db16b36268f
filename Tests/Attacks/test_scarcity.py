"""Clients that take every descriptor of the host, and a system that refuses one when it is needed: the host refuses and goes on."""

import contextlib
import os
import signal
import socket

import pytest

from databases import OWNER, Database
from disks import READ_ONLY
from hearth import Host
from processes import descriptors, until
from scarcity import Scarcity, SmallHost
from wire import Ended

EXHAUSTED = {'error': 'The host has no file descriptors, threads or memory left for this: nothing was done, try again.'}
NO_CONNECTION = '503 Service Unavailable: the host has no file descriptor left for another connection; try again.\n'
CONFIG = {'server': {'loops': 1}, 'workers': {'prewarmed': 0}}


# -- few descriptors

@pytest.mark.parametrize('open_files', [256, 1024])
def test_idle_connections(tmp_path, open_files):
    host = SmallHost(tmp_path / 'host', [], mode='development', config={**CONFIG, 'database': {'idleSeconds': 0.3}}, open_files=open_files)
    try:
        host.start()
        with Database(host, 'sleeping') as database:
            database.put('/a.json', 1)
            until(lambda: 'sleeping' not in str(descriptors(host.pid)), 'the database sleeps')
            with contextlib.ExitStack() as held:
                refused = flood(host, held, 1100)
                assert refused > 1100 - open_files
                host.until_logged('connections are refused; raise the hard limit of open files')
                # An existing connection is served, with the reserved descriptors.
                assert database.get('/a.json') == 1
                for number in range(3):
                    with Database(host, f'new{number}') as other:
                        other.connection, database.connection = database.connection, None
                        assert other.put('/a.json', number) == number
                        database.connection, other.connection = other.connection, None
            until(lambda: get(host, 'sleeping').status == 200, 'new clients are served again')
        host.stop()
    finally:
        host.abandon()


def flood(host, held, count):
    """Opens connections that send nothing; how many were refused."""
    connections = []
    for _ in range(count):
        connection = held.enter_context(socket.socket())
        connection.connect(('127.0.0.1', host.port))
        connections.append(connection)
    refused, politely = 0, 0
    for connection in connections[-1:0:-1]:
        connection.settimeout(0.3 if refused else 10)
        try:
            answer = connection.recv(4096)
        except ConnectionResetError:
            answer = b''
        except TimeoutError:
            # The earlier connections are held.
            break
        refused += 1
        if answer:
            head, _, body = answer.partition(b'\r\n\r\n')
            assert head.startswith(b'HTTP/1.1 503 ') and body.decode() == NO_CONNECTION
            politely += 1
    assert politely > 0
    return refused


def get(host, name):
    with contextlib.suppress(OSError, Ended), Database(host, name) as database:
        return database.send('GET', '/a.json', headers=OWNER)
    return type('Nothing', (), {'status': 0})


def test_the_host_raises_its_limit_and_workers_keep_theirs(tmp_path):
    class Host512(SmallHost):
        def command(self):
            return ['prlimit', '--nofile=512:4096', *Host.command(self)]
    host = Host512(tmp_path / 'host', ['Conformance'], config={'workers': {'openFiles': 300, 'prewarmed': 0}}, open_files=512)
    try:
        host.start()
        assert open_files(host.pid) == (4096, 4096)
        assert call(host).status == 200
        worker = until(host.loaded_workers, 'a worker has loaded its plugin')[0]
        assert open_files(worker.pid) == (300, 300)
        host.stop()
    finally:
        host.abandon()


def open_files(pid):
    with open(f'/proc/{pid}/limits') as file:
        line = next(line for line in file if line.startswith('Max open files'))
    return tuple(map(int, line.split()[3:5]))


# -- each call in turn

@pytest.fixture
def scarce(tmp_path):
    """A host and what makes its calls fail."""
    scarcity = Scarcity(tmp_path / 'scarcity')
    host = Host(tmp_path / 'host', ['Conformance'], mode='development', config=CONFIG, env=scarcity.variables)
    host.start()
    yield host, scarcity
    scarcity.end()
    host.stop()


def each_failure(scarcity, *calls, attempt):
    """Lets the first call of an attempt fail, then the second of the next, until an attempt has none left. What has failed, with answers."""
    seen, spared = [], 0
    for number in range(1, 200):
        scarcity.fail(number, *calls)
        answer = attempt(number)
        failed = scarcity.end()
        if failed:
            seen.append((failed, answer))
        # The first attempts make more than those that follow them.
        spared = 0 if failed else spared + 1
        if spared == 3:
            return seen
    raise AssertionError('there is no end to it')


def test_a_database_is_opened(scarce):
    host, scarcity = scarce

    database = Database(host, 'warm')
    database.put('/a.json', 0)

    def attempt(number):
        database.namespace = f'n{number}'
        answer = database.ask('PUT', '/a.json', number)
        assert host.process.poll() is None
        failed = scarcity.end()
        if answer.status != 200:
            # SQLite opens a file for reading only that it cannot open for writing.
            assert answer.status == 503 and answer.json in (EXHAUSTED, READ_ONLY) and answer.header('Retry-After') == '1', (failed, answer.body)
        until(lambda: database.ask('PUT', '/a.json', number).status == 200, f'{number} is served after {failed} has failed')
        assert database.get('/a.json') == number
        return answer.status

    seen = each_failure(scarcity, attempt=attempt)
    database.close()
    failed = {call for call, status in seen if status == 503}
    assert failed >= {'epoll_create1', 'pipe2', 'eventfd', 'pthread_create', 'open'}
    host.until_logged('a namespace cannot be opened')
    with Database(host, 'n1') as database:
        assert database.get('/a.json') == 1


def test_nothing_leaks_where_a_database_cannot_be_opened(scarce):
    host, scarcity = scarce
    with Database(host, 'warm') as database:
        database.put('/a.json', 1)
        before = len(descriptors(host.pid))
        for number in range(1, 9):
            scarcity.fail(number, 'epoll_create1', 'pipe2', 'eventfd', 'pthread_create')
            database.namespace = f'l{number}'
            assert database.ask('PUT', '/a.json', 1).status == 503, scarcity.end()
            assert scarcity.end()
        until(lambda: len(descriptors(host.pid)) <= before, 'what was opened in vain is closed')


def test_a_connection_is_accepted(scarce):
    host, scarcity = scarce
    for _ in range(3):
        scarcity.fail(1, 'accept')
        answer = host.request('GET', '/_/health')
        assert (answer.status, answer.text, scarcity.end()) == (503, NO_CONNECTION, 'accept')
        assert host.request('GET', '/_/health').status == 200
    # Nor is the one there that is held for this.
    scarcity.fail(1, 'accept')
    with host.wire() as wire:
        wire.send_request('GET', '/_/health')
        assert wire.response().status in (200, 503)
    assert scarcity.end()
    host.until_logged('connections are refused')


def test_a_worker_is_started(scarce):
    host, scarcity = scarce
    assert call(host).status == 200

    def attempt(number):
        for worker in host.workers():
            os.kill(worker.pid, signal.SIGKILL)
            until(lambda worker=worker: not worker.lives(), 'the worker is gone')
        before = len(host.workers())
        assert before == 0
        answer = call(host)
        assert host.process.poll() is None
        if answer.status != 200:
            assert answer.status == 503 and answer.json['error']['status'] == 'UNAVAILABLE', answer.body
        return answer.status

    calls = ('socketpair', 'posix_spawn', 'dup', 'pthread_create', 'epoll_create1', 'open')
    seen = each_failure(scarcity, *calls, attempt=lambda number: (attempt(number), recover(host, scarcity))[0])
    assert {call for call, status in seen if status == 503} >= {'socketpair', 'posix_spawn'}
    assert any('an instance cannot be started' in line for line in host.log.splitlines())


def recover(host, scarcity):
    failed = scarcity.end()
    until(lambda: call(host).status == 200, f'functions run after {failed} has failed')


def call(host):
    return host.callable('echo', {'a': 1})


@pytest.mark.parametrize('calls', [('epoll_create1', 'eventfd'), ('pthread_create',), ('socket', 'dup', 'signalfd', 'inotify_init1')], ids=' '.join)
def test_the_host_starts_or_says_why_not(tmp_path, calls):
    refused = 0
    for number in range(1, 40):
        scarcity = Scarcity(tmp_path / f'scarcity{number}')
        host = Host(tmp_path / f'host{number}', [], mode='development', config=CONFIG, env=scarcity.variables)
        scarcity.fail(number, *calls)
        host.spawn()
        try:
            until(lambda: host.process.poll() is not None or serves(host), 'it serves or has ended')
            if host.process.poll() is None:
                host.stop()
            else:
                assert host.process.returncode == 1 and 'hearth: ' in host.log, f'{host.process.returncode}: {host.log}'
                refused += 1
                host.process = None
        finally:
            host.abandon()
        if not scarcity.end():
            break
    assert refused > 0


def serves(host):
    with contextlib.suppress(OSError, Ended):
        return host.request('GET', '/_/ready', timeout=5).status == 200
    return False
