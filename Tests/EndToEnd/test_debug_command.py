"""`hearth debug`: a worker waits for a debugger, and takes the calls without deadlines until the command ends."""

import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import threading
import time

import pytest

from commands import Commands
from processes import until

pytestmark = pytest.mark.timeout(120)
SHORT = {'functions': {'breaks': {'timeoutSeconds': 1}, 'fine': {'timeoutSeconds': 1}}}


class Session:
    """A running `hearth debug --json`."""

    def __init__(self, host, function, folder):
        self.process = Commands(host, folder).start('debug', function, '--json')
        self.states, self.buffer = [], b''

    def state(self, name, seconds=60):
        """Waits for the state of this name."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for state in self.states:
                if state['state'] == name:
                    return state
            if select.select([self.process.stdout], [], [], 1)[0]:
                chunk = os.read(self.process.stdout.fileno(), 65536)
                assert chunk, (self.states, self.process.stderr.read())
                self.buffer += chunk
                *lines, self.buffer = self.buffer.split(b'\n')
                self.states += [json.loads(line) for line in lines]
        raise AssertionError(f'never {name}: {self.states}')

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)


@pytest.fixture
def debug(tmp_path):
    sessions = []

    def begin(host, function):
        sessions.append(Session(host, function, tmp_path / f'commands-{len(sessions)}'))
        return sessions[-1]

    yield begin
    for session in sessions:
        session.close()


@contextlib.contextmanager
def debugger(pid, *commands):
    """gdb, attached to a process. Reading the debug information of the host would take half a minute."""
    gdb = subprocess.Popen(['gdb', '-nx', '-q', '--readnever', '-p', str(pid)],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        for command in commands:
            gdb.stdin.write(f'{command}\n'.encode())
            gdb.stdin.flush()
        yield gdb
    finally:
        gdb.kill()
        gdb.communicate(timeout=20)


def tracer(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as status:
        return next(int(line.split()[1]) for line in status if line.startswith('TracerPid:'))


def is_stopped(pid):
    return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] == 't'


@pytest.mark.parametrize('loops', [1, 2])
def test_a_breakpoint(loops, launch, debug):
    host = launch(['breaks'], mode='development', config={**SHORT, 'server': {'loops': loops}})
    session = debug(host, 'fine')
    waiting = session.state('waiting')
    assert waiting['plugin'] == 'breaks'
    answers = []
    caller = threading.Thread(target=lambda: answers.append(host.callable('fine', timeout=60)))
    caller.start()
    with debugger(waiting['pid'], 'set pagination off', 'break hearth_plugin_entry', 'break invoke', 'continue') as gdb:
        running = session.state('running')
        assert running['debugger'] == gdb.pid
        until(lambda: is_stopped(waiting['pid']) and not answers, 'the call has reached the breakpoint', 60)
        # Longer than the deadline of the call, and than an event loop may be blocked.
        time.sleep(2.5)
        assert not answers
        gdb.stdin.write(b'detach\n')
        gdb.stdin.flush()
        caller.join(30)
    assert answers[0].status == 200
    session.interrupt()
    assert session.process.wait(20) == 0
    until(lambda: not pathlib.Path(f'/proc/{waiting["pid"]}').exists(), 'the worker ends with the command')
    assert host.result('fine') is True, 'another worker takes the next call'
    assert 'an instance ended' not in host.log


def test_without_a_debugger(launch, debug):
    host = launch(['probe'], mode='development', config={'functions': {'pid': {'timeoutSeconds': 1}}})
    before = host.result('pid')
    session = debug(host, 'pid')
    waiting = session.state('waiting')
    session.interrupt()
    session.state('running')
    assert host.result('pid') == waiting['pid'] != before
    session.interrupt()
    assert 'ended' in session.state('ended')['reason']
    assert session.process.wait(20) == 0
    assert host.result('pid') not in (before, waiting['pid'])


def test_a_command_that_is_killed(launch, debug):
    host = launch(['probe'], mode='development')
    session = debug(host, 'pid')
    pid = session.state('waiting')['pid']
    session.process.kill()
    until(lambda: not pathlib.Path(f'/proc/{pid}').exists(), 'the worker ends without its command', 60)
    assert host.result('pid') != pid


def test_a_host_that_stops(launch, debug):
    host = launch(['probe'], mode='development')
    session = debug(host, 'pid')
    session.state('waiting')
    host.stop()
    assert session.process.wait(20) == 1


def test_a_crash_ends_it(launch, debug):
    host = launch(['breaks'], mode='development')
    session = debug(host, 'breaks')
    session.state('waiting')
    session.interrupt()
    session.state('running')
    assert host.callable('breaks').status == 500
    assert 'the instance ended' in session.state('ended')['reason']
    assert session.process.wait(20) == 0
    assert host.result('fine') is True


def test_only_this_worker_can_be_traced_by_others(launch, debug):
    """The filter of system calls stays: it cannot trace anything itself."""
    host = launch(['intruder'], mode='development')
    session = debug(host, host_function(host))
    pid = session.state('waiting')['pid']
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    assert 'Seccomp:\t2' in status
    assert 'NoNewPrivs:\t1' in status
    with debugger(pid, 'continue'):
        until(lambda: tracer(pid) != 0, 'it is traced')


def host_function(host):
    answer = host.request('GET', '/_/api/functions', [('Authorization', 'Bearer owner')])
    return answer.json['functions'][0]['name']


def test_refusals(launch, debug, tmp_path):
    host = launch(['probe'], mode='development')
    commands = Commands(host, tmp_path / 'commands')
    assert 'nothere' in commands.run('debug', 'nothere').sentence
    session = debug(host, 'pid')
    pid = session.state('waiting')['pid']
    assert f'is being debugged already, as process {pid}' in commands.run('debug', 'pid').sentence
    owner = [('Authorization', 'Bearer owner')]
    for body, status in [({'session': 'other'}, 404), ({'session': 1}, 400), ({'action': 'end'}, 400), ({'session': 'x', 'action': 'leap'}, 400)]:
        assert host.request('POST', '/_/api/functions/pid:debug', owner, json.dumps(body)).status == status, body
    production = launch(['probe'])
    sentence = Commands(production, tmp_path / 'others').run('debug', 'pid').sentence
    assert 'a host in production mode stops for no debugger' in sentence



def test_lines_for_a_person(launch, tmp_path):
    host = launch(['probe'], mode='development')
    process = Commands(host, tmp_path / 'commands').start('debug', 'pid')
    said = b''
    while b'Ctrl-C goes on' not in said:
        chunk = os.read(process.stdout.fileno(), 65536)
        assert chunk, process.stderr.read()
        said += chunk
    lines = said.decode().splitlines()
    pid = lines[0].split()[1]
    assert lines[1:3] == [f'  lldb -p {pid}', f'  gdb -p {pid}']
    process.send_signal(signal.SIGINT)
    while b'without deadlines' not in said:
        said += os.read(process.stdout.fileno(), 65536)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
