"""Attack: filling a disk with databases that the client may not create, and with commits that change nothing."""

import json
import os
import pathlib

import pytest

from databases import OWNER, Database
from hearth import Host

RULES = {'rules': {'public': {'.read': True, '.write': True}, 'inbox': {'.write': True}}}


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path / 'host', [], mode='development', config={'database': {'rules': 'rules.json'}})
    (host.folder / 'rules.json').write_text(json.dumps(RULES))
    host.start()
    yield host
    host.stop()


def files(host):
    folder = host.data / 'database'
    return {path.name for path in folder.glob('*')} if folder.exists() else set()


def threads(host):
    return len(os.listdir(f'/proc/{host.pid}/task'))


def databases(host):
    return {pathlib.Path(name).name.split('.')[0] for name in files(host) if '.sqlite' in name}


REFUSED = [
    ('GET', '/secret.json', None, {}, 401), ('GET', '/.json', None, {'shallow': 'true'}, 401), ('PUT', '/secret.json', {'a': 1}, {}, 401),
    ('PATCH', '/.json', {'a': 1, 'public': 2}, {}, 401), ('POST', '/secret.json', 1, {}, 401), ('DELETE', '/secret.json', None, {}, 401),
    ('PATCH', '/secret.json', {}, {}, 401), ('GET', '/.settings/rules.json', None, {}, 401), ('PUT', '/.settings/rules.json', RULES, {}, 401),
    ('GET', '/.settings/profile.json', None, {}, 401), ('PUT', '/public.json', {'a': {'.sv': 'nonsense'}}, {}, 400),
    ('GET', '/public.json', None, {'orderBy': '"x"'}, 400),
]
EMPTY = [
    ('GET', '/public.json', None, {}, None), ('GET', '/public.json', None, {'shallow': 'true'}, None),
    ('GET', '/public.json', None, {'format': 'export'}, None), ('PUT', '/public.json', None, {}, None), ('PUT', '/public.json', {}, {}, {}),
    ('PATCH', '/public.json', {}, {}, {}), ('PATCH', '/public.json', {'a': None}, {}, {'a': None}), ('PATCH', '/public.json', None, {}, None),
    ('DELETE', '/public.json', None, {}, None), ('DELETE', '/public/a/b.json', None, {}, None),
    ('PUT', '/public/.priority.json', 5, {}, 5), ('PUT', '/inbox.json', {'a': None}, {}, {'a': None}),
]


def test_nothing_is_made_by_what_is_refused_or_empty(host):
    with Database(host, 'warm') as database:
        # The processes of every host have started, and the loop has had its first connection.
        database.ask('GET', '/public.json', headers={})
    before = threads(host)
    for index, (method, path, body, query, status) in enumerate(REFUSED):
        with Database(host, f'refused-{index}') as database:
            answer = database.ask(method, path, body, query=query, headers={})
            assert answer.status == status, (method, path, answer.status, answer.body)
    for index, (method, path, body, query, expected) in enumerate(EMPTY):
        with Database(host, f'empty-{index}') as database:
            answer = database.ask(method, path, body, query=query, headers={})
            assert (answer.status, answer.json) == (200, expected), (method, path, answer.body)
    assert databases(host) == set()
    assert threads(host) == before
    listed = host.request('GET', '/.inspect/databases.json?ns=demo-hearth', OWNER)
    assert listed.json == []


def test_an_administrators_look_makes_nothing_either(host):
    with Database(host, 'looked-at') as database:
        assert database.get('/.json') is None
        assert database.get('/.settings/defaultWriteSizeLimit.json') == 'large'
        assert json.loads(database.ask('GET', '/.settings/rules.json').body) == RULES
    for target in ['/_/api/databases/-/dead-letters', '/_/api/databases']:
        assert host.request('GET', target, OWNER).status == 200
    judged = host.request('POST', '/_/api/databases/-/rules:judge', OWNER, json.dumps({'path': '/public', 'operation': 'read'}))
    assert judged.status == 200 and judged.json['allowed'] is True
    assert databases(host) == set()


def test_an_etag_of_nothing_makes_nothing(host):
    with Database(host, 'etags') as database:
        answer = database.ask('GET', '/public.json', headers={'X-Firebase-ETag': 'true'})
        assert (answer.json, answer.header('ETag')) == (None, 'null_etag')
        wrong = database.ask('PUT', '/public.json', 1, headers={'if-match': 'wrong'})
        assert (wrong.status, wrong.json, wrong.header('ETag')) == (412, None, 'null_etag')
        hidden = database.ask('PUT', '/inbox.json', 1, headers={'if-match': 'null_etag'})
        assert (hidden.status, hidden.json) == (401, {'error': 'Permission denied'})
        assert databases(host) == set()
        assert database.ask('PUT', '/public.json', 1, headers={'if-match': 'null_etag'}).status == 200
        assert databases(host) == {'etags'}


def test_streams_of_nothing_make_nothing_and_hear_of_the_first_write(host):
    before = threads(host)
    with Database(host, 'streamed') as database:
        with database.stream('/secret.json', headers={}) as denied:
            assert denied.head.status == 401
        with database.stream('/public.json', headers={}) as stream, \
                database.stream('/public.json', {'orderBy': '"$key"', 'limitToLast': 1}, headers={}) as query:
            assert stream.put() == ('/', None)
            assert query.put() == ('/', None)
            assert (databases(host), threads(host)) == (set(), before)
            database.put('/public.json', {'a': 1, 'b': 2}, headers={})
            assert stream.put() == ('/', {'a': 1, 'b': 2})
            assert query.put() == ('/b', 2)
            database.put('/public/c.json', 3, headers={})
            assert stream.put() == ('/c', 3)
            assert [query.put(), query.put()] == [('/b', None), ('/c', 3)]


def test_a_stream_of_nothing_ends_when_the_rules_forbid_it(host):
    with Database(host, 'forbidden') as database, database.stream('/public.json', headers={}) as stream:
        assert stream.put() == ('/', None)
        (host.folder / 'rules.json').write_text('{"rules": {}}')
        assert stream.next() == ('cancel', 'Permission denied')
        assert stream.has_ended()
    assert databases(host) == set()


def commits(host):
    page = host.request('GET', '/_/metrics').text
    lines = [line for line in page.splitlines() if line.startswith('hearth_database_commit_seconds_count')]
    return sum(float(line.rsplit(' ', 1)[1]) for line in lines)


def test_what_changes_nothing_is_not_committed(host):
    with Database(host, 'commits') as database:
        database.put('/public/kept.json', 1)
        before = commits(host)
        for method, path, body, _, _ in EMPTY[3:11]:
            target = path.replace('/public', '/public/none')
            assert database.ask(method, target, body, headers={}).status == 200, target
        assert database.ask('PATCH', '/public.json', {}, headers={}).status == 200
        assert database.ask('PATCH', '/secret.json', {}, headers={}).status == 401
        assert database.ask('PATCH', '/.json', {}, headers={}).status == 401
        assert commits(host) == before
        assert database.get('/.json') == {'public': {'kept': 1}}
        database.put('/public/kept.json', 2)
        assert commits(host) == before + 1
