"""Functions that observe the database: values, ends and permissions, and what is left of listeners."""

import os
import signal

import pytest

from databases import Database
from hearth import Host, library
from observing import Observing, exists, metric, until_listeners
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'
RULES = {'rules': {
    '.read': False,
    'lists': {'$list': {'.indexOn': ['n']}},
    'mine': {'$uid': {'.read': 'auth.uid == $uid'}},
    'shared': {'$room': {'.read': "root.child('members').child($room).child(auth.uid).val() == true"}},
}}


@pytest.fixture(scope='module')
def host(tmp_path_factory, keys):
    """The tests share this host; each uses its own path."""
    host = Host(tmp_path_factory.mktemp('observe'), ['Conformance'], mode='development', keys=keys).start()
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


# -- values

def test_the_current_value_comes_first_and_then_each_newer_one(host, database):
    database.put('/rooms/1.json', {'open': True})
    with Observing(host, 'rooms/1', count=4) as seen:
        assert seen.value() == {'open': True}
        for value in ({'open': False}, None, 'text'):
            database.put('/rooms/1.json', value)
            assert seen.value() == value
        assert seen.end() == 'left'
    until_listeners(host, 0)


def test_changes_below_and_above_the_place_count_and_others_do_not(host, database):
    with Observing(host, 'tree/a', count=4) as seen:
        assert seen.value() is None
        database.put('/tree/a/b/c.json', 1)
        assert seen.value() == {'b': {'c': 1}}
        database.put('/tree/other.json', 1)
        database.put('/tree.json', {'a': {'x': 2}})
        assert seen.value() == {'x': 2}
        # The same value again is no change.
        database.put('/tree/a.json', {'x': 2})
        database.put('/tree/a/x.json', 3)
        assert seen.value() == {'x': 3}
        assert seen.end() == 'left'


def test_a_slow_function_gets_the_newest_value_only(host, database):
    with Observing(host, 'slow/value', gate='slow/gate', count=3) as seen:
        assert seen.value() is None
        for number in range(50):
            database.put('/slow/value.json', number)
        database.put('/slow/gate.json', 1)
        assert seen.value() == 49
        for number in (50, 51, 49):
            database.put('/slow/value.json', number)
        database.put('/slow/gate.json', 2)
        # The value is the one that the function has.
        database.put('/slow/value.json', 'last')
        assert seen.value() == 'last'
        assert seen.end() == 'left'


def test_nothing_is_kept_for_a_function_that_handles_a_value(host, database):
    with Observing(host, 'busy/value', gate='busy/gate', count=2) as seen:
        assert seen.value() is None
        until_listeners(host, 0)
        database.put('/busy/gate.json', 1)
        until_listeners(host, 1)
        database.put('/busy/value.json', 1)
        assert seen.value() == 1
        assert seen.end() == 'left'


def test_queries(host, database):
    database.put('/lists/one.json', {'a': {'n': 3}, 'b': {'n': 1}, 'c': {'n': 2}})
    with Observing(host, 'lists/one', byChild='n', first=2, count=3) as seen:
        first = seen.next()
        assert first['keys'] == ['b', 'c']
        # Outside of the selection.
        database.put('/lists/one/d.json', {'n': 9})
        database.put('/lists/one/e.json', {'n': 0})
        assert seen.next()['keys'] == ['e', 'b']
        database.put('/lists/one.json', None)
        assert seen.next() == {'value': None, 'exists': False, 'priority': None, 'keys': []}
        assert seen.end() == 'left'


def test_priorities_are_changes(host, database):
    database.put('/ranked.json', {'.value': 'x', '.priority': 1})
    with Observing(host, 'ranked', count=2) as seen:
        assert seen.next()['priority'] == 1
        database.put('/ranked/.priority.json', 2)
        assert seen.next()['priority'] == 2
        assert seen.end() == 'left'


def test_large_values(host, database):
    database.put('/large.json', {'a': 'x' * 300_000, 'b': 'y' * 300_000})
    with Observing(host, 'large', count=2) as seen:
        assert len(seen.value()['b']) == 300_000
        until_listeners(host, 1)
        database.put('/large/b.json', 'z')
        assert seen.value()['b'] == 'z'
        assert seen.end() == 'left'


def test_a_database_that_does_not_exist_yet(launch):
    """The default database counts as empty, and its first write is the first change."""
    host = launch(mode='development')
    with Database(host, DEFAULT) as database, Observing(host, 'a', count=2) as seen:
        assert seen.value() is None
        database.put('/a.json', 1)
        assert seen.value() == 1
        assert seen.end() == 'left'
    with Observing(host, 'a', instance='never-written') as seen:
        assert seen.end()['refused'] == 'unknown-instance'


@pytest.mark.parametrize('config', [
    {'plugins': {'Conformance': {'library': library('Conformance'), 'isolation': 'none'}}},
    {'server': {'loops': 2}},
    {'database': {'storage': 'memory'}},
], ids=['in the host', 'two loops', 'in memory'])
def test_wherever_the_function_runs(config, launch):
    host = launch(mode='development', config=config)
    with Database(host, DEFAULT) as database:
        calls = [Observing(host, 'a', count=3, linger='over') for _ in range(4)]
        for value in (None, 1, 2):
            if value:
                database.put('/a.json', value)
            assert [call.value() for call in calls] == [value] * 4
        assert [call.next()['end'] for call in calls] == ['left'] * 4
        until_listeners(host, 0)
        database.put('/over.json', True)
        assert [call.result() for call in calls] == ['left'] * 4
        # An invocation that is stopped gives its listener back.
        with Observing(host, 'b') as seen:
            assert seen.value() is None
            until_listeners(host, 1)
        until_listeners(host, 0)


