"""Completions, tested in the shells themselves."""

import contextlib
import json
import os
import pty
import select
import shutil
import socket
import subprocess
import time

import pytest

from commands import Commands
from hearth import PRODUCTS
from local_server import Handler, LocalServer

FUNCTIONS = [{'name': name, 'plugin': 'P', 'trigger': 'callable', 'version': 1} for name in ('addNumbers', 'addMessage', 'divide')]


class Answers(Handler):
    def do_GET(self):
        body = json.dumps({'revision': 1, 'functions': FUNCTIONS}).encode()
        self.send_response(200 if self.path == '/_/api/functions' else 404)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope='module')
def host():
    """A server that knows three functions."""
    with LocalServer(Answers) as server:
        yield server.url


@pytest.fixture
def hearth(host, tmp_path):
    return Commands(None, tmp_path / 'here', url=host)


def candidates(hearth, *words, **options):
    kind, *lines = hearth.succeeds('complete', *words, **options).splitlines()
    assert kind == 'words', kind
    return [line.split('\t')[0] for line in lines]


@pytest.mark.parametrize('words,found', [
    (['database:s'], ['database:set']),
    (['database:rules', ''], ['get', 'set', 'test', 'explain']),
    (['database:rules', 'te'], ['test']),
    (['serve', '--mod'], ['--mode']),
    (['serve', '--mode', ''], ['development', 'production']),
    (['completions', ''], ['bash', 'zsh', 'fish']),
    (['database:get', '/a', '--shallow', '--sh'], []),
    (['functions:call', 'add'], ['addNumbers', 'addMessage']),
    (['functions:call', '--pretty', 'di'], ['divide']),
    (['functions:call', '--as', 'divide', 'di'], ['divide']),
    (['deploy', '--only', 'functions:add'], ['functions:addNumbers', 'functions:addMessage']),
    (['deploy', '--only', 'functions:divide,functions:addN'], ['functions:divide,functions:addNumbers']),
    (['nonsense', ''], []),
])
def test_candidates(hearth, words, found):
    assert [word for word in candidates(hearth, *words) if word in found or found == []] == found


def test_every_command_is_a_candidate_with_a_description(hearth):
    lines = hearth.succeeds('complete', '').splitlines()[1:]
    assert len(lines) > 15
    assert all(len(line.split('\t')) == 2 and line.split('\t')[1] for line in lines)
    assert not [line for line in lines if line.startswith(('worker', 'complete\t'))]


@pytest.mark.parametrize('words', [['serve', '--config', ''], ['exec', '--', 'l'], ['init', ''], ['database:import', '/', '']])
def test_files(hearth, words):
    assert hearth.succeeds('complete', *words).strip() == 'files'


def test_a_host_that_is_not_there_or_silent(hearth):
    assert candidates(hearth, 'functions:call', 'add', HEARTH_URL='http://127.0.0.1:1') == []
    with contextlib.closing(socket.create_server(('127.0.0.1', 0))) as silent:
        url = f'http://127.0.0.1:{silent.getsockname()[1]}'
        assert hearth.run('complete', 'functions:call', 'add', HEARTH_URL=url, seconds=20).output == ''


class Shell:
    """A shell on a terminal, with typed input at its prompt."""

    def __init__(self, command, folder, url):
        path = f'{PRODUCTS}:/usr/bin:/bin'
        environment = {'PATH': path, 'HOME': str(folder), 'TERM': 'xterm', 'HEARTH_URL': url, 'PS1': '$ ', 'LANG': 'C.UTF-8'}
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.shown = b''

    def type(self, text):
        os.write(self.terminal, text.encode())

    def until(self, text, seconds=30):
        end = time.monotonic() + seconds
        while text.encode() not in self.shown:
            assert time.monotonic() < end, self.shown.decode(errors='replace')
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.shown += os.read(self.terminal, 65536)
        self.shown = b''

    def close(self):
        os.close(self.terminal)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, 9)
        os.waitpid(self.child, 0)


SHELLS = {
    'bash': (['bash', '--norc', '--noprofile', '-i'], 'source <(hearth completions bash)'),
    'zsh': (['zsh', '-f', '-i'], 'autoload -U compinit; compinit -u -d dump; source <(hearth completions zsh)'),
    'fish': (['fish', '--no-config', '-i'], 'hearth completions fish | source'),
}


TYPED = [('hearth database:exp', 'database:export'), ('hearth functions:call addN', 'addNumbers'), ('hearth serve --mode prod', 'production'),
         ('hearth serve --config confi', 'configuration.json'), ('hearth database:rules expl', 'explain')]


@pytest.mark.parametrize('name', SHELLS)
@pytest.mark.parametrize('typed,shown', TYPED, ids=[typed for typed, _ in TYPED])
def test_in_the_shell(name, typed, shown, host, tmp_path):
    command, setup = SHELLS[name]
    assert shutil.which(name), f'{name} is not installed; scripts/test installs it'
    (tmp_path / 'configuration.json').write_text('{}')
    shell = Shell(command, tmp_path, host)
    try:
        shell.type(f'{setup}; echo re""ady\r')
        shell.until('ready')
        shell.type(f'{typed}\t')
        shell.until(shown)
    finally:
        shell.close()


@pytest.mark.parametrize('name', SHELLS)
def test_the_scripts_have_no_mistakes(name, hearth, tmp_path):
    script = tmp_path / 'script'
    script.write_text(hearth.succeeds('completions', name))
    subprocess.run([name, '-n', script], check=True)
