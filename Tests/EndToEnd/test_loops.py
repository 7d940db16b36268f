"""More than one event loop: connections are spread over them, functions behave as with one."""

import os

import pytest

from hearth import BAD_REQUEST, INTERNAL, Host, callable_headers, error_body, library
from load import Load
from processes import descriptors, resident_kib, until
from wire import event_values, request_bytes

STREAM = ('Accept', 'text/event-stream')


@pytest.fixture(scope='module')
def host(tmp_path_factory, keys):
    host = Host(tmp_path_factory.mktemp('loops'), ['Conformance', 'probe'], keys=keys,
                config={'server': {'loops': 3}, 'workers': {'prewarmed': 0}, 'functions': {'late': {'timeoutSeconds': 1}}}).start()
    yield host
    host.stop()


def on_many(host, ask, count=24):
    """The answers to one request on each of many connections, that the kernel spreads over the loops."""
    return [ask(host) for _ in range(count)]


def test_threads(host):
    assert len(os.listdir(f'/proc/{host.pid}/task')) >= 3


def test_results(host):
    assert on_many(host, lambda host: host.result('echo', {'a': [1, 'x']})) == [{'a': [1, 'x']}] * 24


def test_errors(host):
    answers = on_many(host, lambda host: host.callable('throwsError', {'code': 'aborted', 'message': 'm', 'details': 1}))
    assert all((answer.status, answer.json) == (409, error_body('ABORTED', 'm', details=1)) for answer in answers)
    refused = on_many(host, lambda host: host.request('POST', host.path('echo'), callable_headers(), '{'))
    assert all((answer.status, answer.json) == (400, BAD_REQUEST) for answer in refused)


def test_tokens(host, keys):
    token = keys.id_token('spread')
    assert on_many(host, lambda host: host.result('contextInfo', token=token)['uid']) == ['spread'] * 24


def test_consumed_tokens_are_known_to_every_loop(host, keys):
    token = keys.app_token()
    consumed = on_many(host, lambda host: host.result('consumesAppCheck', app=token)['alreadyConsumed'])
    assert consumed == [False] + [True] * 23


def test_streams(host):
    def ask(host):
        return host.request('POST', host.path('streamsCountdown'), [*callable_headers(), STREAM], '{"data":{"from":50}}')
    wanted = [{'message': {'n': n}} for n in range(50, 0, -1)] + [{'result': 'liftoff'}]
    assert all(event_values(answer.body) == wanted for answer in on_many(host, ask, 12))


def test_large_answers(host):
    text = 'x' * 2_000_000
    assert on_many(host, lambda host: host.result('echo', text) == text, 8) == [True] * 8


def test_crashes(host):
    for answer in on_many(host, lambda host: (host.callable('abort'), host.result('pid'))[0], 8):
        assert (answer.status, answer.json) == (500, INTERNAL)


def test_deadlines(host):
    answers = on_many(host, lambda host: host.callable('late', {'milliseconds': 1100}), 4)
    assert [answer.status for answer in answers] == [504] * 4


def test_clients_that_leave(host):
    host.result('pid')
    count = len(descriptors(host.pid))
    wires = [host.wire() for _ in range(12)]
    for wire in wires:
        wire.send_request('POST', host.path('waits'), callable_headers(), '{"data":null}')
    until(lambda: host.result('open') == 13, 'they run')
    for wire in wires:
        wire.reset()
    until(lambda: host.result('open') == 1, 'all of them were cancelled')
    until(lambda: len(descriptors(host.pid)) <= count, 'their connections are closed')


def test_memory_does_not_grow_with_calls(launch):
    """Half of the calls come from a loop that is not the workers' own."""
    host = launch(config={'server': {'loops': 2}, 'workers': {'prewarmed': 0}})
    batch = request_bytes('POST', host.path('echo'), callable_headers(), '{"data":1}') * 200

    def call():
        for _ in range(16):
            with host.wire() as wire:
                for _ in range(5):
                    wire.send(batch)
                    for _ in range(200):
                        assert wire.response().body == b'{"result":1}'

    call()
    before = resident_kib(host.pid)
    call()
    assert resident_kib(host.pid) - before < 4096


def test_load(host):
    with Load(host, 'echo') as load:
        until(lambda: load.count() > 2000, 'load')
    assert set(load.answers()) == {(200, None)}
    assert load.lost() == {}


def test_stopping_under_load(launch):
    host = launch({'probe': {'library': library('probe')}}, config={'server': {'loops': 2}, 'workers': {'drainSeconds': 20}})
    wires = [host.wire() for _ in range(20)]
    host.result('pid')
    for wire in wires:
        wire.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":1200}}')
    until(lambda: host.result('open') == 21, 'they run')
    host.begin_stop()
    assert [wire.response().json for wire in wires] == [{'result': 'slept'}] * 20
    host.stop()
