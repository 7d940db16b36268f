"""The commands in the documentation do what the pages say."""

import json
import os
import re
import subprocess

import pytest

from built_packages import built
from hearth import PRODUCTS, ROOT, Host
from sources import tracked

BLOCK = re.compile(r'^```(\w+)\n(.*?)^```\n', re.MULTILINE | re.DOTALL)
# Building and serving is what this test has behind it.
NOT_HERE = re.compile(r'^(git clone|cd |scripts/|swift (build|package)|#)', re.MULTILINE)
BOUNDARY = '-- end of block --'


def conversation(page):
    """The commands of a page in their order, each with the output that the page shows below it, or None."""
    blocks = [(match[1], match[2], match.end()) for match in BLOCK.finditer((ROOT / page).read_text())]
    found = []
    for index, (kind, text, _) in enumerate(blocks):
        if kind == 'sh' and ':5001' in text and not NOT_HERE.search(text):
            shown = blocks[index + 1][1] if index + 1 < len(blocks) and blocks[index + 1][0] in ('json', 'text') else None
            found.append((text, shown))
    return found


WITH_COMMANDS = [page for page in tracked('.md') if conversation(page)]


@pytest.fixture
def host(tmp_path):
    """The project as a reader has it after scripts/serve."""
    host = Host(tmp_path / 'host', mode='development')
    host.config_path = ROOT / 'functions.json'
    host.start()
    yield host
    host.stop()


def test_the_readme_has_a_tour():
    assert len(conversation('README.md')) >= 3


@pytest.mark.parametrize('page', WITH_COMMANDS)
def test_commands_of(page, host):
    follow(page, host)


def test_the_tour_shows_the_same_when_it_is_taken_again(host):
    follow('README.md', host)
    follow('README.md', host)


def follow(page, host):
    """Runs the commands of a page, and compares what they print with what it shows."""
    steps = conversation(page)
    script = ''.join(f'{text}\nprintf "\\n{BOUNDARY}\\n"\n' for text, _ in steps).replace(':5001', f':{host.port}')
    outcome = subprocess.run(['bash', '-e', '-o', 'pipefail'], input=script, capture_output=True, text=True, cwd=ROOT, timeout=60,
                             env={**os.environ, 'PATH': f'{PRODUCTS}:{os.environ["PATH"]}', 'HEARTH_DATA': str(host.data), 'HOME': str(host.folder)})
    assert outcome.returncode == 0, outcome.stderr
    outputs = outcome.stdout.split(f'\n{BOUNDARY}\n')[:-1]
    assert len(outputs) == len(steps)
    for (text, shown), output in zip(steps, outputs, strict=True):
        if shown is not None:
            assert output.strip() == shown.strip().replace(':5001', f':{host.port}'), text


def test_the_plugin_in_the_header_works(launch, tmp_path):
    """hearth.h shows a complete plugin in its first comment, and how to build it."""
    header = (ROOT / 'SDK/Sources/CHearth/include/hearth.h').read_text()
    lines = [line.removeprefix(' *').removeprefix('     ') for line in header.split('A complete plugin:')[1].split('*/')[0].split('\n')]
    code = '\n'.join(lines).split('Built with:')
    (tmp_path / 'echo.c').write_text(code[0])
    command = code[1].split('\n')[0].strip().replace('<where this file is>', str(ROOT / 'SDK/Sources/CHearth/include'))
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    host = launch({'echo': {'library': str(tmp_path / 'libecho.so')}})
    assert host.result('echo', {'a': [1]}) == {'a': [1]}


@pytest.mark.timeout(600)
def test_the_plugin_in_the_guide_works(launch):
    """docs/writing-a-plugin.md builds one from nothing, beside a clone that is called hearth."""
    blocks = {kind: [text for found, text in BLOCK.findall((ROOT / 'docs/writing-a-plugin.md').read_text()) if found == kind]
              for kind in ('swift', 'json')}
    config = json.loads(blocks['json'][0])
    libraries = built('greeter', {'Package.swift': blocks['swift'][0], 'Sources/Greeter/Greeter.swift': blocks['swift'][1],
                                  'Tests/GreeterTests/GreeterTests.swift': blocks['swift'][2]}, ['Greeter'])
    assert config['plugins']['Greeter']['library'] == '../greeter/.build/release/libGreeter.so'
    host = launch({'Greeter': {'library': str(libraries['Greeter'])}})
    assert host.result('greet', {'name': 'Ada'}) == 'Hello, Ada!'
    assert host.callable('greet', {'name': ''}).json['error']['status'] == 'INVALID_ARGUMENT'


def test_every_page_is_in_the_index():
    index = (ROOT / 'docs/index.md').read_text()
    linked = {(ROOT / 'docs' / target.partition('#')[0]).resolve() for target in re.findall(r'\]\(([^)]+)\)', index)}
    pages = {path for path in (ROOT / 'docs').glob('*.md') if path.name != 'index.md'}
    assert pages <= linked, [str(path) for path in pages - linked]


def test_the_index_names_every_decision():
    index = (ROOT / 'docs/index.md').read_text()
    for path in sorted((ROOT / 'docs/decisions').glob('*.md')):
        assert f'decisions/{path.name}' in index, path.name
