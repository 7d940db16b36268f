"""How workers come and go: concurrency, instances, queue, deadlines, crashes. With one event loop, and with three."""

import concurrent.futures
import time

import pytest

from hearth import callable_headers
from processes import until

SLEEP = {'milliseconds': 600}


@pytest.fixture(params=[1, 3], ids=['one loop', 'three loops'])
def launch(request, launch):
    """Starts hosts whose connections are spread over so many loops."""
    return lambda plugins, config=None: launch(plugins, config={'server': {'loops': request.param}, **(config or {})})


def options(**more):
    """The same options for every function of the plugin, so that they share their workers."""
    return {'defaults': {'timeoutSeconds': 30, **more}}


def together(host, count, name='sleep', data=None):
    """`count` calls at the same time."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda _: host.callable(name, data or SLEEP, timeout=60), range(count)))


def statuses(answers):
    return sorted(answer.status for answer in answers)


def errors(answers):
    return {answer.json['error']['status'] for answer in answers if answer.status != 200}


class TestConcurrency:
    @pytest.mark.parametrize('limit', [1, 3])
    def test_no_more_at_once_in_one_worker(self, limit, launch):
        host = launch(['probe'], config=options(concurrency=limit, maxInstances=1))
        answers = together(host, 6, 'overlap', {'milliseconds': 100})
        assert statuses(answers) == [200] * 6
        assert max(answer.json['result'] for answer in answers) <= limit

    def test_many_at_once_in_one_worker(self, launch):
        host = launch(['probe'], config=options(concurrency=80, maxInstances=1))
        assert statuses(together(host, 40)) == [200] * 40
        assert len(host.loaded_workers()) == 1

    def test_functions_with_different_options_have_workers_of_their_own(self, launch):
        host = launch(['probe'], config={'functions': {'pid': {'memory': '512MiB'}, 'sleep': {'memory': '256MiB'}}})
        host.result('pid')
        host.result('sleep', {'milliseconds': 1})
        assert len(host.loaded_workers()) == 2


class TestInstances:
    def test_grow_to_the_maximum_and_no_further(self, launch):
        host = launch(['probe'], config=options(concurrency=1, maxInstances=3))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            calls = [pool.submit(host.callable, 'sleep', SLEEP, timeout=60) for _ in range(8)]
            most = 0
            while not all(call.done() for call in calls):
                most = max(most, len(host.loaded_workers()))
                time.sleep(0.01)
        assert statuses(call.result() for call in calls) == [200] * 8
        assert most == 3

    def test_scale_to_zero_and_back(self, launch):
        host = launch(['probe'], config={**options(), 'workers': {'idleSeconds': 0.3}})
        pid = host.result('pid')
        until(lambda: not host.loaded_workers(), 'the idle worker is gone')
        assert host.result('pid') != pid

    def test_minimum_is_kept(self, launch):
        host = launch(['probe'], config={**options(minInstances=2), 'workers': {'idleSeconds': 0.2}})
        until(lambda: len(host.loaded_workers()) == 2, 'two workers before any call')
        pids = {process.pid for process in host.loaded_workers()}
        together(host, 4)
        time.sleep(1)
        assert {process.pid for process in host.loaded_workers()} == pids

    def test_minimum_is_restored_after_a_crash(self, launch):
        host = launch(['probe'], config=options(minInstances=1))
        first = until(lambda: host.loaded_workers(), 'a worker before any call')[0]
        assert host.callable('abort').status == 500
        second = until(lambda: host.loaded_workers(), 'another one without a call')[0]
        assert first.pid != second.pid


class TestQueue:
    def test_full(self, launch):
        host = launch(['probe'], config={**options(concurrency=1, maxInstances=1), 'workers': {'queueLengthMax': 2}})
        host.result('pid')
        answers = together(host, 10)
        assert statuses(answers) == [200] * 3 + [429] * 7
        assert errors(answers) == {'RESOURCE_EXHAUSTED'}
        refused = next(answer for answer in answers if answer.status == 429)
        assert refused.header('Retry-After') is not None

    def test_without_a_queue_a_cold_function_is_started_all_the_same(self, launch):
        """The call that starts a worker waits for it, and not in the queue."""
        host = launch(['probe'], config={**options(minInstances=0), 'workers': {'queueLengthMax': 0}})
        assert host.callable('pid').status == 200

    def test_refusal_carries_the_headers_for_browsers(self, launch):
        host = launch(['probe'], config={**options(concurrency=1, minInstances=1, maxInstances=1), 'workers': {'queueLengthMax': 0}})
        until(lambda: host.callable('pid').status == 200, 'a worker is ready')
        with host.wire() as busy:
            busy.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":1500}}')
            until(lambda: 'state="busy"} 1' in host.request('GET', '/_/metrics').body.decode(), 'it runs')

            def refused():
                answer = host.callable('sleep', {'milliseconds': 1}, headers={'Origin': 'https://a.example'})
                return answer if answer.status == 429 else None

            assert until(refused, 'the worker is busy').header('Access-Control-Allow-Origin') == 'https://a.example'
            assert busy.response().status == 200

    def test_waiting_too_long(self, launch):
        host = launch(['probe'], config={**options(concurrency=1, maxInstances=1), 'workers': {'queueWaitMilliseconds': 200}})
        host.result('pid')
        answers = together(host, 4)
        assert statuses(answers)[0] == 200
        assert statuses(answers)[-1] == 429
        assert errors(answers) == {'RESOURCE_EXHAUSTED'}

    def test_pipelined_calls_that_wait_too_long(self, launch):
        """Each refusal brings the connection's next request, which waits in the same queue."""
        host = launch(['probe'], config={**options(concurrency=1, maxInstances=1), 'workers': {'queueWaitMilliseconds': 100}})
        host.result('pid')
        with host.wire() as busy, host.wire() as piped:
            busy.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":1500}}')
            for _ in range(6):
                piped.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":1}}')
            answers = [piped.response().status for _ in range(6)]
            assert busy.response().status == 200
        assert 429 in answers
        assert set(answers) <= {200, 429}

    def test_waiting_past_the_deadline(self, launch):
        host = launch(['probe'], config={**options(concurrency=1, maxInstances=1, timeoutSeconds=1)})
        host.result('pid')
        answers = together(host, 4, data={'milliseconds': 700})
        assert {answer.status for answer in answers} <= {200, 504}
        assert 504 in statuses(answers)

    def test_a_call_that_left_the_queue_is_not_run(self, launch):
        host = launch(['probe'], config=options(concurrency=1, maxInstances=1))
        before = host.result('count')
        with host.wire() as busy:
            busy.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":800}}')
            until(lambda: 'state="busy"} 1' in host.request('GET', '/_/metrics').body.decode(), 'it runs')
            for _ in range(5):
                wire = host.wire()
                wire.send_request('POST', host.path('count'), callable_headers(), '{"data":null}')
                wire.reset()
            assert busy.response().status == 200
        assert host.result('count') <= before + 2


