"""Clients that go away in the middle."""

import pytest

from hearth import callable_headers
from processes import cpu_ticks, descriptors, resident_kib, until
from wire import request_bytes

STREAM = ('Accept', 'text/event-stream')


@pytest.fixture
def host(launch):
    # Without a worker in reserve nothing but connections comes and goes.
    host = launch(['probe'], config={'workers': {'prewarmed': 0}})
    host.result('pid')
    return host


def settled(host, count):
    until(lambda: len(descriptors(host.pid)) <= count, f'no more than {count} descriptors are open')
    until(lambda: host.result('open') == 1, 'nothing runs any more')


@pytest.mark.parametrize('leave', ['close', 'reset'])
@pytest.mark.parametrize('sent', [0, 10, 60, 200, 100_000])
def test_mid_request(leave, sent, host):
    count = len(descriptors(host.pid))
    data = request_bytes('POST', host.path('pid'), callable_headers(), b'{"data":"' + b'x' * 300_000 + b'"}')
    for _ in range(20):
        wire = host.wire()
        wire.send(data[:sent])
        getattr(wire, leave)()
    settled(host, count)


@pytest.mark.parametrize('leave', ['close', 'reset'])
def test_while_the_function_runs(leave, host):
    """The function is notified when its caller has disconnected."""
    count = len(descriptors(host.pid))
    wire = host.wire()
    wire.send_request('POST', host.path('waits'), callable_headers(), '{"data":null}')
    until(lambda: host.result('open') == 2, 'it runs')
    getattr(wire, leave)()
    host.until_logged('saw cancellation')
    settled(host, count)


def test_while_a_function_runs_that_does_not_listen(launch):
    """Its worker is replaced, however far away the function's deadline is."""
    host = launch(['probe'], config={'defaults': {'timeoutSeconds': 600}, 'workers': {'prewarmed': 0}})
    worker = host.result('pid')
    with host.wire() as wire:
        wire.send_request('POST', host.path('spin'), callable_headers(), '{"data":null}')
        until(lambda: cpu_ticks(worker) > 20, 'it spins')
    until(lambda: worker not in {process.pid for process in host.workers()}, 'its worker is gone', seconds=40)
    host.until_logged('no sign of life.*"spin.* blocks its event loop')
    assert host.result('pid') != worker


@pytest.mark.parametrize('leave', ['close', 'reset'])
def test_mid_stream(leave, host):
    count = len(descriptors(host.pid))
    wire = host.wire()
    wire.send_request('POST', host.path('waits'), [*callable_headers(), STREAM], '{"data":null}')
    assert wire.head().status == 200
    next(wire.frames())
    getattr(wire, leave)()
    host.until_logged('saw cancellation')
    settled(host, count)


def test_mid_answer(host):
    count = len(descriptors(host.pid))
    for _ in range(5):
        with host.wire(receive_buffer=4096) as wire:
            wire.send_request('POST', host.path('big'), callable_headers(), '{"data":{"bytes":10000000}}')
            assert wire.head().status == 200
            wire.read_exactly(1000)
            wire.reset()
    settled(host, count)


def test_slow_reader_costs_no_memory(host):
    """A stream of 200 MB to a client that does not read: the function waits, the host does not pile it up."""
    before = resident_kib(host.pid)
    with host.wire(receive_buffer=4096) as wire:
        wire.send_request('POST', host.path('stream'), [*callable_headers(), STREAM], '{"data":{"count":2000,"bytes":100000}}')
        assert wire.head().status == 200
        frames = wire.frames()
        for _ in range(3):
            next(frames)
        for _ in range(50):
            assert host.result('pid') > 0
        assert resident_kib(host.pid) - before < 32 * 1024
        assert sum(1 for _ in frames) == 2000 - 3 + 1


def test_large_answer_to_a_slow_reader(host):
    with host.wire(receive_buffer=4096) as wire:
        wire.send_request('POST', host.path('big'), callable_headers(), '{"data":{"bytes":5000000}}')
        assert len(wire.response().json['result']) == 5_000_000
