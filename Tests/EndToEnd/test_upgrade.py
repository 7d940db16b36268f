"""Another process replaces a host under load, or fails to; clients notice neither."""

import os
import signal
import subprocess
import threading
import time

import pytest

import processes
from commands import Commands
from processes import until
from service_manager import Notifications
from upgrading import TimedLoad, Upgradable, Writers
from wire import Wire

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def upgradable(tmp_path):
    made = []

    def make(*args, **options):
        host = Upgradable(tmp_path / f'host-{len(made)}', *args, **options)
        made.append(host)
        return host.start()

    yield make
    try:
        for host in made:
            host.stop()
    finally:
        for host in made:
            host.abandon()


def upgraded(host, **options):
    """Upgrades, and returns the process that serves then."""
    answer = host.upgrade(**options)
    assert answer.status == 200, answer.text
    return answer.json


def refused(host, seconds=60):
    """An upgrade that fails: the reason that is given."""
    answer = host.upgrade(seconds)
    assert answer.status == 400, answer.text
    assert answer.json['error']['status'] == 'FAILED_PRECONDITION'
    return answer.json['error']['message']


# -- upgrades that succeed


@pytest.mark.parametrize('loops', [1, 2])
def test_no_request_fails(upgradable, loops):
    host = upgradable(config={'server': {'loops': loops}})
    host.result('echo', 1)
    with TimedLoad(host, 'echo', clients=4) as kept, TimedLoad(host, 'echo', clients=2, keep_alive=False) as fresh, Writers(host) as writers:
        pids = {host.pid}
        for _ in range(4):
            before = kept.count()
            pids.add(upgraded(host)['pid'])
            until(lambda before=before: kept.count() > before + 100, 'calls go on')
    assert len(pids) == 5
    assert kept.lost() == {} and fresh.lost() == {}
    assert set(kept.answers()) == set(fresh.answers()) == {(200, None)}
    assert writers.problems == []
    assert writers.stored() == writers.acknowledged
    assert min(writers.acknowledged) > 0


def test_the_command(upgradable, tmp_path):
    host = upgradable()
    commands = Commands(host, tmp_path / 'commands')
    said = commands.succeeds('upgrade')
    assert 'serves now' in said
    result = commands.result('upgrade')
    assert result['pid'] != host.pid and result['heldMilliseconds'] >= result['gapMilliseconds'] >= 0
    host.install('#!/bin/sh\nexit 3\n')
    assert 'ended with status 3 before it served' in commands.run('upgrade').sentence
    host.install('#!/bin/sh\nexec sleep 60\n')
    assert 'the new host was not ready within 1 s' in commands.run('upgrade', '--timeout', '1').sentence
    assert host.result('echo', 1) == 1


def test_a_signal_does_it_too(upgradable):
    host = upgradable()
    os.kill(host.pid, signal.SIGUSR2)
    host.until_logged('took over from the previous host')
    assert host.result('echo', 1) == 1


def test_the_process_that_was_started_stays_for_who_waits_for_it(upgradable):
    """Without a service manager the first process stands in: signals reach the host, and its end is the host's."""
    host = upgradable()
    pids = [upgraded(host)['pid'] for _ in range(3)]
    until(lambda: 'stand-in' in processes.command_line(host.pid), 'the first process stands in')
    assert host.process.poll() is None
    # Nothing of the hosts in between is left.
    until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in pids[:-1]), 'the others have ended')
    assert host.result('echo', 2) == 2
    os.kill(host.pid, signal.SIGUSR2)
    until(lambda: host.log.count('took over from the previous host') == 4, 'the signal is handed on')
    assert host.result('echo', 3) == 3


def test_the_data_directory_goes_along(upgradable):
    """It belongs to the host that serves, also once the one before is gone."""
    host = upgradable()
    for _ in range(2):
        pid = upgraded(host)['pid']
        until(lambda: (host.data / 'lock').read_text() == f'{pid}\n', 'the new host has it')
        refused = subprocess.run(
            [host.program, 'serve', '--config', 'functions.json', '--data-dir', host.data, '--port', '0'], cwd=host.folder, text=True,
            capture_output=True, timeout=60)
        assert (refused.returncode, f'is used by another host, process {pid};' in refused.stderr) == (1, True)


