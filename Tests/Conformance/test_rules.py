"""Rules of the callable protocol that cases/callable.json has no row for: specification sections 1, 2, 4."""

import json
import zlib

import pytest

from expectations import same
from hearth import BAD_REQUEST, INTERNAL, error_body
from processes import until
from wire import gzipped

INT64 = 'type.googleapis.com/google.protobuf.Int64Value'
UINT64 = 'type.googleapis.com/google.protobuf.UInt64Value'
JSON_TYPE = 'application/json; charset=utf-8'

CODES = {
    'ok': 200, 'cancelled': 499, 'unknown': 500, 'invalid-argument': 400, 'deadline-exceeded': 504, 'not-found': 404,
    'already-exists': 409, 'permission-denied': 403, 'resource-exhausted': 429, 'failed-precondition': 400, 'aborted': 409,
    'out-of-range': 400, 'unimplemented': 501, 'internal': 500, 'unavailable': 503, 'data-loss': 500, 'unauthenticated': 401,
}


def post(host, body, headers=(), name='echo'):
    return host.request('POST', host.path(name), [('Content-Type', 'application/json'), *headers], body)


def nested(depth):
    """A whole body of `depth` containers, the outer object counted."""
    return '{"data":' + '[' * (depth - 1) + ']' * (depth - 1) + '}'


@pytest.mark.parametrize('code', CODES)
def test_error_code(code, conformance):
    answer = conformance.callable('throwsError', {'code': code, 'message': 'm', 'details': {'k': [1, None]}})
    assert answer.status == CODES[code]
    assert answer.header('Content-Type') == JSON_TYPE
    status = code.upper().replace('-', '_')
    assert answer.json == error_body(status, 'm', details={'k': [1, None]})


def test_error_with_an_empty_message(conformance):
    answer = conformance.callable('throwsError', {'code': 'aborted', 'message': ''})
    assert answer.json == error_body('ABORTED', '')


def test_details_go_through_the_encoder(conformance):
    wrapped = {'@type': INT64, 'value': '9007199254740993'}
    answer = conformance.callable('throwsError', {'code': 'aborted', 'message': 'm', 'details': {'big': wrapped, 'small': 3}})
    assert answer.json['error']['details'] == {'big': wrapped, 'small': 3}


def test_infinity_is_an_internal_error(conformance):
    answer = conformance.callable('returnsInfinity')
    assert (answer.status, answer.json) == (500, INTERNAL)


def test_plain_error_is_logged_and_not_leaked(conformance):
    before = conformance.log.count('PlainError')
    answer = conformance.callable('throwsPlain')
    assert (answer.status, answer.json) == (500, INTERNAL)
    until(lambda: conformance.log.count('PlainError') > before, 'the error is in the log')


@pytest.mark.parametrize('body', [
    '{"d\\u0061ta":1}', '{"\\u0064\\u0061\\u0074\\u0061":1}', '{"data":7,"d\\u0061ta":1}', '{"d\\u0061ta":7,"data":1}',
], ids=['one escape', 'all escaped', 'escaped duplicate last', 'plain duplicate last'])
def test_data_key_written_with_escapes(body, conformance):
    assert post(conformance, body).json == {'result': 1}


@pytest.mark.parametrize('body', [
    '{"data":1,"dat\\u0061x":1}', '{"data":1,"":1}', '{"data":1,"data ":1}', '{"DATA":1}', '{"data\\u0000":1}', '{"data":1}{"data":2}',
    '{"data":1,}', '{"data":01}', '{"data":.5}', '{"data":+1}', '{"data":"\t"}', '{"data":"\\x"}', '{"data":Infinity}',
    '\ufeff{"data":1}', '{"data":1} \0', "{data:1}", '// {"data":1}', '{"data":tru}', '{"data":"unended', 'null', 'true', '[]',
])
def test_bad_body(body, conformance):
    answer = post(conformance, body)
    assert (answer.status, answer.json, answer.header('Content-Type')) == (400, BAD_REQUEST, JSON_TYPE)


