"""Answers and log lines to mistakes that newcomers make: they say what is wrong and what to do."""

import json

import pytest

from deploys import Deploys, plugin
from hearth import BAD_REQUEST, REGION, callable_headers, error_body
from processes import until
from secure_host import TLS, Secure
from tokens import PROJECT
from wire import Wire

JSON = [('Content-Type', 'application/json')]


@pytest.fixture(scope='module')
def host(conformance):
    return conformance


@pytest.mark.parametrize('method, headers, body, reason', [
    ('POST', [], '{"data":1}', 'the Content-Type header is missing; a callable function takes application/json'),
    ('POST', [('Content-Type', 'text/plain')], '{"data":1}', 'the Content-Type is text/plain; a callable function takes application/json in UTF-8'),
    ('GET', JSON, '', 'the method is not POST'),
    ('POST', JSON, '', 'the body is empty'),
    ('POST', JSON, '{"data":1', 'the body is not JSON: line 1, column 10: the text ends before the value is complete'),
    ('POST', JSON, '{"data":}', "the body is not JSON: line 1, column 9: unexpected character '}'"),
    ('POST', JSON, '{"data":1} x', "the body is not JSON: line 1, column 12: there is more text after the value, from 'x' on"),
    ('POST', JSON, '[1]', 'the body is not a JSON object'),
    ('POST', JSON, '{"Data":1}', 'the body has no member "data"'),
    ('POST', JSON, '{"data":1,"x":2}', 'the body has other members beside "data"'),
    ('POST', JSON, '{"data":{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"x"}}', 'a 64-bit integer'),
])
def test_malformed_calls(method, headers, body, reason, host):
    """The body stays the protocol's; the reason is beside it."""
    answer = host.request(method, host.path('echo'), headers, body)
    assert (answer.status, answer.json) == (400, BAD_REQUEST)
    assert reason in answer.header('X-Hearth-Reason')


@pytest.mark.parametrize('data, message', [
    ({'ms': 'x'}, 'data.ms must be a whole number, and is text.'), ({'ms': [1]}, 'data.ms must be a whole number, and is a list.'),
    ({'ms': 3.5}, 'data.ms must be a whole number in the range that the function takes, and is 3.5.'),
    (5, 'data must be an object, and is a number.'), ({}, 'data.ms is missing.'), (None, 'data must not be null.'),
])
def test_data_of_another_shape(data, message, launch):
    """In the words of JSON: the client may be written in any language."""
    host = launch(['Faults'])
    answer = host.callable('sleep', data)
    assert (answer.status, answer.json) == (400, error_body('INVALID_ARGUMENT', message))
    # The host itself looks at what says that it is JSON.
    sent = host.request('POST', host.path('httpDecode'), [], json.dumps(data))
    assert (sent.status, message.replace('data', 'body') in sent.text) == (400, True), sent.text
    broken = host.request('POST', host.path('httpDecode'), [], '{')
    assert 'body is not JSON: ' in broken.text, broken.text


def test_another_project(host):
    """The reason has the callable protocol's form for callables, so that client SDKs show it, and is plain text otherwise."""
    answer = host.request('POST', f'/other-project/{REGION}/echo', [*callable_headers(), ('Origin', 'https://a.example')], '{"data":1}')
    error = answer.json['error']
    assert (answer.status, error['status']) == (404, 'NOT_FOUND')
    assert error['message'].startswith(f'this host serves the project "{PROJECT}", not "other-project"')
    assert answer.header('Access-Control-Allow-Origin') == 'https://a.example'
    answer = host.request('GET', f'/other-project/{REGION}/echo')
    assert answer.status == 404
    assert answer.text.startswith(f'Not Found: this host serves the project "{PROJECT}", not "other-project"')


@pytest.mark.parametrize('target', ['/other<b>/us-central1/echo', '/a/b/c', '/other/us-central1/'])
def test_paths_that_name_no_project(target, host):
    answer = host.request('GET', target)
    assert answer.status in (400, 404)
    assert 'this host serves the project' not in answer.text and '<b>' not in answer.text


@pytest.mark.parametrize('target, text', [
    ('/messages', 'there is no function "messages"; a database path ends with .json: /messages.json'),
    ('/', 'nothing is served at this address; a database path ends with .json: /.json'),
    ('/messages/m1/', 'nothing is served at this address; a database path ends with .json: /messages/m1.json'),
    ('/%3Cb%3E', 'nothing is served at this address; a database path ends with .json'),
    ('/_/nothing', 'nothing is served at this address'),
])
def test_paths_of_nothing(target, text, host):
    answer = host.request('GET', target)
    assert (answer.status, answer.text) == (404, f'Not Found: {text}')
    assert answer.header('Content-Type') == 'text/plain; charset=utf-8'
    call = host.request('POST', target, callable_headers(), '{"data":null}')
    assert (call.status, call.json) == (404, {'error': {'message': text, 'status': 'NOT_FOUND'}})


def test_a_live_connection_without_an_upgrade(host):
    answer = host.request('GET', f'/.ws?v=5&ns={PROJECT}-default-rtdb')
    assert (answer.status, answer.text) == (426, 'this address speaks WebSocket, version 13\n')


def test_http_to_a_port_with_tls(prepare):
    secure = Secure(prepare(config=TLS)).start()
    for request in (b'GET / HTTP/1.1\r\nHost: a\r\n\r\n', b'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'):
        with Wire(secure.host.port) as wire:
            wire.send(request)
            said = wire.read_to_end()
        assert said.startswith(b'HTTP/1.1 400 Bad Request\r\n')
        assert b'this port speaks TLS only; use https:// in the address' in said
    assert secure.call('1').status == 200


def test_one_line_for_each_deployment(launch):
    host = launch({})
    deploys = Deploys(host)
    deploys.deploy({'Things': plugin(1, 'one', 'two')})
    deploys.deploy({'Things': plugin(2, 'one', 'two')}, only=['functions:one'])
    host.until_logged('deployed: updated one to version 2')
    lines = [json.loads(line) for line in host.log.splitlines() if '"deployed: ' in line]
    assert [line['message'] for line in lines] == ['deployed: created one, two', 'deployed: updated one to version 2']
    assert [line['deployment'] for line in lines] == ['1', '2']
    assert (lines[1]['function'], lines[1]['version'], lines[1]['plugin'], lines[1]['reason']) == ('one', 2, 'Things', 'library changed')
    assert '"function created"' not in host.log


def test_a_line_of_the_host_names_its_function(launch, tmp_path):
    """`hearth functions:log` shows the function that a line of the host is about."""
    from commands import Commands
    host = launch({})
    Deploys(host).deploy({'Things': plugin(1, 'one')})
    hearth = Commands(host, tmp_path / 'shell')
    shown = until(lambda: next((line for line in hearth.succeeds('functions:log').splitlines() if 'deployed: ' in line), None), 'the line is kept')
    assert 'hearth: deployed: created one' in shown
    assert '  function=one' in shown
    assert '  plugin=Things' in shown
