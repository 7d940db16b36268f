"""The administration under /_/api, request by request, and hearth events:list, show, replay, delete."""

import json

import pytest

from commands import Commands
from databases import Database
from hearth import Host
from processes import until

NAME = 'demo-hearth-default-rtdb'


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('admin'), mode='development').start()
    yield host
    host.stop()


@pytest.fixture
def hearth(host, tmp_path):
    made = Commands(host, tmp_path / 'here')
    made.succeeds('events:delete', '--all', '--force')
    return made


def ask(host, method, path, body=None, token='owner'):
    headers = [('Authorization', f'Bearer {token}')] if token else []
    return host.request(method, f'/_/api{path}', headers, '' if body is None else body if isinstance(body, str) else json.dumps(body))


JUDGE = '/databases/-/rules:judge'
LETTERS = '/databases/-/dead-letters'


@pytest.mark.parametrize('method, path, body, status, part', [
    ('GET', '', None, 200, 'demo-hearth'), ('GET', '/', None, 200, 'development'), ('POST', '', None, 405, 'GET'),
    ('GET', '/databases', None, 200, NAME), ('DELETE', '/databases', None, 405, 'GET'), ('GET', '/nothing', None, 404, ''),
    ('GET', '/databases/-', None, 404, ''), ('GET', '/databases/-/nothing', None, 404, ''), ('GET', '/databases/%zz/dead-letters', None, 400, '%'),
    ('GET', '/databases/not-there/dead-letters', None, 404, 'not-there'), ('GET', f'/databases/{NAME}/dead-letters', None, 200, 'deadLetters'),
    ('GET', LETTERS, None, 200, 'deadLetters'), ('POST', LETTERS, None, 405, 'GET'), ('GET', f'{LETTERS}?limit=0', None, 400, 'limit'),
    ('GET', f'{LETTERS}?limit=1001', None, 400, 'limit'), ('GET', f'{LETTERS}?after=x', None, 404, 'x'), ('GET', f'{LETTERS}/1', None, 404, '1'),
    ('GET', f'{LETTERS}/x', None, 404, 'x'), ('GET', f'{LETTERS}/1/2', None, 404, ''), ('DELETE', f'{LETTERS}/1', None, 404, '1'),
    ('POST', f'{LETTERS}/1:replay', None, 404, '1'), ('POST', f'{LETTERS}/1:nothing', None, 404, ''), ('GET', f'{LETTERS}:replay', None, 405, 'POST'),
    ('POST', f'{LETTERS}:replay', {'ids': ['1']}, 404, '1'), ('POST', f'{LETTERS}:replay', {'ids': 'x'}, 400, 'ids'),
    ('POST', f'{LETTERS}:replay', {'function': 1}, 400, 'function'), ('POST', f'{LETTERS}:replay', '{', 400, 'JSON'),
    ('POST', f'{LETTERS}:replay', {}, 200, '"count":0'), ('POST', f'{LETTERS}:delete', {'function': 'x'}, 200, '"count":0'),
    ('GET', JUDGE, None, 405, 'POST'), ('POST', JUDGE, None, 400, 'path'), ('POST', JUDGE, {'path': '/a'}, 400, 'operation'),
    ('POST', JUDGE, {'path': '/a.b', 'operation': 'read'}, 400, ''), ('POST', JUDGE, {'path': '/a', 'operation': 'read'}, 200, '"allowed":false'),
    ('POST', JUDGE, {'path': '/a', 'operation': 'update', 'data': 1}, 400, ''),
    ('POST', JUDGE, {'path': '/a', 'operation': 'read', 'query': 1}, 400, 'query'),
    ('POST', JUDGE, {'path': '/a', 'operation': 'read', 'query': {'x': 1}}, 400, 'x'),
    ('POST', JUDGE, {'path': '/a', 'operation': 'read', 'query': {'orderBy': '$key', 'limitToFirst': 0}}, 400, 'limitToFirst'),
    ('POST', JUDGE, {'path': '/a', 'operation': 'read', 'rules': {'rules': {'.read': True}}}, 200, '"allowed":true'),
    ('POST', JUDGE, {'path': '/a', 'operation': 'read', 'rules': 'x'}, 400, '1:'),
])
def test_request(method, path, body, status, part, host):
    answer = ask(host, method, path, body)
    assert answer.status == status, answer.body
    assert answer.header('Content-Type') == 'application/json; charset=utf-8'
    assert part in answer.text
    if status >= 400:
        assert set(answer.json['error']) == {'status', 'message'}
        assert '\n' not in answer.json['error']['message']


