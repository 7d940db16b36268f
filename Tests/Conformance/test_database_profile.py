"""The profiler of the database: specification sections 2.8 and 2.9."""

import json
import re

import pytest

from databases import OPEN_RULES, OWNER, Database, EventStream, milliseconds
from hearth import Host
from live import Live
from processes import until
from tokens import PROJECT, id_claims, unsigned

RULES = {'rules': {
    'q': {'.indexOn': 'h'},
    'closed': {'$uid': {'.read': 'auth.uid === $uid', '.write': 'auth.uid === $uid'}},
}}


class Profiler(EventStream):
    """The operations that the host reports for a namespace."""

    def __init__(self, database, headers=OWNER, receive_buffer=None):
        super().__init__(database, '/.settings/profile.json', headers=headers, receive_buffer=receive_buffer)

    def operation(self, seconds=10):
        """The next operation. What differs from run to run is looked at and left out."""
        name, operation = self.next(seconds)
        assert name == 'log', (name, operation)
        assert abs(milliseconds() - operation.pop('timestamp')) < 60_000
        for measured in ('millis', 'pendingTime'):
            assert operation.pop(measured, 0) >= 0
        return operation


@pytest.fixture(scope='module')
def host(tmp_path_factory, keys):
    """With two loops, so that operations on one are reported on the other."""
    host = Host(tmp_path_factory.mktemp('profiles'), ['Conformance'], mode='development', keys=keys, config={'server': {'loops': 2}}).start()
    yield host
    host.stop()


@pytest.fixture
def database(host, request):
    with Database(host, re.sub('[^a-z0-9]+', '-', request.node.name.lower())[:60]) as database:
        database.use_rules(RULES)
        yield database


@pytest.fixture
def profiler(database):
    with Profiler(database) as profiler:
        assert profiler.head.status == 200
        assert profiler.head.header('Content-Type').startswith('text/event-stream')
        yield profiler


def read(name, path, size, query=None, **more):
    return {'name': name, 'path': path, 'bytes': size, 'allowed': True, 'unIndexed': False, 'querySet': [query or {}], **more}


def write(name, path, size, **more):
    return {'name': name, 'path': path, 'bytes': size, 'allowed': True, **more}


def by(order, *keys, **more):
    return {'orderBy': order, 'index': {'path': list(keys) or [order]}, **more}


# -- requests

def test_writes(database, profiler):
    database.put('/a/b.json', {'c': 1})
    assert profiler.operation() == write('rest-write', ['a', 'b'], 8)
    database.ask('PATCH', '/a.json', {'x/y': 2})
    assert profiler.operation() == write('rest-update', ['a'], 10)
    name = database.ask('POST', '/list.json', 'v').json['name']
    assert profiler.operation() == write('rest-write', ['list', name], 3)
    database.ask('DELETE', '/list.json')
    assert profiler.operation() == write('rest-write', ['list'], 0)
    database.put('/a.json', None)
    assert profiler.operation() == write('rest-write', ['a'], 0)
    database.put('/.json', {})
    assert profiler.operation() == write('rest-write', [], 0)
    database.send('POST', '/a.json', '1', {'x-http-method-override': 'PUT'}, OWNER)
    assert profiler.operation() == write('rest-write', ['a'], 1)
    database.put('/a/.priority.json', 2)
    assert profiler.operation() == write('rest-write', ['a'], 1)


def test_a_write_on_a_condition(database, profiler):
    for etag, status in (('null_etag', 200), ('null_etag', 412)):
        assert database.ask('PUT', '/lock.json', 'me', headers={**OWNER, 'if-match': etag}).status == status
        assert profiler.operation() == write('rest-write', ['lock'], 4)


def test_reads(database, profiler):
    database.put('/a.json', {'b': 'text'})
    profiler.operation()
    database.get('/a.json')
    assert profiler.operation() == read('rest-read', ['a'], 12)
    database.get('/a/b.json')
    assert profiler.operation() == read('rest-read', ['a', 'b'], 6)
    database.get('/.json', query={'shallow': 'true'})
    assert profiler.operation() == read('rest-read', [], 10)
    etag = database.ask('GET', '/a.json', headers={**OWNER, 'X-Firebase-ETag': 'true'}).header('ETag')
    assert profiler.operation() == read('rest-read', ['a'], 12)
    assert database.ask('GET', '/a.json', headers={**OWNER, 'if-none-match': etag}).status == 304
    assert profiler.operation() == read('rest-read', ['a'], 0)


