"""Functions that observe the database: limits, costs, and hosts that stop or are replaced."""

import json
import os
import signal

import pytest

from databases import Database
from hearth import Host, callable_headers
from observing import Observing, exists, listeners, mark, metric, until_listeners
from processes import cpu_ticks
from tokens import PROJECT
from upgrading import Upgradable

DEFAULT = f'{PROJECT}-default-rtdb'


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    """The tests share this host; each uses its own path."""
    host = Host(tmp_path_factory.mktemp('bounds'), ['Conformance'], mode='development').start()
    try:
        exists(host, DEFAULT)
        yield host
        host.stop()
    finally:
        host.abandon()


@pytest.fixture
def database(host):
    with Database(host, DEFAULT) as database:
        yield database


# -- bounds

def test_a_value_that_becomes_too_large_ends_the_loop(launch):
    host = launch(mode='development', config={'database': {'limits': {'readBytes': 100_000}}})
    with Database(host, DEFAULT) as database, Observing(host, 'a') as seen:
        assert seen.value() is None
        database.put('/a.json', ['x' * 40_000, 'x' * 40_000])
        assert len(seen.value()) == 2
        database.put('/a/2.json', 'x' * 40_000)
        end = seen.end()
        assert (end['refused'], end['path']) == ('too-large', '/a')
    until_listeners(host, 0)


def test_the_number_of_waiting_observers_is_limited(launch):
    host = launch(mode='development')
    exists(host, DEFAULT)
    with Database(host, DEFAULT) as database, Observing(host, 'a', name='observeOften', loops=1010) as seen:
        assert seen.next() == 'too-many-observers'
        until_listeners(host, 1000)
        # Other calls of the plugin are not affected.
        assert host.result('database', {'do': 'set', 'at': 'b', 'value': 1}) is None
        assert host.result('database', {'do': 'get', 'at': 'b'})['value'] == 1
        error = host.callable('database', {'do': 'raw', 'method': 'observe', 'value': {'path': 'b', 'mark': mark(host, 'b')}}).json['error']
        assert error['status'] == 'RESOURCE_EXHAUSTED' and error['details']['reason'] == 'too-many-observers'
        assert error['message'] == '1000 calls of observe of this plugin are waiting, which is the limit; end others first'
        database.put('/a.json', 1)
        assert seen.next() == 'seen'
        assert seen.result() == {'too-many-observers': 10, 'seen': 1000}
        until_listeners(host, 0)


