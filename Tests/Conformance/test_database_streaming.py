"""Event streams of the database: specification section 2.8."""

import json

import pytest

from databases import OPEN_RULES, OWNER, Database, EventStream
from fixtures import shared_host
from processes import until
from tokens import id_claims, unsigned


host = shared_host()


@pytest.fixture
def database(host, request):
    with Database(host, request.node.name.replace('_', '-').replace('[', '-').replace(']', '').lower()[:60]) as database:
        database.use_rules(OPEN_RULES)
        yield database


def test_the_value_comes_first(database):
    database.put('/a.json', {'b': 1})
    with database.stream('/a.json') as stream:
        assert stream.head.status == 200
        assert stream.head.header('Content-Type').startswith('text/event-stream')
        assert stream.head.header('Cache-Control') == 'no-cache'
        assert stream.head.header('Access-Control-Allow-Origin') == '*'
        assert stream.put() == ('/', {'b': 1})


def test_nothing_is_null(database):
    with database.stream('/none.json') as stream:
        assert stream.put() == ('/', None)


def test_every_kind_of_write_is_told(database):
    with database.stream('/a.json') as stream:
        assert stream.put() == ('/', None)
        database.put('/a.json', {'b': 1, 'c': {'d': 2}})
        assert stream.put() == ('/', {'b': 1, 'c': {'d': 2}})
        database.put('/a/c/d.json', 3)
        assert stream.put() == ('/c/d', 3)
        database.ask('PATCH', '/a.json', {'b': None, 'c/e': 4})
        assert stream.next() == ('patch', {'path': '/', 'data': {'b': None, 'c/e': 4}})
        database.ask('PATCH', '/.json', {'a/x': 1, 'other': 2})
        assert stream.next() == ('patch', {'path': '/', 'data': {'x': 1}})
        name = database.ask('POST', '/a/list.json', 'v').json['name']
        assert stream.put() == (f'/list/{name}', 'v')
        database.put('/n.json', 5)
        database.put('/.json', {'a': {'z': 1}})
        assert stream.put() == ('/', {'z': 1})
        database.ask('DELETE', '/a.json')
        assert stream.put() == ('/', None)


def test_server_values_are_told_resolved(database):
    database.put('/n.json', 1)
    with database.stream('/n.json') as stream:
        assert stream.put() == ('/', 1)
        database.put('/n.json', {'.sv': {'increment': 4}})
        assert stream.put() == ('/', 5)


def test_writes_arrive_in_order_and_complete(database):
    with database.stream('/log.json') as stream:
        stream.put()
        for number in range(200):
            database.put(f'/log/{number}.json', number)
        assert [stream.put() for _ in range(200)] == [(f'/{number}', number) for number in range(200)]


def test_export_shows_priorities(database):
    with database.stream('/p.json', {'format': 'export'}) as stream:
        stream.put()
        database.put('/p.json', {'.value': 'v', '.priority': 2})
        assert stream.put() == ('/', {'.value': 'v', '.priority': 2})


def test_a_query_tells_of_its_window(database):
    database.use_rules({'rules': {'.read': True, '.write': True, 'q': {'.indexOn': 'h'}}})
    database.put('/q.json', {'a': {'h': 5}, 'b': {'h': 3}, 'c': {'h': 1}})
    with database.stream('/q.json', {'orderBy': '"h"', 'limitToLast': '2'}) as stream:
        assert stream.put() == ('/', {'a': {'h': 5}, 'b': {'h': 3}})
        database.put('/q/d.json', {'h': 4})
        assert stream.put() == ('/b', None)
        assert stream.put() == ('/d', {'h': 4})
        database.put('/q/c/h.json', 0)
        database.ask('DELETE', '/q/a.json')
        assert stream.put() == ('/a', None)
        assert stream.put() == ('/b', {'h': 3})
        database.ask('DELETE', '/q.json')
        assert stream.put() == ('/', None)


def test_a_long_window_is_told_whole(database):
    value = {f'k{number:05}': 'y' * 100 for number in range(10_000)}
    database.put('/long.json', value)
    with database.stream('/long.json', {'orderBy': '"$key"', 'limitToFirst': '9000'}) as stream:
        assert stream.put(30) == ('/', dict(list(value.items())[:9000]))
        database.ask('DELETE', '/long/k00000.json')
        assert [stream.put(30), stream.put(30)] == [('/k00000', None), ('/k09000', 'y' * 100)]


def test_a_query_without_an_index_is_refused(database):
    with database.stream('/q.json', {'orderBy': '"h"'}) as stream:
        assert stream.head.status == 400


@pytest.mark.parametrize('query', [{'shallow': 'true'}, {'callback': 'f'}, {'timeout': '5s'}, {'orderBy': 'h'}], ids=str)
def test_what_cannot_be_streamed(query, host):
    with Database(host, 'streams-refused') as database:
        database.use_rules(OPEN_RULES)
        with database.stream('/a.json', query) as stream:
            assert stream.head.status == 400


