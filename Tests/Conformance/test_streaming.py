"""Streaming callables: specification section 6."""

import pytest

from hearth import BAD_REQUEST, callable_headers
from wire import event_values

STREAM = ('Accept', 'text/event-stream')


def stream(host, name, data='null', **options):
    headers = [*callable_headers(), STREAM]
    return host.request('POST', host.path(name), headers, '{"data":%s}' % data, **options)


def test_headers_of_a_stream(conformance):
    headers = [*callable_headers(), STREAM, ('Origin', 'https://a.example')]
    answer = conformance.request('POST', conformance.path('streamsCountdown'), headers, '{"data":{"from":1}}')
    assert answer.status == 200
    assert answer.header('Content-Type') == 'text/event-stream; charset=utf-8'
    assert answer.header('Cache-Control') == 'no-cache, no-transform'
    assert answer.header('X-Accel-Buffering') == 'no'
    assert answer.header('Access-Control-Allow-Origin') == 'https://a.example'
    assert answer.header('Vary') == 'Origin'
    assert answer.is_chunked


@pytest.mark.parametrize('accept', ['text/event-stream, application/json', 'text/event-stream;q=1', '*/*', 'text/*', ''])
def test_only_the_exact_accept_asks_for_a_stream(accept, conformance):
    answer = conformance.callable('streamsCountdown', {'from': 2}, headers={'Accept': accept})
    assert answer.json == {'result': 'liftoff'}


def test_context_tells_that_a_stream_was_asked_for(conformance):
    assert event_values(stream(conformance, 'contextInfo').body)[-1]['result']['acceptsStreaming'] is True


def test_many_chunks_in_order(conformance):
    values = event_values(stream(conformance, 'streamsCountdown', '{"from":3000}').body)
    assert values[:-1] == [{'message': {'n': n}} for n in range(3000, 0, -1)]
    assert values[-1] == {'result': 'liftoff'}


def test_enforced_app_check_fails_within_the_stream(conformance):
    values = event_values(stream(conformance, 'enforcesAppCheck').body)
    assert values == [{'error': {'message': 'Unauthenticated', 'status': 'UNAUTHENTICATED'}}]


def test_malformed_body_fails_within_the_stream(conformance):
    answer = conformance.request('POST', conformance.path('echo'), [*callable_headers(), STREAM], '{')
    assert answer.status == 200
    assert event_values(answer.body) == [BAD_REQUEST]


def test_stream_for_an_old_client(conformance):
    """HTTP/1.0 knows no chunks: the end of the connection ends the stream."""
    with conformance.wire() as wire:
        body = b'{"data":{"from":2}}'
        wire.send(f'POST {conformance.path("streamsCountdown")} HTTP/1.0\r\nContent-Type: application/json\r\n'
                  f'Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n'.encode() + body)
        answer = wire.head()
        assert not answer.is_chunked
        assert event_values(wire.read_to_end()) == [{'message': {'n': 2}}, {'message': {'n': 1}}, {'result': 'liftoff'}]


def test_connection_is_usable_after_a_stream(conformance):
    with conformance.wire() as wire:
        for _ in range(3):
            answer = wire.request('POST', conformance.path('streamsCountdown'), [*callable_headers(), STREAM], '{"data":{"from":1}}')
            assert event_values(answer.body)[-1] == {'result': 'liftoff'}


class TestHeartbeats:
    """slowStream answers after 2.5 s and beats each second."""

    def pieces(self, host, name='slowStream'):
        """The frames before the result, and the result's own frame."""
        body = stream(host, name).body
        before, mark, rest = body.partition(b'{"result":"done"}')
        assert (mark, rest) == (b'{"result":"done"}', b'\n\n'), body
        return before

    def test_padding_keeps_the_stream_one_frame(self, launch):
        host = launch(config={'functions': {'slowStream': {'heartbeatStyle': 'padding'}}})
        before = self.pieces(host)
        assert before.startswith(b'data: ')
        assert before[6:] in (b' ', b'  '), f'one blank for each heartbeat after the frame was opened: {before!r}'

    def test_off(self, launch):
        host = launch(config={'functions': {'slowStream': {'heartbeatStyle': 'off'}}})
        assert self.pieces(host) == b'data: '
