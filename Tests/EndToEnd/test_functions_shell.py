"""`hearth functions:shell`: the prompt, its keys, its history; and statements from a pipe."""

import contextlib
import json
import os
import pty
import re
import select
import stat
import time

import pytest

from commands import Commands
from hearth import BINARY, Host, library


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    plugins = {name: {'library': library(name)} for name in ('Conformance', 'Faults')}
    host = Host(tmp_path_factory.mktemp('shell'), plugins, mode='development').start()
    yield host
    host.stop()


@pytest.fixture
def hearth(host, tmp_path):
    return Commands(host, tmp_path / 'here')


def said(hearth, statements, *arguments, status=0):
    outcome = hearth.run('functions:shell', *arguments, given=statements)
    assert outcome.status == status, outcome.error
    return outcome


def test_statements_from_a_pipe(hearth):
    outcome = said(hearth, 'echo({a: 1})\necho {"b": 2}\n\necho([3, 4])\n')
    answers = re.findall(r'RESPONSE RECEIVED FROM FUNCTION: 200, (\{.*?\n\})', outcome.output, re.DOTALL)
    assert [re.sub(r'\s', '', answer) for answer in answers] == ['{"result":{"a":1}}', '{"result":{"b":2}}', '{"result":[3,4]}']
    assert outcome.error == ''
    assert 'hearth >' not in outcome.output


def test_a_mistake_in_a_pipe_ends_at_its_line(hearth):
    outcome = said(hearth, 'echo({a: 1}\necho(2)\n', status=1)
    assert outcome.error.count('\n') == 1
    assert '"result": 2' in outcome.output


def test_answers_for_a_program(hearth):
    lines = said(hearth, "echo({a: 1})\nthrowsError({code: 'aborted', message: 'no'})\n", '--json', status=1).output.splitlines()
    assert [json.loads(line) for line in lines] == [
        {'status': 'success', 'code': 200, 'body': {'result': {'a': 1}}},
        {'status': 'error', 'code': 409, 'body': {'error': {'message': 'no', 'status': 'ABORTED'}}}]


def test_what_fails(hearth):
    outcome = said(hearth, "throwsError({code: 'not-found', message: 'no', details: 5})\necho(1)\n", status=1)
    assert 'RESPONSE RECEIVED FROM FUNCTION: 404, {' in outcome.output
    assert '"status": "NOT_FOUND"' in outcome.output
    assert '"result": 1' in outcome.output, 'the rest is done all the same'
    for statement, complaint in [('echo({a:)', 'at character 9'), ('ecko(1)', 'did you mean echo?'), ("echo.get('/')", 'not a plain HTTP function'),
                                 ('echo(1, 2, 3)', 'data and options'), ("httpEcho.get('x')", 'must begin with /')]:
        outcome = said(hearth, f'{statement}\n', status=1)
        assert complaint in outcome.error
        assert outcome.error.count('\n') == 1


def test_who_calls(hearth):
    assert '"uid": "ada"' in said(hearth, "contextInfo(null, {auth: {uid: 'ada'}})\n").output
    assert '"uid": "bob"' in said(hearth, 'contextInfo()\n', '--as', 'bob').output
    assert '"hasAuth": false' in said(hearth, 'contextInfo(null, {auth: null})\n', '--as', 'bob').output


def test_plain_http_functions(hearth):
    output = said(hearth, "httpEcho.put('/a?b=c', {body: {d: 1}, headers: {'x-mine': 'yes'}})\n").output
    assert 'RESPONSE RECEIVED FROM FUNCTION: 200' in output
    assert 'PUT' in output
    assert 'RESPONSE RECEIVED FROM FUNCTION: 500' in said(hearth, 'httpThrows()\n', status=1).output


def test_functions_that_events_start(hearth):
    output = said(hearth, "noteCreated({a: 1}, {params: {id: 'x1'}, auth: {uid: 'ada'}})\n").output
    assert output == 'RESPONSE RECEIVED FROM FUNCTION: 200, null\n'
    assert 'params must contain id' in said(hearth, 'noteCreated(1)\n', status=1).error
    assert 'runs on changes' in said(hearth, "noteWritten(1, {params: {id: 'x'}})\n", status=1).error
    assert 'RESPONSE' in said(hearth, "noteWritten({before: 1, after: 2}, {params: {id: 'x'}})\n").output


