"""Refusals of the admin API for functions, libraries, backups and the host itself, request by request."""

import json

import pytest

from hearth import Host, library

FUNCTION, EVENT, ARTIFACT = '/functions/echo', '/functions/makeUppercase', f"/artifacts/{'a' * 64}"
OWNER = [('Authorization', 'Bearer owner')]


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    plugins = {name: {'library': library(name)} for name in ('Conformance', 'Messages')}
    host = Host(tmp_path_factory.mktemp('refusals'), plugins, mode='development').start()
    yield host
    host.stop()


def ask(host, method, path, body=None):
    return host.request(method, f'/_/api{path}', OWNER, '' if body is None else body if isinstance(body, str) else json.dumps(body))


@pytest.mark.parametrize('method, path, body, status, part', [
    ('POST', '/functions', None, 405, 'POST is not used here; use GET'), ('PUT', FUNCTION, None, 405, 'use GET or DELETE'),
    ('GET', '/functions/nothing', None, 404, 'there is no function nothing'), ('GET', f'{FUNCTION}/nothing', None, 404, ''),
    ('POST', f'{FUNCTION}/versions', None, 405, 'use GET'), ('GET', '/functions/nothing/versions', None, 404, 'there is no function nothing'),
    ('GET', '/functions/ecko', None, 404, 'there is no function ecko; did you mean echo?'),
    ('POST', '/functions/ecko:rollback', {}, 404, 'there is no function ecko; did you mean echo?'),
    ('POST', f'{FUNCTION}:nothing', None, 404, ''), ('GET', f'{FUNCTION}:rollback', None, 405, 'use POST'),
    ('POST', f'{FUNCTION}:rollback', {'to': 'x'}, 400, 'to must be the number of a version'),
    ('POST', f'{FUNCTION}:rollback', {'to': 7}, 404, 'echo has no version 7; its versions: 1'),
    ('POST', f'{FUNCTION}:rollback', {'to': 2 ** 63}, 400, 'to must be the number of a version'),
    ('POST', f'{FUNCTION}:split', {}, 400, 'versions must be an object such as {"5": 90, "6": 10}'),
    ('POST', f'{FUNCTION}:split', {'versions': {'x': 100}}, 400, 'versions must be an object such as'),
    ('POST', f'{FUNCTION}:split', {'versions': {'1': 99.5}}, 400, 'versions must be an object such as'),
    ('POST', f'{FUNCTION}:split', {'versions': {}}, 400, 'one or two versions, with whole percentages'),
    ('POST', f'{FUNCTION}:split', {'versions': {'1': 2 ** 62, '2': 2 ** 62}}, 400, 'one or two versions, with whole percentages'),
    ('POST', f'{FUNCTION}:split', {'versions': {'1': 50, '2': 50}}, 404, 'echo has no version 2; its versions: 1'),
    ('POST', f'{FUNCTION}:invoke', None, 400, 'echo is called by requests, not by events'),
    ('POST', f'{EVENT}:invoke', [], 400, 'the body must be an object with before, after and params'),
    ('POST', f'{EVENT}:invoke', {}, 400, 'params must contain pushId'),
    ('POST', f'{EVENT}:invoke', {'params': {'pushId': 'a.b'}}, 400, '/a.b/original is not a path of a database'),
    ('POST', f'{EVENT}:invoke', {'params': {'pushId': 'a'}, 'authType': 'x'}, 400, 'authType must be one of '),
    ('GET', '/artifacts/x', None, 400, 'in 64 hexadecimal digits'), ('GET', f'{ARTIFACT}/x', None, 404, ''),
    ('DELETE', ARTIFACT, None, 405, 'use GET or PUT'), ('PUT', f'{ARTIFACT}?offset=-1', 'x', 400, 'offset must be a whole number of at least 0'),
    ('PUT', ARTIFACT, '', 400, 'a piece must have 1 to 8388608 bytes'), ('PUT', f'{ARTIFACT}?offset=5', 'x', 409, '0 bytes of this library are here'),
    ('PUT', f'{ARTIFACT}?offset=9223372036854775807', 'x', 409, '0 bytes of this library are here'),
    ('GET', f'{ARTIFACT}:complete', None, 405, 'use POST'),
    ('POST', f'{ARTIFACT}:complete', {}, 400, 'sizeBytes must be the size of the library in bytes'),
    ('POST', f'{ARTIFACT}:nothing', None, 404, ''),
    ('PUT', '/deployments', None, 405, 'use GET or POST'), ('GET', '/deployments/1', None, 404, ''),
    ('POST', '/deployments', '{', 400, 'the body is not JSON (line 1, column 2'),
    ('POST', '/deployments', {'plugins': {}, 'removes': 'x'}, 400, 'removes must be true or false'),
    ('POST', '/deployments', {'plugins': {f'P{number}': {} for number in range(101)}}, 400, 'plugins must be an object of at most 100 plugins'),
    ('GET', '/restores', None, 405, 'use POST'), ('GET', '/restores/x', None, 405, 'use PUT or DELETE'),
    ('PUT', '/restores/x?offset=0', 'x', 404, 'there is no such restore'),
    ('PUT', '/restores/x?offset=-1', 'x', 400, 'offset must be a number from 0'),
    ('POST', '/restores/x:apply', None, 404, 'there is no such restore'), ('POST', '/restores/x:nothing', None, 404, ''),
    ('DELETE', '/restores/x', None, 200, '{}'), ('GET', '/backup', None, 405, 'use POST'), ('POST', '/backup/x', None, 404, ''),
    ('GET', '/host:upgrade', None, 405, 'use POST'), ('POST', '/host:nothing', None, 404, ''), ('POST', '/host', None, 404, ''),
    ('POST', '/host:upgrade', {'timeoutSeconds': 0}, 400, 'timeoutSeconds must be a number from 1 to 3600'),
    ('POST', '/host:upgrade', {'timeoutSeconds': 2 ** 62}, 400, 'timeoutSeconds must be a number from 1 to 3600'),
    ('GET', '/functions/%zz', None, 400, 'a % that is not followed by two hexadecimal digits'),
])
def test_request(method, path, body, status, part, host):
    answer = ask(host, method, path, body)
    assert answer.status == status, answer.body
    said = answer.json['error']['message'] if status >= 400 else answer.text
    assert part in said and '\n' not in said, said