@pytest.mark.parametrize('token', [None, '', 'wrong', 'owner.', 'Owner'])
@pytest.mark.parametrize('path', ['', '/databases', LETTERS, '/nothing'])
def test_strangers(token, path, host):
    for method, body in (('GET', None), ('POST', '{"x": ' + '1' * 100_000)):
        answer = ask(host, method, path, body, token)
        assert answer.status == 401
        assert answer.json['error']['status'] == 'UNAUTHENTICATED'


def test_owner_is_nobody_in_production(conformance):
    assert ask(conformance, 'GET', '').status == 401
    token = (conformance.data / 'admin-token').read_text().strip()
    assert ask(conformance, 'GET', '', token=token).json['mode'] == 'production'
    assert ask(conformance, 'GET', '', token=token[:-1]).status == 401


def test_paths_that_only_look_alike(host):
    for path in ('/_/apiary', '/_/api.json2', '/_api'):
        answer = host.request('GET', path, [('Authorization', 'Bearer owner')])
        assert answer.status == 404
        assert 'admin-api' not in answer.text


def fail(host, *names):
    """Writes what failTyped cannot read, and waits until its events are given up."""
    with Database(host, NAME) as database:
        for name in names:
            database.put(f'/mistyped/{name}.json', name)
    until(lambda: {letter['path'] for letter in letters(host)} >= {f'/mistyped/{name}' for name in names}, 'the events were given up')
    return {letter['path'].split('/')[-1]: letter['id'] for letter in letters(host)}


def letters(host):
    return ask(host, 'GET', LETTERS).json['deadLetters']


def test_a_dead_letter(host, hearth):
    number = fail(host, 'one')['one']
    shown = hearth.succeeds('events:list')
    assert shown.splitlines()[0].split()[0] == 'ID'
    assert 'failTyped' in shown and '/mistyped/one' in shown
    found = hearth.result('events:show', number)
    assert found['data']['after'] == 'one'
    assert found['params'] == {'id': 'one'}
    assert found['authType'] == 'admin'
    assert found['attempts'] == 1
    assert found['instance'] == NAME
    assert found['error']
    assert found['id'] == number
    text = hearth.succeeds('events:show', number)
    assert found['event'] in text
    with Database(host, NAME) as database:
        database.put('/mistyped.json', None)


def test_replaying_keeps_the_event(host, hearth):
    numbers = fail(host, 'two', 'three')
    before = {letter['event'] for letter in letters(host)}
    assert '1 event will be' in hearth.succeeds('events:replay', numbers['two'])
    until(lambda: len(letters(host)) == 2, 'it failed again')
    assert {letter['event'] for letter in letters(host)} == before
    assert numbers['two'] not in {letter['id'] for letter in letters(host)}
    assert hearth.result('events:replay', '--all') == {'count': 2}
    until(lambda: len(letters(host)) == 2, 'both failed again')
    assert {letter['event'] for letter in letters(host)} == before
    assert hearth.result('events:replay', '--all', '--function', 'other') == {'count': 0}
    with Database(host, NAME) as database:
        database.put('/mistyped.json', None)


def test_deleting(host, hearth):
    numbers = fail(host, 'four', 'five', 'six')
    assert 'events:delete' not in hearth.succeeds('events:delete', numbers['four'])
    assert {letter['id'] for letter in letters(host)} == {numbers['five'], numbers['six']}
    # One wrong number, and nothing happens.
    assert numbers['four'] in hearth.run('events:delete', numbers['five'], numbers['four']).sentence
    assert len(letters(host)) == 2
    assert '--force' in hearth.run('events:delete', '--all').sentence
    assert hearth.result('events:delete', '--all', '--force') == {'count': 2}
    assert hearth.succeeds('events:list') == 'No dead letters.\n'
    with Database(host, NAME) as database:
        database.put('/mistyped.json', None)


def test_many_are_shown_page_by_page(host, hearth):
    names = [f'many{number:03}' for number in range(250)]
    with Database(host, NAME) as database:
        database.put('/mistyped.json', dict.fromkeys(names, 'text'))
    until(lambda: len(hearth.result('events:list', '--limit', '1000')['deadLetters']) == 250, 'all were given up', 60)
    first = ask(host, 'GET', f'{LETTERS}?limit=100').json
    second = ask(host, 'GET', f'{LETTERS}?limit=100&after={first["next"]}').json
    third = ask(host, 'GET', f'{LETTERS}?limit=100&after={second["next"]}').json
    assert 'next' not in third
    ids = [letter['id'] for page in (first, second, third) for letter in page['deadLetters']]
    assert len(set(ids)) == 250
    assert ids == sorted(ids, key=int)
    assert 'more' in hearth.succeeds('events:list', '--limit', '5')
    assert hearth.result('events:delete', '--all', '--function', 'failTyped', '--force') == {'count': 250}
    with Database(host, NAME) as database:
        database.put('/mistyped.json', None)