def test_a_long_read_is_told_with_all_its_bytes(database, profiler):
    database.put('/long.json', {f'k{number:05}': 'y' * 100 for number in range(20_000)})
    profiler.operation()
    answer = database.ask('GET', '/long.json')
    assert profiler.operation() == read('rest-read', ['long'], len(answer.body))


def test_the_times_of_an_operation(database, profiler):
    before = milliseconds()
    database.put('/a.json', 1)
    _, operation = profiler.next()
    assert before <= operation['timestamp'] <= milliseconds()
    for measured in ('millis', 'pendingTime'):
        assert 0 <= operation[measured] <= milliseconds() - before + 1


def test_what_is_denied(database, profiler):
    assert database.send('GET', '/closed/ada.json').status == 401
    assert profiler.operation() == read('rest-read', ['closed', 'ada'], 0, allowed=False)
    assert database.send('PUT', '/closed/ada.json', '12').status == 401
    assert profiler.operation() == write('rest-write', ['closed', 'ada'], 2, allowed=False)
    assert database.send('PATCH', '/closed/ada.json', '{"a":1}').status == 401
    assert profiler.operation() == write('rest-update', ['closed', 'ada'], 7, allowed=False)
    with database.stream('/closed/ada.json', headers={}) as stream:
        assert stream.head.status == 401
        assert [profiler.operation() for _ in range(3)] == [
            {'name': 'concurrent-connect'}, read('listener-listen', ['closed', 'ada'], 0, allowed=False), {'name': 'concurrent-disconnect'}]
    token = unsigned(id_claims('ada'))
    assert database.send('PUT', '/closed/ada.json', '12', {'auth': token}).status == 200
    assert profiler.operation() == write('rest-write', ['closed', 'ada'], 2)


@pytest.mark.parametrize('query, described', [
    ({'orderBy': '"h"', 'limitToLast': '2'}, by('h', limitToLast=2)),
    ({'orderBy': '"h"', 'startAt': '3', 'endBefore': '5.5'}, by('h', startAt=3, endBefore=5.5)),
    ({'orderBy': '"h"', 'startAfter': 'null', 'endAt': 'true'}, by('h', startAfter=None, endAt=True)),
    ({'orderBy': '"h"', 'equalTo': '3'}, by('h', equalTo=3)),
    ({'orderBy': '"h"', 'equalTo': '3,"a"'}, by('h', equalTo=[3, 'a'])),
    ({'orderBy': '"h"', 'startAt': '3,"a"', 'limitToFirst': '1'}, by('h', startAt=[3, 'a'], limitToFirst=1)),
    ({'orderBy': '"$key"', 'equalTo': '"a"'}, by('$key', '.key', equalTo='a')),
    ({'orderBy': '"$priority"'}, by('$priority', '.priority')),
], ids=str)
def test_queries(query, described, host):
    with Database(host, 'profile-queries') as database:
        database.use_rules(RULES)
        with Profiler(database) as profiler:
            assert database.ask('GET', '/q.json', query=query).status == 200
            operation = profiler.operation()
            assert operation == read('rest-read', ['q'], operation['bytes'], described)


@pytest.mark.parametrize('order, described', [
    ('a/b', by('a/b', 'a', 'b')), ('$value', by('$value', '.value')),
], ids=str)
def test_queries_without_an_index(order, described, database, profiler):
    query = {'orderBy': json.dumps(order)}
    assert database.ask('GET', '/q.json', query=query).status == 400
    assert profiler.operation() == read('rest-read', ['q'], 0, described, unIndexed=True)
    with database.stream('/q.json', query) as stream:
        assert stream.head.status == 400
    assert profiler.operation() == {'name': 'concurrent-connect'}
    assert profiler.operation() == read('listener-listen', ['q'], 0, described, unIndexed=True)


def test_a_listen_without_an_index_is_one_operation(database, profiler):
    database.put('/q.json', {'k': {'a': 1}})
    assert profiler.operation()['name'] == 'rest-write'
    with Live(database.host.port, database.namespace) as live:
        live.own().do('q', p='/q', h='', q={'i': 'a', 'l': 1, 'vf': 'l'}, t=1)
        live.do('n', p='/q', q={'i': 'a', 'l': 1, 'vf': 'l'})
    listen = profiler.operation()
    assert (listen['name'], listen['bytes'], listen['unIndexed']) == ('listener-listen', len('{"k":{"a":1}}'), True)
    assert profiler.operation()['name'] == 'listener-unlisten'


# -- event streams

