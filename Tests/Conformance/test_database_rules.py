"""Every case of cases/database-rules.json: rules are uploaded, data is seeded, and requests are decided over a socket."""

import json
import pathlib
import re

import pytest

from databases import OWNER, Database, milliseconds
from hearth import Host

TABLE = json.loads((pathlib.Path(__file__).parent / 'cases/database-rules.json').read_text())
ORDERS = {'orderByKey': '$key', 'orderByValue': '$value', 'orderByPriority': '$priority'}


@pytest.fixture(scope='module')
def database(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('rules'), [], mode='development').start()
    with Database(host, 'rules-cases') as database:
        yield database
    host.stop()


def ids(cases):
    return [case['id'] for case in cases]


@pytest.mark.parametrize('case', TABLE['cases'], ids=ids(TABLE['cases']))
def test_decision(case, database):
    shift = milliseconds() - case['now'] if 'now' in case else 0
    database.put('/.json', moved(case['data'], shift))
    database.use_rules(case['rules'])
    answer = decide(case, database, shift)
    if case['allowed']:
        # That there is no index is found out after the rules were asked.
        assert answer.status == 200 or b'Index not defined' in answer.body, f'{answer.status} {answer.body!r}: {case["why"]}'
    else:
        assert answer.status == 401, f'{answer.status} {answer.body!r}: {case["why"]}'
        assert answer.json == {'error': 'Permission denied'}


def moved(value, shift):
    """Times that a case counts from its own `now`, counted from the clock of the host."""
    if isinstance(value, dict):
        return {key: moved(member, shift) for key, member in value.items()}
    return value + shift if shift and type(value) is int else value


def decide(case, database, shift):
    query = {'auth_variable_override': json.dumps(case['auth']), **query_of(case.get('query', {}))}
    path = f'{case["path"].rstrip("/")}/.json'
    if case['op'] == 'read':
        return database.send('GET', path, query=query, headers=OWNER)
    body = json.dumps(moved(case.get('newValue'), shift))
    return database.send({'write': 'PUT', 'update': 'PATCH'}[case['op']], path, body, query, OWNER)


def query_of(fields):
    query = {}
    for name, value in fields.items():
        if name in ORDERS:
            query['orderBy'] = json.dumps(ORDERS[name])
        elif name == 'orderByChild':
            query['orderBy'] = json.dumps(value)
        else:
            query[name] = json.dumps(value)
    return query


def upload(case, database, query=()):
    text = case['raw'] if 'raw' in case else json.dumps(case['rules'])
    return database.send('PUT', '/.settings/rules.json', text, query, OWNER)


@pytest.mark.parametrize('query', [{}, {'dryRun': 'true'}], ids=['upload', 'dry-run'])
@pytest.mark.parametrize('case', TABLE['invalidUploads'], ids=ids(TABLE['invalidUploads']))
def test_upload_that_is_refused(case, query, database):
    database.use_rules({'rules': {'kept': {'.read': True}}})
    answer = upload(case, database, query)
    assert answer.status == case['status'], f'{answer.status} {answer.body!r}'
    message = answer.json['error']
    assert case['errorContains'] in message
    assert re.fullmatch(r'\d+:\d+: .+\n', message), message
    assert database.get('/.settings/rules.json') == {'rules': {'kept': {'.read': True}}}


@pytest.mark.parametrize('case', TABLE['validUploads'], ids=ids(TABLE['validUploads']))
def test_upload_that_is_taken(case, database):
    answer = upload(case, database)
    assert (answer.status, answer.json) == (case['status'], {'status': 'ok'})


def test_there_are_all_of_them():
    assert [len(TABLE[kind]) for kind in ('cases', 'invalidUploads', 'validUploads')] == [164, 61, 9]