def test_payloads_of_waiting_observers_are_limited(launch):
    """A plugin whose payloads fill its share of the memory could call nothing else."""
    host = launch(mode='development', config={'server': {'memoryBytes': 16 << 20}})
    known, claims = mark(host, 'a'), {'uid': 'u', 'token': {'x': 'x' * 60_000}}
    with Database(host, DEFAULT) as database:
        database.use_rules({'rules': {'.read': True}})
    wires = [host.wire() for _ in range(20)]
    body = json.dumps({'data': {'do': 'raw', 'method': 'observe', 'value': {'path': 'a', 'mark': known, 'auth': claims}}})
    for wire in wires:
        wire.send_request('POST', host.path('database'), callable_headers(), body)
    # A quarter of the plugin's eighth.
    until_listeners(host, (2 << 20) // 4 // (60_000 + 130))
    assert host.result('database', {'do': 'set', 'at': 'a', 'value': 1}) is None
    answers = [wire.response() for wire in wires]
    refused = [answer.json['error']['details']['reason'] for answer in answers if answer.status != 200]
    assert set(refused) == {'too-many-observers'} and len(refused) == 12
    assert {json.dumps(answer.json['result']['changed']) for answer in answers if answer.status == 200} == {'true'}


def test_waiting_costs_no_processor_time(host, database):
    with Observing(host, 'idle') as seen:
        assert seen.value() is None
        until_listeners(host, 1)
        worker = host.loaded_workers()[0].pid
        before = cpu_ticks(worker), cpu_ticks(host.pid)
        calls = metric(host, 'hearth_database_reads_total')
        with Observing(host, 'other', milliseconds=1000) as other:
            assert other.value() is None
            assert other.end() == 'ended'
        spent = cpu_ticks(worker) - before[0], cpu_ticks(host.pid) - before[1]
        # Two reads of the other one, and perhaps the last of the first. A loop that asks again and again makes thousands.
        assert metric(host, 'hearth_database_reads_total') - calls <= 3
        assert spent[0] <= 20 and spent[1] <= 20, spent


# -- the host

def test_a_host_that_stops_ends_the_loops(launch):
    """Nothing waits for the time that functions have to finish."""
    host = launch(mode='development', config={'workers': {'drainSeconds': 600}})
    exists(host, DEFAULT)
    calls = [Observing(host, 'a') for _ in range(3)]
    for call in calls:
        assert call.value() is None
    until_listeners(host, 3)
    host.begin_stop()
    for call in calls:
        end = call.end()
        assert end['refused'] == 'unavailable' and end['message'].startswith('the host stops')
    host.stop()


@pytest.mark.timeout(180)
def test_loops_go_on_while_the_host_is_replaced(tmp_path):
    """The new host answers their next calls, until the functions or their workers in the old one end."""
    host = Upgradable(tmp_path / 'host-0')
    host.start()
    owner = {'Authorization': f'Bearer {host.token}'}

    def put(value):
        assert host.request('PUT', '/a.json', owner, json.dumps(value)).status == 200
    try:
        put(0)
        calls = [Observing(host, 'a', count=count) for count in (3, 100, 100)]
        assert [call.value() for call in calls] == [0, 0, 0]
        until_listeners(host, 3, owner)
        for value in (1, 2):
            if value == 1:
                assert host.upgrade().status == 200
                until_listeners(host, 3, owner)
            put(value)
            assert [call.value() for call in calls] == [value] * 3
        assert calls[0].end() == 'left'
        until_listeners(host, 2, owner)
        calls[1].wire.close()
        until_listeners(host, 1, owner)
        old = [worker.pid for worker in host.loaded_workers() if worker.parent == host.pid]
        for worker in old:
            os.kill(worker, signal.SIGKILL)
        until_listeners(host, 0, owner)
    finally:
        host.stop()


def test_the_service_by_itself(host, database):
    """As plugins in other languages call it."""
    def ask(method, **payload):
        return host.result('database', {'do': 'raw', 'method': method, 'value': payload})

    def refused(method, **payload):
        error = host.callable('database', {'do': 'raw', 'method': method, 'value': payload}).json['error']
        return error['status'], error['details']['reason']
    database.put('/raw/a.json', [1, 2])
    first = ask('observe', path='raw/a')
    assert first == {'changed': True, 'value': [1, 2], 'mark': first['mark']}
    assert ask('observe', path='raw/a', form='export')['value'] == {'0': 1, '1': 2}
    assert ask('observe', path='raw/a', mark=first['mark'], timeoutMilliseconds=1) == {'changed': False}
    assert ask('observe', path='raw/a', mark='of another value')['mark'] == first['mark']
    with host.wire() as wire:
        body = {'data': {'do': 'raw', 'method': 'observe', 'value': {'path': 'raw/a', 'mark': first['mark'], 'id': 'mine'}}}
        wire.send_request('POST', host.path('database'), callable_headers(), json.dumps(body))
        until_listeners(host, 1)
        assert ask('unobserve', id='other') is None
        assert listeners(host) == 1
        assert ask('unobserve', id='mine') is None
        assert wire.response().json == {'result': {'changed': False}}
    until_listeners(host, 0)
    for wrong in ({'timeoutMilliseconds': -1}, {'timeoutMilliseconds': 1.5}, {'mark': 5}, {'mark': ''}, {'id': 'x' * 65}, {'id': []}):
        assert refused('observe', path='raw/a', **wrong) == ('INVALID_ARGUMENT', 'invalid-argument'), wrong
    assert refused('unobserve') == ('INVALID_ARGUMENT', 'invalid-argument')
    assert refused('observe', path='raw/a', auth={'uid': 'u', 'token': {'x': 'x' * 70_000}}) == ('RESOURCE_EXHAUSTED', 'too-large')
    assert refused('observe', path='lists/x', query={'orderBy': 'z'}) == ('FAILED_PRECONDITION', 'index-not-defined')
