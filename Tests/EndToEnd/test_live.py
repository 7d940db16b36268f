"""The live connection of the database: handshake, listens, reads, writes, and their order (spec database 3, 10)."""

import json
import select

import pytest

from fixtures import own_database, shared_host
from live import Live, View, name_of
from tokens import id_claims, unsigned
from websocket import BINARY, CLOSE, TEXT

ADA = unsigned(id_claims('ada'))
EMPTY = ''
HASHES = {'hello': 'B8HWXc7zXMjrsnJxPRj7wrNGqt4=', 500: 'Ajg9bohDwTVmqR14o1bVJnneryM='}
RULES = {'rules': {
    'open': {'.read': True, '.write': True, 'list': {'.indexOn': ['n', '.value']}},
    'users': {'$uid': {'.read': 'auth.uid === $uid', '.write': 'auth.uid === $uid'}},
    'checked': {'.read': True, '.write': True, '.validate': 'newData.isNumber()'},
    'gate': {'.read': "root.child('open/door').val() === true"},
    'few': {'.read': 'query.limitToFirst <= 2 && query.orderByKey', '.write': True},
}}


host = shared_host()
database = own_database(RULES)


@pytest.fixture
def live(database):
    with Live(database.host.port, database.namespace) as live:
        yield live


@pytest.fixture
def other(database):
    with Live(database.host.port, database.namespace) as live:
        yield live


def test_hello(host, live):
    assert live.hello['v'] == '5' and live.hello['h'] == f'127.0.0.1:{host.port}'
    assert isinstance(live.hello['ts'], int) and live.hello['ts'] > 1_700_000_000_000
    assert live.session.replace('-', '').isalnum() and len(live.session) >= 32


def test_pings_and_signs_of_life(live):
    live.send('0')
    live.send({'t': 'c', 'd': {'t': 'p', 'd': {}}})
    assert live.control() == ('o', {})


def test_a_value_then_its_changes(database, live):
    database.put('/open/room.json', {'a': 1})
    assert live.listen('/open/room') == [('d', {'p': 'open/room', 'd': {'a': 1}})]
    database.put('/open/room/b.json', {'c': 'é😀'})
    assert live.push() == ('d', {'p': 'open/room/b', 'd': {'c': 'é😀'}})
    database.ask('PATCH', '/open.json', {'room/a': None, 'room/b/c': 2, 'other': 3})
    assert live.push() == ('m', {'p': 'open/room', 'd': {'a': None, 'b/c': 2}})
    database.put('/open.json', {'room': {'z': True}})
    assert live.push() == ('d', {'p': 'open/room', 'd': {'z': True}})
    database.ask('DELETE', '/open.json')
    assert live.push() == ('d', {'p': 'open/room', 'd': None})


def test_nothing_is_sent_for_nothing(live):
    assert live.listen('open/none') == []


@pytest.mark.parametrize('value', ['Hello World', 500])
def test_a_known_value_is_not_sent_again(value, database, live):
    database.put('/open/known.json', value)
    right = HASHES['hello' if isinstance(value, str) else value]
    assert live.listen('/open/known', hash=right) == []
    database.put('/open/known.json', False)
    assert live.push() == ('d', {'p': 'open/known', 'd': False})
    live.do('n', p='/open/known')
    assert live.listen('/open/known', hash=right) == [('d', {'p': 'open/known', 'd': False})]


def test_a_client_is_told_that_its_value_is_gone(live):
    assert live.listen('/open/gone', hash=HASHES[500]) == [('d', {'p': 'open/gone', 'd': None})]


def test_priorities_are_sent_in_export_form(database, live):
    live.do('p', p='/open/ranked', d={'a': {'.value': 1, '.priority': 7}, '.priority': 'x'})
    assert live.listen('/open/ranked')[0][1]['d'] == {'a': {'.value': 1, '.priority': 7}, '.priority': 'x'}
    live.do('p', p='/open/ranked/.priority', d=3)
    assert live.push()[1]['d'] == {'a': {'.value': 1, '.priority': 7}, '.priority': 3}


