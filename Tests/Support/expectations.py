"""The language of cases/callable.json: placeholders for tokens in requests, and markers for expected answers."""

import json
import re

from tokens import app_check_claims, id_claims, unsigned, with_bad_signature
from wire import event_values

PLACEHOLDER = re.compile(r'\{\{(\w+)(?::([^}]*))?\}\}')


def fill_tokens(text, keys, issued):
    """Replaces {{validIdToken:uid=U}} and the like. Within a case, equal placeholders get the same token."""
    def fill(match):
        if match[0] not in issued:
            arguments = dict(pair.split('=', 1) for pair in match[2].split(',')) if match[2] else {}
            issued[match[0]] = make_token(match[1], arguments, keys)
        return issued[match[0]]
    return PLACEHOLDER.sub(fill, text)


def make_token(kind, arguments, keys):
    user, app = arguments.get('uid', 'u1'), arguments.get('appId', '1:123:web:abc')
    if kind == 'validIdToken':
        return keys.id_token(user)
    if kind == 'expiredIdToken':
        return keys.id_token(user, lifetime=-300, iat=id_claims()['iat'] - 3600, auth_time=id_claims()['iat'] - 3600)
    if kind == 'badSignatureIdToken':
        return with_bad_signature(keys.id_token(user))
    if kind == 'unsignedIdToken':
        return unsigned(id_claims(user))
    if kind == 'wrongProjectIdToken':
        return keys.id_token(user, project='other-project')
    if kind == 'validAppCheckToken':
        return keys.app_token(app)
    if kind == 'expiredAppCheckToken':
        return keys.app_token(app, lifetime=-300, iat=app_check_claims()['iat'] - 3600)
    raise AssertionError(f'unknown token {kind}')


def same(left, right):
    """Whether two JSON values are equal. Numbers are compared as doubles; booleans are not numbers."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return float(left) == float(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def contains(whole, part):
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], part[key]) for key in part)
    return same(whole, part)


def check_case(expect, answers):
    for answer in answers:
        assert answer.status == expect['status'], f'{answer.status} {answer.body!r}'
        check_headers(expect.get('headers', {}), answer)
    body = expect['body']
    if '$sequence' in body:
        assert len(answers) == len(body['$sequence'])
        for answer, wanted in zip(answers, body['$sequence'], strict=True):
            assert same(answer.json, wanted), answer.body
        return
    for answer in answers:
        check_body(body, answer)


def check_headers(wanted, answer):
    for name, value in wanted.items():
        assert answer.header(name) == value, f'{name}: {answer.header(name)!r}, wanted {value!r}'
    # The Content-Length in an answer to HEAD is that of an answer to GET.
    if not answer.is_chunked and answer.body:
        assert answer.header('Content-Length') == str(len(answer.body))
    assert answer.header('ETag') is None and answer.header('X-Powered-By') is None


def check_body(marker, answer):
    (kind, wanted), = marker.items()
    if kind == '$json':
        assert same(answer.json, wanted), answer.body
    elif kind == '$jsonAnyOf':
        assert any(same(answer.json, choice) for choice in wanted), answer.body
    elif kind == '$subset':
        assert contains(answer.json, wanted), answer.body
    elif kind == '$keys':
        assert sorted(answer.json) == sorted(wanted), answer.body
    elif kind == '$sse':
        values = event_values(answer.body)
        assert same(values, wanted), answer.body
        for frame in [frame for frame in answer.body.split(b'\n\n') if frame.startswith(b'data: ')]:
            check_compact(frame[6:].decode())
    elif kind == '$raw':
        assert answer.body == wanted.encode(), answer.body
    elif kind == '$empty':
        assert answer.body == b'', answer.body
    else:
        assert kind == '$any', f'unknown marker {kind}'


def check_compact(text):
    """Checks that the text has no white space outside of strings."""
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert not re.search(r'\s', outside), f'not compact: {text!r}'
    json.loads(text)
