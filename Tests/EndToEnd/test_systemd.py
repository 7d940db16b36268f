"""The protocols of systemd: sockets that are handed over, readiness, the watchdog; and the units that are shipped."""

import os
import re
import signal
import socket
import subprocess

import pytest

import processes
from hearth import BINARY, ROOT, Host, free_port
from processes import until
from service_manager import Notifications, with_sockets
from wire import Wire

UNITS = ROOT / 'packaging/systemd'


class Activated(Host):
    """A host whose sockets another process has made."""

    addresses, pid_offset = (), 0

    def command(self):
        return with_sockets(super().command(), *self.addresses, pid_offset=self.pid_offset)


@pytest.fixture
def activate(tmp_path):
    """Starts a host with these sockets; its own port is the first one's."""
    made = []

    def make(*ports, pid_offset=0, **options):
        host = Activated(tmp_path / f'activated-{len(made)}', **options)
        host.addresses, host.pid_offset = [f'127.0.0.1:{port}' for port in ports], pid_offset
        made.append(host)
        if pid_offset == 0:
            host.port = ports[0]
        return host.start()

    yield make
    for host in made:
        host.stop()


def sockets_of(pid):
    return [link for link in (os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')) if link.startswith('socket:')]


@pytest.mark.parametrize('loops', [1, 2])
def test_serves_on_every_socket_that_is_handed_over(activate, loops):
    first, second = free_port(), free_port()
    host = activate(first, second, config={'server': {'loops': loops}})
    for port in (first, second):
        for _ in range(8):
            with Wire(port) as wire:
                assert wire.request('POST', host.path('echo'), [('Content-Type', 'application/json')], '{"data":7}').json == {'result': 7}
    assert f'http://127.0.0.1:{first}' in host.banner


def test_handed_over_sockets_go_no_further(activate):
    host = activate(free_port())
    host.result('echo', 1)
    for worker in until(host.loaded_workers, 'a worker'):
        variables = processes.environment(worker.pid)
        assert not [name for name in variables if name.startswith(('LISTEN_', 'NOTIFY_', 'WATCHDOG_'))]
    listening = next(line.split()[9] for line in open(f'/proc/{host.pid}/net/tcp', encoding='utf-8')
                     if line.split()[1].endswith(f':{host.port:04X}') and line.split()[3] == '0A')
    assert f'socket:[{listening}]' in sockets_of(host.pid)
    assert not [worker for worker in host.workers() if f'socket:[{listening}]' in sockets_of(worker.pid)]


def test_sockets_of_another_process_are_left_alone(activate):
    """LISTEN_PID names who they are for."""
    host = activate(free_port(), pid_offset=1)
    assert host.result('echo', 1) == 1


def test_a_descriptor_that_is_no_socket_is_refused(tmp_path):
    host = Host(tmp_path / 'host')
    script = 'exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
    done = subprocess.run(['sh', '-c', script, 'sh', *host.command()], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert done.stderr.strip() == ("hearth: the service manager's sockets cannot be used: listen descriptor 3, which is not a listening TCP "
                                   'socket: invalid argument (EINVAL)')


@pytest.mark.parametrize('kind', ['path', 'abstract'])
def test_tells_when_it_is_ready_and_when_it_stops(launch, tmp_path, kind):
    with Notifications(tmp_path / 'notify' if kind == 'path' else f'@hearth-test-{os.getpid()}') as manager:
        host = launch(env=manager.environment)
        ready = manager.until({'READY': '1'})
        assert ready['pid'] == host.pid
        assert re.fullmatch(rf'Serving \d+ functions at http://127.0.0.1:{host.port}', ready['STATUS'])
        host.begin_stop()
        assert manager.until({'STOPPING': '1'})['STATUS'].startswith('Stopping')
        host.stop()


def test_is_not_ready_before_functions_can_be_reached(prepare, tmp_path):
    with Notifications(tmp_path / 'notify') as manager:
        host = prepare({'broken': {'library': str(tmp_path / 'none.so')}}, env=manager.environment)
        host.spawn()
        host.process.wait(30)
        host.process = None
        assert manager.count('READY') == 0


@pytest.mark.parametrize('loops', [1, 2])
def test_watchdog(launch, tmp_path, loops):
    """A host that does not turn is not spoken for."""
    with Notifications(tmp_path / 'notify') as manager:
        host = launch(env={**manager.environment, 'WATCHDOG_USEC': '200000'}, config={'server': {'loops': loops}})
        until(lambda: manager.count('WATCHDOG') > 3, 'the watchdog is fed')
        os.kill(host.pid, signal.SIGSTOP)
        try:
            manager.receive()
            before = manager.count('WATCHDOG')
            # Long enough for several, were it alive.
            with pytest.raises(AssertionError):
                until(lambda: manager.count('WATCHDOG') > before + 1, 'nothing', 1)
        finally:
            os.kill(host.pid, signal.SIGCONT)
        until(lambda: manager.count('WATCHDOG') > before + 3, 'the watchdog is fed again')


def test_watchdog_of_another_process(launch, tmp_path):
    with Notifications(tmp_path / 'notify') as manager:
        host = launch(env={**manager.environment, 'WATCHDOG_USEC': '100000', 'WATCHDOG_PID': '1'})
        assert host.result('echo', 1) == 1
        manager.until({'READY': '1'})
        assert manager.count('WATCHDOG') == 0


def test_a_manager_that_does_not_listen_is_no_matter(launch, tmp_path):
    host = launch(env={'NOTIFY_SOCKET': str(tmp_path / 'nobody'), 'WATCHDOG_USEC': '1000'})
    assert host.result('echo', 1) == 1


# -- systemd's own tools

def test_socket_activation_by_systemd_itself(prepare):
    host = prepare()
    command = ['systemd-socket-activate', '-l', f'127.0.0.1:{host.port}', *host.command()]
    host.command = lambda: command
    # It waits for the first connection before it becomes the host.
    host.spawn()
    until(lambda: answers(host), 'the host answers')
    assert host.result('echo', 5) == 5


def answers(host):
    with socket.socket() as probe:
        if probe.connect_ex(('127.0.0.1', host.port)) != 0:
            return False
    return host.is_ready()


def installed(folder):
    """The units as they would be installed, with the program of this build."""
    for name in ('hearth.service', 'hearth.socket'):
        text = (UNITS / name).read_text().replace('/usr/local/bin/hearth', str(BINARY)).replace('User=hearth', 'User=root').replace(
            'Group=hearth', 'Group=root')
        (folder / name).write_text(text)
    return folder


def test_units_are_well_formed(tmp_path):
    folder = installed(tmp_path)
    done = subprocess.run(['systemd-analyze', 'verify', '--recursive-errors=no', folder / 'hearth.service', folder / 'hearth.socket'],
                          capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    assert 'hearth' not in done.stderr, done.stderr


def test_units_are_hardened(tmp_path):
    """`systemd-analyze security` gives 0 (safe) to 10 (unsafe)."""
    folder = installed(tmp_path)
    done = subprocess.run(['systemd-analyze', 'security', '--offline=true', '--threshold=20', folder / 'hearth.service'],
                          capture_output=True, text=True, timeout=50)
    exposure = float(re.search(r'Overall exposure level[^:]*: ([\d.]+)', done.stdout)[1])
    # A control group of the service's own, in which workers are bounded, counts 0.1.
    assert exposure <= 2.1, done.stdout


def expanded(name):
    """The system calls of a set."""
    if not name.startswith('@'):
        return {name}
    shown = subprocess.run(['systemd-analyze', 'syscall-filter', name], capture_output=True, text=True, check=True).stdout
    listed = [line.strip() for line in shown.splitlines()[1:] if line.strip() and not line.strip().startswith('#')]
    return {call for entry in listed for call in expanded(entry)}


def test_the_units_filter_lets_through_what_is_used(prepare, tmp_path):
    """Host and workers are started under strace; Landlock and seccomp of the workers included."""
    allowed = set()
    for line in (UNITS / 'hearth.service').read_text().splitlines():
        if line.startswith('SystemCallFilter='):
            words = line.removeprefix('SystemCallFilter=')
            named = {call for word in words.lstrip('~').split() for call in expanded(word)}
            allowed = allowed - named if words.startswith('~') else allowed | named
    host = prepare(mode='development')
    # It follows from outside, so that signals reach the host itself.
    command = ['strace', '-D', '-f', '-qq', '-c', '-U', 'name', '-o', str(tmp_path / 'calls'), *host.command()]
    host.command = lambda: command
    host.start()
    assert host.result('echo', 1) == 1
    headers = [('Authorization', 'Bearer owner')]
    assert host.request('PUT', '/a.json', headers, '1').status == 200
    assert host.request('POST', '/_/api/backup', headers).status == 200
    host.stop()
    text = until(lambda: (tmp_path / 'calls').read_text(), 'the list of calls')
    used = {line.strip() for line in text.splitlines() if re.fullmatch(r'\s*[a-z_0-9]+\s*', line)} - {'total', 'syscall'}
    assert {'openat', 'epoll_pwait', 'execve'} & used
    # SQLite changes a file's owner, and workers give up capabilities, as root only, which the service is not.
    assert used - allowed - {'execve', 'fchown', 'capset'} == set()
