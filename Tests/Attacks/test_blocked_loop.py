"""A function that blocks the event loop delays only its own caller, and the log names it."""

import concurrent.futures
import os
import signal

import pytest

from commands import Commands
from hearth import callable_headers
from processes import until

PATIENCE = 20


@pytest.fixture
def start(launch):
    """Starts a host whose functions share their workers."""
    def start(blocked_loop_seconds, defaults=None, workers=None):
        return launch(['probe'], config={'defaults': {'timeoutSeconds': 300, **(defaults or {})},
                                         'workers': {'blockedLoopSeconds': blocked_loop_seconds, **(workers or {})}})
    return start


@pytest.fixture
def call():
    """Calls in the background: a future of the answer."""
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        yield lambda host, name, data=None: pool.submit(host.callable, name, data, timeout=PATIENCE)


def begun(host, name, data=None):
    """A call whose caller does not wait."""
    wire = host.wire()
    wire.send_request('POST', host.path(name), callable_headers(), '{"data":%s}' % (data or 'null'))
    return wire


def test_the_others_are_served_at_once(start, call):
    host = start(300)
    blocked = host.result('pid')
    with begun(host, 'spin'):
        answers = [future.result().json for future in [call(host, 'pid') for _ in range(30)]]
        assert blocked not in {answer['result'] for answer in answers}
        # Later calls do not even try it.
        assert host.result('pid', timeout=2) != blocked
        host.process.kill()
        host.process.wait(10)
        host.process = None


def test_the_function_is_named_in_the_log(start, tmp_path):
    host = start(1)
    host.result('pid')
    sleeper = begun(host, 'sleep', '{"milliseconds":60000}')
    with sleeper, begun(host, 'spin'):
        host.until_logged('"function":"spin".*"spin\\\\" blocks its event loop')
        host.until_logged('"function":"spin".*an instance ended.*"spin\\\\" blocks its event loop')
    lines = Commands(host, tmp_path / 'commands').succeeds('functions:log', '--only', 'spin')
    assert 'an instance gets no more calls: "spin" blocks its event loop' in lines


@pytest.mark.parametrize('name, data', [('spin', None), ('spinsLater', {'milliseconds': 50})])
def test_callers_read_who_is_to_blame(name, data, start, call):
    """Calls that had started in the same worker cannot continue elsewhere."""
    host = start(1)
    host.result('pid')
    with begun(host, 'sleep', '{"milliseconds":60000}') as sleeper:
        until(lambda: host.result('open') == 2, 'it has begun')
        culprit = call(host, name, data).result()
        assert culprit.json['error'] == {
            'status': 'INTERNAL', 'message': f'the function "{name}" blocked the event loop of its instance for 1 s and was ended'}
        assert sleeper.response().json['error'] == {
            'status': 'UNAVAILABLE', 'message': f'the instance was ended: the function "{name}" blocked its event loop for 1 s'}


def test_calls_that_had_not_begun_run_once_elsewhere(start, call):
    host = start(300)
    host.result('pid')
    computing = call(host, 'computes', {'milliseconds': 2500})
    texts = [f'word {number:02} of those that are said' for number in range(20)]
    said = [call(host, 'says', {'text': text}) for text in texts]
    assert {future.result().status for future in said} == {200}
    assert not computing.done(), 'nobody waited for it'
    assert computing.result().json == {'result': 'computed'}
    host.until_logged('an instance gets calls again')
    for text in texts:
        # Printed twice and logged twice by each call.
        assert host.log.count(text) == 4


def test_calls_that_cannot_move_begin_later_in_their_worker(start, call):
    """Large calls are not copied: they wait for the worker. Small ones run elsewhere meanwhile, once."""
    host = start(300)
    pid = host.result('pid')
    with begun(host, 'computes', '{"milliseconds":2000}') as computing:
        large = [call(host, 'pid', 'x' * size) for size in (100_000, 2_000_000)]
        small = call(host, 'pid')
        assert small.result().json['result'] != pid
        assert not any(future.done() for future in large)
        assert [future.result().json for future in large] == [{'result': pid}] * 2
        assert computing.response().json == {'result': 'computed'}


def test_a_worker_that_is_stopped_gets_no_calls(start, call):
    """It gives no sign of life, though no function is to blame."""
    host = start(300)
    stopped = host.result('pid')
    os.kill(stopped, signal.SIGSTOP)
    pids = {future.result().json['result'] for future in [call(host, 'pid') for _ in range(10)]}
    assert stopped not in pids
    host.until_logged('an instance gets no more calls: it does not read what it is sent')
    os.kill(stopped, signal.SIGCONT)
    host.until_logged('an instance gets calls again')


def test_a_long_computation_may_end_where_it_harms_nobody(start, call):
    host = start(0.5)
    pid = host.result('pid')
    assert host.callable('computes', {'milliseconds': 2000}).json == {'result': 'computed'}
    host.until_logged('an instance gets calls again')
    assert host.result('pid') == pid


def test_a_long_computation_ends_where_others_wait_for_its_instance(start, call):
    host = start(1, {'maxInstances': 1})
    host.result('pid')
    with begun(host, 'spin') as culprit:
        assert call(host, 'pid').result().status == 200
        assert '"spin" blocked the event loop' in culprit.response().json['error']['message']


def test_one_call_at_a_time_may_take_as_long_as_it_likes(start, call):
    host = start(0.5, {'maxInstances': 1, 'concurrency': 1})
    pid = host.result('pid')
    answers = [future.result() for future in [call(host, 'computes', {'milliseconds': 900}) for _ in range(3)]]
    assert [answer.status for answer in answers] == [200] * 3
    assert host.result('pid') == pid
    assert 'an instance gets no more calls' not in host.log


def test_those_who_wait_in_vain_read_why(start, call):
    host = start(300, {'maxInstances': 1}, {'queueWaitMilliseconds': 1000})
    host.result('pid')
    with begun(host, 'spin'):
        answer = call(host, 'pid').result()
        assert answer.status == 429
        assert answer.json['error']['message'].endswith('ms: "spin" blocks the event loop; try again later')
        host.process.kill()
        host.process.wait(10)
        host.process = None