# -- who may listen

def test_a_stranger_is_refused_at_once(database):
    database.use_rules({'rules': {}})
    with database.stream('/a.json', headers={}) as stream:
        assert stream.head.status == 401


def test_rules_that_change_end_a_stream(database):
    database.put('/a.json', 1)
    with database.stream('/a.json', headers={}) as stream, database.stream('/a.json') as owners:
        assert stream.put() == owners.put() == ('/', 1)
        database.use_rules({'rules': {'.read': 'auth != null', '.write': True}})
        database.put('/a.json', 2)
        assert stream.next() == ('cancel', 'Permission denied')
        assert stream.has_ended()
        assert owners.put() == ('/', 2)


def test_data_that_rules_look_at_ends_a_stream(database):
    database.use_rules({'rules': {'a': {'.read': "root.child('open').val() === true"}}})
    database.put('/open.json', True)
    with database.stream('/a.json', headers={}) as stream:
        assert stream.put() == ('/', None)
        database.put('/a.json', 'seen')
        assert stream.put() == ('/', 'seen')
        database.put('/open.json', False)
        # Rules are asked again once a second at most.
        name = 'put'
        while name == 'put':
            database.put('/a.json', 'news')
            name, data = stream.next()
        assert (name, data) == ('cancel', 'Permission denied')
        assert stream.has_ended()


def test_rules_that_change_and_still_allow_go_unnoticed(database):
    with database.stream('/a.json', headers={}) as stream:
        stream.put()
        database.use_rules({'rules': {'a': {'.read': True}, '.write': True}})
        database.put('/a.json', 2)
        assert stream.put() == ('/', 2)


def test_a_token_that_expires_ends_its_stream(database):
    token = unsigned(id_claims('u1', lifetime=3))
    with database.stream('/a.json', {'auth': token}, headers={}) as stream:
        assert stream.put() == ('/', None)
        name, text = stream.next(20)
        assert (name, text) == ('auth_revoked', 'Auth token is expired')
        assert stream.has_ended()


def test_a_token_that_never_was_good_in_time_stays(database):
    with database.stream('/a.json', {'auth': unsigned(id_claims('u1', iat=0, exp=3600))}, headers={}) as stream:
        assert stream.put() == ('/', None)
        database.put('/a.json', 1)
        assert stream.put() == ('/', 1)


# -- flow

def test_a_slow_reader_gets_the_newest_value(database):
    stream = EventStream(database, '/big.json', receive_buffer=4096)
    with stream:
        assert stream.put() == ('/', None)
        for number in range(60):
            database.put('/big.json', {'number': number, 'filling': 'x' * 300_000})
        numbers = []
        while not numbers or numbers[-1] != 59:
            path, data = stream.put(20)
            assert path == '/'
            numbers.append(data['number'])
        assert numbers == sorted(numbers)
        assert len(numbers) < 60
        database.put('/big.json', 'small')
        assert stream.put() == ('/', 'small')


def test_a_long_value_is_streamed_whole(database):
    value = {f'k{number:05}': 'y' * 100 for number in range(20_000)}
    database.put('/long.json', value)
    with database.stream('/long.json') as stream:
        assert stream.put(30) == ('/', value)
        database.put('/long/k00001.json', 1)
        assert stream.put() == ('/k00001', 1)


def test_many_streams_hear_the_same(database):
    streams = [database.stream('/a.json') for _ in range(50)]
    for stream in streams:
        assert stream.put() == ('/', None)
    database.put('/a/b.json', 1)
    for stream in streams:
        assert stream.put() == ('/b', 1)
    for stream in streams[::2]:
        stream.wire.reset()
    database.put('/a/b.json', 2)
    for stream in streams[1::2]:
        assert stream.put() == ('/b', 2)
        stream.wire.close()
    until(lambda: database.put('/a/b.json', 3) == 3, 'the host goes on')


def test_streams_end_when_the_host_stops(launch):
    host = launch([], mode='development')
    with Database(host, 'stopping') as database:
        database.use_rules(OPEN_RULES)
        with database.stream('/a.json') as stream:
            stream.put()
            host.begin_stop()
            assert stream.has_ended()


def test_head_and_other_accepts_are_plain_answers(database):
    database.put('/a.json', 1)
    answer = database.send('GET', '/a.json', headers={**OWNER, 'Accept': 'application/json'})
    assert (answer.status, json.loads(answer.body)) == (200, 1)
    answer = database.send('HEAD', '/a.json', headers={**OWNER, 'Accept': 'text/event-stream'})
    assert answer.status == 200 and answer.header('Content-Length') == '1'
