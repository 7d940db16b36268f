"""Cross-origin answers: specification section 5."""

import pytest

from hearth import BAD_REQUEST, UNAUTHENTICATED, callable_headers

ORIGIN = ('Origin', 'https://a.example')
ASKED = 'authorization,content-type,firebase-instance-id-token,x-firebase-appcheck'


def preflight(host, name, origin='https://a.example', asked=ASKED):
    headers = [('Access-Control-Request-Method', 'POST')]
    headers += [('Origin', origin)] if origin else []
    headers += [('Access-Control-Request-Headers', asked)] if asked else []
    return host.request('OPTIONS', host.path(name), headers)


def test_preflight(conformance):
    answer = preflight(conformance, 'echo')
    assert (answer.status, answer.body) == (204, b'')
    assert answer.header('Access-Control-Allow-Origin') == 'https://a.example'
    assert answer.header('Access-Control-Allow-Methods') == 'POST'
    assert answer.header('Access-Control-Allow-Headers') == ASKED
    assert answer.header('Vary') == 'Origin, Access-Control-Request-Headers'
    for name in ('Credentials', 'Max-Age', 'Expose-Headers'):
        assert answer.header(f'Access-Control-{name}') is None
        assert answer.header(f'Access-Control-Allow-{name}') is None


def test_preflight_without_origin(conformance):
    answer = preflight(conformance, 'echo', origin=None, asked=None)
    assert answer.status == 204
    assert answer.header('Access-Control-Allow-Origin') is None
    assert answer.header('Access-Control-Allow-Headers') is None


@pytest.mark.parametrize('name', ['corsList', 'corsRegex'])
def test_preflight_from_an_origin_that_is_not_listed(name, conformance):
    answer = preflight(conformance, name, origin='https://evil.test')
    assert answer.status == 204
    assert answer.header('Access-Control-Allow-Origin') is None


@pytest.mark.parametrize('origin', ['https://app.example.com.evil.test', 'http://app.example.com', 'https://app.example.com:444', 'null'])
def test_list_compares_whole_origins(origin, conformance):
    answer = conformance.callable('corsList', 1, headers={'Origin': origin})
    assert (answer.status, answer.header('Access-Control-Allow-Origin')) == (200, None)


def test_preflight_where_cors_is_off(conformance):
    answer = preflight(conformance, 'corsFalse')
    assert (answer.status, answer.json) == (400, BAD_REQUEST)
    assert answer.header('Access-Control-Allow-Origin') is None


@pytest.mark.parametrize('body, status', [('{', 400), ('{"data":{"code":"internal","message":"m"}}', 500)])
def test_errors_carry_the_headers(body, status, conformance):
    answer = conformance.request('POST', conformance.path('throwsError'), [*callable_headers(), ORIGIN], body)
    assert (answer.status, answer.header('Access-Control-Allow-Origin'), answer.header('Vary')) == (status, ORIGIN[1], 'Origin')


def test_refused_token_carries_the_headers(conformance):
    answer = conformance.callable('echo', 1, token='junk', headers=[ORIGIN])
    assert (answer.status, answer.json) == (401, UNAUTHENTICATED)
    assert answer.header('Access-Control-Allow-Origin') == ORIGIN[1]


def test_unknown_function_carries_the_headers(conformance):
    answer = conformance.callable('noSuchFunction', 1, headers=[ORIGIN])
    assert (answer.status, answer.header('Access-Control-Allow-Origin')) == (404, ORIGIN[1])


def test_origin_with_a_line_break_is_not_echoed(conformance):
    with conformance.wire() as wire:
        wire.send(f'POST {conformance.path("echo")} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n'
                  'Origin: https://a.example\r\n X-Injected: 1\r\nContent-Length: 10\r\n\r\n{"data":1}')
        answer = wire.response()
        assert answer.status == 400
        assert answer.header('X-Injected') is None
