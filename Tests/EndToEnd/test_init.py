"""`hearth init` creates a project that works at once, and overwrites no files."""

import json
import os
import re
import signal
import socket
import stat
import subprocess

import pytest

from commands import Commands
from hearth import BINARY, ROOT, free_port
from processes import until
from wire import Ended, Wire


@pytest.fixture
def hearth(tmp_path):
    return Commands(None, tmp_path / 'here')


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob('*') if path.is_file())


def run(folder, *command, **more):
    """A command of the project, run with Swift on the path."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **more})


def serves(port):
    try:
        with Wire(port) as wire:
            return wire.request('GET', '/_/ready').status == 200
    except (OSError, Ended):
        return False


def works(folder, name, data, result, edit, passed):
    """Both commands of a project: its tests pass, and it serves, and then what is saved."""
    tested = run(folder, 'scripts/test')
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert passed in tested.stdout + tested.stderr
    assert run(folder, 'scripts/build').returncode == 0
    port = free_port()
    with open(folder.parent / 'serve.log', 'wb') as log:
        host = subprocess.Popen(['scripts/serve', '--port', str(port)], cwd=folder, stdout=log, stderr=log, start_new_session=True)
    try:
        until(lambda: serves(port), 'it serves', 120)
        called = run(folder, 'scripts/hearth', 'functions:call', name, data, '--url', f'http://127.0.0.1:{port}')
        assert called.returncode == 0, called.stderr
        assert result in called.stdout
        edited = edit()
        address = f'http://127.0.0.1:{port}'
        until(lambda: edited in run(folder, BINARY, 'functions:call', name, data, '--url', address).stdout, 'what is saved serves', 120)
    finally:
        host.send_signal(signal.SIGTERM)
        assert host.wait(60) == 0


@pytest.mark.timeout(900)
def test_a_project_in_swift(hearth):
    said = hearth.succeeds('init', 'greetings')
    assert 'scripts/serve' in said
    folder = hearth.folder / 'greetings'
    assert str(ROOT) in (folder / 'Package.swift').read_text()
    source = folder / 'Sources/Greetings/Greetings.swift'

    def edit():
        source.write_text(source.read_text().replace('Hello, ', 'Welcome, '))
        return 'Welcome, Grace!'

    works(folder, 'greet', '{"name": "Grace"}', 'Hello, Grace!', edit, 'Test run with 2 tests')
    # The compiler is all that an edit takes.
    assert 'Greetings: greet is version 2' in (hearth.folder / 'serve.log').read_text()
    assert run(folder, 'scripts/build', HEARTH='/nowhere', PATH='/usr/bin:/bin').stderr.startswith('build: hearth was not found')


@pytest.mark.timeout(900)
def test_a_project_needs_no_other_package(hearth):
    """It resolves and compiles the SDK alone: no token library, no certificates, not even a logger. Its tests run without a host."""
    hearth.succeeds('init', 'greetings')
    folder = hearth.folder / 'greetings'
    tested = run(folder, 'swift', 'test', HEARTH='', GIT_ALLOW_PROTOCOL='none')
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert list((folder / '.build/checkouts').iterdir()) == []
    compiled = {match for match in re.findall(r'Compiling (?:plugin )?(\w+)', tested.stdout + tested.stderr)}
    assert compiled <= {'HearthBytes', 'HearthJSON', 'HearthFunctions', 'HearthTesting', 'HearthEntryPoint', 'Greetings', 'GreetingsTests',
                        'greetingsPackageTests', 'greetingsPackageDiscoveredTests'}
    assert '1 test case' in tested.stdout, 'in memory alone'


def test_a_project_in_c(hearth):
    hearth.succeeds('init', 'counts', '--language', 'c')
    folder = hearth.folder / 'counts'
    assert (folder / 'include/hearth.h').read_bytes() == (ROOT / 'SDK/Sources/CHearth/include/hearth.h').read_bytes()

    def edit():
        source = folder / 'src/Counts.c'
        source.write_text(source.read_text().replace(r'{\"count\":', r'{\"total\":'))
        assert run(folder, 'scripts/build').returncode == 0
        return '{"total":2}'

    works(folder, 'increment', '{"by": 2}', '{"count":2}', edit, 'All tests passed.')


def test_a_port_that_is_in_use_is_reported_before_the_build(hearth):
    said = hearth.succeeds('init', "ada's counts", '--language', 'c')
    folder = hearth.folder / "ada's counts"
    assert r"Next: cd 'ada'\''s counts' && scripts/serve" in said
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        served = run(folder, 'scripts/serve', '--port', str(port))
    assert served.returncode == 1
    assert served.stderr.endswith(f'127.0.0.1:{port} is in use by another program; choose another port with --port\n')
    assert not (folder / 'build').exists()


def test_a_crash_in_c_has_its_line(hearth):
    hearth.succeeds('init', 'counts', '--language', 'c')
    folder = hearth.folder / 'counts'
    assert run(folder, 'scripts/build').returncode == 0
    sections = subprocess.run(['readelf', '-S', '--wide', folder / 'build/libCounts.so'], capture_output=True, text=True, check=True).stdout
    assert '.debug_line' in sections


def test_what_is_made(hearth):
    made = hearth.result('init', 'my-first functions')
    folder = hearth.folder / 'my-first functions'
    assert (made['name'], made['project'], made['language']) == ('MyFirstFunctions', 'demo-my-first-functions', 'swift')
    assert made['directory'] == str(folder)
    assert made['files'] == files(folder)
    assert {'Package.swift', 'functions.json', 'functions.schema.json', 'database.rules.json', '.gitignore', 'README.md',
            'Tests/MyFirstFunctionsTests/MyFirstFunctionsTests.swift',
            'scripts/serve', 'scripts/test', 'Sources/MyFirstFunctions/MyFirstFunctions.swift'} <= set(made['files'])
    assert not [path for path in made['files'] if '{{' in (folder / path).read_text()]
    programs = [path for path in made['files'] if (folder / path).stat().st_mode & stat.S_IXUSR]
    assert programs == ['scripts/build', 'scripts/hearth', 'scripts/serve', 'scripts/test']
    assert json.loads((folder / 'functions.json').read_text())['plugins'] == {'MyFirstFunctions': {'product': 'MyFirstFunctions'}}
    assert (folder / 'functions.schema.json').read_bytes() == (ROOT / 'functions.schema.json').read_bytes()
    # The watcher builds without a terminal: with colours its compiler would have other arguments, and compile everything anew.
    assert '--no-color-diagnostics' in (folder / 'scripts/build').read_text()
    for script in ('scripts/build', 'scripts/hearth', 'scripts/serve', 'scripts/test', 'scripts/hearth.sh'):
        subprocess.run(['bash', '-n', folder / script], check=True)


@pytest.mark.parametrize('folder,name', [('hearth', 'HearthPlugin'), ('logging', 'LoggingPlugin'), ('swift', 'SwiftPlugin'),
                                         ('foundation-xml', 'FoundationXmlPlugin'), ('nio', 'NioPlugin'), ('metrics', 'MetricsPlugin'),
                                         ('async-http-client', 'AsyncHttpClientPlugin'), ('7up', 'Functions7up'), ('...', 'Functions'),
                                         ('äöü', 'Functions')])
def test_names_from_folders(hearth, folder, name):
    assert hearth.result('init', folder)['name'] == name


@pytest.mark.parametrize('name', ['', '1st', 'a b', 'a-b', 'HearthJSON', 'ä', 'Glibc', 'dispatch', 'FoundationNetworking', 'NIOCore',
                                  'Configuration'])
def test_names_that_cannot_be(hearth, name):
    assert 'choose another' in (said := hearth.run('init', 'new', '--name', name).sentence) or 'letters' in said
    assert list(hearth.folder.iterdir()) == []


def test_in_this_folder(hearth):
    (hearth.folder / '.git').mkdir()
    assert hearth.result('init', '--name', 'Mine')['name'] == 'Mine'
    assert (hearth.folder / 'Sources/Mine/Mine.swift').exists()


def test_a_folder_that_is_not_empty(hearth):
    (hearth.folder / 'README.md').write_text('mine')
    (hearth.folder / 'notes').write_text('mine too')
    assert '--force' in hearth.run('init').sentence
    assert files(hearth.folder) == ['README.md', 'notes']
    status, shown = hearth.on_terminal('init', answers='n\n')
    assert status == 1
    assert 'replace README.md?' in shown
    assert files(hearth.folder) == ['README.md', 'notes']
    status, shown = hearth.on_terminal('init', answers='y\n')
    assert status == 0, shown
    assert (hearth.folder / 'notes').read_text() == 'mine too'
    assert (hearth.folder / 'README.md').read_text() != 'mine'
    (hearth.folder / 'README.md').write_text('mine')
    hearth.succeeds('init', '--force')
    assert (hearth.folder / 'README.md').read_text() != 'mine'


def test_places_that_cannot_be(hearth):
    (hearth.folder / 'file').write_text('')
    assert 'is a file' in hearth.run('init', 'file').sentence
    assert 'no/such cannot be used' in hearth.run('init', 'no/such/parent').sentence
    assert 'does not hold the sources' in hearth.run('init', 'new', '--package', '.').sentence
    assert 'cannot be used' in hearth.run('init', 'new', '--package', 'nowhere').sentence


def test_packages(hearth):
    hearth.succeeds('init', 'by-address', '--package', 'https://example.com/hearth.git')
    assert '.package(url: "https://example.com/hearth.git", branch: "main")' in (hearth.folder / 'by-address/Package.swift').read_text()
    assert 'package: "hearth")' in (hearth.folder / 'by-address/Package.swift').read_text()
    for name, folder in (('by-folder', ROOT), ('by-sdk', ROOT / 'SDK')):
        hearth.succeeds('init', name, '--package', folder)
        written = (hearth.folder / name / 'Package.swift').read_text()
        assert f'path: "{ROOT}/SDK"' in written
        assert 'package: "hearth-sdk")' in written


def test_a_program_far_from_its_sources(hearth, tmp_path):
    """A binary that was copied to another machine makes projects in C, and asks for the sources for one in Swift."""
    copy = tmp_path / 'bin/hearth'
    copy.parent.mkdir()
    copy.write_bytes(BINARY.read_bytes())
    copy.chmod(0o755)
    done = run(hearth.folder, copy, 'init', 'new')
    assert (done.returncode, done.stderr.count('\n')) == (1, 1)
    assert '--package' in done.stderr
    assert run(hearth.folder, copy, 'init', 'inc', '--language', 'c').returncode == 0
