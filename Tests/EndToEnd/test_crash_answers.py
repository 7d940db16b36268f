"""In development, callers get the cause of a crash; core dumps are kept on request."""

import contextlib
import fcntl
import json
import pathlib
import subprocess
import tempfile

import pytest

from commands import Commands
from hearth import BINARY, INTERNAL
from processes import until
from test_crashes import crash_line

# gdb reads the debug information of the host, which takes its time, and the tests about dumps wait for each other.
pytestmark = pytest.mark.timeout(400)
PATTERN = pathlib.Path('/proc/sys/kernel/core_pattern')
DUMPS = {'crashes': {'coreDumps': True}}


@pytest.mark.parametrize('loops', [1, 2])
def test_a_callable_in_development(loops, launch):
    host = launch(['Faults'], mode='development', config={'server': {'loops': loops}})
    answer = host.callable('crashes', 'nil')
    assert answer.status == 500
    error = answer.json['error']
    assert (error['status'], error['message']) == ('INTERNAL', 'INTERNAL')
    crash, line = error['details']['crash'], crash_line(host, 'crashes')
    assert crash == {'message': line['message'], 'calls': line['calls'], 'function': 'crashes'}
    assert 'Crashes.unwrapsNothing(' in crash['calls'][0]
    assert 'Crashes.swift:' in crash['calls'][0]
    assert host.result('version') is not None, 'another worker takes the next call'


def test_a_known_crash_is_told_again(launch):
    host = launch(['breaks'], mode='development')
    first, second = (host.callable('breaks').json['error']['details']['crash'] for _ in range(2))
    assert first == second
    assert first['calls'][0].startswith('breaks_here')


def test_a_plain_http_function_in_development(launch):
    answer = launch(['breaks'], mode='development').request('GET', '/demo-hearth/us-central1/page')
    assert answer.status == 500
    assert answer.header('content-type') == 'text/plain; charset=utf-8'
    lines = answer.text.splitlines()
    assert lines[0].startswith('page: it crashed: abort() was called')
    assert lines[1].startswith('    at breaks_here')


def test_production_tells_nothing(launch):
    host = launch(['breaks'])
    assert host.callable('breaks').json == INTERNAL
    answer = host.request('GET', '/demo-hearth/us-central1/page')
    assert (answer.status, answer.text) == (500, 'Internal Server Error')


# -- core dumps


@pytest.fixture
def relative_pattern():
    """Lets the kernel put dumps into the folder of the process."""
    # The pattern is the machine's: the tests that need it follow each other.
    with open(pathlib.Path(tempfile.gettempdir()) / 'hearth-core-pattern.lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = PATTERN.read_text()
        if before.startswith('|') or '/' in before:
            PATTERN.write_text('core')
        yield
        if PATTERN.read_text() != before:
            PATTERN.write_text(before)


def kept(host):
    with contextlib.suppress(FileNotFoundError):
        return sorted((host.data / 'cores').iterdir())
    return []


def dump_lines(host):
    lines = [line for line in host.log.split('\n')[:-1] if 'a core dump of an instance was kept' in line]
    return [json.loads(line) for line in lines]


def crash(host, times):
    """Crashes so often, each time when the dump before is kept."""
    for number in range(len(dump_lines(host)) + 1, len(dump_lines(host)) + times + 1):
        host.callable('breaks')
        until(lambda number=number: len(dump_lines(host)) == number, 'a dump is kept')
        host.result('fine')


@pytest.mark.usefixtures('relative_pattern')
def test_core_dumps_on_request(launch, tmp_path):
    host = launch(['breaks'], config={'crashes': {'coreDumps': True, 'coreDumpsKept': 2}})
    crash(host, 3)
    files = kept(host)
    assert len(files) == 2
    assert [str(file) for file in files] == [line['file'] for line in dump_lines(host)[1:]], 'the newest'
    assert (host.data / 'cores').stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    stack = subprocess.run(['gdb', '-batch', '-nx', '-ex', 'backtrace', BINARY, files[-1]], capture_output=True, text=True, check=False, timeout=240)
    assert 'breaks_here' in stack.stdout, stack.stdout + stack.stderr
    told = [json.loads(line) for line in Commands(host, tmp_path / 'commands').succeeds('functions:log', '--json', '-n', 100).splitlines()]
    assert files[-1].name in json.dumps([line for line in told if 'core dump' in line['message']])
    left = [path for path in (host.data / 'workers').rglob('core*') if path.is_file()]
    assert left == []


@pytest.mark.usefixtures('relative_pattern')
def test_core_dumps_are_bounded(launch):
    host = launch(['breaks'], config={'crashes': {'coreDumps': True, 'coreDumpBytes': 65536}})
    crash(host, 1)
    assert kept(host)[0].stat().st_size <= 65536
    assert dump_lines(host)[0]['cut'] == 'true'


@pytest.mark.usefixtures('relative_pattern')
def test_no_core_dumps_by_default(launch):
    host = launch(['breaks'])
    host.callable('breaks')
    crash_line(host, 'breaks')
    host.result('fine')
    assert not (host.data / 'cores').exists()
    assert [path for path in (host.data / 'workers').rglob('core*') if path.is_file()] == []


@pytest.mark.parametrize(('pattern', 'words'), [
    ('|/usr/lib/systemd/systemd-coredump %P %u', 'coredumpctl lists them'),
    ('/var/crash/core.%p', 'kernel.core_pattern is /var/crash/core.%p'),
])
def test_dumps_that_go_elsewhere(pattern, words, prepare, tmp_path):
    (tmp_path / 'pattern').write_text(pattern + '\n')
    host = prepare(['breaks'], config=DUMPS)
    command = ['unshare', '--mount', 'sh', '-c', f'mount --bind {tmp_path}/pattern {PATTERN} && exec "$@"', 'sh', *host.command()]
    host.command = lambda: command
    host.start()
    line = json.loads(host.until_logged('no core dumps of functions are kept'))
    assert words in line['because']
    assert 'sysctl kernel.core_pattern=core' in line['because']
    host.callable('breaks')
    crash_line(host, 'breaks')
    host.result('fine')
    assert kept(host) == []