def test_a_signal_is_heard_while_processes_change(upgradable):
    """Whenever it comes: no thread takes it away from the process that the first one becomes."""
    for wait in [0, 0.001, 0.002, 0.003, 0.005, 0.01]:
        host = upgradable()
        host.result('echo', 1)
        blocking, others = processes.deaf_threads(host.pid, signal.SIGTERM)
        assert blocking and not others
        upgraded(host)
        time.sleep(wait)
        host.stop()


def test_with_a_service_manager_the_first_process_ends(upgradable, tmp_path):
    with Notifications(tmp_path / 'notify') as manager:
        host = upgradable(env=manager.environment)
        manager.until({'READY': '1'})
        manager.messages.clear()
        pid = upgraded(host)['pid']
        assert 'MONOTONIC_USEC' in manager.until({'RELOADING': '1'})
        main = manager.until({'MAINPID': str(pid)})
        ready = manager.until({'READY': '1'})
        assert (main['pid'], ready['pid']) == (host.pid, pid)
        assert manager.messages.index(main) < manager.messages.index(ready)
        assert host.process.wait(20) == 0
        assert host.result('echo', 1) == 1
        os.kill(pid, signal.SIGTERM)
        manager.until({'STOPPING': '1'})
        until(lambda: not os.path.exists(f'/proc/{pid}') or processes.look(pid).state == 'Z', 'the new host has ended')
        host.process = None


def test_long_calls_end_where_they_began(upgradable):
    host = upgradable()
    answers = []
    caller = threading.Thread(target=lambda: answers.append(host.callable('slowStream', 1, timeout=30)))
    caller.start()
    until(lambda: host.loaded_workers(), 'the call runs')
    time.sleep(0.2)
    pid = upgraded(host)['pid']
    assert not answers
    assert host.result('echo', 5) == 5
    caller.join(30)
    assert answers[0].json == {'result': 'done'}, answers[0].text
    assert pid == host.serving_pid()


def test_idle_connections_go_over(upgradable):
    """A connection that is open and silent during the upgrade is not closed."""
    host = upgradable()
    request = ('POST', host.path('echo'), [('Content-Type', 'application/json')], '{"data":1}')
    with Wire(host.port) as used, Wire(host.port) as unused, Wire(host.port) as halfway:
        assert used.request(*request).status == 200
        halfway.send(f'POST {host.path("echo")} HTTP/1.1\r\nHost: x\r\nContent-Ty')
        time.sleep(0.1)
        upgraded(host)
        assert used.request(*request).json == {'result': 1}
        assert used.request(*request).json == {'result': 1}
        assert unused.request(*request).json == {'result': 1}
        halfway.send('pe: application/json\r\nContent-Length: 10\r\n\r\n{"data":7}')
        assert halfway.response('POST').json == {'result': 7}


@pytest.mark.parametrize('path', ['/news.json', '/.settings/profile.json'])
def test_event_streams_end_and_come_again(path, upgradable):
    host = upgradable()
    headers = [('Authorization', f'Bearer {host.token}'), ('Accept', 'text/event-stream')]
    with Wire(host.port) as wire:
        wire.send_request('GET', path, headers)
        head = until(lambda: wire.socket.recv(65536), 'the stream begins')
        assert b'text/event-stream' in head
        upgraded(host)
        rest = b''
        while piece := wire.socket.recv(65536):
            rest += piece
            if rest.endswith(b'0\r\n\r\n'):
                break
        assert rest.endswith(b'0\r\n\r\n') or b'event:' in rest
    assert host.request('PUT', '/news.json', headers[:1], '1').status == 200


# -- upgrades that fail


@pytest.mark.parametrize(('program', 'reason'), [
    ('#!/bin/sh\nexit 3\n', 'the new host ended with status 3 before it served'),
    ('#!/bin/sh\nkill -ABRT $$\n', 'the new host was ended by signal 6 before it served'),
    ('#!/bin/sh\nexec 3<&-; exec sleep 600\n', 'the new host was ended by signal 9 before it served'),
    ('#!/none/such\n', 'the new host cannot be started: spawn'),
], ids=['leaves', 'crashes', 'goes away', 'no interpreter'])
def test_programs_that_are_no_host(upgradable, program, reason):
    host = upgradable()
    host.install(program)
    assert reason in refused(host)
    goes_on(host)


