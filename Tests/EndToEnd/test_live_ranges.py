"""Listens of clients that state what they have: only the parts that differ are sent (spec database 3.6, 3.8, 10.1)."""

import base64
import hashlib
import json
import random
import re
import struct

import pytest

from fixtures import own_database, shared_host
from live import Live, keys, with_value

RULES = {'rules': {'open': {'.read': True, '.write': True, '.indexOn': 'n'}, 'closed': {'.read': False}}}


host = shared_host()
database = own_database(RULES)


@pytest.fixture
def live(database):
    with Live(database.host.port, database.namespace) as live:
        yield live


# The work of clients, on values in export form


def order(key):
    number = re.fullmatch(r'-?\d{1,11}', key)
    if number and -2**31 <= int(key) < 2**31:
        return (0, int(key), len(key))
    return (1, key.encode('utf-16-be'))


def leaves(value, path=()):
    """The leaves in order, as (path, value or {'.value', '.priority'})."""
    if not isinstance(value, dict) or '.value' in value:
        return [] if value is None else [(path, value)]
    return [leaf for key in sorted(value, key=order) for leaf in leaves(value[key], (*path, key))]


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def leaf_text(value):
    if isinstance(value, dict):
        return f'priority:{leaf_text(value[".priority"])}:{leaf_text(value[".value"])}'
    if isinstance(value, bool):
        return f'boolean:{str(value).lower()}'
    if isinstance(value, str):
        return f'string:{quoted(value)}'
    return 'number:' + struct.pack('>d', value).hex()


def nested_text(part, depth=0):
    if len(part[0][0]) == depth:
        return leaf_text(part[0][1])
    names = list(dict.fromkeys(path[depth] for path, _ in part))
    return ','.join(f'{quoted(name)}:({nested_text([leaf for leaf in part if leaf[0][depth] == name], depth + 1)})' for name in names)


def sha(text):
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()


def claim(value, size=10):
    """The member `ch` of a client that has a value: ranges of so many leaves."""
    all_leaves = leaves(value)
    parts = [all_leaves[start:start + size] for start in range(0, len(all_leaves), size)]
    return {'ps': ['/'.join(part[-1][0]) for part in parts], 'hs': [sha(f'({nested_text(part)})') for part in parts] + ['']}


def merged(value, parts):
    """The value after the parts of a push."""
    def place(path):
        return [order(key) for key in path]

    for part in parts:
        assert set(part) - {'s', 'e'} == {'m'}
        start, end = (None if name not in part else place(keys(part[name])) for name in ('s', 'e'))
        kept = [leaf for leaf in leaves(value) if (start is not None and place(leaf[0]) <= start) or (end is not None and place(leaf[0]) > end)]
        new = leaves(part['m'])
        assert all((start is None or place(path) > start) and (end is None or place(path) <= end) for path, _ in new), part
        value = None
        for path, leaf in kept + new:
            value = with_value(value, list(path), leaf)
    return value


def export(database, path):
    return database.get(f'{path}.json', query={'format': 'export'})


def reconnect(live, path, has, size=10, h='other'):
    """Listens as a client that has a value. Returns its value afterwards, and the pushed parts; None for the whole value."""
    pushes = listen(live, path, h, claim(has, size))
    if not pushes:
        return has, []
    (action, body), = pushes
    assert body['p'] == path.strip('/') and 't' not in body
    if action == 'd':
        return body['d'], None
    assert action == 'rm' and body['d']
    return merged(has, body['d']), body['d']


def listen(live, path, h, ch):
    assert live.do('q', p=path, h=h, ch=ch) == {}
    return live.taken()


def rooms(count=400):
    return {f'room{number}': {'name': f'Room {number}', 'seats': number, 'tags': {'a': True, 'b': 'x"y\\z'}} for number in range(count)}


def test_nothing_is_sent_for_what_the_client_has(database, live):
    database.put('/open/rooms.json', rooms())
    assert reconnect(live, '/open/rooms', rooms()) == (rooms(), [])
    database.put('/open/rooms/room7/seats.json', 8)
    assert live.push() == ('d', {'p': 'open/rooms/room7/seats', 'd': 8})