def test_events_of_an_own_write_come_before_its_answer(live):
    live.listen('/open/own')
    live.listen('/open/list', query={'i': 'n', 'l': 2, 'vf': 'l'}, tag=5)
    for number in range(20):
        live.do('m', p='/open', d={'own': number, f'list/k{number:02}': {'n': -number}})
        pushes = live.taken()
        assert ('d', {'p': 'open/own', 'd': number}) in pushes
        assert any(body.get('t') == 5 and f'k{number:02}' in json.dumps(body) for _, body in pushes), pushes


def test_the_first_write_of_a_database(host, request):
    with Live(host.port, name_of(request)) as live:
        live.own()
        assert live.listen('/room') == []
        live.do('p', p='/room/a', d={'n': 1})
        assert live.taken() == [('d', {'p': 'room/a', 'd': {'n': 1}})]


def test_two_clients(live, other):
    live.listen('/open/shared')
    other.do('p', p='open/shared', d={'.sv': 'timestamp'})
    action, body = live.push()
    assert action == 'd' and body['p'] == 'open/shared' and body['d'] >= live.hello['ts']


def test_answers_come_in_order(live):
    numbers = [live.request('p', p=f'/open/n/{number}', d=number) if number % 3 else live.request('g', p='/open/n', q={})
               for number in range(30)]
    for number in numbers:
        assert live.answer(number)[0] == 'ok'
        assert all(later not in live.answers for later in numbers if later < number)
    assert live.do('g', p='/open/n/29', q={}) == 29


def test_a_read_follows_the_writes_before_it(live):
    write = live.request('p', p='/open/now', d='new')
    assert live.ask('g', p='/open/now', q={}) == ('ok', 'new')
    assert live.answer(write) == ('ok', '')


def test_gets(database, live):
    database.put('/open/list.json', {'a': {'n': 3}, 'b': {'n': 1}, 'c': {'n': 2}})
    assert live.do('g', p='/open/list/a', q={}) == {'n': 3}
    assert live.ask('g', p='/open/nothing', q={}) == ('ok', None)
    assert live.do('g', p='/open/list', q={'i': 'n', 'l': 2, 'vf': 'l'}) == {'b': {'n': 1}, 'c': {'n': 2}}
    assert live.do('g', p='/open/list', q={'i': 'n', 'sp': 2, 'ep': 2}) == {'c': {'n': 2}}
    assert live.do('g', p='/open/list', q={'i': '.key', 'sp': 'b', 'sin': False}) == {'c': {'n': 2}}
    assert live.do('g', p='/open/list', q={'i': 'm', 'sp': None, 'ep': None, 'l': 1, 'vf': 'r'}) == {'c': {'n': 2}}
    assert live.ask('g', p='/users/ada', q={}) == ('permission_denied', 'Permission denied')


def test_a_query_window(database, live):
    database.put('/open/list.json', {key: {'n': number} for number, key in enumerate('abcdef')})
    query = {'i': 'n', 'l': 3, 'vf': 'l'}
    view = View('/open/list', tag=9)
    assert view.apply(live.listen('/open/list', query=query, tag=9)) == {'a': {'n': 0}, 'b': {'n': 1}, 'c': {'n': 2}}
    live.do('p', p='/open/list/z', d={'n': -1})
    assert view.apply(live.taken()) == {'z': {'n': -1}, 'a': {'n': 0}, 'b': {'n': 1}}
    live.do('p', p='/open/list/a', d=None)
    assert view.apply(live.taken()) == {'z': {'n': -1}, 'b': {'n': 1}, 'c': {'n': 2}}
    live.do('p', p='/open/list/b/more', d='x')
    assert view.apply(live.taken()) == {'z': {'n': -1}, 'b': {'n': 1, 'more': 'x'}, 'c': {'n': 2}}
    live.do('p', p='/open/list/f/n', d=99)
    assert live.taken() == []
    live.do('p', p='/open/list', d=None)
    assert view.apply(live.taken()) is None
    # The client never has more children than the limit, nor a part of a change.
    assert all(len(state) == 3 for state in view.states[:-1])