def test_a_program_that_cannot_be_run(upgradable):
    host = upgradable()
    host.install(b'\x7fELF\x02\x01\x01 and no more')
    assert 'Exec format error (errno 8)' in refused(host)
    host.install('nothing', mode=0o644)
    assert 'permission denied' in refused(host)
    host.program.unlink()
    assert 'no such file' in refused(host)
    goes_on(host)


def test_a_program_that_hangs(upgradable):
    host = upgradable()
    host.install('#!/bin/sh\nexec sleep 600\n')
    assert 'was not ready within 1 s' in refused(host, seconds=1)
    goes_on(host)


@pytest.mark.parametrize('when', ['before', 'after'])
@pytest.mark.parametrize('how', ['die', 'abort', 'leave', 'refuse', 'close'])
def test_a_new_host_that_fails_at_its_work(upgradable, when, how):
    """Also when it has the databases already."""
    host = upgradable()
    host.install_pretender(**{when: how})
    with TimedLoad(host, 'echo', clients=2) as load, Writers(host, clients=2) as writers:
        until(lambda: load.count() > 20 and min(writers.acknowledged) > 0, 'load')
        reason = refused(host)
        assert reason == 'the new one does not want to' if how == 'refuse' else 'before it served' in reason
        before = load.count()
        until(lambda: load.count() > before + 20, 'calls go on')
    assert load.lost() == {} and set(load.answers()) == {(200, None)}
    assert writers.problems == [] and writers.stored() == writers.acknowledged
    goes_on(host)


def test_a_new_host_that_hangs_with_the_databases(upgradable):
    host = upgradable()
    host.install_pretender(after='hang')
    with Writers(host, clients=2) as writers:
        until(lambda: min(writers.acknowledged) > 0, 'writes')
        assert 'did not open the databases' in refused(host)
    assert writers.problems == [] and writers.stored() == writers.acknowledged
    goes_on(host)


def test_a_new_host_that_would_leave_something_out(upgradable):
    host = upgradable()
    host.install_pretender(refusals='["libX.so: is broken"]')
    assert refused(host) == 'the new host would leave out what this one serves: libX.so: is broken'
    goes_on(host)


def test_a_configuration_that_is_wrong(upgradable):
    host = upgradable()
    text = host.config_path.read_text()
    host.config_path.write_text('{"project": 1}')
    assert f'{host.config_path}:1' in refused(host)
    host.config_path.write_text(text)
    goes_on(host)


def test_databases_in_memory_cannot_go_over(upgradable):
    host = upgradable(config={'database': {'storage': 'memory'}})
    assert refused(host) == 'the databases are in memory and would be lost; restart the host instead'


def test_two_upgrades_at_once(upgradable):
    host = upgradable()
    host.install('#!/bin/sh\nexec sleep 600\n')
    first = []
    thread = threading.Thread(target=lambda: first.append(host.upgrade(2)))
    thread.start()
    host.until_logged('the new host is starting')
    assert refused(host) == 'an upgrade is already running'
    thread.join(30)
    assert first[0].status == 400
    goes_on(host)


def beside_workers(host):
    """The commands of the processes below a host that are no workers."""
    lines = [processes.command_line(process.pid) for process in processes.descendants(host.pid) if process.lives()]
    return [(line + ['', ''])[1] for line in lines if 'worker' not in line]


def goes_on(host):
    """The host is as if nothing had happened, and can be upgraded once there is a program that is good."""
    assert host.result('echo', 1) == 1
    headers = [('Authorization', f'Bearer {host.token}')]
    assert host.request('PUT', '/after.json', headers, '1').status == 200
    assert host.request('GET', '/_/ready').status == 200
    assert host.serving_pid() == host.pid
    # The failed process and all processes that it started have ended.
    until(lambda: beside_workers(host) in ([], ['clean-up']), "only workers and what ends what they leave are left")
    host.install()
    upgraded(host)
    assert host.request('GET', '/after.json', headers).json == 1


