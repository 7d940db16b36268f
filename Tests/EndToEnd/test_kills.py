"""kill -9, of workers and of the host itself."""

import os
import signal
import socket
import threading

import pytest

from hearth import INTERNAL, Host
from load import Load
from processes import children, descriptors, memory_groups, steady, until

# Allowed answers when the worker of a call is killed, or when no worker can be started for a moment.
DEFINED = {(200, None), (500, 'INTERNAL'), (503, 'UNAVAILABLE'), (429, 'RESOURCE_EXHAUSTED')}


@pytest.mark.parametrize('keep_alive', [True, False], ids=['kept connections', 'new connections'])
def test_workers_killed_under_load(keep_alive, launch):
    """Every request is answered, by a result or by a defined error."""
    host = launch(['probe', 'Conformance'], config={'workers': {'restartLimit': 1000}})
    host.result('pid')
    with Load(host, 'pid', keep_alive=keep_alive) as load, Load(host, 'echo', clients=2) as beside:
        for _ in range(15):
            goal = load.count() + 50
            until(lambda: load.count() > goal, 'load')
            answer = host.callable('pid')
            if answer.status == 200:
                os.kill(answer.json['result'], signal.SIGKILL)
    assert load.lost() == {}
    assert set(load.answers()) <= DEFINED, load.answers()
    assert load.answers()[200, None] > 0
    assert set(beside.outcomes) == {(200, None, False)}, beside.outcomes
    until(lambda: host.callable('pid').status == 200, 'served again')


def kill_workers(host):
    workers = host.workers()
    for process in workers:
        os.kill(process.pid, signal.SIGKILL)
    until(lambda: not any(process.lives() for process in workers), 'they have ended')


def test_workers_killed_while_idle(launch):
    """Later callers do not notice."""
    host = launch()
    for number in range(20):
        assert host.result('echo', number) == number
        kill_workers(host)
    assert host.result('echo', 1) == 1


def test_stopped_worker_is_replaced(launch):
    """A worker that the kernel does not let run looks like one that hangs. What it was sent goes elsewhere."""
    host = launch(['probe'], config={'defaults': {'timeoutSeconds': 1}, 'workers': {'blockedLoopSeconds': 0.5}})
    pid = host.result('pid')
    os.kill(pid, signal.SIGSTOP)
    assert host.result('pid') != pid
    until(lambda: pid not in {process.pid for process in host.workers()}, 'it is gone')


def test_where_no_descriptor_tells_of_an_end(prepare):
    """Sandboxes and old kernels refuse this call: workers start, and the host still notices their end."""
    host = prepare()
    calls = host.folder / 'calls'
    command = ['strace', '-D', '-f', '-qq', '-e', 'trace=pidfd_open', '-e', 'inject=pidfd_open:error=ENOSYS', '-o', str(calls), *host.command()]
    host.command = lambda: command
    host.start()
    for number in range(10):
        assert host.result('echo', number) == number
        kill_workers(host)
    host.stop()
    assert 'ENOSYS' in calls.read_text()


@pytest.mark.parametrize('fault', ['abort', 'exit'])
def test_two_hundred_crashes_leave_nothing(fault, launch):
    """The restart policy forgives a crash once a call has been answered, so each crash follows an answer."""
    host = launch(['probe'], config={'workers': {'prewarmed': 0}})

    def crash():
        assert host.result('pid') > 0
        answer = host.callable(fault)
        assert (answer.status, answer.json) == (500, INTERNAL)

    for _ in range(5):
        crash()
    host.result('pid')
    before = steady(lambda: len(descriptors(host.pid)), 'descriptors')
    for _ in range(200):
        crash()
    host.result('pid')
    until(lambda: len(descriptors(host.pid)) <= before, f'no descriptor is left over: {descriptors(host.pid)}')
    assert [process for process in children(host.pid) if process.is_zombie] == []
    assert len(host.workers()) == 1


def test_no_worker_outlives_a_killed_host(launch):
    host = launch(['probe', 'Conformance'], config={'defaults': {'minInstances': 2}})
    until(lambda: len(host.loaded_workers()) >= 4, 'workers')
    assert host.callable('sleep', {'milliseconds': 1}).status == 200
    family = host.kill()
    assert len(family) >= 4
    until(lambda: not [process for process in family if process.lives()], 'all are gone')


def test_a_busy_worker_does_not_outlive_a_killed_host(launch):
    host = launch(['probe'], config={'functions': {'spin': {'timeoutSeconds': 600}}})
    host.result('pid')
    with host.wire() as wire:
        wire.send(b'POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"data":null}' %
                  host.path('spin').encode())
        until(lambda: [p for p in host.loaded_workers() if p.state == 'R'], 'it spins')
        family = host.kill()
    until(lambda: not [process for process in family if process.lives()], 'all are gone')


def test_host_starts_again_after_a_kill(launch):
    host = launch()
    host.result('echo', 1)
    killed = host.pid
    host.kill()
    host.start()
    assert host.result('echo', 2) == 2
    until(lambda: memory_groups(killed) == [], 'what it left behind in the kernel is cleared away')


def test_a_port_that_is_in_use_for_a_moment_is_waited_for(tmp_path):
    """The programs that a killed host was starting have its socket until they run."""
    host = Host(tmp_path, [])
    with socket.socket() as other:
        other.bind(('127.0.0.1', host.port))
        timer = threading.Timer(0.4, other.close)
        timer.start()
        host.start()
        timer.join()
    host.stop()


def test_a_port_that_stays_in_use_is_an_error(tmp_path):
    host = Host(tmp_path, [])
    with socket.socket() as other:
        other.bind(('127.0.0.1', host.port))
        host.spawn()
        assert host.process.wait(20) == 1
    assert f'127.0.0.1:{host.port} is in use by another program; choose another port with --port' in host.log