def test_a_known_window_is_not_sent_again(database, live):
    database.put('/open/list.json', {'foo': 'bar', 'goo': 'car'})
    query = {'i': '.key', 'l': 1, 'vf': 'l'}
    assert live.listen('/open/list', hash='XnLeTeWQmzTHImTbSMDLg/qMrKY=', query=query, tag=1) == []
    live.do('p', p='/open/list/a', d=1)
    assert live.taken() == [('m', {'p': 'open/list', 'd': {'foo': None, 'a': 1}, 't': 1})]


def test_a_query_without_an_index(database, live):
    database.put('/open/plain.json', {'a': {'x': 2}, 'b': {'x': 1}})
    assert live.do('q', p='/open/plain', h='', q={'i': 'x', 'l': 1, 'vf': 'l'}, t=3) == {'w': ['no_index']}
    assert live.taken() == [('d', {'p': 'open/plain', 'd': {'b': {'x': 1}}, 't': 3})]


def test_a_repeated_listen_replaces_its_tag(database, live):
    query = {'i': '.key', 'l': 1, 'vf': 'l'}
    live.listen('/open/list', query=query, tag=1)
    live.listen('/open/list', query=query, tag=2)
    live.do('p', p='/open/list/a', d=1)
    assert live.taken() == [('d', {'p': 'open/list/a', 'd': 1, 't': 2})]


def test_listens_above_and_below(live):
    live.listen('/open/tree/leaf')
    live.listen('/open/tree')
    live.do('p', p='/open/tree/leaf', d=1)
    assert live.taken() == [('d', {'p': 'open/tree/leaf', 'd': 1})]
    live.do('n', p='/open/tree')
    live.do('p', p='/open/tree/leaf', d=2)
    assert live.taken() == [('d', {'p': 'open/tree/leaf', 'd': 2})]


def test_silence_after_unlisten(live):
    live.listen('/open/quiet')
    live.do('n', p='/open/quiet')
    live.do('p', p='/open/quiet', d=1)
    assert live.taken() == []


def test_places_of_the_client_itself(live):
    assert live.listen('/.info/connected') == []
    assert live.ask('g', p='.info/serverTimeOffset', q={}) == ('ok', None)
    assert live.ask('p', p='/.info/connected', d=True)[0] == 'permission_denied'


# Writes


def test_denied_and_invalid_writes(live):
    assert live.ask('p', p='/users/ada', d=1) == ('permission_denied', 'Permission denied')
    assert live.ask('m', p='/checked', d={'a': 1}) == ('permission_denied', 'Permission denied')
    for body in ({'p': '/open/a.b', 'd': 1}, {'p': '/open', 'd': {'$': 1}}, {'p': '/open'}, {'d': 1}, {'p': 5, 'd': 1},
                 {'p': '/open', 'd': {'.sv': 'never'}}):
        status, text = live.ask('p', **body)
        assert status == 'failure' and text
    assert live.ask('m', p='/open', d=[1])[0] == 'failure'
    assert live.ask('m', p='/open', d={'a': 1, 'a/b': 2})[0] == 'failure'


def test_transactions(database, live, other):
    database.put('/open/count.json', 500)
    live.listen('/open/count')
    assert live.ask('p', p='/open/count', d=501, h=HASHES[500]) == ('ok', '')
    assert live.taken() == [('d', {'p': 'open/count', 'd': 501})]
    assert other.ask('p', p='/open/count', d=502, h=HASHES[500]) == ('datastale', 'Transaction hash does not match')
    assert other.ask('p', p='/open/count', d=1, h=EMPTY)[0] == 'datastale'
    assert other.ask('p', p='/open/absent', d=1, h=EMPTY) == ('ok', '')
    assert live.ask('p', p='/users/ada', d=1, h=EMPTY) == ('permission_denied', 'Permission denied')
    assert database.get('/open/count.json') == 501


