"""The HTTP front: RFC 9112, and what comes from clients that mean harm."""

import pytest

from hearth import BAD_REQUEST, callable_headers
from wire import Ended, gzipped, request_bytes

BODY = b'{"data":1}'


def post(host, *lines, body=BODY, version='1.1'):
    """A POST to echo with these header lines besides Host and Content-Type."""
    head = [f'POST {host.path("echo")} HTTP/{version}', 'Host: localhost', 'Content-Type: application/json', *lines]
    return '\r\n'.join(head).encode() + b'\r\n\r\n' + body


def echo_request(host, data):
    return request_bytes('POST', host.path('echo'), callable_headers(), '{"data":%s}' % data)


def test_keep_alive(conformance):
    with conformance.wire() as wire:
        for number in range(20):
            wire.send(echo_request(conformance, number))
            assert wire.response().json == {'result': number}


def test_pipelined_requests_are_answered_in_order(conformance):
    with conformance.wire() as wire:
        wire.send(b''.join(echo_request(conformance, number) for number in range(200)))
        assert [wire.response().json['result'] for _ in range(200)] == list(range(200))


def test_a_slow_request_holds_back_the_one_behind_it(conformance):
    with conformance.wire() as wire:
        wire.send(request_bytes('POST', conformance.path('slowStream'), callable_headers(), '{"data":null}') + echo_request(conformance, 2))
        assert [wire.response().json['result'] for _ in range(2)] == ['done', 2]


def test_request_in_single_bytes(conformance):
    with conformance.wire() as wire:
        for byte in echo_request(conformance, '"slow"'):
            wire.send(bytes([byte]))
        assert wire.response().json == {'result': 'slow'}


def test_chunked_body(conformance):
    with conformance.wire() as wire:
        wire.send(post(conformance, 'Transfer-Encoding: chunked', body=b'3;x=y\r\n{"d\r\n7\r\nata":1}\r\n0\r\nTrailer: x\r\n\r\n'))
        assert wire.response().json == {'result': 1}
        wire.send(echo_request(conformance, 2))
        assert wire.response().json == {'result': 2}


def test_expect_continue(conformance):
    with conformance.wire() as wire:
        wire.send(post(conformance, 'Content-Length: 10', 'Expect: 100-continue', body=b''))
        assert wire.head().status == 100
        wire.send(BODY)
        assert wire.response().json == {'result': 1}


def test_connection_close(conformance):
    with conformance.wire() as wire:
        wire.send(post(conformance, 'Content-Length: 10', 'Connection: close'))
        answer = wire.response()
        assert (answer.json, answer.header('Connection').lower()) == ({'result': 1}, 'close')
        assert wire.read_to_end() == b''


def test_old_version_closes_by_itself(conformance):
    with conformance.wire() as wire:
        wire.send(post(conformance, 'Content-Length: 10', version='1.0'))
        assert wire.response().json == {'result': 1}
        assert wire.read_to_end() == b''


SMUGGLED = {
    'two lengths': ['Content-Length: 10', 'Content-Length: 11'],
    'list of lengths': ['Content-Length: 10, 11'],
    'length and chunks': ['Content-Length: 10', 'Transfer-Encoding: chunked'],
    'negative length': ['Content-Length: -1'],
    'length with a sign': ['Content-Length: +10'],
    'length in hexadecimal': ['Content-Length: 0xa'],
    'length beyond 64 bits': ['Content-Length: 99999999999999999999999'],
    'unknown coding': ['Transfer-Encoding: xchunked'],
    'chunked not last': ['Transfer-Encoding: chunked, identity'],
    'chunked twice': ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
    'folded header': ['X-Folded: a', ' b', 'Content-Length: 10'],
    'blank before the colon': ['Content-Length : 10'],
    'zero byte in a value': ['X-Zero: a\0b', 'Content-Length: 10'],
    'bare line feed': ['X-Bare: a\nX-Next: b', 'Content-Length: 10'],
    'bare carriage return': ['X-Bare: a\rb', 'Content-Length: 10'],
    'header without a colon': ['Content-Length 10'],
    'header without a name': [': x', 'Content-Length: 10'],
}
BROKEN_CHUNKS = [b'g\r\n{"data":1}\r\n0\r\n\r\n', b'-a\r\n{"data":1}\r\n0\r\n\r\n', b'a\r\n{"data":1}xx0\r\n\r\n', b'ffffffffffffffffff\r\n',
                 b'a \r\n{"data":1}\r\n0\r\n\r\n', b'a\n{"data":1}\n0\n\n', b' a\r\n{"data":1}\r\n0\r\n\r\n']


