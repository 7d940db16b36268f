"""Functions that misbehave: whatever one does, its caller gets a defined answer and nobody else notices."""

import threading

import pytest

from hearth import INTERNAL, callable_headers, error_body
from processes import children, cpu_ticks, resident_kib, until

ORIGIN = ('Origin', 'https://a.example')
DEADLINE = {'spin': {'timeoutSeconds': 1}, 'late': {'timeoutSeconds': 1}, 'sleep': {'timeoutSeconds': 20}}


@pytest.fixture
def host(launch):
    return launch(['Faults', 'Conformance'], config={'functions': DEADLINE, 'workers': {'restartLimit': 1000}})


def no_zombies(host):
    until(lambda: not [process for process in children(host.pid) if process.is_zombie], 'dead workers are reaped')


@pytest.mark.parametrize('fault', ['trap', 'abort', 'exit'])
class TestEnds:
    """The worker's process ends in the middle of a call."""

    def test_caller_gets_internal(self, fault, host):
        answer = host.callable(fault, headers=[ORIGIN])
        assert (answer.status, answer.json) == (500, INTERNAL)
        assert answer.header('Access-Control-Allow-Origin') == ORIGIN[1]

    def test_next_call_is_served(self, fault, host):
        first = host.result('pid')
        assert host.callable(fault).status == 500
        assert host.result('pid') != first
        no_zombies(host)

    def test_calls_beside_it_are_answered_too(self, fault, host):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(host.callable('sleep', {'milliseconds': 3000}))) for _ in range(5)]
        host.result('pid')
        with host.wire() as wire:
            for thread in threads:
                thread.start()
            until(lambda: host.result('open') >= 6, 'all of them run')
            wire.send_request('POST', host.path(fault), callable_headers(), '{"data":null}')
            assert wire.response().json == INTERNAL
        for thread in threads:
            thread.join(30)
        assert len(answers) == 5
        assert all((answer.status, answer.json) == (500, INTERNAL) for answer in answers)

    def test_another_plugin_does_not_notice(self, fault, host):
        host.result('echo', 1)
        before = {process.pid for process in host.loaded_workers()}
        mine = host.result('pid')
        assert host.callable(fault).status == 500
        assert host.result('echo', 2) == 2
        assert before - {mine} <= {process.pid for process in host.loaded_workers()}

    def test_log_says_what_happened(self, fault, host):
        host.callable(fault)
        host.until_logged({'trap': r'SIGTRAP|SIGILL|signal (4|5)', 'abort': r'SIGABRT|signal 6', 'exit': r'status 0|exit'}[fault])

    def test_within_a_stream(self, fault, host):
        """Once a stream has begun the answer is its last frame."""
        answer = host.request('POST', host.path(fault), [*callable_headers(), ('Accept', 'text/event-stream')], '{"data":null}')
        assert answer.status == 200
        assert answer.body == b'data: {"error":{"message":"INTERNAL","status":"INTERNAL"}}\n\n'


class TestEndlessLoop:
    def test_caller_gets_the_deadline(self, host):
        answer = host.callable('spin', headers=[ORIGIN])
        assert (answer.status, answer.json['error']['status']) == (504, 'DEADLINE_EXCEEDED')
        assert answer.header('Access-Control-Allow-Origin') == ORIGIN[1]

    def test_worker_is_killed(self, launch):
        host = launch(['Faults'], config={'functions': DEADLINE, 'workers': {'blockedLoopSeconds': 0.5}})
        pid = host.result('pid')
        assert host.callable('spin').status == 504
        until(lambda: pid not in {process.pid for process in host.workers()}, 'the blocked worker is gone')
        assert host.result('pid') != pid
        no_zombies(host)

    def test_stopping_does_not_wait_for_it(self, launch):
        host = launch(['Faults'], config={'functions': {'spin': {'timeoutSeconds': 600}}, 'workers': {'drainSeconds': 1, 'blockedLoopSeconds': 600}})
        pid = host.result('pid')
        with host.wire() as wire:
            wire.send_request('POST', host.path('spin'), callable_headers(), '{"data":null}')
            until(lambda: cpu_ticks(pid) > 20, 'it spins')
            host.stop()


class TestLateAnswer:
    def test_caller_gets_the_deadline(self, host):
        answer = host.callable('late', {'milliseconds': 1500})
        assert answer.status == 504
        assert answer.json == error_body('DEADLINE_EXCEEDED', 'the function did not answer within its timeoutSeconds of 1')

    def test_late_answer_goes_nowhere(self, host):
        """The same connection goes on, and the worker is the same."""
        pid = host.result('pid')
        with host.wire() as wire:
            wire.send_request('POST', host.path('late'), callable_headers(), '{"data":{"milliseconds":1500}}')
            assert wire.response().status == 504
            slow = wire.request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":1000}}')
            assert slow.json == {'result': 'slept'}
        assert host.result('pid') == pid

    def test_within_a_stream(self, host):
        headers = [*callable_headers(), ('Accept', 'text/event-stream')]
        answer = host.request('POST', host.path('late'), headers, '{"data":{"milliseconds":1500}}')
        assert answer.status == 200
        assert b'"status":"DEADLINE_EXCEEDED"' in answer.body


class TestMemory:
    def test_a_worker_that_takes_too_much_is_ended(self, launch):
        host = launch(['Faults', 'Conformance'], config={'functions': {'hog': {'memory': '128MiB'}}})
        before = resident_kib(host.pid)
        answer = host.callable('hog', headers=[ORIGIN])
        assert (answer.status, answer.json) == (500, INTERNAL)
        assert host.result('echo', 1) == 1
        assert resident_kib(host.pid) - before < 64 * 1024
        host.until_logged(r'(?i)memory')

    def test_limit_is_logged_at_start(self, host):
        assert any(word in host.log for word in ('cgroup v2', 'cgroup v1', 'RLIMIT_DATA'))


class TestOutput:
    def test_hundred_megabytes(self, host):
        before = resident_kib(host.pid)
        assert host.callable('shout', {'bytes': 100_000_000}, timeout=60).status == 200
        assert host.result('pid') > 0
        assert resident_kib(host.pid) - before < 64 * 1024

    def test_what_is_dropped_is_counted(self, launch):
        host = launch(['Faults'], config={'workers': {'logBytesPerSecond': 10_000}})
        assert host.callable('shout', {'bytes': 5_000_000}).status == 200
        host.until_logged(r'(?i)dropped')
        assert len(host.log) < 2_000_000

    def test_line_without_an_end(self, host):
        assert host.callable('shout', {'bytes': 3_000_000, 'lineLength': 0}).status == 200
        assert host.result('pid') > 0


def test_plain_error_is_internal_and_stays_here(host):
    answer = host.callable('plain')
    assert (answer.status, answer.json) == (500, INTERNAL)
    host.until_logged('secret detail')


def test_nan_is_internal(host):
    answer = host.callable('nan')
    assert (answer.status, answer.json) == (500, INTERNAL)


def test_answering_twice_counts_once(launch, c_plugin):
    host = launch({'twice': {'library': c_plugin('twice')}})
    with host.wire() as wire:
        for _ in range(10):
            answer = wire.request('POST', host.path('twice'), callable_headers(), '{"data":null}')
            assert (answer.status, answer.json) == (200, {'result': 'first'})
    host.until_logged('answers once')


def test_large_answers(host):
    text = host.result('big', {'bytes': 20_000_000}, timeout=60)
    assert len(text) == 20_000_000