def test_the_newest_value_comes_before_a_stale_answer(live, other):
    live.listen('/open/turn')
    other.do('p', p='/open/turn', d=1)
    assert live.ask('p', p='/open/turn', d=2, h=EMPTY)[0] == 'datastale'
    assert live.taken()[-1] == ('d', {'p': 'open/turn', 'd': 1})


def test_long_messages(live, other):
    text = 'é😀漢' * 60_000
    other.listen('/open/long')
    live.do('p', p='/open/long', d=text)
    assert other.push() == ('d', {'p': 'open/long', 'd': text})
    assert live.do('g', p='/open/long', q={}) == text


# Mistakes


@pytest.mark.parametrize('action', ['x', 'quit', ''])
def test_unknown_actions(action, live):
    status, text = live.ask(action)
    assert status == 'failure' and 'unknown' in text


@pytest.mark.parametrize('body', [
    {'q': {'i': 7}}, {'q': {'l': 0}, 't': 1}, {'q': {'l': 'x'}, 't': 1}, {'q': {'l': 1, 'vf': 'm'}, 't': 1}, {'q': {'sp': {}}, 't': 1},
    {'q': 3}, {'q': {'l': 1}}, {'q': {'l': 1}, 't': 0}, {'q': {'l': 1}, 't': 'x'}, {'q': {'i': 'a.b', 'l': 1}, 't': 1}])
def test_invalid_queries(body, live):
    status, text = live.ask('q', p='/open', h='', **body)
    assert status == 'failure' and text


@pytest.mark.parametrize('message', [
    'x', '{', '[]', '{"t":"d"}', '{"t":"x","d":{}}', '{"t":"d","d":{"a":"s"}}', '{"t":"d","d":{"r":-1,"a":"s"}}', '{"t":"d","d":7}',
    '{"t":"d","d":{"r":1,"a":5}}', '{"t":"c","d":{}}', '{"t":"d","d":{"r":1,"a":"s","b":"}'])
def test_texts_that_are_no_messages(message, live, other):
    live.send(message)
    kind, reason = live.control()
    assert kind == 'e' and reason
    assert live.socket.frame()[0] == CLOSE
    assert other.do('g', p='/open', q={}) is None


def test_deep_data(live):
    deep = '{"a":' * 5000 + '1' + '}' * 5000
    live.send('{"t":"d","d":{"r":77,"a":"p","b":{"p":"/open","d":' + deep + '}}}')
    assert live.answer(77)[0] == 'failure'
    live.send('{"t":"d","d":{"r":78,"a":"auth","b":{"cred":"x","authvar":' + deep + '}}}')
    assert live.answer(78)[0] == 'failure'


def test_frames_that_are_not_allowed(database):
    for opcode, payload, code in ((BINARY, b'x', 1003), (TEXT, b'\xff\xfe', 1007)):
        with Live(database.host.port, database.namespace) as live:
            live.socket.send(opcode, payload)
            while (frame := live.socket.frame())[0] != CLOSE:
                pass
            assert int.from_bytes(frame[1][:2], 'big') == code


def test_a_frame_of_100_megabytes(live):
    live.socket.wire.send(b'\x81\xff' + (100 << 20).to_bytes(8, 'big') + b'abcd')
    assert live.socket.closed() == 1009


def test_a_message_of_too_many_bytes(live):
    live.socket.send(TEXT, '400')
    part = 'x' * 65536
    while not live.socket.wire.socket in select.select([live.socket.wire.socket], [], [], 0)[0]:
        live.socket.send(TEXT, part)
    kind, reason = live.control()
    assert kind == 'e' and 'at most' in reason
    assert live.socket.closed() == 1009


