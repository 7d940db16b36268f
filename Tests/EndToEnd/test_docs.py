"""The commands in the documentation do what the pages say."""

import contextlib
import json
import os
import re
import subprocess

import pytest

from built_packages import built
from databases import OPEN_RULES, Database
from hearth import PRODUCTS, ROOT, Host, callable_headers
from sources import tracked
from tokens import PROJECT

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


def built_from_the_guide():
    """Builds the plugin of docs/writing-a-plugin.md beside a clone that is called hearth, and `Watcher` with the guide's function that observes."""
    blocks = [text for kind, text in BLOCK.findall((ROOT / 'docs/writing-a-plugin.md').read_text()) if kind == 'swift']
    package, greeter, tests = blocks[:3]
    watch = next(text for text in blocks if text.startswith('OnCall("watch"'))
    product, target = '.library(name: "Greeter", type: .dynamic, targets: ["Greeter"])', re.search(r'\.target\(.*?\]\),\n', package, re.DOTALL)[0]
    assert package.count(product) == 1
    package = package.replace(product, f'{product}, {product.replace("Greeter", "Watcher")}')
    package = package.replace(target, target + target.replace('"Greeter"', '"Watcher"'))
    return built('greeter', {'Package.swift': package, 'Sources/Greeter/Greeter.swift': greeter, 'Tests/GreeterTests/GreeterTests.swift': tests,
                             'Sources/Watcher/Watcher.swift': f'import HearthFunctions\n\nlet functions = Functions {{\n{watch}}}\n'},
                 ['Greeter', 'Watcher'])


@pytest.mark.timeout(600)
def test_the_plugin_in_the_guide_works(launch):
    """docs/writing-a-plugin.md builds one from nothing."""
    config = json.loads(next(text for kind, text in BLOCK.findall((ROOT / 'docs/writing-a-plugin.md').read_text()) if kind == 'json'))
    library = built_from_the_guide()['Greeter']
    assert config['plugins']['Greeter']['library'] == '../greeter/.build/release/libGreeter.so'
    host = launch({'Greeter': {'library': str(library)}})
    assert host.result('greet', {'name': 'Ada'}) == 'Hello, Ada!'
    assert host.callable('greet', {'name': ''}).json['error']['status'] == 'INVALID_ARGUMENT'


@pytest.mark.timeout(600)
def test_the_function_that_observes_tells_its_client_why_it_ends(launch):
    """The sample `watch` in docs/writing-a-plugin.md."""
    host = launch({'Watcher': {'library': str(built_from_the_guide()['Watcher'])}}, mode='development')
    with Database(host, f'{PROJECT}-default-rtdb') as database:
        database.use_rules(OPEN_RULES)
        database.put('/rooms/one.json', {'open': True})
        with watching(host) as frames:
            assert next(frames) == {'message': {'open': True}}
            database.put('/rooms/one.json', {'open': False})
            assert list(frames) == [{'message': {'open': False}}, {'result': 'closed'}]
        with watching(host, 'two') as frames:
            assert next(frames) == {'message': None}
            database.use_rules({'rules': {'.read': False}})
            [last] = frames
            assert last['error']['status'] == 'PERMISSION_DENIED'
        database.use_rules(OPEN_RULES)
    with watching(host, 'two') as frames:
        assert next(frames) == {'message': None}
        host.begin_stop()
        [last] = frames
        assert last['error']['status'] == 'UNAVAILABLE'


@contextlib.contextmanager
def watching(host, room='one'):
    """The frames of a call of `watch`."""
    with host.wire() as wire:
        wire.send_request('POST', host.path('watch'), [*callable_headers(), ('Accept', 'text/event-stream')], json.dumps({'data': room}))
        wire.head()
        yield (json.loads(frame.removeprefix('data: ')) for frame in wire.frames() if frame.startswith('data: '))


def test_every_page_is_in_the_index():
    index = (ROOT / 'docs/index.md').read_text()
    linked = {(ROOT / 'docs' / target.partition('#')[0]).resolve() for target in re.findall(r'\]\(([^)]+)\)', index)}
    pages = {path for path in (ROOT / 'docs').glob('*.md') if path.name != 'index.md'}
    assert pages <= linked, [str(path) for path in pages - linked]


def test_the_index_names_every_decision():
    index = (ROOT / 'docs/index.md').read_text()
    for path in sorted((ROOT / 'docs/decisions').glob('*.md')):
        assert f'decisions/{path.name}' in index, path.name
