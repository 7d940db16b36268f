"""Plain HTTP functions: specification section 7."""

import pytest

from wire import gzipped


@pytest.fixture
def call(conformance):
    """Calls the function `web`, that answers with what it was given."""
    def request(method='GET', path='', headers=(), body=b'', **options):
        return conformance.request(method, conformance.path('web') + path, headers, body, **options)
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
    assert (answer['path'], answer.get('query')) == (seen, query)


@pytest.mark.parametrize('target, seen', [('/web', '/'), ('/web/', '/'), ('/web/a?x=1', '/a')])
def test_path_in_production_shape(target, seen, conformance):
    assert conformance.request('GET', target).json['path'] == seen


@pytest.mark.parametrize('target', ['/webs', '/we', '/WEB'])
def test_names_match_exactly(target, conformance):
    assert conformance.request('GET', target).status == 404


def test_headers(call):
    pairs = [('X-One', 'a'), ('X-Two', ''), ('Cookie', 'a=1; b=2'), ('X-Forwarded-For', '1.2.3.4'), ('Accept', '*/*')]
    seen = call(headers=pairs).json['headers']
    given = {(name.lower(), value) for name, value in pairs}
    assert given <= set(zip(seen[::2], seen[1::2], strict=True))


def test_repeated_headers_keep_their_order(call):
    seen = call(headers=[('X-Many', '1'), ('X-Other', 'x'), ('X-Many', '2')]).json['headers']
    assert [value for name, value in zip(seen[::2], seen[1::2], strict=True) if name == 'x-many'] == ['1', '2']


@pytest.mark.parametrize('body', [b'', b'\0\xff', b'plain', '{"a": é}'.encode(), b'x' * 100_000])
def test_body_arrives_as_it_was_sent(body, call):
    answer = call('POST', headers={'Content-Type': 'application/octet-stream'}, body=body).json
    assert bytes.fromhex(answer['bodyHex']) == body


def test_compressed_body_arrives_inflated(call):
    answer = call('POST', headers={'Content-Type': 'text/plain', 'Content-Encoding': 'gzip'}, body=gzipped(b'hello')).json
    assert bytes.fromhex(answer['bodyHex']) == b'hello'


@pytest.mark.parametrize('body', ['{', '{"a":1}x', "{'a':1}"])
def test_malformed_json_is_refused_before_the_handler(body, call):
    assert call('POST', headers={'Content-Type': 'application/json'}, body=body).status == 400


@pytest.mark.parametrize('body', ['{"a":1}', '[1]', '"x"', '1', 'null', ''])
def test_json(body, call):
    answer = call('POST', headers={'Content-Type': 'application/json'}, body=body)
    assert answer.status == 200
    assert bytes.fromhex(answer.json['bodyHex']).decode() == body


def test_no_tokens_are_asked_for(call):
    assert call(headers={'Authorization': 'Basic dTpw'}).status == 200
    assert call(headers={'Authorization': 'Bearer junk'}).status == 200


def test_no_cors_of_its_own(call):
    answer = call(headers={'Origin': 'https://a.example'})
    assert answer.header('Access-Control-Allow-Origin') is None


def test_cors_where_it_is_asked_for(launch):
    host = launch(config={'functions': {'web': {'cors': True}}})
    answer = host.request('OPTIONS', host.path('web'), {'Origin': 'https://a.example', 'Access-Control-Request-Method': 'PUT'})
    assert answer.status == 204
    assert answer.header('Access-Control-Allow-Methods') == 'GET,HEAD,PUT,PATCH,POST,DELETE'
    answer = host.request('GET', host.path('web'), {'Origin': 'https://a.example'})
    assert answer.header('Access-Control-Allow-Origin') == 'https://a.example'


def test_error_that_is_thrown(conformance):
    answer = conformance.request('GET', conformance.path('webThrows'))
    assert (answer.status, answer.text) == (500, 'Internal Server Error')
    assert answer.header('Content-Type') == 'text/html; charset=utf-8'


def test_status_and_headers_of_the_answer(conformance):
    answer = conformance.request('GET', conformance.path('webTeapot'))
    assert answer.status == 418
    assert answer.header('X-Tea') == 'green'
    assert answer.text == 'short and stout'
    assert answer.header('X-Powered-By') is None and answer.header('ETag') is None


def test_streamed_answer(conformance):
    answer = conformance.request('GET', conformance.path('webStream'))
    assert answer.status == 200
    assert answer.is_chunked
    assert answer.text == 'one two three'
    assert len(answer.chunks) > 1


def test_deadline(launch):
    host = launch(config={'functions': {'webNever': {'timeoutSeconds': 1}}})
    assert host.request('GET', host.path('webNever')).status == 504


@pytest.mark.parametrize('target', ['/favicon.ico', '/robots.txt'])
def test_what_browsers_ask_for_is_not_the_functions(target, conformance):
    assert conformance.request('GET', target).status == 404
    host_form = conformance.request('GET', target, host='us-central1-demo-hearth.example.com')
    assert host_form.status == 404
