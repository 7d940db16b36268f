"""The database as functions use it: every method of the plugin library and of the service behind it."""

import concurrent.futures
import time

import pytest

from databases import Database
from hearth import Host, library
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'
RULES = {'rules': {
    'people': {'$uid': {'.read': 'auth.uid == $uid', '.write': 'auth.uid == $uid || auth.token.staff == true'}},
    'counted': {'.write': True},
    'own': {'$uid': {'.write': 'auth.uid == $uid'}},
    'lists': {'$list': {'.indexOn': ['n', 'at/day', '.value']}},
    'public': {'.read': True, '.write': True},
}}


@pytest.fixture(scope='module')
def host(tmp_path_factory, keys):
    """The tests share this host; each uses its own path."""
    host = Host(tmp_path_factory.mktemp('service'), ['Conformance'], mode='development', keys=keys).start()
    try:
        with Database(host, DEFAULT) as database:
            database.use_rules(RULES)
        yield host
        host.stop()
    finally:
        host.abandon()


@pytest.fixture
def database(host):
    with Database(host, DEFAULT) as database:
        yield database


@pytest.fixture
def do(host):
    """Takes one step in a function."""
    def step(what, at='', token=None, **more):
        return host.result('database', {'do': what, 'at': at, **more}, token=token)
    return step


def refusal(answer):
    assert set(answer) == {'refused', 'message', 'path'}, answer
    return answer['refused'], answer['path']


# -- values

VALUES = {
    'text': 'héllo 😀', 'empty': '', 'true': True, 'false': False, 'zero': 0, 'minus': -5, 'large': 9007199254740991, 'fraction': 0.1,
    'list': [1, 'a', {'b': [True]}], 'object': {'a': {'b': {'c': 1}}, 'z': 'y'}, 'escapes': {'quote"s': 'a\nb\\c'},
}


@pytest.mark.parametrize('name', VALUES)
def test_values_come_back(name, do, database):
    place = f'values/{name}'
    do('set', place, value=VALUES[name])
    assert do('get', place)['value'] == VALUES[name]
    assert database.get(f'/{place}.json') == VALUES[name]


@pytest.mark.parametrize('value, kept', [
    (None, None), ({}, None), ({'a': None, 'b': 1}, {'b': 1}), ([None, 'x'], [None, 'x']), ({'0': 'a', '1': 'b'}, ['a', 'b']),
    ({'a': {'b': {}}}, None), (1.0, 1),
])
def test_what_the_database_makes_of_values(value, kept, do):
    do('set', 'made', value={'before': True})
    do('set', 'made', value=value)
    seen = do('get', 'made')
    assert seen['value'] == kept and type(seen['value']) is type(kept)
    assert seen['exists'] is (kept is not None)


def test_setting_replaces_and_removing_removes(do):
    do('set', 'replaced', value={'a': 1, 'b': 2})
    do('set', 'replaced', value={'c': 3})
    assert do('get', 'replaced')['value'] == {'c': 3}
    do('remove', 'replaced/c')
    assert do('get', 'replaced')['exists'] is False


def test_updates_are_all_or_nothing(do):
    do('set', 'updated', value={'a': 1, 'b': {'c': 2, 'd': 3}, 'e': 4})
    do('update', 'updated', value={'a': 9, 'b/c': 8, '/f/g/': 7, 'e': None})
    assert do('get', 'updated')['value'] == {'a': 9, 'b': {'c': 8, 'd': 3}, 'f': {'g': 7}}
    assert refusal(do('update', 'updated', value={'a': 0, 'b': 1, 'b/c': 2})) == ('invalid-argument', '/updated')
    assert refusal(do('update', 'updated', value={'a': 0, 'b.c': 2})) == ('invalid-argument', '/updated')
    assert refusal(do('update', 'updated', value=5)) == ('invalid-argument', '/updated')
    assert do('get', 'updated')['value'] == {'a': 9, 'b': {'c': 8, 'd': 3}, 'f': {'g': 7}}