# -- ends

def test_the_loop_ends_at_its_deadline(host):
    with Observing(host, 'timed/a', milliseconds=200) as seen:
        assert seen.value() is None
        assert seen.end() == 'ended'
    with Observing(host, 'timed/a', milliseconds=0) as seen:
        assert seen.value() is None
        assert seen.end() == 'ended'
    until_listeners(host, 0)


def test_without_a_time_it_ends_with_the_invocation(launch):
    host = launch(mode='development', config={'functions': {'observe': {'timeoutSeconds': 1}}})
    with Observing(host, 'a') as seen:
        assert seen.value() is None
        assert next(seen.frames)['error']['status'] == 'DEADLINE_EXCEEDED'
    until_listeners(host, 0)
    # Its task was cancelled, and has ended, so that the worker has no invocation left.
    until(lambda: metric(host, 'hearth_function_invocations_in_flight') == 0, 'no invocation')


def test_leaving_the_loop_releases_the_listener(host, database):
    with Observing(host, 'left/value', count=2, linger='left/over') as seen:
        assert seen.value() is None
        until_listeners(host, 1)
        database.put('/left/value.json', 1)
        assert seen.value() == 1
        assert seen.next() == {'end': 'left'}
        until_listeners(host, 0)
        database.put('/left/over.json', True)
        assert seen.result() == 'left'


def test_cancelling_the_task_releases_the_listener(host, database):
    with Observing(host, 'cancelled/value', stop='cancelled/stop', linger='cancelled/over') as seen:
        assert seen.value() is None
        until_listeners(host, 1)
        database.put('/cancelled/stop.json', True)
        assert seen.next() == {'end': 'ended'}
        until_listeners(host, 0)
        database.put('/cancelled/over.json', True)
        assert seen.result() == 'ended'


def test_a_client_that_leaves_releases_the_listener(host):
    with Observing(host, 'gone') as seen:
        assert seen.value() is None
        until_listeners(host, 1)
    until_listeners(host, 0)


def test_a_killed_worker_releases_its_listeners(launch):
    host = launch(mode='development')
    exists(host, DEFAULT)
    calls = [Observing(host, 'a') for _ in range(3)]
    for call in calls:
        assert call.value() is None
    until_listeners(host, 3)
    for worker in host.loaded_workers():
        os.kill(worker.pid, signal.SIGKILL)
    until_listeners(host, 0)
    for call in calls:
        assert next(call.frames)['error']['status'] in ('INTERNAL', 'UNAVAILABLE')
    with Database(host, DEFAULT) as database, Observing(host, 'a', count=2) as seen:
        assert seen.value() is None
        database.put('/a.json', 1)
        assert seen.value() == 1


# -- permission

def refusal(seen):
    end = seen.end()
    return end['refused'], end['path']


def test_a_user_observes_what_the_rules_allow(host, database, keys):
    with Observing(host, 'mine/u1', **{'as': 'caller'}, token=keys.id_token('u1'), count=2) as seen:
        assert seen.value() is None
        database.put('/mine/u1.json', 1)
        assert seen.value() == 1
        assert seen.end() == 'left'
    for token in (keys.id_token('u2'), None):
        with Observing(host, 'mine/u1', **{'as': 'caller'}, token=token) as seen:
            assert refusal(seen) == ('permission-denied', '/mine/u1')


def test_the_loop_ends_when_data_ends_the_permission(host, database):
    database.put('/members/r1/u1.json', True)
    with Observing(host, 'shared/r1', **{'as': 'u1'}) as seen:
        assert seen.value() is None
        until_listeners(host, 1)
        # A change of the place is seen, and does not end the watch.
        database.put('/shared/r1.json', 'hello')
        assert seen.value() == 'hello'
        until_listeners(host, 1)
        database.put('/members/r1/u2.json', True)
        database.put('/members/r1/u1.json', None)
        assert refusal(seen) == ('permission-denied', '/shared/r1')
    until_listeners(host, 0)


def test_the_loop_ends_when_other_rules_end_the_permission(launch):
    host = launch(mode='development')
    with Database(host, DEFAULT) as database:
        database.use_rules({'rules': {'a': {'.read': True}}})
        with Observing(host, 'a', **{'as': 'u1'}) as seen, Observing(host, 'a') as administrator:
            assert seen.value() is None and administrator.value() is None
            until_listeners(host, 2)
            database.use_rules({'rules': {'a': {'.read': 'auth.uid == "u1"'}}})
            database.put('/a.json', 1)
            assert seen.value() == 1 and administrator.value() == 1
            until_listeners(host, 2)
            database.use_rules({'rules': {'.read': False}})
            assert refusal(seen) == ('permission-denied', '/a')
            database.put('/a.json', 2)
            assert administrator.value() == 2
    until_listeners(host, 0)
