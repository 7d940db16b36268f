"""Every command explains itself, and what is mistyped is answered with what was meant."""

import re
import subprocess

import pytest

from hearth import BINARY, ROOT

PAGE = (ROOT / 'docs/command-line.md').read_text()
PAGES = ''.join(path.read_text() for path in sorted((ROOT / 'docs').rglob('*.md')))
# They write something else than a result, or none.
WITHOUT_JSON = {'serve', 'exec', 'completions'}


def run(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL, check=False,
                          env={'PATH': '/usr/bin:/bin', 'HOME': '/nonexistent'})


def listed(*path):
    """The commands below one, as its help lists them."""
    if not path:
        return re.findall(r'^  ([a-z][\w:-]*)  +\S', run('--help').stdout, re.MULTILINE)
    below = run(*path, '--help').stdout.partition('SUBCOMMANDS:')[2]
    return [name for name in re.findall(r'^  ([a-z][\w:-]*)  +\S', below, re.MULTILINE) if name != 'help']


def every_command():
    return [path for name in listed() for path in [(name,), *((name, below) for below in listed(name))]]


COMMANDS = every_command() if BINARY.exists() else []
LEAVES = [path for path in COMMANDS if not any(other[:-1] == path for other in COMMANDS)]


def name_of(path):
    return ' '.join(path)


def test_there_are_commands():
    assert {('serve',), ('exec',), ('init',), ('deploy',), ('functions:list',), ('database:rules', 'get')} <= set(COMMANDS)


@pytest.mark.parametrize('path', LEAVES, ids=name_of)
def test_a_command_shows_examples(path):
    said = run(*path, '--help')
    assert said.returncode == 0
    examples = re.search(r'^Examples?:\n((?:  .*\n)+)', said.stdout, re.MULTILINE)
    assert examples, said.stdout
    assert f'hearth {name_of(path)}' in examples[1]


@pytest.mark.parametrize('path', LEAVES, ids=name_of)
def test_a_command_speaks_json(path):
    assert ('--json' in run(*path, '--help').stdout) == (path[0] not in WITHOUT_JSON)


@pytest.mark.parametrize('path', COMMANDS, ids=name_of)
def test_a_command_is_on_the_page(path):
    assert f'`{path[0]}' in PAGE or f'hearth {name_of(path)}' in PAGE, f'docs/command-line.md does not tell of {name_of(path)}'


@pytest.mark.parametrize('path', LEAVES, ids=name_of)
def test_its_options_are_on_a_page(path):
    options = set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', run(*path, '--help').stdout.partition('\nOPTIONS:')[2]))
    assert {'--help', '--version'} <= options
    assert sorted(option for option in options if not re.search(rf'{option}(?![\w-])', PAGES)) == []


@pytest.mark.parametrize('path', LEAVES, ids=name_of)
def test_an_option_that_is_none(path):
    said = run(*path, '--nonsense')
    assert (said.returncode, said.stdout, said.stderr.count('\n')) == (64, '', 1)
    assert said.stderr.startswith('hearth: ')
    assert f'hearth {name_of(path)} --help' in said.stderr


@pytest.mark.parametrize('arguments,said', [
    (['serv'], 'did you mean: hearth serve'), (['function:list'], 'did you mean: hearth functions:list'),
    (['databse:get', '/'], 'did you mean: hearth database:get'), (['serve', '--prot', '1'], "did you mean '--port'?"),
    (['emulators:start'], 'hearth serve'), (['emulators:exec', 'true'], 'hearth exec -- COMMAND'), (['functions:config:set'], '.env'),
    (['functions:secrets:set', 'A'], 'hearth secrets:set'), (['hosting:disable'], 'no sites'), (['database'], 'database:get'),
    (['rollback', 'a'], 'functions:rollback'), (['nonsense'], 'hearth --help'), (['help', 'serv'], 'did you mean: hearth serve'),
    (['serve', '--mode', 'x'], "'development' and 'production'"), (['serve', '--port', 'x'], 'hearth serve --help'),
    (['database:get'], 'hearth database:get --help'), (['functions:list', 'x'], 'unexpected'),
])
def test_what_is_mistyped(arguments, said):
    outcome = run(*arguments)
    assert (outcome.returncode, outcome.stdout, outcome.stderr.count('\n')) == (64, '', 1), outcome.stderr
    assert outcome.stderr.startswith('hearth: ')
    assert said in outcome.stderr


@pytest.mark.parametrize('arguments', [['--help'], ['-h'], ['help'], []])
def test_the_help(arguments):
    said = run(*arguments)
    assert (said.returncode, said.stderr) == (0, '')
    assert '\x1b' not in said.stdout
    assert all(len(line) <= 120 for line in said.stdout.splitlines())
    assert 'hearth init' in said.stdout


def test_no_host():
    said = run('functions:list', '--url', 'http://127.0.0.1:1')
    assert (said.returncode, said.stdout, said.stderr.count('\n')) == (1, '', 1)