def test_help_and_exit(hearth):
    output = said(hearth, 'help\necho\nexit\necho(1)\n').output
    assert re.search(r'^echo +callable', output, re.MULTILINE)
    assert re.search(r'^noteCreated +google\.firebase\.database\.ref\.v1\.created', output, re.MULTILINE)
    assert 'RESPONSE' not in output


def test_no_host(hearth):
    assert 'hearth serve' in hearth.run('functions:shell', '--url', 'http://127.0.0.1:1').sentence


PROMPTS = (b'hearth > ', b'... >')


class Prompt:
    """A user at the prompt."""

    def __init__(self, hearth, *options):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(hearth.folder)
            os.execve(BINARY, [str(BINARY), 'functions:shell', *options], hearth.environment({}))
        self.shown = b''
        self.until('hearth > ')

    def type(self, text, shown):
        """Types, and waits until something is shown; behind a statement, until the next can be typed."""
        self.shown = b''
        os.write(self.terminal, text.encode())
        self.until(shown)
        if text.endswith(('\r', '\x03')):
            self.shown = self.shown.rpartition(shown.encode())[2] if shown.encode() not in PROMPTS else self.shown
            self.until(' > ')

    def until(self, text, seconds=30):
        end = time.monotonic() + seconds
        while text.encode() not in self.shown:
            assert time.monotonic() < end, (text, self.shown.decode(errors='replace'))
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.shown += os.read(self.terminal, 65536)

    def end(self):
        os.write(self.terminal, b'\x04')
        with contextlib.suppress(OSError):
            while os.read(self.terminal, 65536):
                pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


@pytest.fixture
def prompt(hearth):
    prompt = Prompt(hearth)
    yield prompt
    assert prompt.end() == 0


LEFT, UP, HOME = '\x1b[D', '\x1b[A', '\x1b[H'


def test_keys(prompt):
    prompt.type(f'echo(13){LEFT}{LEFT}2\r', '"result": 123')
    prompt.type(UP, 'echo(123)')
    prompt.type(f'{HOME}\x0becho("x y")\x05\r', '"result": "x y"')
    prompt.type('echo("one two"\x17three")\r', '"result": "one three"')
    prompt.type('nonsense\x15echo("é€😀")\r', '"result": "é€😀"')
    prompt.type('echo(1', 'echo(1')
    prompt.type('\x03', 'hearth > ')
    prompt.type('echo("after")\r', '"result": "after"')


def test_history_is_searched_and_kept(hearth):
    first = Prompt(hearth)
    for number in (11, 22, 33):
        first.type(f'echo({number})\r', f'"result": {number}')
    first.type('\x12(2', 'echo(22)')
    first.type('\r', '"result": 22')
    assert first.end() == 0
    file = hearth.folder / '.local/state/hearth/shell-history'
    assert file.read_text() == 'echo(11)\necho(22)\necho(33)\necho(22)\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    second = Prompt(hearth)
    second.type(f'{UP}{UP}\r', '"result": 33')
    assert second.end() == 0


def test_history_that_is_not_wanted(hearth):
    prompt = Prompt(hearth, '--no-history')
    prompt.type('echo(44)\r', '"result": 44')
    prompt.type(f'{UP}\r', '"result": 44')
    assert prompt.end() == 0
    assert not (hearth.folder / '.local').exists()


def test_completion(prompt):
    prompt.type('returnsN\t', 'returnsN')
    prompt.type('\t\t', 'returnsNaN  returnsNothing')
    prompt.type('o\t\r', 'returnsNothing: callable')


def test_paste_of_several_lines(prompt):
    prompt.type('\x1b[200~echo({\n  a: 1,\n  b: 2\n})\x1b[201~', 'b: 2')
    prompt.type('\r', '"b": 2')
    prompt.type('echo([\r', '... >')
    prompt.type('5])\r', '5')
