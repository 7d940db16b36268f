"""Functions that misbehave: their callers get a defined answer, and other calls are not affected."""

import json
import threading

import pytest

from hearth import INTERNAL, callable_headers, error_body
from processes import children, cpu_ticks, resident_kib, until
from wire import Ended

ORIGIN = ('Origin', 'https://a.example')
STREAM = ('Accept', 'text/event-stream')
DEATHS = {'trap': r'(?i)SIG(TRAP|ILL)|signal (4|5)', 'abortNow': '(?i)SIGABRT|signal 6', 'segfault': '(?i)SIGSEGV|signal 11',
          'exitZero': '(?i)exit|status', 'closeDescriptors': ''}


def pid(host):
    return host.result('whoAmI')['pid']


@pytest.fixture
def host(launch):
    return launch(['Faults', 'Conformance'], config={'functions': {'spin': {'timeoutSeconds': 1}}, 'workers': {'blockedLoopSeconds': 1}})


def no_zombies(host):
    until(lambda: not [process for process in children(host.pid) if process.is_zombie], 'dead workers are reaped')


@pytest.mark.parametrize('fault', DEATHS)
class TestEnds:
    """The worker's process ends in the middle of a call, or can no longer speak."""

    def test_caller_gets_internal(self, fault, host):
        answer = host.callable(fault, headers=[ORIGIN])
        assert (answer.status, answer.json) == (500, INTERNAL)
        assert answer.header('Access-Control-Allow-Origin') == ORIGIN[1]
        if DEATHS[fault]:
            host.until_logged(DEATHS[fault])

    def test_next_call_is_served(self, fault, host):
        first = pid(host)
        assert host.callable(fault).status == 500
        assert pid(host) != first
        no_zombies(host)

    def test_another_plugin_does_not_notice(self, fault, host):
        host.result('echo', 1)
        mine = pid(host)
        others = {process.pid for process in host.loaded_workers()} - {mine}
        assert others
        assert host.callable(fault).status == 500
        assert host.result('echo', 2) == 2
        assert others <= {process.pid for process in host.loaded_workers()}

    def test_within_a_stream(self, fault, host):
        """Once a stream was asked for, the answer is its last frame."""
        answer = host.request('POST', host.path(fault), [*callable_headers(), STREAM], '{"data":null}')
        assert answer.status == 200
        assert answer.body == b'data: {"error":{"message":"INTERNAL","status":"INTERNAL"}}\n\n'


def test_calls_beside_a_crash_are_answered_too(launch):
    host = launch(['probe'])
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(host.callable('sleep', {'milliseconds': 20_000}))) for _ in range(5)]
    host.result('pid')
    for thread in threads:
        thread.start()
    until(lambda: host.result('open') == 6, 'all of them run')
    assert host.callable('abort').json == INTERNAL
    for thread in threads:
        thread.join(30)
    assert [(answer.status, answer.json) for answer in answers] == [(500, INTERNAL)] * 5


class TestEndlessLoop:
    def test_caller_gets_the_deadline(self, host):
        answer = host.callable('spin', headers=[ORIGIN])
        assert (answer.status, answer.json['error']['status']) == (504, 'DEADLINE_EXCEEDED')
        assert answer.header('Access-Control-Allow-Origin') == ORIGIN[1]

    def test_worker_is_killed(self, host):
        first = pid(host)
        assert host.callable('spin').status == 504
        until(lambda: first not in {process.pid for process in host.workers()}, 'the blocked worker is gone')
        assert pid(host) != first
        no_zombies(host)

    def test_stopping_does_not_wait_for_it(self, launch):
        host = launch(['probe'], config={'functions': {'spin': {'timeoutSeconds': 600}}, 'defaults': {'timeoutSeconds': 600},
                                         'workers': {'drainSeconds': 1, 'blockedLoopSeconds': 600}})
        worker = host.result('pid')
        with host.wire() as wire:
            wire.send_request('POST', host.path('spin'), callable_headers(), '{"data":null}')
            until(lambda: cpu_ticks(worker) > 20, 'it spins')
            host.stop()


