"""The effect of deployments on callers: only the new version."""

import collections
import contextlib
import itertools
import json
import math
import re
import threading

import pytest

from deploys import Deploys, on_write, plugin
from processes import until
from version_load import VersionLoad


@pytest.fixture(params=[1, 2], ids=['one loop', 'two loops'])
def host(request, launch):
    return launch({}, config={'server': {'loops': request.param}})


@pytest.fixture
def deploys(host):
    return Deploys(host)


def in_flight(host, name):
    page = host.request('GET', '/_/metrics').text
    return sum(int(count) for count in re.findall(rf'^hearth_function_invocations_in_flight{{[^}}]*"{name}"[^}}]*}} (\d+)', page, re.MULTILINE))


def test_each_switch_is_whole_and_loses_no_call(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one', 'two')})
    with VersionLoad(host, 'one', 'two') as load:
        for version in range(2, 8):
            with load.change() as times:
                deploys.deploy({'Things': plugin(version, 'one', 'two')})
            for name in ('one', 'two'):
                assert load.versions(name, until=times[0]) <= set(range(1, version))
                assert load.versions(name, since=times[1]) == {version}


def test_one_of_two_functions_is_deployed(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one', 'two')})
    with VersionLoad(host, 'one', 'two') as load:
        for version in range(2, 6):
            with load.change() as times:
                deploys.deploy({'Things': plugin(version, 'one', 'two')}, only=['functions:one'])
            assert load.versions('one', since=times[1]) == {version}
    assert load.versions('two') == {1}


def test_rollbacks(host, deploys):
    for version in (1, 2, 3):
        deploys.deploy({'Things': plugin(version, 'one', 'two')})
    with VersionLoad(host, 'one', 'two') as load:
        for version in (1, 3, 2, 1, 3):
            with load.change() as times:
                deploys.roll_back('one', to=version)
            assert load.versions('one', since=times[1]) == {version}
    assert load.versions('two') == {3}


def test_many_rollbacks_in_a_row(host, deploys):
    """A pool that has just begun to drain is wanted again."""
    for version in (1, 2):
        deploys.deploy({'Things': plugin(version, 'one')})
    with VersionLoad(host, 'one', clients=2) as load:
        for number in range(40):
            assert deploys.roll_back('one')['to'] == number % 2 + 1
            assert host.result('one')['version'] == number % 2 + 1
        load.wait_for(20)
    for number in range(20):
        assert deploys.roll_back('one')['to'] == number % 2 + 1


def test_a_function_is_deleted_beside_another(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one', 'two')})
    with VersionLoad(host, 'two') as load, load.change():
        deploys.delete('one')
        assert host.callable('one').status == 404
    assert load.versions('two') == {1}


def test_shares_of_a_split(host, deploys):
    """Within five standard deviations: one run in two million is elsewhere."""
    deploys.deploy({'Things': plugin(1, 'one')})
    deploys.deploy({'Things': plugin(2, 'one')})
    with VersionLoad(host, 'one') as load:
        for share in (10, 50, 99):
            with load.change() as times:
                deploys.split('one', v1=100 - share, v2=share)
            load.wait_for(1500)
            counted = collections.Counter(call.version for call in load.calls if call.began >= times[1])
            count = sum(counted.values())
            expected, deviation = count * share / 100, math.sqrt(count * share / 100 * (1 - share / 100))
            assert abs(counted[2] - expected) < 5 * deviation, (share, counted)
        with load.change() as times:
            deploys.split('one', v2=100)
        assert load.versions('one', since=times[1]) == {2}


def test_what_began_before_the_switch_ends_where_it_began(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one')})
    answers = []
    callers = [threading.Thread(target=lambda: answers.append(host.result('one', 'slow'))) for _ in range(5)]
    for caller in callers:
        caller.start()
    until(lambda: in_flight(host, 'one') == 5, 'all calls have begun')
    deploys.deploy({'Things': plugin(2, 'one')})
    assert host.result('one')['version'] == 2
    for caller in callers:
        caller.join(20)
    assert [answer['version'] for answer in answers] == [1] * 5
    until(lambda: len(host.loaded_workers()) == 1, 'the old worker has ended')


def test_a_request_whose_head_came_before_the_switch(host, deploys):
    """Its function was found with its head; its body follows when there is a new version, and when there is none at all."""
    deploys.deploy({'Things': plugin(1, 'one')})
    body = json.dumps({'data': 1})
    with host.wire() as first, host.wire() as second:
        for wire in (first, second):
            wire.send(f'POST {host.path("one")} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
                      f'Content-Length: {len(body)}\r\n\r\n{body[:3]}'.encode())
            with host.wire() as other:
                assert other.request('GET', '/_/health').status == 200
        deploys.deploy({'Things': plugin(2, 'one')})
        until(lambda: len(host.loaded_workers()) <= 1, 'the old worker has ended')
        first.send(body[3:])
        assert first.response('POST').json['result']['version'] in (1, 2)
        deploys.delete('one')
        second.send(body[3:])
        answer = second.response('POST')
        assert answer.status in (200, 404), answer
        assert answer.status == 404 or answer.json['result']['version'] in (1, 2)


def test_two_deployments_at_once_are_put_in_order(host, deploys):
    deploys.deploy({'Things': plugin(1, 'one'), 'Others': plugin(1, 'two')})
    outcomes = []

    def deploy(name, function, version):
        outcomes.append(deploys.deploy({name: plugin(version, function)}))
    plugin(2, 'one'), plugin(2, 'two')
    acts = [threading.Thread(target=deploy, args=arguments) for arguments in [('Things', 'one', 2), ('Others', 'two', 2), ('Things', 'one', 3)]]
    for act in acts:
        act.start()
    for act in acts:
        act.join(60)
    assert sorted(outcome['revision'] for outcome in outcomes) == [2, 3, 4]
    assert (host.result('one')['version'] in (2, 3), host.result('two')['version']) == (True, 2)
    assert deploys.function('one')['version'] == 3


def test_events_through_switches(host, deploys):
    """Each write is handled, once, and after the switch by the new version."""
    def made(version):
        return plugin(version, noted=on_write('noted/{id}'))

    deploys.deploy({'Things': made(1)})
    numbers, marks = itertools.count(), []
    with contextlib.closing(host.wire()) as wire:
        def write(count):
            for _ in range(count):
                number = next(numbers)
                answer = wire.request('PUT', f'/noted/n{number}.json', deploys.headers, json.dumps(f'mark{number}'))
                assert answer.status == 200, answer.body
                marks.append(number)
        write(20)
        for version in range(2, 6):
            first = len(marks) + 10
            write(10)
            deploys.deploy({'Things': made(version)})
            write(10)
            expected = (first, len(marks), version)

            def handled():
                found = dict(re.findall(r'after[^m]*mark(\d+)[^v]*with version (\d)', host.log))
                return {int(key): int(value) for key, value in found.items()}
            until(lambda: len(handled()) == len(marks), f'all {len(marks)} are handled')  # noqa: B023
            for number in range(expected[0], expected[1]):
                assert handled()[number] == expected[2]
    everything = re.findall(r'after[^m]*mark(\d+)[^v]*with version', host.log)
    assert len(everything) == len(set(everything)) == len(marks)