def test_automatic_keys_sort_by_time(do):
    keys = [do('push', 'pushed', value=number) for number in range(5)]
    assert keys == sorted(keys) and all(len(key) == 20 for key in keys)
    assert do('get', 'pushed')['keys'] == keys


def test_the_database_fills_in_server_values(do):
    before = int(time.time() * 1000)
    do('stamp', 'stamped')
    do('stamp', 'stamped')
    stamped = do('get', 'stamped')['value']
    assert before - 5000 < stamped['at'] < time.time() * 1000 + 5000
    assert stamped['count'] == 4
    for by in (5, -2):
        do('increment', 'stamped/count', value=by)
    assert do('get', 'stamped/count')['value'] == 7
    assert refusal(do('set', 'stamped', value={'.sv': 'moon'})) == ('invalid-argument', '/stamped')


def test_priorities(do):
    for name, priority in (('a', 3), ('b', 'text'), ('c', 1)):
        do('set', f'prior/{name}', value=name, priority=priority)
    do('set', 'prior/d', value={'x': 1})
    seen = do('get', 'prior')
    assert seen['value'] == {'a': 'a', 'b': 'b', 'c': 'c', 'd': {'x': 1}} and seen['keys'] == ['d', 'c', 'a', 'b']
    assert do('get', 'prior/a')['priority'] == 3
    do('setPriority', 'prior/a', value=None)
    do('setPriority', 'prior/d', value=9)
    assert do('get', 'prior')['keys'] == ['a', 'c', 'd', 'b']
    assert do('get', 'prior', byPriority=True, startAt=2, last=1)['keys'] == ['b']
    assert refusal(do('setPriority', 'prior/a', value=True)) == ('invalid-argument', '/prior/a')


@pytest.mark.parametrize('place', ['a.b', 'a$', 'x/[y]', 'a#', '\x01', 'k' * 769, '/'.join(['d'] * 33)])
def test_paths_that_cannot_be(place, do):
    for step in ('get', 'set', 'remove', 'transaction'):
        kind, path = refusal(do(step, place, value=1))
        assert kind == 'invalid-argument' and path.strip('/') == place


# -- queries

LIST = {'p': {'n': 3, 'at': {'day': 2}}, 'q': {'n': 1, 'at': {'day': 9}}, 'r': {'n': 2}, '7': {'n': 'x'}, '10': {'n': True}}


@pytest.mark.parametrize('query, expected', [
    ({'byChild': 'n'}, ['10', 'q', 'r', 'p', '7']),
    ({'byChild': 'n', 'startAt': 2}, ['r', 'p', '7']),
    ({'byChild': 'n', 'startAfter': 2, 'endAt': 3}, ['p']),
    ({'byChild': 'n', 'endBefore': 2}, ['10', 'q']),
    ({'byChild': 'n', 'equalTo': 'x'}, ['7']),
    ({'byChild': 'n', 'last': 2}, ['p', '7']),
    ({'byChild': 'n', 'startAt': 1, 'first': 1}, ['q']),
    ({'byChild': '/at//day/'}, ['7', '10', 'r', 'p', 'q']),
    ({'byChild': 'at/day', 'equalTo': None}, ['7', '10', 'r']),
    ({'byKey': True}, ['7', '10', 'p', 'q', 'r']),
    ({'byKey': True, 'startAfter': '10', 'first': 2}, ['p', 'q']),
    ({'byKey': True, 'equalTo': 'q'}, ['q']),
    ({'byChild': 'n', 'startAt': 1, 'startKey': 'r'}, ['r', 'p', '7']),
    ({'last': 1}, ['r']),
    ({'byChild': 'n', 'startAt': 'zzz'}, []),
])
def test_queries(query, expected, do):
    do('set', 'lists/one', value=LIST)
    seen = do('get', 'lists/one', **query)
    assert seen['keys'] == expected
    assert seen['exists'] is bool(expected)