class TestLateAnswer:
    """returnLate has a deadline of one second, and answers after it."""

    def test_caller_gets_the_deadline(self, host):
        answer = host.callable('returnLate', {'ms': 1500}, headers=[ORIGIN])
        assert answer.status == 504
        assert answer.json == error_body('DEADLINE_EXCEEDED', 'the function did not answer within its timeoutSeconds of 1')
        assert answer.header('Access-Control-Allow-Origin') == ORIGIN[1]

    def test_late_answer_goes_nowhere(self, host):
        """The same connection goes on, and the worker is the same."""
        first = pid(host)
        with host.wire() as wire:
            wire.send_request('POST', host.path('returnLate'), callable_headers(), '{"data":{"ms":1300}}')
            assert wire.response().status == 504
            slow = wire.request('POST', host.path('sleep'), callable_headers(), '{"data":{"ms":800}}')
            assert slow.json == {'result': 'slept'}
        assert pid(host) == first

    def test_within_a_stream(self, host):
        answer = host.request('POST', host.path('returnLate'), [*callable_headers(), STREAM], '{"data":{"ms":1300}}')
        assert answer.status == 200
        assert b'"status":"DEADLINE_EXCEEDED"' in answer.body

    def test_function_is_cancelled(self, host):
        assert host.callable('sleepUntilCancelled').status == 504
        host.until_logged('"cancelled"')


class TestMemory:
    @pytest.mark.parametrize('plugin, name', [('probe', 'hog'), ('Faults', 'allocateForever')])
    def test_a_worker_that_takes_too_much_is_ended(self, plugin, name, launch):
        host = launch([plugin, 'Conformance'], config={'functions': {name: {'memory': '128MiB'}}})
        before = resident_kib(host.pid)
        answer = host.callable(name, headers=[ORIGIN])
        if 'RLIMIT_DATA' in host.log:
            assert answer.status == 200, 'malloc says no, and the function goes on'
        else:
            assert (answer.status, answer.json) == (500, INTERNAL)
            host.until_logged('it took more memory than it may')
        assert host.result('echo', 1) == 1
        assert host.callable(name).status == answer.status
        assert resident_kib(host.pid) - before < 64 * 1024

    def test_limit_is_logged_at_start(self, host):
        host.until_logged('cgroup v2|cgroup v1|RLIMIT_DATA')


class TestOutput:
    def test_hundred_megabytes(self, host):
        before = resident_kib(host.pid)
        assert host.callable('printMuch', {'megabytes': 100}).status == 200
        assert pid(host) > 0
        assert resident_kib(host.pid) - before < 64 * 1024
        assert len(host.log) < 30_000_000

    def test_what_is_dropped_is_counted(self, launch):
        host = launch(['Faults'], config={'workers': {'logBytesPerSecond': 10_000}})
        assert host.callable('printMuch', {'megabytes': 5}).status == 200
        until(lambda: host.result('printLine', 'more') and 'bytes of log were dropped' in host.log, 'the next line tells what was dropped')
        assert len(host.log) < 2_000_000

    def test_line_without_an_end(self, launch):
        host = launch(['probe'])
        assert host.callable('shout', {'bytes': 5_000_000, 'lineLength': 0}).status == 200
        assert host.result('pid') > 0


def test_plain_error_is_internal_and_stays_here(host):
    answer = host.callable('throwPlain')
    assert (answer.status, answer.json) == (500, INTERNAL)
    host.until_logged('PlainError')


def test_nan_is_internal(host):
    answer = host.callable('returnNaN')
    assert (answer.status, answer.json) == (500, INTERNAL)


