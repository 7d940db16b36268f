"""`hearth functions:log`, and what a person sees who looks at the log."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest

from hearth import BINARY, Host
from kept_log import lines, messages, says
from processes import until


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('log'), ['Conformance', 'probe'], mode='development').start()
    yield host
    host.stop()


# -- the command

def run(host, *args, **options):
    command = [BINARY, 'functions:log', '--url', f'http://127.0.0.1:{host.port}', '--token', 'owner', *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, **options)


def test_the_command_shows_lines_as_people_read_them(host):
    said = says(host, 'shown')
    out = run(host, '--only', 'says', '-n', '4')
    assert out.returncode == 0 and out.stderr == ''
    assert out.stdout.splitlines() == [f'{line["time"]} {line["severity"][0].upper()} says: shown' for line in said]
    assert len(run(host).stdout.splitlines()) <= 35
    assert run(host, '--invocation', said[0]['invocation']).stdout.splitlines() == out.stdout.splitlines()
    assert run(host, '--only', 'functions:says', '--level', 'error', '--lines', '2').stdout.count(' E says: shown') == 2
    assert run(host, '--only', 'says', '--since', '1h', '--trace', said[0]['trace']).stdout.splitlines() == out.stdout.splitlines()


def test_the_command_for_machines(host):
    says(host, 'for-machines')
    out = run(host, '--json', '--only', 'says', '-n', '4')
    assert [json.loads(line) for line in out.stdout.splitlines()] == lines(host, 'function=says&limit=4')


def test_a_line_cannot_look_like_several(host):
    host.result('says', {'text': 'one\n2026-01-01T00:00:00.000Z E echo: forged\x1b[31m'})
    until(lambda: any('forged' in message for message in messages(host)), 'the line is kept')
    out = run(host, '-n', '20').stdout
    assert '\x1b' not in out and not re.search(r'^2026-01-01T00:00:00.000Z E echo', out, re.MULTILINE)


def test_a_function_that_is_not_there(host):
    out = run(host, '--only', 'sayz')
    assert (out.returncode, out.stdout) == (1, '')
    assert out.stderr == 'hearth: there is no function sayz; did you mean says?\n'


def test_what_the_command_refuses(host):
    assert run(host, '--lines', '-1').returncode == 64 and run(host, '--level', 'loud').returncode == 64
    assert run(host, '--follow', '--until', '1m').returncode == 64
    out = run(host, '--since', 'yesterday')
    assert out.returncode == 1 and 'since must be a time such as' in out.stderr and out.stderr.count('\n') == 1


def test_the_command_follows_through_restarts(launch):
    """No line is lost or shown twice, whether the host stops or is killed."""
    host = launch(['probe'], mode='development')
    says(host, 'begin')
    address = ['--url', f'http://127.0.0.1:{host.port}', '--token', 'owner']
    command = [BINARY, 'functions:log', *address, '--only', 'says', '--follow', '--json', '-n', '0']
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(json.loads(line) for line in process.stdout))
        reader.start()
        until(lambda: 'hearth_log_followers 1' in host.request('GET', '/_/metrics').body.decode(), 'it follows')
        for number, end in enumerate([host.stop, host.kill, host.stop]):
            said = says(host, f'round-{number}')
            until(lambda said=said: seen[-4:] == said, 'the lines are shown')
            host.result('says', {'text': f'last-words-{number}'})
            until(lambda number=number: messages(host, 'function=says').count(f'last-words-{number}') == 4, 'they are kept')
            end()
            host.start()
        says(host, 'the-end')
        until(lambda: sum(line['message'] == 'the-end' for line in seen) >= 4, 'it goes on')
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        reader.join()
        told = process.stderr.read()
    assert told.count('has disconnected; waiting') == told.count('is back') == 3
    wanted = [line for line in lines(host, 'function=says&limit=10000') if line['message'] != 'begin' and line['id'] >= seen[0]['id']]
    assert seen == wanted


def test_a_reader_that_leaves_ends_the_command(host):
    says(host, 'something')
    command = f'{BINARY} functions:log --url http://127.0.0.1:{host.port} --token owner --follow | head -n 1'
    with subprocess.Popen(['bash', '-c', command], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()
        deadline = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < deadline:
            says(host, 'go on')
        assert process.poll() == 0


# -- the beginning and the end of invocations

def test_invocations_are_told_where_that_is_wanted(launch):
    host = launch(['probe'], mode='development', config={'logging': {'invocations': True}, 'functions': {'saysLater': {'timeoutSeconds': 1}}})
    host.result('says', {'text': 'told'})
    host.callable('saysLater', {'text': 'never', 'milliseconds': 5000})
    words = ('Beginning', 'Finished', 'Gave up')
    told = until(lambda: len(found := [line for line in lines(host, 'function=says,saysLater') if line['message'].startswith(words)]) >= 4
                 and found, 'four lines')
    assert [line['message'].split('"')[:2] for line in told] == [
        ['Beginning execution of ', 'says'], ['Finished ', 'says'], ['Beginning execution of ', 'saysLater'], ['Gave up ', 'saysLater']]
    assert re.fullmatch(r'Finished "says" in \d+(\.\d)?ms', told[1]['message'])
    assert told[0]['invocation'] == told[1]['invocation'] and told[0]['trace'] == told[1]['trace'] and told[0]['version'] == 1


def test_invocations_are_not_told_to_files(host):
    host.result('echo', 'untold')
    says(host, 'by-then')
    assert 'Beginning execution' not in host.log


def test_a_terminal_sees_lines_for_people(prepare):
    host = prepare(['probe'], mode='development', env={'TERM': 'xterm'})
    terminal, end = os.openpty()
    environment = {'PATH': '/usr/bin:/bin', 'HOME': str(host.folder), **host.variables}
    host.process = subprocess.Popen(host.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=end, env=environment,
                                    cwd=host.folder, start_new_session=True)
    os.close(end)
    text = []

    def read():
        with contextlib.suppress(OSError):
            while data := os.read(terminal, 4096):
                text.append(data.decode(errors='replace'))
    reader = threading.Thread(target=read)
    reader.start()
    until(host.is_ready, 'the host is ready')
    host.result('says', {'text': 'on a terminal \x1b[2J'})
    until(lambda: 'Finished "says"' in ''.join(text), 'the lines')
    host.stop()
    os.close(terminal)
    reader.join()
    shown = ''.join(text)
    assert re.search(r'\x1b\[2m\d\d:\d\d:\d\d\.\d{3}\x1b\[0m I says:  *on a terminal \ufffd\[2J', shown)
    assert re.search(r'\x1b\[31mE says:\x1b\[0m', shown) and re.search(r'Beginning execution of "says".* \[v1 [a-z0-9]{12} [0-9a-f]{32}\]', shown)
