import pytest

from hearth import BINARY, Host
from messaging import Messaging
from tokens import PROJECT, Keys


def pytest_sessionstart(session):
    if not BINARY.exists():
        raise pytest.UsageError(f'{BINARY} is missing: build it with `swift build -c release`')


def pytest_collection_modifyitems(items):
    """Puts the test with the longest build first, so that the others run beside it."""
    items.sort(key=lambda item: item.path.name != 'test_recipes.py')


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
    """Starts hosts for single tests."""
    return lambda *args, **options: prepare(*args, **options).start()


@pytest.fixture(scope='session')
def conformance(tmp_path_factory, keys):
    """A host in production mode with the reference functions; tests that share it leave it as it was."""
    host = Host(tmp_path_factory.mktemp('conformance'), ['Conformance'], keys=keys).start()
    yield host
    close_all([host])


@pytest.fixture(scope='module')
def messaging_host(tmp_path_factory):
    """A host in development mode that sends and receives messages; the tests of a file share it."""
    host = Host(tmp_path_factory.mktemp('messaging'), [], mode='development', config={'project': PROJECT}).start()
    yield host
    close_all([host])


@pytest.fixture
def admin(messaging_host):
    """The administrator of its messages, of which there are none yet."""
    admin = Messaging(messaging_host, PROJECT)
    admin.control('reset')
    yield admin
    admin.close()


def close_all(hosts):
    try:
        for host in hosts:
            host.stop()
    finally:
        for host in hosts:
            host.abandon()
