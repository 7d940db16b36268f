import subprocess

import pytest

from hearth import BINARY, ROOT, Host
from tokens import Keys


def pytest_sessionstart(session):
    if not BINARY.exists():
        raise pytest.UsageError(f'{BINARY} is missing: build it with `swift build -c release`')


@pytest.fixture(scope='session')
def keys():
    return Keys()


@pytest.fixture
def prepare(tmp_path):
    """Makes hosts that are not started yet; all of them are stopped, and checked, when the test ends."""
    made = []

    def make(*args, **options):
        host = Host(tmp_path / f'host-{len(made)}', *args, **options)
        made.append(host)
        return host

    yield make
    close_all(made)


@pytest.fixture
def launch(prepare):
    """Starts hosts of which the test wants its own."""
    return lambda *args, **options: prepare(*args, **options).start()


@pytest.fixture(scope='session')
def conformance(tmp_path_factory, keys):
    """A host in production mode with the reference functions; tests that share it leave it as it was."""
    host = Host(tmp_path_factory.mktemp('conformance'), ['Conformance'], keys=keys).start()
    yield host
    close_all([host])


def close_all(hosts):
    try:
        for host in hosts:
            host.stop()
    finally:
        for host in hosts:
            host.abandon()


@pytest.fixture
def c_plugin(tmp_path):
    """Compiles Tests/Plugins/C/NAME.c, with what is to be defined, into a library of its own."""
    def build(name, *, to=None, **defines):
        target = tmp_path / f'lib{to or name}.so'
        flags = [f'-D{key}={value}' for key, value in defines.items()]
        source = ROOT / f'Tests/Plugins/C/{name}.c'
        subprocess.run(['gcc', '-shared', '-fPIC', '-Wall', '-Werror', '-I', ROOT / 'Sources/CHearth/include', *flags, source, '-o', target],
                       check=True)
        return str(target)
    return build