def test_queries_by_value(do):
    do('set', 'lists/two', value={'a': 3, 'b': 1, 'c': 'x', 'd': False})
    assert do('get', 'lists/two', byValue=True)['keys'] == ['d', 'b', 'a', 'c']
    assert do('get', 'lists/two', byValue=True, startAt=1, endAt=3)['value'] == {'a': 3, 'b': 1}


def test_typed_queries(do):
    do('set', 'lists/three', value={key: {'text': key, 'n': n} for n, key in enumerate('xyz')})
    assert do('getTyped', 'lists/three', byChild='n', startAt=1) == ['y', 'z']
    assert do('getTyped', 'lists/three', byChild='n', startAt=99) == []
    do('set', 'lists/three/x/text', value=5)
    assert refusal(do('getTyped', 'lists/three', byKey=True)) == ('type-mismatch', '/lists/three')
    assert refusal(do('getTyped', 'lists/none')) == ('not-found', '/lists/none')


def test_an_index_is_asked_for(do):
    do('set', 'unindexed', value=LIST)
    answer = do('get', 'unindexed', byChild='n')
    assert refusal(answer) == ('index-not-defined', '/unindexed')
    assert answer['message'] == 'Index not defined, add ".indexOn": "n", for path "/unindexed", to the rules'


def test_contradictions(do):
    assert refusal(do('get', 'lists/one', byKey=True, byValue=True)) == ('invalid-argument', '/lists/one')
    assert refusal(do('get', 'lists/one', first=0)) == ('invalid-argument', '/lists/one')


# -- on whose behalf

def test_functions_are_administrators(do):
    do('set', 'people/u1/name', value='Ada')
    assert do('get', 'people/u1/name')['value'] == 'Ada'


def test_a_caller_is_held_to_the_rules(do, keys):
    own, other = keys.id_token('u2'), keys.id_token('u3')
    assert do('set', 'people/u2/name', value='Bo', token=own, **{'as': 'caller'}) is None
    assert do('get', 'people/u2', token=own, **{'as': 'caller'})['value'] == {'name': 'Bo'}
    for step in ('set', 'remove', 'push', 'transaction', 'increment', 'get', 'setPriority'):
        kind, path = refusal(do(step, 'people/u2', value=1, token=other, **{'as': 'caller'}))
        assert kind == 'permission-denied' and path.startswith('/people/u2'), step
    assert do('get', 'people/u2')['value'] == {'name': 'Bo'}
    staff = keys.id_token('u4', staff=True)
    assert do('set', 'people/u2/name', value='Cy', token=staff, **{'as': 'caller'}) is None


def test_nobody_is_signed_out(do):
    assert refusal(do('set', 'people/u1/name', value='x', **{'as': 'nobody'}))[0] == 'permission-denied'
    assert refusal(do('set', 'people/u1/name', value='x', **{'as': 'caller'}))[0] == 'permission-denied'
    assert do('set', 'public/x', value='x', **{'as': 'nobody'}) is None


def test_a_user_by_id(do):
    assert do('set', 'people/u5/name', value='Di', **{'as': 'u5'}) is None
    assert refusal(do('set', 'people/u5/name', value='x', **{'as': 'u6'}))[0] == 'permission-denied'
    assert do('set', 'people/u5/name', value='Ed', claims={'staff': True}, **{'as': 'u6'}) is None


def test_an_update_needs_leave_for_each_place(do):
    do('set', 'people/u7', value={'a': 1})
    answer = do('update', 'people', value={'u7/a': 2, 'u8/a': 2}, **{'as': 'u7'})
    assert refusal(answer)[0] == 'permission-denied'
    assert do('get', 'people/u7/a')['value'] == 1


# -- other databases

def test_instances_are_apart(do, host):
    do('set', 'apart', value='here')
    do('set', 'apart', value='there', instance='other')
    assert do('get', 'apart')['value'] == 'here'
    assert do('get', 'apart', instance='other')['value'] == 'there'
    with Database(host, 'other') as other:
        assert other.get('/apart.json') == 'there'
    assert refusal(do('set', 'apart', value=1, instance='Not A Name'))[0] == 'unknown-instance'
    assert refusal(do('get', 'apart', instance='never-written'))[0] == 'unknown-instance'


