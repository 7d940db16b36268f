"""Calls on several event loops share the workers: what holds for a worker holds whichever loop a call arrives on."""

import concurrent.futures
import os
import re
import signal
import threading

import pytest

from hearth import callable_headers
from load import Load
from processes import descriptors, until

LOOPS = {'server': {'loops': 3}}
# Connections of which the kernel gives some to each loop.
MANY = 24


def options(**more):
    return {**LOOPS, 'defaults': {'timeoutSeconds': 30, **more}}


def figure(host, name):
    """The sum of a figure over its labels."""
    text = host.request('GET', '/_/metrics').body.decode()
    return sum(float(value) for value in re.findall(rf'^{name}(?:{{[^}}]*}})? (\S+)$', text, re.MULTILINE))


def together(host, count, ask):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(ask, range(count)))


@pytest.mark.parametrize('limit', [1, 3])
def test_concurrency_holds_under_load(limit, launch):
    host = launch(['probe'], config={**options(concurrency=limit, maxInstances=2), 'workers': {'queueLengthMax': 1000}})
    answers = together(host, MANY, lambda _: [host.callable('overlap', {'milliseconds': 5}, timeout=60) for _ in range(20)])
    answers = [answer for some in answers for answer in some]
    assert {answer.status for answer in answers} == {200}
    assert 1 <= max(answer.json['result'] for answer in answers) <= limit


def test_every_worker_gets_calls_from_every_loop(launch):
    host = launch(['probe'], config=options(concurrency=1, maxInstances=3, minInstances=3))
    until(lambda: len(host.loaded_workers()) == 3, 'three workers')
    workers = {process.pid for process in host.loaded_workers()}
    wires = [host.wire() for _ in range(MANY)]
    for wire in wires:
        seen = set()
        for _ in range(3):
            wire.send_request('POST', host.path('pid'), callable_headers(), '{"data":null}')
            seen.add(wire.response().json['result'])
        assert seen <= workers
    with Load(host, 'pid', clients=MANY) as load:
        until(lambda: load.count() > 2000, 'load')
    assert set(load.answers()) == {(200, None)}


def test_figures_count_every_call_once(launch):
    host = launch(['probe'], config=options(concurrency=2, maxInstances=1))
    host.result('pid')
    before = figure(host, 'hearth_function_invocations_total')
    answers = together(host, MANY, lambda _: [host.callable('sleep', {'milliseconds': 1}).status for _ in range(10)])
    assert {status for some in answers for status in some} == {200}
    until(lambda: figure(host, 'hearth_function_invocations_total') == before + MANY * 10, 'each is counted')
    assert figure(host, 'hearth_function_invocations_in_flight') == 0
    assert figure(host, 'hearth_function_duration_seconds_count') == before + MANY * 10


def test_clients_that_leave_give_their_room_back(launch):
    host = launch(['probe'], config=options(concurrency=4, maxInstances=1))
    host.result('pid')
    for _ in range(10):
        wires = [host.wire() for _ in range(MANY)]
        for wire in wires:
            wire.send_request('POST', host.path('waits'), callable_headers(), '{"data":null}')
        until(lambda: figure(host, 'hearth_function_invocations_in_flight') == MANY, 'they run, or wait for room')
        for wire in wires:
            wire.reset()
        until(lambda: figure(host, 'hearth_function_invocations_in_flight') == 0, 'they are given up')
        assert host.result('open') == 1


def test_a_worker_that_is_killed_under_load(launch):
    host = launch(['probe'], config={**options(maxInstances=2, minInstances=1), 'workers': {'restartLimit': 1000}})
    until(lambda: host.loaded_workers(), 'a worker')
    count = len(descriptors(host.pid))
    stop = threading.Event()
    answers = []

    def call():
        while not stop.is_set():
            answers.append(host.callable('sleep', {'milliseconds': 2}, timeout=60).status)

    threads = [threading.Thread(target=call) for _ in range(MANY)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        for process in until(host.loaded_workers, 'a worker'):
            os.kill(process.pid, signal.SIGKILL)
        seen = len(answers)
        until(lambda seen=seen: len(answers) > seen + 100, 'calls go on')
    stop.set()
    for thread in threads:
        thread.join()
    assert set(answers) <= {200, 500, 503}
    assert answers.count(200) > 500
    assert figure(host, 'hearth_function_invocations_in_flight') == 0
    # A second worker may have come, with as many sockets.
    until(lambda: len(descriptors(host.pid)) <= 2 * count, 'no socket of an ended worker is left')


def test_calls_that_a_blocked_worker_has_not_begun_go_to_another(launch):
    host = launch(['probe'], config={
        **options(concurrency=80, maxInstances=2), 'workers': {'blockedLoopSeconds': 20}})
    host.result('pid')
    blocked = host.wire()
    blocked.send_request('POST', host.path('computes'), callable_headers(), '{"data":{"milliseconds":4000}}')
    until(lambda: figure(host, 'hearth_function_invocations_in_flight') == 1, 'it runs')
    wires = [host.wire() for _ in range(MANY)]
    for wire in wires:
        wire.send_request('POST', host.path('pid'), callable_headers(), '{"data":null}')
    pids = {wire.response().json['result'] for wire in wires}
    host.until_logged('an instance gets no more calls')
    # Those that come later wait for the other worker at once.
    assert 1 < int(re.search(r'"movedCalls":"(\d+)"', host.log).group(1)) <= MANY
    assert blocked.response().status == 200
    assert len(pids) == 1 and len(host.loaded_workers()) == 2


def test_what_a_call_prints_is_put_down_to_it(launch):
    host = launch(['probe'], config=options(maxInstances=1))
    host.result('pid')
    for number in range(MANY):
        host.callable('says', {'text': f'line {number}'})
    for number in range(MANY):
        host.until_logged(f'line {number}')
    lines = [line for line in host.log.splitlines() if re.search(r'line \d+', line)]
    assert all('"function":"says"' in line for line in lines)


def test_an_idle_worker_ends_and_a_busy_one_stays(launch):
    host = launch(['probe'], config={**options(maxInstances=1), 'workers': {'idleSeconds': 0.3}})
    pid = host.result('pid')
    wires = [host.wire() for _ in range(6)]
    for _ in range(10):
        for wire in wires:
            wire.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":100}}')
        assert {wire.response().status for wire in wires} == {200}
    assert host.result('pid') == pid
    until(lambda: not host.loaded_workers(), 'the idle worker is gone')
    assert host.result('pid') != pid