def test_a_stream(database, profiler):
    with database.stream('/a.json') as stream:
        assert stream.put() == ('/', None)
        assert profiler.operation() == {'name': 'concurrent-connect'}
        assert profiler.operation() == read('listener-listen', ['a'], 4)
        database.put('/a/b.json', 1)
        assert profiler.operation() == write('rest-write', ['a', 'b'], 1)
        frame = 'event: put\ndata: {"path":"/b","data":1}\n\n'
        assert profiler.operation() == {'name': 'listener-broadcast', 'path': ['a', 'b'], 'bytes': len(frame), 'clientsUpdated': 1}
    assert profiler.operation() == {'name': 'listener-unlisten', 'path': ['a']}
    assert profiler.operation() == {'name': 'concurrent-disconnect'}


def test_only_who_hears_of_it_is_counted(database, profiler):
    with database.stream('/a/b.json') as below, database.stream('/c.json') as beside:
        assert below.put() == beside.put() == ('/', None)
        until(lambda: profiler.operation()['name'] == 'listener-listen', 'the first listens')
        until(lambda: profiler.operation()['name'] == 'listener-listen', 'the second listens')
        database.ask('PATCH', '/.json', {'a/x': 1, 'd': 2})
        database.put('/a/x.json', 1)
        assert [profiler.operation()['name'] for _ in range(2)] == ['rest-update', 'rest-write']
        database.put('/a.json', {'b': 2})
        assert profiler.operation()['name'] == 'rest-write'
        assert below.put() == ('/', 2)
        operation = profiler.operation()
        assert (operation['name'], operation['path'], operation['clientsUpdated']) == ('listener-broadcast', ['a'], 1)


def test_many_streams_of_one_place(host):
    # Profiles of one loop share a broadcast.
    with Database(host, 'profile-crowd') as database, Profiler(database) as profiler:
        streams = [database.stream('/a.json') for _ in range(20)]
        assert [stream.put() for stream in streams] == [('/', None)] * 20
        names = sorted(profiler.operation()['name'] for _ in range(40))
        assert names == ['concurrent-connect'] * 20 + ['listener-listen'] * 20
        database.put('/a.json', 1)
        assert profiler.operation()['name'] == 'rest-write'
        told = 0
        while told < 20:
            operation = profiler.operation()
            assert operation['name'] == 'listener-broadcast' and operation['bytes'] % operation['clientsUpdated'] == 0
            told += operation['clientsUpdated']
        assert told == 20
        for stream in streams:
            stream.wire.reset()
        names = sorted(profiler.operation()['name'] for _ in range(40))
        assert names == ['concurrent-disconnect'] * 20 + ['listener-unlisten'] * 20


def test_a_query_stream_is_told_when_its_window_changes(database, profiler):
    database.put('/q.json', {'a': {'h': 1}, 'b': {'h': 2}})
    with database.stream('/q.json', {'orderBy': '"h"', 'limitToLast': '1'}) as stream:
        assert stream.put() == ('/', {'b': {'h': 2}})
        assert [profiler.operation()['name'] for _ in range(2)] == ['rest-write', 'concurrent-connect']
        assert profiler.operation() == read('listener-listen', ['q'], 13, by('h', limitToLast=1))
        database.put('/q/a/h.json', 0)
        assert profiler.operation()['name'] == 'rest-write'
        database.put('/q/b/h.json', 3)
        assert profiler.operation()['name'] == 'rest-write'
        frame = 'event: put\ndata: {"path":"/b","data":{"h":3}}\n\n'
        assert profiler.operation() == {'name': 'listener-broadcast', 'path': ['q'], 'bytes': len(frame), 'clientsUpdated': 1}


# -- functions

def test_what_functions_do(host):
    def step(what, at, **more):
        return host.result('database', {'do': what, 'at': at, **more})

    with Database(host, f'{PROJECT}-default-rtdb') as database, Profiler(database) as profiler:
        step('set', 'f/a', value={'b': 1})
        assert profiler.operation() == write('realtime-write', ['f', 'a'], 7)
        step('get', 'f/a')
        assert profiler.operation() == read('realtime-read', ['f', 'a'], 7)
        step('update', 'f', value={'a/b': 22})
        assert profiler.operation() == write('realtime-update', ['f'], 10)
        step('remove', 'f/a')
        assert profiler.operation() == write('realtime-write', ['f', 'a'], 0)
        step('transaction', 'f/n', value=5)
        assert profiler.operation()['name'] == 'realtime-read'
        assert profiler.operation() == write('realtime-transaction', ['f', 'n'], 1)


# -- receivers of reports