def refused(host, data):
    """The status of a request that must be the last one on its connection."""
    with host.wire() as wire:
        wire.send(data + echo_request(host, '"smuggled"'))
        answer = wire.response()
        try:
            rest = wire.read_to_end()
        except Ended:
            rest = b''
        assert b'smuggled' not in answer.body + rest
        return answer.status


@pytest.mark.parametrize('kind', SMUGGLED)
def test_ambiguous_requests_are_refused(kind, conformance):
    assert refused(conformance, post(conformance, *SMUGGLED[kind])) == 400


@pytest.mark.parametrize('body', BROKEN_CHUNKS)
def test_broken_chunks_are_refused(body, conformance):
    assert refused(conformance, post(conformance, 'Transfer-Encoding: chunked', body=body)) == 400


@pytest.mark.parametrize('data', [
    b'GET / HTTP/1.1\r\n\r\n', b'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', b'GET /\r\n\r\n', b'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
    b'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', b'G\0T / HTTP/1.1\r\nHost: a\r\n\r\n',
    b'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', b'GET / HTTP/1.1 x\r\nHost: a\r\n\r\n',
], ids=['no host', 'two hosts', 'no version', 'unknown version', 'preface of HTTP/2', 'TLS', 'zero byte', 'blank in target', 'more after version'])
def test_what_is_no_request_is_refused(data, conformance):
    with conformance.wire() as wire:
        wire.send(data)
        status = wire.head().status
        assert status in (400, 505), status
        wire.read_to_end()


def test_headers_beyond_the_limit(conformance):
    with conformance.wire() as wire:
        wire.send(b'GET / HTTP/1.1\r\nHost: a\r\n')
        try:
            for number in range(5000):
                wire.send(f'X-Filler-{number}: {"x" * 100}\r\n')
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert wire.head().status in (400, 431)


def test_target_beyond_the_limit(conformance):
    with conformance.wire() as wire:
        wire.send(b'GET /' + b'a' * 200_000)
        assert wire.head().status in (400, 414, 431)


class TestBodiesOverTheLimit:
    """32 MiB where the configuration says nothing."""

    LIMIT = 32 << 20

    def check(self, answer):
        assert (answer.status, answer.json) == (413, BAD_REQUEST)
        assert answer.header('Access-Control-Allow-Origin') == 'https://a.example'

    def test_announced(self, conformance):
        with conformance.wire() as wire:
            wire.send(post(conformance, 'Origin: https://a.example', f'Content-Length: {self.LIMIT + 1}', body=b'{'))
            self.check(wire.response())

    def test_announced_with_expect(self, conformance):
        with conformance.wire() as wire:
            wire.send(post(conformance, 'Origin: https://a.example', f'Content-Length: {self.LIMIT + 1}', 'Expect: 100-continue', body=b''))
            answer = wire.head()
            assert answer.status == 413, 'no invitation to send a body that is refused'

    def test_chunk_by_chunk(self, conformance):
        with conformance.wire() as wire:
            wire.send(post(conformance, 'Origin: https://a.example', 'Transfer-Encoding: chunked', body=b''))
            piece = b'100000\r\n' + b' ' * (1 << 20) + b'\r\n'
            try:
                for _ in range(34):
                    wire.send(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.check(wire.response())

    def test_inflated(self, conformance):
        """34 MiB of blanks, compressed to a thousandth."""
        body = gzipped(b' ' * (34 << 20) + b'{"data":1}')
        with conformance.wire() as wire:
            wire.send(post(conformance, 'Origin: https://a.example', 'Content-Encoding: gzip', f'Content-Length: {len(body)}', body=body))
            self.check(wire.response())

    def test_within(self, conformance):
        text = 'x' * (self.LIMIT - 100)
        assert conformance.result('echo', text) == text

    def test_the_host_goes_on(self, conformance):
        assert conformance.result('echo', 1) == 1