class TestCrashes:
    def test_plugin_that_crashes_again_and_again_is_given_up(self, launch):
        host = launch(['probe', 'Conformance'], config={'workers': {'restartLimit': 3}})
        seen = []

        def is_given_up():
            seen.append(host.callable('abort'))
            return '"givenUp":"true"' in host.log

        until(is_given_up, 'no more workers are started', 30)
        assert {answer.status for answer in seen} <= {500, 503}
        answer = host.callable('pid')
        assert (answer.status, answer.json['error']['status']) == (503, 'UNAVAILABLE')
        assert int(answer.header('Retry-After')) > 1
        assert host.result('echo', 1) == 1

    def test_a_crashing_function_does_not_put_the_others_out(self, launch):
        """Calls wait for the end of a short back-off."""
        host = launch(['probe'])
        for _ in range(5):
            assert host.callable('abort').status == 500
        assert host.result('pid') > 0
        assert [host.callable('abort').status, host.callable('abort').status, host.callable('pid').status] == [500, 500, 200]

    def test_a_long_back_off_is_told(self, launch):
        host = launch(['probe'])
        # Waits of 0.1, 0.2, 0.4, 0.8 and 1.6 seconds.
        for _ in range(7):
            assert host.callable('abort').status == 500
        answer = host.callable('pid')
        assert (answer.status, answer.header('Retry-After')) == (503, '4')
        assert answer.json['error']['message'] == 'no instance of this function can be started now; try again in 4 s'
        until(lambda: host.log.count('an instance ended') == 7, 'each end is noted')

    def test_few_wait_for_the_end_of_a_back_off(self, launch):
        host = launch(['probe'], config={**options(concurrency=2, maxInstances=1), 'workers': {'queueLengthMax': 1}})
        for _ in range(5):
            assert host.callable('abort').status == 500
        answers = together(host, 8, 'pid')
        assert statuses(answers) == [200] * 3 + [429] * 5
        assert errors(answers) == {'RESOURCE_EXHAUSTED'}

    def test_no_call_waits_where_its_time_ends_before(self, launch):
        host = launch(['probe'], config={'defaults': {'timeoutSeconds': 1}})
        for _ in range(6):
            until(lambda: host.callable('abort').status == 500, 'another crash')
        begin = time.monotonic()
        # The wait is 1.6 seconds now.
        assert (host.callable('pid').status, time.monotonic() - begin < 0.5) == (503, True)

    def test_answers_between_crashes_forgive_them(self, launch):
        host = launch(['probe'], config={'workers': {'restartLimit': 3}})
        for _ in range(8):
            assert host.result('pid') > 0
            assert host.callable('abort').status == 500
        assert host.result('pid') > 0

    def test_crashes_far_apart_are_each_a_first_one(self, launch):
        host = launch(['probe'], config={'workers': {'restartLimit': 2, 'restartWindowSeconds': 3}})

        def crash():
            before = host.log.count('an instance ended')
            assert host.callable('abort').status == 500
            until(lambda: host.log.count('an instance ended') > before, 'its end is noted')
        crash()
        # Longer than the window.
        time.sleep(3.2)
        crash()
        assert '"givenUp":"true"' not in host.log
        assert host.result('pid') > 0
        crash()
        crash()
        host.until_logged('"givenUp":"true"')

    def test_calls_that_wait_go_to_the_next_worker(self, launch):
        host = launch(['probe'], config=options(concurrency=1, maxInstances=1))
        first = host.result('pid')
        wires = [host.wire() for _ in range(6)]
        calls = [('sleep', '{"milliseconds":700}'), ('abort', 'null'), *[('pid', 'null')] * 4]
        for wire, (name, data) in zip(wires, calls, strict=True):
            wire.send_request('POST', host.path(name), callable_headers(), '{"data":%s}' % data)
            # One after the other: calls wait in the order in which they came.
            assert host.request('GET', '/_/health').status == 200
        answers = [wire.response() for wire in wires]
        assert [answer.status for answer in answers] == [200, 500, 200, 200, 200, 200]
        assert first not in [answer.json['result'] for answer in answers[2:]]


def test_deadline_that_passes_in_a_cold_start(launch):
    host = launch(['probe'], config={'functions': {'sleep': {'timeoutSeconds': 1}}})
    answer = host.callable('sleep', {'milliseconds': 5000})
    assert (answer.status, answer.json['error']['status']) == (504, 'DEADLINE_EXCEEDED')