@pytest.mark.parametrize('body', [b'{"data":"\xff"}', b'{"data":"\xc0\x80"}', b'{"data":"\xed\xa0\x80"}', b'{"data":"\xf4\x90\x80\x80"}'])
def test_body_that_is_not_utf8(body, conformance):
    answer = post(conformance, body)
    assert (answer.status, answer.json) == (400, BAD_REQUEST)


def test_nesting_up_to_the_limit(conformance):
    assert post(conformance, nested(512)).status == 200


@pytest.mark.parametrize('depth', [513, 100_000])
def test_nesting_beyond_the_limit(depth, conformance):
    answer = post(conformance, nested(depth), [('Origin', 'https://a.example')])
    assert (answer.status, answer.json) == (400, BAD_REQUEST)
    assert answer.header('Access-Control-Allow-Origin') == 'https://a.example'


@pytest.mark.parametrize('content_type', ['application/json; charset=iso-8859-1', 'application/json;charset=latin1', 'application/jsonx',
                                          'application/vnd.api+json', 'text/json', 'application', ''])
def test_refused_content_type(content_type, conformance):
    answer = conformance.request('POST', conformance.path('echo'), {'Content-Type': content_type}, '{"data":1}')
    assert (answer.status, answer.json, answer.header('Content-Type')) == (400, BAD_REQUEST, JSON_TYPE)


@pytest.mark.parametrize('content_type', ['application/json;charset="utf-8"', 'APPLICATION/JSON; CHARSET=UTF-8', 'application/json;'])
def test_accepted_content_type(content_type, conformance):
    answer = conformance.request('POST', conformance.path('echo'), {'Content-Type': content_type}, '{"data":1}')
    assert (answer.status, answer.json) == (200, {'result': 1})


@pytest.mark.parametrize('method', ['GET', 'PUT', 'PATCH', 'DELETE'])
def test_other_methods(method, conformance):
    answer = conformance.request(method, conformance.path('echo'), {'Content-Type': 'application/json'}, '{"data":1}')
    assert (answer.status, answer.json) == (400, BAD_REQUEST)


def test_head_has_the_head_of_get(conformance):
    answer = conformance.request('HEAD', conformance.path('echo'), {'Content-Type': 'application/json'})
    assert answer.status == 400
    assert answer.body == b''


@pytest.mark.parametrize('pack, name', [(gzipped, 'gzip'), (zlib.compress, 'deflate')])
def test_compressed_body(pack, name, conformance):
    body = pack(b'{"data":{"text":"' + b'x' * 100_000 + b'"}}')
    answer = post(conformance, body, [('Content-Encoding', name)])
    assert (answer.status, len(answer.json['result']['text'])) == (200, 100_000)


def test_compressed_body_that_is_broken(conformance):
    answer = post(conformance, gzipped(b'{"data":1}')[:-6], [('Content-Encoding', 'gzip')])
    assert (answer.status, answer.json) == (400, BAD_REQUEST)


def test_large_body_comes_back_whole(conformance):
    text = 'é"\\\n' * 500_000
    assert conformance.result('echo', text) == text


def wrapper(kind, value):
    return '{"data":{"@type":"%s","value":%s}}' % (kind, value)


@pytest.mark.parametrize('kind, value', [
    (INT64, '"9223372036854775808"'), (INT64, '"-9223372036854775809"'), (INT64, '9223372036854775808'), (INT64, '"1.5"'), (INT64, '1.5'),
    (INT64, '"12x"'), (INT64, '""'), (INT64, '" "'), (INT64, '"0x10"'), (INT64, 'null'), (INT64, 'true'), (INT64, '{}'), (INT64, '[1]'),
    (UINT64, '"-1"'), (UINT64, '"18446744073709551616"'), (UINT64, '-1'), (UINT64, '"abc"'), (UINT64, 'null'),
])
def test_integer_wrapper_that_is_wrong(kind, value, conformance):
    answer = post(conformance, wrapper(kind, value))
    assert (answer.status, answer.json) == (400, BAD_REQUEST)


