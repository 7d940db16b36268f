"""Fixtures that many files of tests have in common: `host = shared_host()`, `database = own_database(RULES)`."""

import pytest

from databases import OPEN_RULES, Database
from hearth import Host
from live import name_of


def shared_host(**options):
    """A host in development mode without plugins, which the tests of a file share."""
    @pytest.fixture(scope='module')
    def host(tmp_path_factory):
        host = Host(tmp_path_factory.mktemp('shared'), [], mode='development', **options).start()
        yield host
        host.stop()
    return host


def own_database(rules=None):
    """A database of the file's `host` for each test, with these rules, or open to everybody."""
    @pytest.fixture
    def database(host, request):
        with Database(host, name_of(request)) as database:
            database.use_rules(rules or OPEN_RULES)
            yield database
    return database
