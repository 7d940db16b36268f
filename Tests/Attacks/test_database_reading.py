"""Attack: finding out what may not be read, by writes that are allowed."""

import json

import pytest

from databases import Database
from fixtures import shared_host
from tokens import id_claims, unsigned

SECRET = {'pin': 4711}
RULES = {'rules': {
    'box': {'.write': True},
    'open': {'.read': True, '.write': True},
    'members': {'.write': True, '.read': "auth.uid == 'ada'"},
    'pins': {'$pin': {'.write': True}},
}}


host = shared_host()


@pytest.fixture
def database(host):
    with Database(host, 'reading') as database:
        database.use_rules(RULES)
        database.put('/.json', {'box': SECRET, 'open': SECRET, 'members': SECRET})
        yield database


def etag_of(database, path):
    answer = database.ask('GET', path, headers={'Authorization': 'Bearer owner', 'X-Firebase-ETag': 'true'})
    return answer.header('ETag')


def told(answer):
    return f'{answer.headers} {answer.body!r}'


@pytest.mark.parametrize('query', [{}, {'print': 'silent'}, {'print': 'pretty'}], ids=['plain', 'silent', 'pretty'])
@pytest.mark.parametrize('method', ['PUT', 'DELETE'])
def test_a_wrong_etag_shows_nothing(method, query, database):
    answer = database.ask(method, '/box.json', {'pin': 1}, query=query, headers={'if-match': 'wrong', 'X-Firebase-ETag': 'true'})
    assert (answer.status, answer.json) == (401, {'error': 'Permission denied'})
    assert '4711' not in told(answer) and etag_of(database, '/box.json') not in told(answer)
    assert answer.header('ETag') is None
    assert database.get('/box.json') == SECRET


@pytest.mark.parametrize('method', ['PUT', 'DELETE'])
def test_a_right_etag_is_not_told_from_a_wrong_one(method, database):
    right = etag_of(database, '/box.json')
    answers = [database.ask(method, '/box.json', {'pin': 1}, headers={'if-match': etag}) for etag in (right, 'wrong', 'null_etag')]
    assert [(answer.status, answer.body) for answer in answers] == [(401, answers[0].body)] * 3
    empty = database.ask(method, '/pins/none.json', 1, headers={'if-match': 'null_etag'})
    assert (empty.status, empty.body) == (401, answers[0].body)
    assert database.get('/box.json') == SECRET


def test_who_may_read_is_still_told(database):
    ada = {'Authorization': f'Bearer {unsigned(id_claims("ada"))}'}
    for path, headers in [('/open.json', {}), ('/members.json', ada)]:
        answer = database.ask('PUT', path, {'pin': 1}, headers={**headers, 'if-match': 'wrong'})
        assert (answer.status, answer.json, answer.header('ETag')) == (412, SECRET, etag_of(database, path))
        assert database.ask('PUT', path, {'pin': 1}, headers={**headers, 'if-match': answer.header('ETag')}).status == 200


def test_an_increment_does_not_show_what_it_was_added_to(database):
    grow = {'.sv': {'increment': 0}}
    for query in ({}, {'print': 'pretty'}):
        answer = database.ask('PUT', '/box/pin.json', grow, query=query, headers={'X-Firebase-ETag': 'true'})
        assert answer.status == 200 and answer.json == grow
        assert '4711' not in told(answer) and etag_of(database, '/box/pin.json') not in told(answer)
    nested = database.ask('PUT', '/box.json', {'pin': grow}, headers={'X-Firebase-ETag': 'true'})
    assert (nested.json, nested.header('ETag')) == ({'pin': grow}, None)
    assert database.get('/box.json') == SECRET
    readable = database.ask('PUT', '/open/pin.json', grow, headers={'X-Firebase-ETag': 'true'})
    assert (readable.json, readable.header('ETag')) == (4711, etag_of(database, '/open/pin.json'))


def test_what_was_written_is_told(database):
    answer = database.ask('PUT', '/box.json', {'pin': 1}, headers={'X-Firebase-ETag': 'true'})
    assert (answer.status, answer.json, answer.header('ETag')) == (200, {'pin': 1}, etag_of(database, '/box.json'))
    stamp = database.ask('PUT', '/box/at.json', {'.sv': 'timestamp'}, headers={})
    assert stamp.status == 200 and isinstance(stamp.json, int)


def test_refusals_do_not_explain_rules(database):
    for method in ('PUT', 'PATCH', 'DELETE', 'POST', 'GET'):
        answer = database.ask(method, '/members/secret/x.json' if method == 'GET' else '/none.json', {'a': 1}, headers={})
        assert (answer.status, json.loads(answer.body)) == (401, {'error': 'Permission denied'})