class TestBrokenRules:
    """Violations of hearth.h: the host checks the output of a plugin before a client sees it."""

    @pytest.fixture
    def host(self, launch):
        return launch(['probe'])

    @pytest.mark.parametrize('plugin, name, body, status, expected', [
        ('answers_twice', 'answersTwice', 'null', 200, {'result': 'first'}),
        ('answers_strangers', 'answersStrangers', 'null', 200, {'result': 'own'}),
        ('answers_garbage', 'answersGarbage', 'null', 500, INTERNAL),
        ('answers_garbage', 'answersGarbage', '"error"', 500, INTERNAL),
        ('answers_unknown_kind', 'answersUnknownKind', 'null', 500, INTERNAL),
    ])
    def test_answers(self, plugin, name, body, status, expected, launch):
        host = launch([plugin])
        with host.wire() as wire:
            for _ in range(5):
                answer = wire.request('POST', host.path(name), callable_headers(), '{"data":%s}' % body)
                assert (answer.status, answer.json) == (status, expected)

    @pytest.mark.parametrize('begins', [False, True])
    @pytest.mark.parametrize('kind', ['result', 'error', 'response', 'end'])
    def test_answers_of_plain_functions(self, kind, begins, launch):
        """A client never waits for the rest of an answer that cannot be sent."""
        host = launch(['answers_mixed'])
        order = f'{int(begins)}{["result", "error", "response", "end"].index(kind)}'
        is_sound = (kind, begins) in [('response', False), ('end', True)]
        with host.wire() as wire:
            wire.send_request('POST', host.path('mixed'), [('Content-Type', 'text/plain')], order)
            if is_sound:
                assert (wire.response().status, host.log.count('cannot be sent')) == (200, 0)
            elif begins:
                with pytest.raises(Ended):
                    wire.response()
            else:
                assert wire.response().status == 500
        if not is_sound and kind != 'error':
            host.until_logged("the function's answer cannot be sent")

    def test_second_answers_are_told_in_the_log(self, launch):
        host = launch(['answers_twice'])
        host.result('answersTwice')
        host.until_logged('answers once')

    def test_no_answer(self, launch):
        host = launch(['never_answers'], config={'workers': {'drainSeconds': 0.5}})
        assert host.callable('neverAnswers').json['error']['status'] == 'DEADLINE_EXCEEDED'

    def test_answer_of_the_wrong_kind(self, host):
        with host.wire() as wire:
            for _ in range(3):
                answer = wire.request('POST', host.path('wrongKind'), callable_headers(), '{"data":null}')
                assert (answer.status, answer.json) == (500, INTERNAL)

    def test_chunk_that_is_no_json(self, host):
        answer = host.request('POST', host.path('garbledChunk'), [*callable_headers(), STREAM], '{"data":null}')
        assert answer.body == b'data: {"result":1}\n\n'

    def test_headers_cannot_be_smuggled_in(self, host):
        with host.wire() as wire:
            for _ in range(2):
                answer = wire.request('GET', host.path('inject'))
                assert answer.header('X-Injected') is None
                assert answer.status in (200, 500)
        assert host.result('pid') > 0

    def test_answers_from_another_thread(self, launch):
        host = launch(['answers_from_thread'])
        assert host.result('answersFromThread') == 'from a thread'
        answer = host.request('POST', host.path('answersFromThread'), [*callable_headers(), STREAM], '{"data":null}')
        assert answer.body == b'data: {"message":"half"}\n\ndata: {"result":"from a thread"}\n\n'

    @pytest.mark.parametrize('service, method, message', [
        ('nowhere', 'get', 'there is no service named "nowhere"; there are database, messaging, auth, http, cache, tasks'),
        ('database', 'drop', 'database has no method "drop"; it has get, '),
        ('messaging', 'sned', 'messaging has no method "sned"; it has send, subscribe, unsubscribe, topics'),
    ])
    def test_service_or_method_that_is_not_there(self, host, service, method, message):
        result = host.result('asks', {'service': service, 'method': method})
        assert (result['ok'], result['answer']['code']) == (0, 'unimplemented')
        assert result['answer']['message'].startswith(message)

    def test_service_call_that_is_too_large(self, host):
        """It is refused by itself: the worker goes on, with everybody else's calls."""
        pid = host.result('pid')
        for size, message in [(64 << 20, 'the payload has more than 16 MiB'), ((64 << 20) + 1, 'may have at most 64 MiB'), (80 << 20, '64 MiB')]:
            result = host.result('callsWith', {'bytes': size})
            assert (result['ok'], result['answer']['code']) == (0, 'resource-exhausted')
            assert message in result['answer']['message']
        assert host.result('pid') == pid


def test_large_answers(launch):
    host = launch(['probe'])
    assert len(host.result('big', {'bytes': 20_000_000})) == 20_000_000


def test_answers_that_are_too_large(launch):
    host = launch(['probe'], config={'defaults': {'memory': '1GiB'}})
    pid = host.result('pid')
    answer = host.callable('big', {'bytes': 80 << 20})
    assert (answer.status, answer.json['error']['status']) == (429, 'RESOURCE_EXHAUSTED')
    assert '64 MiB' in answer.json['error']['message']
    assert host.until_logged('dropped an answer of more than 64 MiB')
    assert host.result('pid') == pid


def test_parts_of_answers_that_are_too_large(launch):
    """The client sees that data is missing; other clients are not affected."""
    host = launch(['probe'], config={'defaults': {'memory': '1GiB'}})
    pid = host.result('pid')
    answer = host.request('POST', host.path('stream'), [*callable_headers(), STREAM], json.dumps({'data': {'bytes': 80 << 20}}))
    (frame,) = answer.body.removesuffix(b'\n\n').split(b'\n\n')
    assert json.loads(frame.removeprefix(b'data: '))['error']['status'] == 'RESOURCE_EXHAUSTED'
    assert host.until_logged('dropped an answer: a part of it has more than 64 MiB')
    assert host.result('pid') == pid


def test_a_head_of_an_answer_that_is_too_large(launch):
    host = launch(['probe'], config={'defaults': {'memory': '1GiB'}})
    pid = host.result('pid')
    assert host.request('GET', host.path('bigHead')).status == 429
    assert host.until_logged('dropped an answer: its head has more than 64 MiB')
    assert host.result('pid') == pid