@pytest.mark.parametrize('kind, value, result', [
    (INT64, '"-9223372036854775808"', {'@type': INT64, 'value': '-9223372036854775808'}),
    (INT64, '9223372036854775807', {'@type': INT64, 'value': '9223372036854775807'}),
    (INT64, '"-9007199254740991"', -9007199254740991),
    (INT64, '"-9007199254740992"', {'@type': INT64, 'value': '-9007199254740992'}),
    (INT64, '"0"', 0), (INT64, '"-0"', 0), (INT64, '"007"', 7),
    (UINT64, '"5"', 5), (UINT64, '"9223372036854775808"', {'@type': UINT64, 'value': '9223372036854775808'}),
    (UINT64, '18446744073709551615', {'@type': UINT64, 'value': '18446744073709551615'}),
])
def test_integer_wrapper(kind, value, result, conformance):
    answer = post(conformance, wrapper(kind, value))
    assert answer.status == 200, answer.body
    assert answer.json == {'result': result}


def test_integer_wrapper_with_an_escaped_key(conformance):
    answer = post(conformance, '{"data":[{"\\u0040type":"%s","value":"9876543210"}]}' % INT64)
    assert answer.json == {'result': [9876543210]}


def test_integer_wrappers_at_any_depth(conformance):
    inner = '{"@type":"%s","value":"4"}' % INT64
    body = '{"data":{"a":[{"b":%s}],"c":{"@type":"x","d":%s}}}' % (inner, inner)
    assert post(conformance, body).json == {'result': {'a': [{'b': 4}], 'c': {'@type': 'x', 'd': 4}}}


@pytest.mark.parametrize('value', ['""', 'null', '0', 'false', '7', '{"a":1}', '[]', '"type.googleapis.com/google.protobuf.Timestamp"'])
def test_other_type_keys_stay_a_map(value, conformance):
    body = '{"data":{"@type":%s,"value":"4"}}' % value
    answer = post(conformance, body)
    assert answer.status == 200
    assert same(answer.json, {'result': {'@type': json.loads(value), 'value': '4'}})


@pytest.mark.parametrize('literal', ['0', '-0', '1.0', '1e2', '0.1', '-1.5e-7', '9007199254740991', '1e-320', '123456789.123456789'])
def test_numbers_survive(literal, conformance):
    assert same(post(conformance, '{"data":%s}' % literal).json, {'result': float(literal)})


@pytest.mark.parametrize('text', ['\u2028\u2029', '\x7f', '\ud7ff\ue000', '😀', '</script>', '\x01\x1f', '/', '\\', '"'])
def test_strings_survive(text, conformance):
    assert conformance.result('echo', {text: text}) == {text: text}


def test_lone_surrogates_do_no_harm(conformance):
    answer = post(conformance, '{"data":"\\ud800"}')
    assert answer.status in (200, 400)
    assert answer.header('Content-Type') == JSON_TYPE


def test_many_keys(conformance):
    data = {f'key{index}': index for index in range(5000)}
    assert conformance.result('echo', data) == data


def test_context(conformance, keys):
    token = keys.id_token('u7')
    headers = {'Firebase-Instance-ID-Token': 'iid-1'}
    result = conformance.result('contextInfo', token=token, app=keys.app_token('app-7'), headers=headers)
    assert result == {'hasAuth': True, 'uid': 'u7', 'tokenSub': 'u7', 'rawTokenMatches': True, 'hasApp': True, 'appId': 'app-7',
                      'instanceIdToken': 'iid-1', 'acceptsStreaming': False}


def test_empty_instance_id_is_absent(conformance):
    result = conformance.result('contextInfo', headers={'Firebase-Instance-ID-Token': ''})
    assert result['instanceIdToken'] is None


def test_answers_carry_no_needless_headers(conformance):
    answer = conformance.callable('echo', 1)
    names = {name.lower() for name, _ in answer.headers}
    assert names <= {'content-type', 'content-length', 'date', 'vary', 'connection', 'keep-alive'}
    assert {'content-type', 'content-length', 'date', 'vary'} <= names
