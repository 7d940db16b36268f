"""Plain HTTP functions: specification section 7, with those of the Faults plugin."""

import pytest

from hearth import Host
from wire import Ended, gzipped


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('http'), ['Faults']).start()
    yield host
    host.stop()


@pytest.fixture
def call(host):
    """Calls httpEcho, that answers with what it was given."""
    def request(method='GET', path='', headers=(), body=b''):
        return host.request(method, host.path('httpEcho') + path, headers, body)
    return request


@pytest.mark.parametrize('method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
def test_methods(method, call):
    assert call(method).json['method'] == method


def test_head(call):
    answer = call('HEAD')
    assert (answer.status, answer.body) == (200, b'')


@pytest.mark.parametrize('path, seen, query', [('', '/', None), ('/', '/', None), ('/a/b?x=1&y=%20', '/a/b', 'x=1&y=%20'), ('?x', '/', 'x'),
                                               ('/%2e%2e/a%2Fb', '/%2e%2e/a%2Fb', None), ('/a//b', '/a//b', None)])
def test_path_without_the_functions_prefix(path, seen, query, call):
    answer = call(path=path).json
    assert (answer['path'], answer['query']) == (seen, query)


@pytest.mark.parametrize('target, seen', [('/httpEcho', '/'), ('/httpEcho/', '/'), ('/httpEcho/a?x=1', '/a')])
def test_path_in_production_shape(target, seen, host):
    assert host.request('GET', target).json['path'] == seen


@pytest.mark.parametrize('target', ['/httpEchos', '/httpEch', '/HTTPECHO'])
def test_names_match_exactly(target, host):
    assert host.request('GET', target).status == 404


def test_query_items(call):
    assert call(path='?a=1&b=%20x&a=2+3').json['queryItems'] == [['a', '1'], ['b', ' x'], ['a', '2 3']]


def test_headers(call):
    pairs = [('X-One', 'a'), ('X-Two', ''), ('Cookie', 'a=1; b=2'), ('X-Forwarded-For', '1.2.3.4'), ('Accept', '*/*')]
    seen = call(headers=pairs).json['headers']
    assert {(name.lower(), value) for name, value in pairs} <= {tuple(pair) for pair in seen}


def test_repeated_headers_keep_their_order(call):
    seen = call(headers=[('X-Many', '1'), ('X-Other', 'x'), ('X-Many', '2')]).json['headers']
    assert [value for name, value in seen if name == 'x-many'] == ['1', '2']


@pytest.mark.parametrize('body', ['', 'plain', '{"a": é}', 'x' * 1000, 'zero\0byte'])
def test_body_arrives_as_it_was_sent(body, call):
    answer = call('POST', headers={'Content-Type': 'application/octet-stream'}, body=body).json
    assert (answer['text'], answer['bodySize']) == (body, len(body.encode()))


def test_large_body(call):
    assert call('PUT', headers={'Content-Type': 'image/png'}, body=b'\xff' * 5_000_000).json['bodySize'] == 5_000_000


def test_compressed_body_arrives_inflated(call):
    answer = call('POST', headers={'Content-Type': 'text/plain', 'Content-Encoding': 'gzip'}, body=gzipped(b'hello')).json
    assert answer['text'] == 'hello'


@pytest.mark.parametrize('body', ['{', '{"a":1}x', "{'a':1}", '"x"', '1', 'null'])
@pytest.mark.parametrize('content_type', ['application/json', 'application/cloudevents+json; charset=utf-8'])
def test_malformed_json_is_refused_before_the_handler(body, content_type, call):
    assert call('POST', headers={'Content-Type': content_type}, body=body).status == 400


@pytest.mark.parametrize('body', ['{"a":1}', '[1]', ' [ ] ', ''])
def test_json(body, call):
    answer = call('POST', headers={'Content-Type': 'application/json'}, body=body)
    assert (answer.status, answer.json['text']) == (200, body)


@pytest.mark.parametrize('value', ['Basic dTpw', 'Bearer junk'])
def test_tokens_are_the_functions_own_business(value, call):
    answer = call(headers={'Authorization': value})
    assert ['authorization', value] in answer.json['headers']


def test_no_cors_of_its_own(call):
    answer = call(headers={'Origin': 'https://a.example'})
    assert answer.header('Access-Control-Allow-Origin') is None


def test_cors_where_it_is_asked_for(launch):
    host = launch(['Faults'], config={'functions': {'httpEcho': {'cors': True}, 'httpThrows': {'cors': True}}})
    answer = host.request('OPTIONS', host.path('httpEcho'), {'Origin': 'https://a.example', 'Access-Control-Request-Method': 'PUT'})
    assert answer.status == 204
    assert answer.header('Access-Control-Allow-Methods') == 'GET,HEAD,PUT,PATCH,POST,DELETE'
    for name, status in (('httpEcho', 200), ('httpThrows', 500)):
        answer = host.request('GET', host.path(name), {'Origin': 'https://a.example'})
        assert (answer.status, answer.header('Access-Control-Allow-Origin')) == (status, 'https://a.example')


def test_error_that_is_thrown(host):
    answer = host.request('GET', host.path('httpThrows'))
    assert (answer.status, answer.text) == (500, 'Internal Server Error')
    assert answer.header('Content-Type') == 'text/html; charset=utf-8'


def test_streamed_answer(host):
    answer = host.request('GET', host.path('httpStream') + '?chunks=4&bytes=5')
    assert (answer.status, answer.text) == (200, 'c' * 20)
    assert answer.is_chunked
    assert answer.header('X-Streamed') == 'yes'
    assert answer.header('ETag') is None and answer.header('X-Powered-By') is None


def test_long_streamed_answer(host):
    answer = host.request('GET', host.path('httpStream') + '?chunks=3000&bytes=10000')
    assert len(answer.body) == 30_000_000


def test_answer_that_never_ends_is_cut_at_the_deadline(host):
    """The client must not take what it has for the whole."""
    with host.wire() as wire:
        wire.send_request('GET', host.path('httpNeverEnds'))
        assert wire.head().status == 200
        with pytest.raises((Ended, ConnectionResetError)):
            list(wire.chunks())


def test_private_function(launch):
    host = launch(['Faults'], config={'functions': {'httpEcho': {'invoker': 'private'}}})
    assert host.request('GET', host.path('httpEcho')).status == 403
    token = (host.data / 'admin-token').read_text().strip()
    assert host.request('GET', host.path('httpEcho'), {'Authorization': f'Bearer {token}'}).status == 200
    other = token[:-1] + ('y' if token.endswith('x') else 'x')
    assert host.request('GET', host.path('httpEcho'), {'Authorization': f'Bearer {other}'}).status == 403


@pytest.mark.parametrize('target', ['/favicon.ico', '/robots.txt'])
def test_what_browsers_ask_for_is_not_the_functions(target, host):
    assert host.request('GET', target).status == 404
    assert host.request('GET', target, host='us-central1-demo-hearth.example.com').status == 404
