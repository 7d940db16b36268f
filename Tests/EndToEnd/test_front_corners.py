"""Corners of HTTP/1.1 where parsers stumble: upgrades, CONNECT, trailers, extensions, old versions."""

import pytest

from hearth import callable_headers
from wire import Ended, request_bytes

BODY = b'{"data":1}'


def head(host, *lines, method='POST', target=None, version='1.1'):
    return '\r\n'.join([f'{method} {target or host.path("echo")} HTTP/{version}', 'Host: localhost', *lines]).encode() + b'\r\n\r\n'


def echo(host, data):
    return request_bytes('POST', host.path('echo'), callable_headers(), '{"data":%s}' % data)


JSON_TYPE = 'Content-Type: application/json'


@pytest.mark.parametrize('protocol', ['websocket', 'h2c', 'TLS/1.0', 'hearth'])
def test_upgrade_that_is_not_offered_is_ignored(protocol, conformance):
    with conformance.wire() as wire:
        lines = [JSON_TYPE, 'Connection: Upgrade, keep-alive', f'Upgrade: {protocol}', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']
        wire.send(head(conformance, *lines, 'Content-Length: 10') + BODY + echo(conformance, 2))
        assert wire.response().json == {'result': 1}
        assert wire.response().json == {'result': 2}


def test_upgrade_of_a_get(conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, 'Connection: Upgrade', 'Upgrade: websocket', method='GET', target='/_/health'))
        assert wire.response().status == 200


@pytest.mark.parametrize('target', ['127.0.0.1:80', 'example.com:443', '/echo'])
def test_connect_is_refused(target, conformance):
    """The host refuses CONNECT: it is no proxy."""
    with conformance.wire() as wire:
        wire.send(head(conformance, method='CONNECT', target=target) + echo(conformance, '"tunnelled"'))
        answer = wire.head()
        assert answer.status in (400, 404, 405, 501)
        assert b'tunnelled' not in wire.read_to_end()


@pytest.mark.parametrize('method, status', [('TRACE', {400, 404, 405, 501}), ('BREW', {400, 405, 501}), ('get', {400, 405, 501}),
                                            ('PROPFIND', {400, 404, 405, 501}), ('G' * 5000, {400, 405, 414, 431, 501})])
def test_methods_that_nobody_serves(method, status, conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, method=method, target='/nothing'))
        assert wire.head().status in status
    assert conformance.result('echo', 1) == 1


def test_options_of_everything(conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, method='OPTIONS', target='*'))
        assert wire.head().status in (200, 204, 400, 404)
    assert conformance.result('echo', 1) == 1


def test_old_version_that_asks_to_be_kept(conformance):
    with conformance.wire() as wire:
        for number in range(2):
            wire.send(head(conformance, JSON_TYPE, 'Connection: keep-alive', 'Content-Length: 10', version='1.0') + BODY)
            answer = wire.response()
            assert answer.json == {'result': 1}
            if (answer.header('Connection') or '').lower() != 'keep-alive':
                assert wire.read_to_end() == b''
                return


def test_old_version_with_chunks_is_refused(conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, JSON_TYPE, 'Transfer-Encoding: chunked', version='1.0') + b'a\r\n{"data":1}\r\n0\r\n\r\n')
        answer = wire.response()
        assert answer.status == 400
        wire.read_to_end()


def test_empty_body(conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, JSON_TYPE, 'Content-Length: 0') + head(conformance, JSON_TYPE, 'Transfer-Encoding: chunked') + b'0\r\n\r\n')
        assert [wire.response().status for _ in range(2)] == [400, 400]
        wire.send(echo(conformance, 3))
        assert wire.response().json == {'result': 3}


def test_body_of_a_get_is_read_over(conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, 'Content-Length: 10', method='GET', target='/_/health') + BODY + echo(conformance, 4))
        assert wire.response().status == 200
        assert wire.response().json == {'result': 4}


def test_body_for_a_page_that_is_not_there(conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, 'Content-Length: 10', target='/a/b/c/d') + BODY + echo(conformance, 5))
        assert wire.response().status == 404
        assert wire.response().json == {'result': 5}


@pytest.mark.parametrize('piece', [
    b'a;' + b'x' * 100_000 + b'\r\n{"data":1}\r\n0\r\n\r\n',
    b'a\r\n{"data":1}\r\n0\r\n' + b'X-Trailer: ' + b'x' * 100_000 + b'\r\n\r\n',
    b'a\r\n{"data":1}\r\n0\r\n' + b'X: y\r\n' * 50_000 + b'\r\n',
], ids=['extension', 'trailer', 'many trailers'])
def test_what_surrounds_chunks_is_bounded(piece, conformance):
    """Taken or refused, but not kept without a bound."""
    with conformance.wire() as wire:
        try:
            wire.send(head(conformance, JSON_TYPE, 'Transfer-Encoding: chunked') + piece)
            assert wire.response().status in (200, 400, 413, 431)
        except (ConnectionError, Ended):
            pass
    assert conformance.result('echo', 1) == 1


def test_body_in_chunks_of_one_byte(conformance):
    body = b'{"data":"' + b'x' * 5000 + b'"}'
    with conformance.wire() as wire:
        wire.send(head(conformance, JSON_TYPE, 'Transfer-Encoding: chunked') + b''.join(b'1\r\n%c\r\n' % byte for byte in body) + b'0\r\n\r\n')
        assert len(wire.response().json['result']) == 5000


@pytest.mark.parametrize('count, status', [(90, 200), (101, 431), (1000, 431)])
def test_number_of_headers(count, status, conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, JSON_TYPE, *(f'X-{number}: {number}' for number in range(count)), 'Content-Length: 10') + BODY)
        assert wire.response().status == status


def test_blank_line_before_a_request(conformance):
    """RFC 9112 section 2.2: some old clients send one after a body."""
    with conformance.wire() as wire:
        for number in range(3):
            wire.send(b'\r\n' + echo(conformance, number))
            assert wire.response().json == {'result': number}


def test_headers_with_bytes_beyond_ascii(conformance):
    with conformance.wire() as wire:
        wire.send(head(conformance, JSON_TYPE, 'X-Name: caf\u00e9', 'Content-Length: 10') + BODY)
        assert wire.response().status in (200, 400)
        wire.close()
    with conformance.wire() as wire:
        wire.send(b'POST ' + conformance.path('contextInfo').encode() + b' HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
                  b'Firebase-Instance-ID-Token: \xff\xfe\r\nContent-Length: 13\r\n\r\n{"data":null}')
        assert wire.response().status in (200, 400)
    assert conformance.result('echo', 1) == 1
