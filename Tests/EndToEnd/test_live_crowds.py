"""Many listens of one client at one place, and the end of a permission by the client's own write (spec database 3.6)."""

import collections

import pytest

from databases import Database
from hearth import Host
from live import Live, name_of

COUNT = 300
RULES = {'rules': {
    'open': {'.read': True, '.write': True},
    'gate': {'.read': "root.child('open/door').val() === true", '.write': True, '.indexOn': '.value'},
}}


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('live'), [], mode='development').start()
    yield host
    host.stop()


@pytest.fixture
def database(host, request):
    with Database(host, name_of(request)) as database:
        database.use_rules(RULES)
        yield database


def test_many_queries_of_one_client(database):
    """All of them are answered, and all of them hear of a change, on the same connection."""
    database.put('/open/list.json', {f'k{number}': number for number in range(50)})
    with Live(database.host.port, database.namespace) as live:
        numbers = [live.request('q', p='/open/list', h='', q={'i': '.key', 'l': count + 1, 'vf': 'l'}, t=count + 1) for count in range(COUNT)]
        assert collections.Counter(live.answer(number)[0] for number in numbers) == {'ok': COUNT}
        assert len(live.taken()) == COUNT
        live.do('p', p='/open/list/a', d=1)
        assert {body['t'] for _, body in live.taken()} == set(range(1, COUNT + 1))


@pytest.mark.parametrize('query', [None, {'i': '.value', 'l': 1, 'vf': 'l'}])
def test_a_client_that_ends_its_own_permission(query, database):
    """The end of the listen comes before the answer to the write, as every other effect of the write does."""
    database.put('/.json', {'open': {'door': True}, 'gate': {'a': 1}})
    with Live(database.host.port, database.namespace) as live:
        for turn in range(20):
            database.put('/open/door.json', True)
            assert live.listen('/gate', query=query, tag=turn + 1)
            live.do('m', p='/', d={'open/door': False, 'gate/a': turn + 2})
            assert [action for action, _ in live.taken()] == ['c']