def test_only_the_part_that_differs_is_sent(database, live):
    database.put('/open/rooms.json', rooms())
    database.put('/open/rooms/room200/seats.json', -1)
    value, parts = reconnect(live, '/open/rooms', rooms())
    assert value == export(database, '/open/rooms') and len(parts) == 1
    assert len(json.dumps(parts)) < len(json.dumps(rooms())) / 50
    database.put('/open/rooms/room7/seats.json', 8)
    assert live.push() == ('d', {'p': 'open/rooms/room7/seats', 'd': 8})


@pytest.mark.parametrize('change', [
    {'room0': None}, {'room399': None}, {'room99/tags': None}, {'a first one': 1}, {'~ a last one': {'x': 1}}, {'room5': 'a value'},
    {'room5/name': {'first': 'R', 'last': 5}}, {'room1': None, 'room2/seats': 0.5, 'room3/new': 'é😀', '10': {'9': 1, '08': 2}},
    {'room0/name': 'x', 'room399/tags/b': 'y'}, {f'room{number}': None for number in range(1, 400)},
])
def test_every_change_arrives(change, database, live):
    database.put('/open/rooms.json', rooms())
    assert database.ask('PATCH', '/open/rooms.json', change).status == 200
    value, parts = reconnect(live, '/open/rooms', rooms())
    assert value == export(database, '/open/rooms')
    assert parts


@pytest.mark.parametrize('seed', range(5))
def test_random_changes_arrive(seed, database, live):
    dice = random.Random(seed)
    has = rooms(60)
    for round_number in range(12):
        database.put('/open/rooms.json', has)
        change = {}
        for _ in range(dice.randrange(1, 6)):
            change[f'room{dice.randrange(80)}'] = dice.choice([None, 1, 'text', {'name': 'x', '5': True}, {'tags': {'b': {'c': 1}}}])
        database.ask('PATCH', '/open/rooms.json', change)
        value, _ = reconnect(live, '/open/rooms', has, dice.choice([1, 3, 10, 40]))
        assert value == export(database, '/open/rooms'), (seed, round_number, change)
        live.do('n', p='/open/rooms')
        has = dice.choice([value, rooms(60)])


def test_priorities(database, live):
    has = {'a': {'.value': 1, '.priority': 'p'}, 'b': {'!': 1, 'c': 2, '.priority': 7}, 'c': {'0': 1, '1': {'.value': 'x', '.priority': 2}}}
    database.put('/open/list.json', has)
    assert reconnect(live, '/open/list', has, 1) == (has, [])
    for path, priority in [('b', 8), ('a', 'q'), ('c/1', None), ('b', None), ('c', 5), ('', 9)]:
        has = export(database, '/open/list')
        live.do('n', p='/open/list')
        database.put(f'/open/list/{path}/.priority.json'.replace('//', '/'), priority)
        value, parts = reconnect(live, '/open/list', has, 2)
        assert value == export(database, '/open/list'), (path, priority, parts)


def test_a_client_that_has_nothing_gets_the_value(database, live):
    database.put('/open/rooms.json', {'a': 1})
    assert listen(live, '/open/rooms', '', {'ps': [], 'hs': ['']}) == [('d', {'p': 'open/rooms', 'd': {'a': 1}})]


def test_a_single_value(database, live):
    database.put('/open/one.json', 'x')
    assert reconnect(live, '/open/one', 'x') == ('x', [])
    live.do('n', p='/open/one')
    assert reconnect(live, '/open/one', 'y') == ('x', [{'e': '', 'm': 'x'}])
    live.do('n', p='/open/one')
    assert reconnect(live, '/open/one', {'a': 1, 'b': 2}, 1)[0] == 'x'
    live.do('n', p='/open/one')
    database.put('/open/one.json', None)
    assert reconnect(live, '/open/one', 'x')[0] is None


def test_the_hash_of_the_whole_value_comes_first(database, live):
    database.put('/open/rooms.json', {'a': 1})
    assert listen(live, '/open/rooms', 'gIphxiFGusLh2VwSNVKSvNu90m4=', {'ps': ['a'], 'hs': ['wrong', '']}) == []