def test_namespaces_are_kept_apart(database, profiler):
    with Database(database.host, 'profile-other') as other, Profiler(other) as others:
        other.put('/there.json', 1)
        database.put('/here.json', 1)
        assert profiler.operation()['path'] == ['here']
        other.put('/there/too.json', 1)
        assert [others.operation()['path'] for _ in range(2)] == [['there'], ['there', 'too']]


def test_everybody_who_profiles_is_told(database, profiler):
    with Profiler(database) as second:
        database.put('/a.json', 1)
        assert profiler.operation() == second.operation()
    until(lambda: database.put('/a.json', 2) == 2, 'the host goes on')
    assert profiler.operation()['bytes'] == 1


def test_settings_and_bodies_that_are_no_json_are_no_operations(database, profiler):
    database.get('/.settings/rules.json')
    database.use_rules(OPEN_RULES)
    assert database.send('PUT', '/a.json', '{', headers=OWNER).status == 400
    database.put('/last.json', 1)
    assert profiler.operation()['path'] == ['last']


# -- who may

def test_it_is_for_administrators(database):
    for headers, query in [({}, {}), ({'Authorization': 'Bearer nonsense'}, {}), ({}, {'auth': unsigned(id_claims('ada'))})]:
        for accept in ({}, {'Accept': 'text/event-stream'}):
            answer = database.send('GET', '/.settings/profile.json', query=query, headers={**headers, **accept})
            assert answer.status == 401 and set(answer.json) == {'error'}


def test_in_production(launch, keys):
    host = launch([], keys=keys)
    admin = {'Authorization': f'Bearer {(host.data / "admin-token").read_text().strip()}'}
    with Database(host, 'demo-hearth-default-rtdb') as database:
        for headers in ({}, OWNER, {'Authorization': f'Bearer {keys.id_token("ada")}'}):
            with Profiler(database, headers) as refused:
                assert refused.head.status == 401
        with Profiler(database, admin) as profiler:
            database.put('/a.json', 1, headers=admin)
            assert profiler.operation() == write('rest-write', ['a'], 1)


@pytest.mark.parametrize('method, accept', [('GET', '*/*'), ('GET', 'application/json'), ('HEAD', 'text/event-stream')])
def test_it_is_an_event_stream(method, accept, database):
    answer = database.send(method, '/.settings/profile.json', headers={**OWNER, 'Accept': accept})
    assert answer.status == 400
    if method == 'GET':
        assert answer.json == {'error': 'The profiler is an event stream: ask for it with GET and "Accept: text/event-stream"'}


def test_it_is_only_read(database):
    for method in ('PUT', 'POST', 'PATCH', 'DELETE'):
        assert database.send(method, '/.settings/profile.json', '{}', headers={**OWNER, 'Accept': 'text/event-stream'}).status == 404


# -- flow

def test_a_slow_reader_is_told_how_much_it_lost(database):
    path = '/' + '/'.join(['k' * 700] * 8)
    count = 4000
    with Profiler(database, receive_buffer=4096) as profiler:
        assert profiler.head.status == 200
        for _ in range(count):
            assert database.get(f'{path}.json') is None
        told = lost = 0
        while told + lost < count:
            operation = profiler.operation()
            if operation['name'] == 'lost':
                lost += operation['count']
            else:
                assert operation['path'] == ['k' * 700] * 8
                told += 1
        assert told + lost == count and told > 40 and lost > 0
        # From here on nothing is lost again.
        database.get('/a.json')
        assert profiler.operation()['path'] == ['a']


@pytest.mark.timeout(90)
def test_it_gives_signs_of_life_as_other_streams_do(database):
    alive = 'event: keep-alive\ndata: null'
    with Profiler(database) as profiler, database.stream('/a.json') as stream:
        # One at once: from then on nothing is missed.
        assert next(profiler.frames) == alive
        assert [profiler.operation()['name'] for _ in range(2)] == ['concurrent-connect', 'listener-listen']
        assert stream.put() == ('/', None)
        for quiet in (profiler, stream):
            quiet.wire.socket.settimeout(45)
            assert next(quiet.frames) == alive


def test_nothing_is_stuck_when_profilers_go_away(database):
    for _ in range(20):
        with Profiler(database) as profiler:
            assert profiler.head.status == 200
            database.put('/a.json', 1)
            profiler.wire.reset()
    with Profiler(database) as profiler:
        database.put('/b.json', 1)
        assert profiler.operation()['path'] == ['b']


def test_it_ends_when_the_host_stops(launch):
    host = launch([], mode='development')
    with Database(host, 'stopping') as database, Profiler(database) as profiler:
        database.put('/a.json', 1)
        host.begin_stop()
        assert profiler.operation()['path'] == ['a']
        assert profiler.has_ended()