def test_production_knows_only_what_is_listed(launch):
    host = launch(config={'database': {'namespaces': ['listed']}})

    def do(what, instance, **more):
        return host.result('database', {'do': what, 'at': 'a', 'instance': instance, **more})
    assert do('set', 'listed', value=1) is None
    assert do('get', DEFAULT)['exists'] is False
    assert refusal(do('set', 'unlisted', value=1))[0] == 'unknown-instance'


# -- transactions

def test_transactions(do):
    assert [do('transaction', 'counter', value=by) for by in (1, 4, -2)] == [1, 5, 3]
    assert do('take', 'seat', value={'owner': 'u1'}) == {'committed': True, 'value': {'owner': 'u1'}}
    assert do('take', 'seat', value={'owner': 'u2'}) == {'committed': False, 'value': {'owner': 'u1'}}


def test_a_transaction_fills_in_server_values(do):
    outcome = do('take', 'stampedSeat', value={'at': {'.sv': 'timestamp'}})
    assert outcome['committed'] and outcome['value']['at'] == do('get', 'stampedSeat/at')['value']


def test_no_count_is_lost(host, do):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        racing = [pool.submit(do, 'race', 'raced', value=8) for _ in range(6)]
        adding = [pool.submit(do, 'increment', 'raced', value=1) for _ in range(12)]
        answers = [future.result() for future in (*racing, *adding)]
    # A call that lost 25 times reports it, and has not counted.
    assert all(answer is None or answer['refused'] == 'contention' for answer in answers)
    if all(answer is None for answer in answers):
        assert do('get', 'raced')['value'] == 6 * 8 + 12


@pytest.mark.parametrize('config', [
    {'plugins': {'Conformance': {'library': library('Conformance'), 'isolation': 'none'}}},
    {'server': {'loops': 2}},
    {'database': {'storage': 'memory'}},
    {'functions': {'database': {'maxInstances': 3, 'concurrency': 1}}},
], ids=['in the host', 'two loops', 'in memory', 'three workers'])
def test_wherever_the_function_runs(config, launch):
    host = launch(mode='development', config=config)

    def do(what, **more):
        return host.result('database', {'do': what, 'at': 'a', **more})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: do('increment', value=1), range(12))) == [None] * 12
    assert do('get')['value'] == 12
    assert refusal(do('set', value={'b.c': 1})) == ('invalid-argument', '/a')
    do('set', value={'big': 'x' * 300_000, 'small': 1})
    assert len(do('get')['value']['big']) == 300_000
    with Database(host, DEFAULT) as database:
        database.put('/typed/t/numbers.json', [1, 2])
        until(lambda: database.get('/typed/t/sum.json') == 3, 'the sum')


def test_what_a_function_wrote_outlives_the_host(launch):
    host = launch(mode='development')
    for number in range(5):
        host.result('database', {'do': 'set', 'at': f'kept/{number}', 'value': number})
    host.kill()
    host.start()
    assert host.result('database', {'do': 'get', 'at': 'kept'})['value'] == [0, 1, 2, 3, 4]


# -- bounds

def test_what_is_too_large_is_refused(do):
    assert refusal(do('bulk', 'bulk/whole', value=17)) == ('too-large', '/bulk/whole')
    for part in range(3):
        assert do('bulk', f'bulk/{part}', value=12) is None
    assert refusal(do('get', 'bulk')) == ('too-large', '/bulk')
    assert do('get', 'bulk', first=1)['keys'] == ['0']
    assert do('remove', 'bulk') is None
    assert do('get', 'bulk')['exists'] is False


def test_depth_and_strings(do):
    assert refusal(do('set', '/'.join('abcdefghijklmnopqrstuvwxyzabcdef'), value={'x': 1}))[0] == 'invalid-argument'
    assert do('set', '/'.join('abcdefghijklmnopqrstuvwxyzabcdef'), value=1) is None