def test_a_part_of_many_frames(database, live):
    has = {f'k{number:04}': 'x' * 1000 for number in range(1000)}
    database.put('/open/large.json', {**has, 'l': {f'k{number:04}': 'y' * 1000 for number in range(500)}})
    value, parts = reconnect(live, '/open/large', has)
    assert value == export(database, '/open/large')
    assert [set(part) for part in parts] == [{'s', 'm'}]


def test_queries_get_the_value(database, live):
    database.put('/open/list.json', {'a': {'n': 1}, 'b': {'n': 2}})
    live.do('q', p='/open/list', h='x', q={'l': 1, 'vf': 'l', 'i': 'n'}, t=3, ch=claim({'a': {'n': 1}}))
    assert live.taken() == [('d', {'p': 'open/list', 'd': {'a': {'n': 1}}, 't': 3})]


def test_another_listen_does_not_repeat_the_parts(database, live):
    """A listener that is read again, because its client was slow or the rules changed, gets the value."""
    database.put('/open/rooms.json', rooms(20))
    database.put('/open/rooms/room1/seats.json', 77)
    assert reconnect(live, '/open/rooms', rooms(20))[1]
    assert live.listen('/open/rooms') == [('d', {'p': 'open/rooms', 'd': export(database, '/open/rooms')})]


def test_what_may_not_be_read_is_not_compared(live):
    for value in ({'a': 1}, None):
        assert live.ask('q', p='/closed', h='x', ch=claim(value)) == ('permission_denied', 'Permission denied')
        assert live.taken() == []


@pytest.mark.parametrize('ch, reason', [
    (7, 'must be an object'), ([], 'must be an object'), ({}, 'must be an object'), ({'ps': []}, 'must be an object'),
    ({'ps': {}, 'hs': ['']}, 'must be an object'), ({'ps': [1], 'hs': ['x', '']}, 'must be an object'),
    ({'ps': [], 'hs': []}, 'one hash more'), ({'ps': ['a'], 'hs': ['x']}, 'one hash more'), ({'ps': ['a'], 'hs': ['x', 'y', '']}, 'one hash more'),
    ({'ps': ['b', 'a'], 'hs': ['x', 'y', '']}, 'order of their keys'), ({'ps': ['a', 'a'], 'hs': ['x', 'y', '']}, 'order of their keys'),
    ({'ps': ['a', '1'], 'hs': ['x', 'y', '']}, 'order of their keys'), ({'ps': ['a#b'], 'hs': ['x', '']}, 'Invalid path'),
    ({'ps': ['a/.value'], 'hs': ['x', '']}, 'Invalid path'), ({'ps': ['/'.join(['a'] * 40)], 'hs': ['x', '']}, 'Invalid path'),
])
def test_statements_of_no_form_are_refused(ch, reason, database, live):
    database.put('/open/rooms.json', {'a': 1})
    status, text = live.ask('q', p='/open/rooms', h='x', ch=ch)
    assert status == 'failure' and reason in text
    assert live.listen('/open/rooms') == [('d', {'p': 'open/rooms', 'd': {'a': 1}})], 'the connection goes on'


@pytest.mark.parametrize('ch', [
    None, {'ps': [f'{number}' for number in range(4096)], 'hs': ['x'] * 4096 + ['']},
    {'ps': [f'{number:04}' + 'k' * 700 for number in range(1600)], 'hs': ['x'] * 1600 + ['']},
    {'ps': ['000000000001', '5'], 'hs': ['x', 'y', '']},
])
def test_what_cannot_be_compared_is_ignored(ch, database, live):
    database.put('/open/rooms.json', {'a': 1})
    assert listen(live, '/open/rooms', 'x', ch) == [('d', {'p': 'open/rooms', 'd': {'a': 1}})]


def test_many_listens_with_hashes_are_answered(database, live):
    """After a reconnection, a client sends all of its listens at once. More than may wait for a comparison get their value."""
    database.put('/open/many.json', {f'k{number}': {'n': number} for number in range(400)})
    numbers = [live.request('q', p=f'/open/many/k{number}', h='x', ch=claim({'n': -1})) for number in range(400)]
    assert [live.answer(number) for number in numbers] == [('ok', {})] * 400
    assert {body['p'] for _, body in live.taken()} == {f'open/many/k{number}' for number in range(400)}
