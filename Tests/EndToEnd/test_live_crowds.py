"""Many listens of one client at one place, and the end of a permission by the client's own write (spec database 3.6)."""

import collections

import pytest

from fixtures import own_database, shared_host
from live import Live, View

COUNT = 300
RULES = {'rules': {
    'open': {'.read': True, '.write': True},
    'gate': {'.read': "root.child('open/door').val() === true", '.write': True, '.indexOn': '.value'},
}}


host = shared_host()
database = own_database(RULES)


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


@pytest.mark.parametrize('query', [None, {'i': '.key', 'l': 4, 'vf': 'l'}])
def test_a_listen_and_a_write_without_waiting(query, database):
    """As client libraries do right after hello. The listen shows the write before it is acknowledged."""
    with Live(database.host.port, database.namespace) as live:
        for turn in range(15):
            path, extra = f'/open/p{turn}', {'q': query, 't': turn + 1} if query else {}
            # The write is complete before the value has been read.
            live.do('p', p=path, d={f'b{number}': 'x' * 300_000 for number in range(4)})
            live.request('q', p=path, h='', **extra)
            number = live.request('p', p=f'{path}/a', d=turn)
            assert live.answer(number) == ('ok', '')
            view = View(path, tag=extra.get('t'))
            assert view.apply(live.taken())['a'] == turn


def test_changes_of_an_empty_place_before_the_answer(database):
    """A client knows that a place is empty when its listen is answered, or by an explicit null. Until then it drops changes far below."""
    database.put('/open/list.json', {f'k{number}': {'n': number} for number in range(20_000)})
    with Live(database.host.port, database.namespace, timeout=60) as live, Live(database.host.port, database.namespace) as other:
        for count in range(1, 7):
            live.listen('/open/list', query={'i': 'n', 'l': count, 'vf': 'l'}, tag=count)
        other.listen('/open/list/k0/n')
        for turn in range(1, 11):
            path = f'/open/e{turn}'
            # The answer to the listen comes after that to the write, which waits for queries without an index.
            live.request('p', p='/open/list/k0/n', d=-turn)
            number = live.request('q', p=path, h='')
            while other.push()[1]['d'] != -turn:
                pass
            other.request('p', p=f'{path}/a/b', d=turn)
            assert live.answer(number) == ('ok', {})
            own = [body['p'] for _, body in live.taken() if f'/{body["p"]}/'.startswith(f'{path}/')]
            assert own == [] or own[0] == path[1:], f'the change of {own[0]} comes before the first value'