def test_names_of_databases(host):
    with pytest.raises(AssertionError, match="'s'"), Live(host.port, 'no_such_name'):
        pass


# -- many listens and large results of one client

def test_hundreds_of_queries_at_once(database, live):
    """They wait for each other, however many they are: a client takes a refused listen for its end."""
    database.put('/open/list.json', {f'k{number:03}': {'n': number} for number in range(300)})
    live.own()
    queries = [{'i': 'n', 'sp': number, 'ep': number + 1, 'l': 5, 'vf': 'l'} for number in range(250)]
    numbers = [live.request('q', p='/open/list', h='', q=query, t=tag) for tag, query in enumerate(queries, 1)]
    reads = [live.request('g', p='/open/list', q=query) for query in queries]
    assert [live.answer(number) for number in numbers] == [('ok', {})] * 250
    results = {body['t']: body['d'] for action, body in live.taken()}
    assert results == {tag: {f'k{number:03}': {'n': number} for number in (tag - 1, tag)} for tag in range(1, 251)}
    assert [live.answer(number) for number in reads] == [('ok', results[tag]) for tag in range(1, 251)]


def test_many_large_values_at_once(database, live):
    """One client may have a few answers at a time that hold a snapshot. The others wait for them."""
    values = {f'k{number:02}': str(number) * 200_000 for number in range(10, 60)}
    for key, value in values.items():
        database.put(f'/open/{key}.json', value)
    numbers = [live.request('q', p=f'/open/{key}', h='') for key in values]
    assert [live.answer(number) for number in numbers] == [('ok', {})] * len(values)
    assert {body['p']: body['d'] for action, body in live.taken()} == {f'open/{key}': value for key, value in values.items()}


# -- results that are followed

def test_a_write_below_a_large_child_of_a_result(database, live):
    """Only what was written is sent."""
    database.put('/open/list.json', {key: {'n': number, 'text': 'x' * 3000, 'more': {'a': 1}} for number, key in enumerate('abc')})
    live.own()
    query = {'i': 'n', 'l': 2, 'vf': 'r'}
    assert len(live.listen('/open/list', query=query, tag=3)) == 1
    live.do('p', p='/open/list/b/more/a', d=2)
    assert live.taken() == [('d', {'p': 'open/list/b/more/a', 'd': 2, 't': 3})]
    live.do('m', p='/open/list/c', d={'n': 5, 'more/b': 3})
    assert live.taken() == [('d', {'p': 'open/list/c', 'd': {'n': 5, 'text': 'x' * 3000, 'more': {'a': 1, 'b': 3}}, 't': 3})]
    # A child that enters is sent as a whole.
    live.do('p', p='/open/list/a/n', d=9)
    [(action, body)] = live.taken()
    assert (action, body['p'], body['t'], set(body['d'])) == ('m', 'open/list', 3, {'a', 'b'})
    assert body['d']['b'] is None and body['d']['a'] == {'n': 9, 'text': 'x' * 3000, 'more': {'a': 1}}


def test_changes_of_a_result_come_before_the_answer(database, live, other):
    """Also when the view has to read what takes the place of removed children."""
    database.put('/open/list.json', {f'k{number:03}': number for number in range(200)})
    view, elsewhere = View('/open/list', tag=1), View('/open/list', tag=2)
    query = {'i': '.key', 'l': 2, 'vf': 'l'}
    view.apply(live.listen('/open/list', query=query, tag=1))
    elsewhere.apply(other.listen('/open/list', query=query, tag=2))
    for number in range(150):
        live.do('p', p=f'/open/list/k{number:03}', d=None)
        assert view.apply(live.taken()) == {f'k{key:03}': key for key in (number + 1, number + 2)}
    while elsewhere.value != view.value:
        elsewhere.apply([other.push()])
    assert all(len(state) <= 2 for state in view.states + elsewhere.states)
