"""Stopping: what was accepted is answered."""

import json
import threading

import pytest

from hearth import callable_headers
from load import Load
from processes import descendants, until
from wire import Ended, Wire

STREAM = ('Accept', 'text/event-stream')


@pytest.fixture
def host(launch):
    host = launch(['probe'], config={'defaults': {'timeoutSeconds': 60}, 'workers': {'drainSeconds': 20}})
    host.result('pid')
    return host


def running(host, count):
    until(lambda: host.result('open') == count + 1, f'{count} calls run')


def test_calls_in_flight_are_answered(host):
    wires = [host.wire() for _ in range(30)]
    for wire in wires:
        wire.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":1500}}')
    running(host, 30)
    host.begin_stop()
    for wire in wires:
        answer = wire.response()
        assert (answer.status, answer.json) == (200, {'result': 'slept'})
        assert (answer.header('Connection') or '').lower() == 'close'
        assert wire.read_to_end() == b''
    host.stop()


def test_streams_in_flight_are_ended_by_their_result(host):
    with host.wire() as wire:
        wire.send_request('POST', host.path('stream'), [*callable_headers(), STREAM], '{"data":{"count":5,"bytes":10,"milliseconds":200}}')
        assert wire.head().status == 200
        frames = wire.frames()
        next(frames)
        host.begin_stop()
        rest = list(frames)
        assert len(rest) == 5
        assert '"result"' in rest[-1]
    host.stop()


def test_requests_that_have_begun_are_answered(host):
    """Half of the body has come when the signal does."""
    with host.wire() as wire:
        body = b'{"data":null}'
        wire.send(f'POST {host.path("pid")} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n')
        wire.send(body[:5])
        with host.wire() as other:
            assert other.request('GET', '/_/health').status == 200
        host.begin_stop()
        until(lambda: not accepts(host.port), 'it takes nothing new')
        wire.send(body[5:])
        assert wire.response().status in (200, 503)
    host.stop()


def accepts(port):
    try:
        Wire(port).close()
        return True
    except ConnectionRefusedError:
        return False


def test_idle_connections_do_not_hold_it_up(host):
    wires = [host.wire() for _ in range(20)]
    for wire in wires:
        assert wire.request('GET', '/_/health').status == 200
    host.begin_stop()
    for wire in wires:
        assert wire.read_to_end() == b''
    host.stop()


def test_not_ready_while_it_drains(host):
    with host.wire() as busy, host.wire() as watcher:
        assert watcher.request('GET', '/_/ready').status == 200
        busy.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":1500}}')
        running(host, 1)
        host.begin_stop()

        def is_told():
            try:
                return watcher.request('GET', '/_/ready').status == 503
            except (Ended, OSError):
                return not accepts(host.port)

        until(is_told, 'it is not ready any more')
        assert busy.response().status == 200
    host.stop()


def test_a_function_that_does_not_end_is_given_up(launch):
    host = launch(['probe'], config={'defaults': {'timeoutSeconds': 600}, 'workers': {'drainSeconds': 0.5}})
    host.result('pid')
    with host.wire() as wire:
        wire.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":500000}}')
        running(host, 1)
        host.begin_stop()
        answer = wire.response()
        assert answer.status in (500, 503)
        assert answer.json['error']['status'] in ('INTERNAL', 'UNAVAILABLE')
    host.stop()


def test_a_second_signal_ends_it_at_once(launch):
    host = launch(['probe'], config={'defaults': {'timeoutSeconds': 600}, 'workers': {'drainSeconds': 600}})
    host.result('pid')
    with host.wire() as wire:
        wire.send_request('POST', host.path('sleep'), callable_headers(), '{"data":{"milliseconds":500000}}')
        running(host, 1)
        host.begin_stop()
        until(lambda: not accepts(host.port), 'it drains')
        family = descendants(host.pid)
        host.begin_stop()
        host.process.wait(20)
        host.process = None
        until(lambda: not [process for process in family if process.lives()], 'its workers are gone')


def test_nothing_accepted_is_dropped_under_load(host):
    """A call that the function answered has reached its caller: what ran is never more than what was answered."""
    with Load(host, 'says', data={'text': 'ran'}, clients=16) as load:
        until(lambda: load.count() > 300, 'load')
        threading.Thread(target=host.stop).start()
        until(lambda: load.lost().get('refused'), 'the port is closed', 40)
    until(lambda: host.process is None, 'stopped', 40)
    answers, lost = load.answers(), load.lost()
    assert set(answers) <= {(200, None), (503, 'UNAVAILABLE')}, answers
    assert 'cut' not in lost and 'silence' not in lost, lost
    entries = [json.loads(line) for line in host.log.splitlines() if line.startswith('{')]
    ran = sum(entry['message'] == 'ran' and entry.get('stream') == 'stdout' for entry in entries)
    assert ran <= answers[200, None], (ran, answers)
