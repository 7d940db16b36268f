"""The program itself: arguments, exit statuses, and one sentence for what is wrong."""

import json
import os
import re
import signal
import socket
import stat
import subprocess

import pytest

from hearth import BINARY
from processes import until


def run(*arguments, cwd=None, seconds=30):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=seconds, cwd=cwd, stdin=subprocess.DEVNULL,
                          env={'PATH': '/usr/bin:/bin', 'HOME': '/nonexistent'})


def sentence(outcome):
    """The output of a failed program: one line on stderr."""
    lines = outcome.stderr.strip().splitlines()
    assert len(lines) == 1, outcome.stderr
    return lines[0]


@pytest.mark.parametrize('arguments', [['--help'], ['serve', '--help']])
def test_help(arguments):
    outcome = run(*arguments)
    assert outcome.returncode == 0
    assert 'serve' in outcome.stdout


@pytest.mark.parametrize('arguments', [['nonsense'], ['serve', '--nonsense'], ['serve', '--port', 'x'], ['serve', '--mode', 'other'],
                                       ['serve', '--port', '70000'], ['serve', '--port', '-1']])
def test_wrong_arguments(arguments, tmp_path):
    outcome = run(*arguments, cwd=tmp_path)
    assert outcome.returncode == 64, outcome.stderr
    assert outcome.stderr


def test_configuration_that_is_not_there(tmp_path):
    outcome = run('serve', '--config', 'nowhere.json', cwd=tmp_path)
    assert outcome.returncode == 1
    assert 'nowhere.json' in sentence(outcome)


def test_configuration_that_is_a_folder(tmp_path):
    outcome = run('serve', '--config', str(tmp_path), cwd=tmp_path)
    assert outcome.returncode == 1
    assert str(tmp_path) in sentence(outcome)


def test_port_in_use(prepare):
    host = prepare()
    with socket.create_server(('127.0.0.1', host.port)):
        host.spawn()
        assert host.process.wait(30) == 1
    assert str(host.port) in host.log
    said = [line for line in host.log.strip().splitlines() if 'in use' in line]
    assert len(said) == 1, host.log
    host.process = None


def test_data_folder_that_cannot_be_made(prepare, tmp_path):
    host = prepare()
    host.data.write_text('a file')
    host.spawn()
    assert host.process.wait(30) == 1
    assert str(host.data) in host.log
    host.process = None


@pytest.mark.parametrize('sig', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_with_0(sig, launch):
    host = launch()
    assert host.result('echo', 1) == 1
    host.stop(sig)


def test_signal_before_it_is_ready(prepare):
    host = prepare().spawn()
    host.process.send_signal(signal.SIGTERM)
    assert host.process.wait(30) in (0, -signal.SIGTERM)
    host.process = None


def test_started_again_on_the_same_data(launch):
    host = launch()
    host.stop()
    host.start()
    assert host.result('echo', 1) == 1


def test_banner_lists_functions_with_their_addresses(launch):
    host = launch()
    assert f'http://127.0.0.1:{host.port}{host.path("echo")}' in host.banner
    assert f'http://127.0.0.1:{host.port}/_/' in host.banner


def test_any_free_port(prepare):
    host = prepare()
    host.port = 0
    host.spawn()
    line = host.until_logged(r'http://127\.0\.0\.1:\d+/_/health')
    host.port = int(re.search(r':(\d+)/_', line)[1])
    assert host.port > 0
    assert host.result('echo', 1) == 1


def test_version():
    outcome = run('--version')
    assert (outcome.returncode, outcome.stdout.strip().count('.')) == (0, 2)


def test_admin_token_is_for_its_owner_only(launch):
    host = launch()
    path = host.data / 'admin-token'
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    token = path.read_text().strip()
    # Values that neither a shell nor a command line misreads: no "-" in front.
    assert len(token) == 43 and token.isalnum()
    assert token not in host.log


@pytest.mark.parametrize('contents', [b'', b'\n'])
def test_an_empty_admin_token_is_replaced(contents, prepare):
    """The files that a machine leaves that stopped while the first host started."""
    host = prepare()
    host.data.mkdir(mode=0o700)
    path = host.data / 'admin-token'
    path.write_bytes(contents)
    path.chmod(0o644)
    (host.data / 'admin-token.new').write_text('half')
    host.start()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    token = path.read_text()
    assert len(token) == 43 and not (host.data / 'admin-token.new').exists()
    assert host.request('GET', '/_/api/functions', [('Authorization', f'Bearer {token}')]).status == 200


def test_an_admin_token_that_leads_nowhere_stays(prepare):
    """The target of the link may be there another time."""
    host = prepare()
    host.data.mkdir(mode=0o700)
    (host.data / 'admin-token').symlink_to('secrets/token')
    host.spawn()
    assert host.process.wait(20) != 0
    host.process = None
    assert 'admin-token contains no token; remove it' in host.log
    assert (host.data / 'admin-token').is_symlink()


def with_pipe(host, waits=True):
    """Starts a host whose output goes into a pipe; returns the end to read from."""
    reader, writer = os.pipe()
    os.set_blocking(writer, waits)
    host.process = subprocess.Popen(host.command(), stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, cwd=host.folder,
                                    start_new_session=True, env={'PATH': '/usr/bin:/bin'})
    os.close(writer)
    until(host.is_ready, 'ready')
    return reader


def test_output_that_goes_nowhere_does_not_end_it(prepare):
    """A terminal that is closed: writing the log fails from then on."""
    host = prepare()
    os.close(with_pipe(host))
    for number in range(20):
        assert host.result('echo', number) == number
        host.callable('throwsPlain')
    dropped = re.search(r'^hearth_log_lines_dropped_total\{where="output"\} (\d+)', host.request('GET', '/_/metrics').text, re.MULTILINE)
    assert int(dropped[1]) >= 20


def test_output_that_does_not_wait_loses_nothing(prepare):
    """The starter of the host has made its pipe so, and reads late."""
    host = prepare()
    reader = with_pipe(host, waits=False)
    for _ in range(600):
        host.callable('throwsPlain')
    said = b''
    while said.count(b'PlainError') < 600:
        said += os.read(reader, 65536)
    assert len(said) > 65536 and b'were dropped' not in said
    host.stop()
    os.close(reader)


def test_output_that_nobody_reads_does_not_hold_it_up(prepare):
    """A pipe takes 64 KiB; then writing to it would wait for ever."""
    host = prepare()
    reader = with_pipe(host)
    with host.wire() as wire:
        for _ in range(1000):
            wire.send_request('POST', host.path('throwsPlain'), [('Content-Type', 'application/json')], '{"data":null}')
            assert wire.response().status == 500
    host.stop()
    os.close(reader)


def test_health_is_json_or_text(conformance):
    for target in ('/_/health', '/_/ready'):
        answer = conformance.request('GET', target)
        assert answer.status == 200
        if 'json' in answer.header('Content-Type'):
            json.loads(answer.body)
