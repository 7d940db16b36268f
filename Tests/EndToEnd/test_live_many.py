"""Many listens, reads and transactions of one client at once, as apps begin (spec database 3.6, 10.1)."""

import pytest

from databases import OPEN_RULES
from fixtures import own_database, shared_host
from live import Live, View

COUNT = 200
VALUE_HASH = 'Ajg9bohDwTVmqR14o1bVJnneryM='


host = shared_host()
database = own_database({'rules': {**OPEN_RULES['rules'], 'lists': {'$list': {'.indexOn': 'n'}}}})


@pytest.fixture
def live(database):
    with Live(database.host.port, database.namespace) as live:
        yield live


def statuses(live, numbers):
    return {live.answer(number)[0] for number in numbers}


def window(count):
    return {'i': '.key', 'l': count, 'vf': 'l'}


def test_many_queries(live):
    listens = [live.request('q', p='/list', h='', q=window(count), t=count) for count in range(1, COUNT)]
    assert statuses(live, listens) == {'ok'}
    reads = [live.request('g', p='/list', q=window(count)) for count in range(1, COUNT)]
    assert statuses(live, reads) == {'ok'}


def test_many_queries_hear_of_a_change(database, live):
    database.put('/list.json', {f'k{number:03}': number for number in range(COUNT)})
    views = [View('/list', tag=count) for count in range(1, COUNT)]
    assert statuses(live, [live.request('q', p='/list', h='', q=window(view.tag), t=view.tag) for view in views]) == {'ok'}
    pushes = live.taken()
    for view in views:
        assert len(view.apply(pushes)) == view.tag
    # The answer to a write follows the changes that it makes for the client, those of all queries.
    live.do('p', p='/list/k000', d='new')
    pushes = live.taken()
    assert all(view.apply(pushes)['k000'] == 'new' for view in views)
    database.put('/list/a.json', 'first')
    heard = 0
    while heard < len(views):
        push = live.push()
        assert push[1]['p'] in ('list', 'list/a'), push
        heard += 1
        for view in views:
            view.apply([push])
    assert all(list(sorted(view.value))[0] == 'a' and len(view.value) == view.tag for view in views)


def test_many_known_values(database, live):
    database.put('/list.json', {f'k{number:03}': 500 for number in range(COUNT)})
    listens = [live.request('q', p=f'/list/k{number:03}', h=VALUE_HASH) for number in range(COUNT)]
    assert statuses(live, listens) == {'ok'} and live.taken() == []


def test_many_long_values(database, live):
    database.put('/list.json', {f'k{number:03}': {str(part): 'x' * 100_000 for part in range(4)} for number in range(50)})
    listens = [live.request('q', p=f'/list/k{number:03}', h='') for number in range(50)]
    assert statuses(live, listens) == {'ok'} and len(live.taken()) == 50


def test_many_transactions(database, live):
    writes = [live.request('p', p=f'/counts/{number}', d=1, h='') for number in range(COUNT)]
    assert statuses(live, writes) == {'ok'}
    assert len(database.get('/counts.json')) == COUNT


def test_values_arrive_in_the_order_of_the_listens(database, live):
    """A client that has a child before the result of a query above it would show that child as the result."""
    for number in range(100):
        place = f'/lists/l{number}'
        database.put(f'{place}.json', {'a': {'n': 3}, 'b': {'n': 1}, 'c': {'n': 2}})
        query = live.request('q', p=place, h='', q={'i': 'n', 'l': 2, 'vf': 'l'}, t=number + 1)
        below = live.request('q', p=f'{place}/a', h='')
        assert statuses(live, [query, below]) == {'ok'}
        assert [body.get('t') for _, body in live.taken()] == [number + 1, None]


def test_a_client_that_leaves_amid_its_listens(database, live):
    with Live(database.host.port, database.namespace) as leaving:
        leaving.do('o', p='/gone', d=True)
        for number in range(COUNT):
            leaving.request('q', p=f'/last/{number}', h='')
    live.listen('/gone')
    if not database.get('/gone.json'):
        assert live.push() == ('d', {'p': 'gone', 'd': True})
