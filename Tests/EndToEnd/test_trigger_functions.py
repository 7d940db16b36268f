"""Functions that run on writes, from their authors' view: their input and their writes."""

import json
import re

import pytest

from databases import Database
from hearth import Host
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'
RULES = {'rules': {
    'watched': {'.write': True, '.read': True},
    'counted': {'.write': 'auth != null'},
    'own': {'$uid': {'.write': 'auth.uid == $uid'}},
}}


@pytest.fixture(scope='module')
def host(tmp_path_factory, keys):
    """The tests share this host; each uses its own path."""
    folder = tmp_path_factory.mktemp('triggers')
    triggers = {'retryMinSeconds': 0.05, 'retryMaxSeconds': 0.1, 'chainDepth': 6, 'eventBytes': 65536, 'strict': False}
    host = Host(folder, ['Conformance', 'Messages'], mode='development', keys=keys, config={'database': {'triggers': triggers}}).start()
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


def noted(database, kind, ref, count=1):
    """The calls of the function of this kind for a path, in order of time, once there are as many as expected."""
    def found():
        notes = [note for note in (database.get(f'/noted/{kind}.json') or {}).values() if note['ref'] == ref]
        return sorted(notes, key=lambda note: note['time']) if len(notes) >= count else None
    notes = until(found, f'{count} events of {ref} for {kind}')
    assert len(notes) == count and all(note['attempts'] == 1 for note in notes)
    return notes


# -- the functions of the guide

def test_make_uppercase(database):
    database.put('/messages/m1.json', {'original': 'hello'})
    until(lambda: database.get('/messages/m1.json') == {'original': 'hello', 'uppercase': 'HELLO'}, 'the capitals')


def test_add_message(host, database, keys):
    token = keys.id_token('u1', name='Ada', email='ada@example.com')
    assert host.result('addMessage', {'text': 'what the damn thing'}, token=token) == {'text': 'what the **** thing'}
    messages = [message for message in database.get('/messages.json').values() if 'author' in message]
    assert messages == [{'text': 'what the **** thing', 'author': {'uid': 'u1', 'name': 'Ada', 'email': 'ada@example.com'}}]


# -- their input

def test_each_kind_is_told_of_its_own(database):
    for value in (1, {'a': 2}, None):
        database.put('/watched/kinds.json', value)
    place = '/watched/kinds'
    assert [(note.get('before'), note.get('after')) for note in noted(database, 'written', place, 3)] == [
        (None, 1), (1, {'a': 2}), ({'a': 2}, None)]
    [created], [updated], [deleted] = (noted(database, kind, place) for kind in ('created', 'updated', 'deleted'))
    assert created['after'] == 1 and 'before' not in created
    assert (updated['before'], updated['after']) == (1, {'a': 2})
    assert deleted['before'] == {'a': 2} and 'after' not in deleted
    assert created['params'] == {'id': 'kinds'} and created['instance'] == DEFAULT
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', created['time'])


def test_a_write_above_reaches_each_place(database):
    database.ask('PATCH', '/watched.json', {'above1': 'x', 'above2/deep/er': 'y'})
    assert noted(database, 'created', '/watched/above1')[0]['after'] == 'x'
    assert noted(database, 'created', '/watched/above2')[0]['after'] == {'deep': {'er': 'y'}}


def test_they_are_told_who_wrote(host, database, keys):
    database.put('/watched/byOwner.json', 1)
    for name, headers in (('byUser', {'Authorization': f'Bearer {keys.id_token("u7")}'}), ('byNobody', {})):
        database.put(f'/watched/{name}.json', 1, headers=headers)
    host.result('database', {'do': 'set', 'at': 'watched/byFunction', 'value': 1})
    host.result('database', {'do': 'set', 'at': 'watched/asUser', 'value': 1, 'as': 'u8'})
    host.result('database', {'do': 'set', 'at': 'watched/asNobody', 'value': 1, 'as': 'nobody'})
    seen = {name: noted(database, 'created', f'/watched/{name}')[0]
            for name in ('byOwner', 'byUser', 'byNobody', 'byFunction', 'asUser', 'asNobody')}
    assert {name: (note['authType'], note.get('authID')) for name, note in seen.items()} == {
        'byOwner': ('admin', None), 'byUser': ('app_user', 'u7'), 'byNobody': ('unauthenticated', None),
        'byFunction': ('admin', None), 'asUser': ('app_user', 'u8'), 'asNobody': ('unauthenticated', None)}


def test_several_keys_in_one_capture(database):
    database.put('/deep/a/b/c.json', 1)
    [note] = noted(database, 'deep', '/deep/a/b/c')
    assert note['params'] == {'rest': 'a/b/c'} and note['after'] == 1


def test_instances(host, database):
    for name in ('archive-1', 'other'):
        with Database(host, name) as other:
            other.put('/watched/there.json', name)
    with Database(host, 'archive-1') as archive, Database(host, 'other') as other:
        [note] = noted(archive, 'archived', '/watched/there')
        assert note['instance'] == 'archive-1' and note['after'] == 'archive-1'
        noted(other, 'created', '/watched/there')
        assert 'archived' not in other.get('/noted.json')


def test_typed_values(host, database):
    database.put('/typed/t1/numbers.json', [1, 2, 4])
    until(lambda: database.get('/typed/t1/sum.json') == 7, 'the sum')
    database.ask('DELETE', '/typed/t1/numbers.json')
    until(lambda: database.get('/typed/t1/sum.json') == 0, 'the sum of nothing')
    database.put('/mistyped/m1.json', {'no': 'text'})
    assert 'event.after.text is missing.' in host.until_logged('event.after.text')


def test_values_that_are_too_large(host, database):
    database.put('/watched/large.json', 'x' * 100_000)
    [note] = noted(database, 'created', '/watched/large')
    assert 'after' not in note
    assert database.get('/watched/large.json') == 'x' * 100_000


# -- failures and loops

def test_a_failed_event_comes_again(database):
    database.put('/flaky/f1.json', 1)
    until(lambda: (database.get('/flakes/f1.json') or {}).get('attempt') == 3, 'the third attempt')


def test_a_function_that_runs_itself_is_stopped(host, database):
    database.put('/loop/l1.json', 1)
    line = host.until_logged('countForEver.*(chain|often)|(chain|often).*countForEver')
    assert '/loop/l1' in json.dumps(line)
    reached = database.get('/loop/l1.json')
    assert 5 <= reached <= 9
    database.put('/watched/afterLoop.json', 1)
    noted(database, 'created', '/watched/afterLoop')
    assert database.get('/loop/l1.json') == reached


def test_a_function_acts_as_the_one_who_wrote(database, keys):
    for number in range(3):
        database.put(f'/counted/c{number}.json', 1, headers={'Authorization': f'Bearer {keys.id_token("u9")}'})
    until(lambda: database.get('/own/u9/counted.json') == 3, 'three counts')