def test_pieces_of_a_restore(host):
    """They come in their order; another restore takes the place of one that was begun."""
    first = ask(host, 'POST', '/restores').json['restore']
    answer = ask(host, 'PUT', f'/restores/{first}?offset=5', 'x')
    assert (answer.status, answer.json['error']['message']) == (400, 'expected the piece at offset 0, found the one at 5')
    second = ask(host, 'POST', '/restores').json['restore']
    assert 'there is no such restore' in ask(host, 'PUT', f'/restores/{first}?offset=0', 'x').json['error']['message']
    assert ask(host, 'PUT', f'/restores/{second}?offset=0', 'x' * 100).json == {'receivedBytes': 100}
    assert ask(host, 'POST', f'/restores/{second}:apply').json['error']['message'] == 'this is not a backup of Hearth'
    assert 'there is no such restore' in ask(host, 'PUT', f'/restores/{second}?offset=100', 'x').json['error']['message']
    assert not list(host.data.glob('restore-*'))


def test_uploads_that_nobody_ends(launch):
    """At most a hundred are possible; the existing ones can still be ended."""
    host = launch({}, mode='development')
    for number in range(100):
        assert ask(host, 'PUT', f'/artifacts/{number:064x}', 'x').json == {'state': 'partial', 'receivedBytes': 1}
    answer = ask(host, 'PUT', f"/artifacts/{'f' * 64}", 'x')
    assert (answer.status, answer.json['error']['message']) == (
        400, '100 uploads are already unfinished or not deployed; deploy them, or wait a day')
    assert ask(host, 'PUT', f'/artifacts/{0:064x}?offset=1', 'x').json == {'state': 'partial', 'receivedBytes': 2}
