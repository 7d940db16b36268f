"""Live clients and their database: onDisconnect operations at the end, and what holds a database open (docs/database-live.md)."""

import pytest

from commands import Commands
from databases import OPEN_RULES, OWNER, Database
from hearth import Host
from live import Live, name_of
from processes import until
from websocket import CLOSE


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path / 'host', [], mode='development')
    yield host
    host.stop()


def database_of(host, name):
    database = Database(host, name)
    database.use_rules(OPEN_RULES)
    return database


def test_operations_of_which_one_is_no_longer_allowed(host, request):
    host.start()
    with database_of(host, name_of(request)) as database:
        with Live(host.port, database.namespace) as live:
            live.do('o', p='/status/one', d=1)
            live.do('o', p='/status/two', d=2)
            database.use_rules({'rules': {'.read': True, 'status': {'one': {'.write': True}}}})
        host.until_logged('onDisconnect operations were refused')
        assert database.get('/status.json') is None


def test_an_upgrade_ends_the_connection_and_runs_the_operations(host, request, tmp_path):
    host.start()
    with database_of(host, name_of(request)) as database:
        with Live(host.port, database.namespace) as live:
            live.do('o', p='/status', d='offline')
            live.do('p', p='/status', d='online')
            Commands(host, tmp_path).succeeds('upgrade')
            assert live.socket.frame()[0] == CLOSE
        until(lambda: database.get('/status.json') == 'offline', 'the operation has run')
        with Live(host.port, database.namespace, last=live.session) as live:
            live.do('p', p='/status', d='online')
        assert database.get('/status.json') == 'online'


@pytest.mark.parametrize('action, body', [('q', {'p': '/', 'h': ''}), ('o', {'p': '/a', 'd': 1})])
def test_a_live_client_holds_its_database_open(action, body, prepare):
    host = prepare([], mode='development', config={'database': {'idleSeconds': 0.1, 'limits': {'openNamespaces': 1}}}).start()
    for name in ('two', 'one'):
        with Database(host, name) as database:
            until(lambda database=database: database.ask('PUT', '/.settings/rules.json', OPEN_RULES).status == 200, 'no other database is open')
    with Live(host.port, 'one') as live:
        live.do(action, **body)
        with Database(host, 'two') as other:
            assert other.ask('PUT', '/a.json', 1).status == 503
            with Live(host.port, 'two') as late:
                assert late.ask('p', p='/a', d=1)[0] == 'unavailable'
                late.request('q', p='/a', h='')
                assert late.control()[0] == 'e'
                assert late.socket.frame()[0] == CLOSE
        live.do('n' if action == 'q' else 'oc', p=body['p'], d=None)
        live.cut()
        with Database(host, 'two') as other:
            until(lambda: other.ask('PUT', '/a.json', 1).status == 200, 'the first database is closed')


def test_the_profile_of_a_query_without_an_index(host, request):
    """A live client is served, and REST is not: both are reported, so that the index can be added."""
    host.start()
    with database_of(host, name_of(request)) as database:
        database.put('/list.json', {'a': {'n': 1}, 'b': {'n': 2}})
        with database.stream('/.settings/profile.json', headers=OWNER) as profile, \
                Live(host.port, database.namespace) as live:
            assert live.do('q', p='/list', q={'i': 'n', 'l': 5, 'vf': 'l'}, t=1, h='') == {'w': ['no_index']}
            assert live.do('g', p='/list', q={'i': 'n', 'l': 5, 'vf': 'l'}) == {'a': {'n': 1}, 'b': {'n': 2}}
            assert database.ask('GET', '/list.json', query={'orderBy': '"n"', 'limitToFirst': 5}).status == 400
            found = [profile.next()[1] for _ in range(3)]
    assert [(one['name'], one['allowed'], one['unIndexed'], one['bytes'] > 0) for one in found] == [
        ('listener-listen', True, True, True),
        ('realtime-read', True, True, True), ('rest-read', True, True, False)]