# -- the service itself, as plugins in other languages call it

def raw(host, method, payload):
    return host.callable('database', {'do': 'raw', 'method': method, 'value': payload})


@pytest.mark.parametrize('method, payload, code, reason', [
    ('fly', {'path': 'a'}, 'UNIMPLEMENTED', 'unknown-method'),
    ('get', [], 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 5}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'authority': {}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'auth': 'u1'}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'auth': {'token': {}}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'instance': 5}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'form': 'pretty'}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'etag': 'x'}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': 5}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'order': '$key'}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'orderBy': 5}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'orderBy': '$key', 'startAt': 'k'}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'orderBy': '$key', 'startAt': {'value': []}}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'startAt': {'value': 'a'}, 'startAfter': {'value': 'b'}}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'equalTo': {'value': 'a'}, 'endAt': {'value': 'b'}}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'limitToFirst': 0}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('get', {'path': 'a', 'query': {'limitToFirst': 1, 'limitToLast': 1}}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('set', {'path': 'a'}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('set', {'path': 'a', 'value': 1, 'priority': [1]}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('setPriority', {'path': 'a'}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('transaction', {'path': 'a', 'value': 1}, 'INVALID_ARGUMENT', 'invalid-argument'),
    ('set', {'path': 'people/u1', 'auth': None, 'value': 1}, 'PERMISSION_DENIED', 'permission-denied'),
    ('set', {'path': 'a', 'instance': 'NO', 'value': 1}, 'NOT_FOUND', 'unknown-instance'),
])
def test_payloads_that_are_wrong(method, payload, code, reason, host):
    error = raw(host, method, payload).json['error']
    assert (error['status'], error['details']['reason']) == (code, reason), error


def test_the_service_by_itself(host):
    def ask(method, **payload):
        return raw(host, method, payload).json['result']
    name = ask('push', path='raw/list', value={'.value': 'x', '.priority': 2})['name']
    assert ask('get', path='raw/list', form='export') == {'value': {name: {'.value': 'x', '.priority': 2}}}
    assert ask('get', path='/raw//list/') == {'value': {name: 'x'}}
    seen = ask('get', path='raw/count', etag=True)
    assert seen == {'value': None, 'etag': 'null_etag'}
    assert ask('transaction', path='raw/count', value=1, etag=seen['etag']) == {'committed': True, 'value': 1}
    refused = ask('transaction', path='raw/count', value=2, etag=seen['etag'])
    assert refused == {'committed': False, 'value': 1, 'etag': ask('get', path='raw/count', etag=True)['etag']}
    assert ask('set', path='raw/at', value=1, priority={'.sv': 'timestamp'}) is None
    assert ask('get', path='raw/at', form='export')['value']['.priority'] > 1.6e12
    assert ask('get', path='raw/list', query={'orderBy': '$key', 'equalTo': {'value': name}}) == {'value': {name: 'x'}}
    assert ask('update', path='raw', value={}) is None
    assert ask('remove', path='raw') is None


def test_a_plugin_in_c(launch):
    host = launch(['keeps'], mode='development')
    name = host.result('keep', {'a': [1, 2]})['name']
    with Database(host, DEFAULT) as database:
        assert database.get(f'/kept/{name}.json') == {'a': [1, 2]}
        until(lambda: database.get('/copied.json') == {'after': {'a': [1, 2]}}, 'the event')
    error = host.callable('keep', {'a.b': 1}).json['error']
    assert error['status'] == 'INVALID_ARGUMENT' and error['details']['reason'] == 'invalid-argument'
    assert error['details']['path'].startswith('/kept/')


def test_services_that_there_are_not(host):
    assert raw(host, 'get', {'path': 'x'}).status == 200
    assert host.callable('database', {'do': 'nothing'}).json['error']['status'] == 'INVALID_ARGUMENT'
