"""The corners of the REST interface that cases/database-rest.json leaves out: specification section 2."""

import json
import re
import time

import pytest

from databases import OPEN_RULES, OWNER, Database
from fixtures import shared_host
from tokens import id_claims, unsigned
from wire import Ended, gzipped

LIMITS = {'database': {'limits': {'writeBytes': 200_000, 'readBytes': 400_000, 'rulesBytes': 4096}}}


host = shared_host(config=LIMITS)


@pytest.fixture
def database(host, request):
    with Database(host, re.sub(r'[^a-z0-9]+', '-', request.node.name.lower()).strip('-')[:80]) as database:
        database.use_rules(OPEN_RULES)
        yield database


def text_of(answer):
    return answer.json['error']


# -- forms of answers

def test_head_has_the_length_of_the_answer(database):
    database.put('/a.json', {'b': 'text'})
    answer = database.send('HEAD', '/a.json')
    assert (answer.status, answer.body, answer.header('Content-Length')) == (200, b'', '12')


def test_long_values(database):
    value = {f'k{number:04}': 'x' * 100 for number in range(2500)}
    for half in (0, 1):
        database.ask('PATCH', '/long.json', dict(list(value.items())[half::2]))
    assert database.get('/long.json') == value
    assert database.get('/long.json', query={'format': 'export'}) == value
    script = database.send('GET', '/long.json', query={'callback': 'f'}).text
    assert script.startswith('f({') and script.endswith('});') and json.loads(script[2:-2]) == value
    answer = database.send('HEAD', '/long.json')
    assert (answer.status, answer.body) == (200, b'')
    assert database.send('GET', '/long.json', query={'print': 'silent'}).status == 204
    assert database.get('/long/k0001.json') == 'x' * 100


def test_pretty(database):
    value = {'a': {'b': [1, 'x'], 'c': True}, 'd': 'é'}
    pretty = '{\n  "a" : {\n    "b" : [ 1, "x" ],\n    "c" : true\n  },\n  "d" : "é"\n}'
    answer = database.send('PUT', '/p.json', json.dumps(value), {'print': 'pretty'})
    assert answer.text == pretty
    assert database.send('GET', '/p.json', query={'print': 'pretty'}).text == pretty
    assert database.send('GET', '/p.json', query={'print': 'pretty', 'shallow': 'true'}).text == '{\n  "a" : true,\n  "d" : true\n}'


def test_a_callback_makes_a_script(database):
    database.put('/a.json', {'b': 1})
    answer = database.send('GET', '/a.json', query={'callback': 'app.load'})
    assert (answer.status, answer.text) == (200, 'app.load({"b":1});')
    assert answer.header('Content-Type').startswith('application/javascript')
    assert database.send('GET', '/a.json', query={'callback': 'alert(1);x'}).status == 400


def test_shallow_and_pretty(database):
    database.put('/a.json', {'b': {'c': 1}, 'd': 2})
    answer = database.send('GET', '/a.json', query={'shallow': 'true', 'print': 'pretty'})
    assert answer.text == '{\n  "b" : true,\n  "d" : true\n}'
    assert database.send('GET', '/a/d.json', query={'shallow': 'true', 'print': 'pretty'}).text == '2'


@pytest.mark.parametrize('method,body', [('PUT', '1'), ('POST', '1'), ('PATCH', '{"x":1}'), ('DELETE', '')])
def test_silence(method, body, database):
    answer = database.send(method, '/a.json', body, {'print': 'silent'})
    assert (answer.status, answer.body, answer.header('Content-Length')) == (204, b'', None)


def test_a_download_has_a_name(database):
    answer = database.send('GET', '/a.json', query={'download': 'a "b"\r\nX: y.json'})
    assert answer.header('Content-Disposition') == "attachment; filename*=UTF-8''a%20%22b%22%0D%0AX%3A%20y.json"
    assert answer.header('X') is None


def test_preflight(database):
    answer = database.send('OPTIONS', '/a.json', headers={
        'Origin': 'https://a.example', 'Access-Control-Request-Method': 'PATCH', 'Access-Control-Request-Headers': 'x-firebase-etag,if-match'})
    assert (answer.status, answer.header('Access-Control-Allow-Origin')) == (200, '*')
    assert {'GET', 'PUT', 'POST', 'PATCH', 'DELETE'} <= set(answer.header('Access-Control-Allow-Methods').split(', '))
    assert answer.header('Access-Control-Allow-Headers') == 'x-firebase-etag,if-match'


def test_errors_can_be_read_by_pages_of_other_origins(database):
    answer = database.send('GET', '/a$.json', headers={'Origin': 'https://a.example'})
    assert (answer.status, answer.header('Access-Control-Allow-Origin')) == (400, '*')


def test_a_method_that_is_none_here(database):
    assert database.send('PROPFIND', '/a.json').status == 405
    assert database.send('POST', '/a.json', '1', headers={'X-HTTP-Method-Override': 'TRACE'}).status == 400


# -- writes

def test_what_is_written_comes_back_as_it_was_sent(database):
    assert database.send('PUT', '/a.json', ' {"b" : 1.50,"c":null} ').json == {'b': 1.5, 'c': None}
    assert database.get('/a.json') == {'b': 1.5}


def test_a_patch_of_null_deletes(database):
    database.put('/a.json', {'b': 1})
    answer = database.send('PATCH', '/a.json', ' null\n')
    assert (answer.status, answer.json) == (200, None)
    assert database.get('/a.json') is None


def test_compressed_bodies(database):
    answer = database.send('PUT', '/a.json', gzipped(b'{"b":[1,2]}'), headers={'Content-Encoding': 'gzip'})
    assert (answer.status, database.get('/a/b.json')) == (200, [1, 2])


def test_writes_have_no_query(database):
    assert database.send('PUT', '/a.json', '1', {'orderBy': '"h"'}).status == 400
    assert database.send('DELETE', '/a.json', query={'shallow': 'true'}).status == 400


@pytest.mark.parametrize('headers', [{}, {'Transfer-Encoding': 'chunked'}], ids=['length', 'chunked'])
def test_a_write_that_is_too_large(headers, database):
    body = json.dumps('x' * 200_000)
    if headers:
        body = f'{len(body):x}\r\n{body}\r\n0\r\n\r\n'
    answer = database.send('PUT', '/a.json', body, headers=headers)
    assert answer.status in (400, 413)
    assert text_of(answer) == 'Data to write exceeds the maximum size that can be modified with a single request.'
    assert database.get('/a.json') is None


def test_a_read_that_is_too_large(database):
    for part in range(3):
        database.put(f'/a/{part}.json', 'x' * 150_000)
    assert database.get('/a.json', query={'shallow': 'true'}) == {'0': True, '1': True, '2': True}
    # It has begun when its length is known: what is cut off cannot be taken for all of it.
    for query in [{}, {'orderBy': '"$key"'}]:
        with pytest.raises(Ended):
            database.send('GET', '/a.json', query=query)
    assert database.get('/a/0.json') == 'x' * 150_000


def test_an_export_of_any_size(database):
    value = {str(part): 'x' * 150_000 for part in range(3)}
    for part, text in value.items():
        database.put(f'/a/{part}.json', text)
    assert database.get('/a.json', query={'format': 'export'}) == value


def test_client_info_is_nothing(database):
    assert database.get('/.info/connected.json') is None
    answer = database.ask('PUT', '/.info/connected.json', True)
    assert (answer.status, text_of(answer)) == (400, 'Invalid path: Invalid token in path')


# -- conditions

def test_etags_of_writes(database):
    etagged = {'X-Firebase-ETag': 'true'}
    put = database.send('PUT', '/e.json', '1', headers=etagged)
    assert put.header('ETag') == database.send('GET', '/e.json', headers=etagged).header('ETag')
    post = database.send('POST', '/l.json', '1', headers=etagged)
    assert post.header('ETag') == put.header('ETag')
    assert database.send('DELETE', '/e.json', headers=etagged).header('ETag') == 'null_etag'


def test_etags_have_a_value_that_is_known(database):
    answer = database.send('PUT', '/e.json', '{"a":1,"b":2}', headers={'X-Firebase-ETag': 'true'})
    assert answer.header('ETag') == 'AUZnXhNqrfbznYVxcCvNpzpjvTU='


def test_a_delete_on_a_condition(database):
    database.put('/e.json', {'a': 1})
    answer = database.send('DELETE', '/e.json', headers={'if-match': 'null_etag'})
    assert (answer.status, answer.json, answer.header('ETag')) == (412, {'a': 1}, 'gIphxiFGusLh2VwSNVKSvNu90m4=')
    assert database.send('DELETE', '/e.json', headers={'if-match': f'"{answer.header("ETag")}"'}).status == 200
    assert database.get('/e.json') is None


def test_a_get_that_knows_the_value(database):
    database.put('/e.json', 1)
    etag = database.send('GET', '/e.json', headers={'X-Firebase-ETag': 'true'}).header('ETag')
    answer = database.send('GET', '/e.json', headers={'if-none-match': etag})
    assert (answer.status, answer.body, answer.header('ETag')) == (304, b'', etag)
    database.put('/e.json', 2)
    answer = database.send('GET', '/e.json', headers={'if-none-match': etag})
    assert (answer.status, answer.json) == (200, 2)
    assert answer.header('ETag') not in (None, etag)


@pytest.mark.parametrize('method,headers,query', [
    ('GET', {'if-match': 'x'}, {}), ('POST', {'if-match': 'x'}, {}), ('PATCH', {'X-Firebase-ETag': 'true'}, {}),
    ('GET', {'X-Firebase-ETag': 'true'}, {'orderBy': '"$key"'}), ('GET', {'X-Firebase-ETag': 'true'}, {'shallow': 'true'}),
], ids=str)
def test_where_conditions_are_not_supported(method, headers, query, host):
    with Database(host, 'conditions') as database:
        database.use_rules(OPEN_RULES)
        answer = database.send(method, '/a.json', '' if method == 'GET' else '{"a":1}', query, headers)
        assert answer.status == 400 and 'not supported' in text_of(answer)
        assert database.get('/.json') is None


def test_the_rules_come_before_the_condition(database):
    database.put('/e.json', 'secret')
    database.use_rules({'rules': {}})
    answer = database.send('PUT', '/e.json', '1', headers={'if-match': 'null_etag'})
    assert answer.status == 401 and b'secret' not in answer.body


# -- administration

def test_settings_are_for_administrators(database):
    for path in ['/.settings/rules.json', '/.settings/defaultWriteSizeLimit.json', '/.settings/functionTriggers.json', '/.inspect/databases.json']:
        assert database.send('GET', path).status == 401
        assert database.send('GET', path, headers=OWNER).status == 200
    assert database.send('PUT', '/.settings/rules.json', json.dumps(OPEN_RULES)).status == 401
    assert database.send('GET', '/.settings/nonsense.json', headers=OWNER).status == 404


def test_strict_rules_have_no_comments(database):
    text = '{\n  // a note\n  "rules": { ".read": "auth != null" /* another */ }\n}'
    database.use_rules(text)
    assert database.send('GET', '/.settings/rules.json', headers=OWNER).text == text
    assert database.get('/.settings/rules.json', query={'format': 'strict'}) == {'rules': {'.read': 'auth != null'}}


def test_rules_that_are_too_large(database):
    rules = {'rules': {f'n{number}': {'.read': True} for number in range(300)}}
    assert database.ask('PUT', '/.settings/rules.json', rules).status == 400
    assert database.get('/.settings/rules.json') == OPEN_RULES


def test_rules_outlive_the_host(launch):
    host = launch([], mode='development')
    with Database(host, 'kept') as database:
        database.use_rules({'rules': {'open': {'.read': True}}})
    host.stop()
    host.start()
    with Database(host, 'kept') as database:
        assert database.send('GET', '/open.json').status == 200
        assert database.send('GET', '/shut.json').status == 401


@pytest.mark.parametrize('name,standard,other,wrong', [
    ('defaultWriteSizeLimit', 'large', 'small', 'weird'), ('strictTriggerValidation', True, False, 'false'),
])
def test_settings_are_kept(name, standard, other, wrong, database):
    path = f'/.settings/{name}.json'
    assert database.get(path) == standard
    assert database.put(path, other) == other
    assert database.get(path) == other
    assert database.ask('PUT', path, wrong).status == 400
    assert database.get(path) == other


def test_rules_are_staged_and_put_in_force(database):
    answer = database.ask('POST', '/.settings/rulesets.json', {'rules': {'.read': 'auth != null'}})
    ruleset = answer.json['id']
    assert database.get(f'/.settings/rulesets/{ruleset}.json') == {'rules': {'.read': 'auth != null'}}
    assert database.send('GET', '/a.json').status == 200
    assert database.ask('PUT', '/.settings/ruleset_labels.json', {'stable': 'nonsense'}).status == 404
    assert database.ask('PUT', '/.settings/ruleset_labels.json', {'stable': ruleset}).status == 200
    assert database.get('/.settings/ruleset_labels.json') == {'stable': ruleset}
    assert database.send('GET', '/a.json').status == 401
    assert database.ask('POST', '/.settings/rulesets.json', {'rules': {'.read': 'x'}}).status == 400


def test_triggers_are_declared_elsewhere(database):
    assert database.get('/.settings/functionTriggers.json') == []
    assert database.ask('PUT', '/.settings/functionTriggers.json', []).status == 400


def test_namespaces_are_listed(database):
    assert {'name': database.namespace} in database.get('/.inspect/databases.json')


def test_only_administrators_write_without_triggers(database):
    assert database.send('PUT', '/a.json', '1', {'disableTriggers': 'true'}).status == 401
    assert database.send('PUT', '/a.json', '1', {'disableTriggers': 'true'}, OWNER).status == 200


# -- who asks

def test_tokens_in_development(database):
    database.use_rules({'rules': {'$user': {'.read': "auth.uid === $user && auth.provider == 'password' && auth.token.sub === $user"}}})
    token = unsigned(id_claims('ada'))
    assert database.send('GET', '/ada.json', query={'auth': token}).status == 200
    assert database.send('GET', '/ada.json', headers={'Authorization': f'Bearer {token}'}).status == 200
    assert database.send('GET', '/bob.json', query={'auth': token}).status == 401
    # The web SDK makes such tokens for tests; they are valid whatever their times are.
    assert database.send('GET', '/ada.json', query={'auth': unsigned(id_claims('ada', iat=0, exp=3600))}).status == 200


@pytest.mark.parametrize('headers,query,text', [
    ({'Authorization': 'Basic eDp5'}, {}, 'Unauthorized request.'), ({'Authorization': 'Bearer nonsense'}, {}, 'Unauthorized request.'),
    ({}, {'access_token': 'nonsense'}, 'Unauthorized request.'), ({}, {'auth': 'nonsense'}, 'Could not parse auth token.'),
    ({}, {'auth_variable_override': '{"uid":"u"}'}, 'Unauthorized request.'),
], ids=str)
def test_who_is_nobody(headers, query, text, host):
    with Database(host, 'nobody') as database:
        database.use_rules(OPEN_RULES)
        answer = database.send('GET', '/a.json', query=query, headers=headers)
        assert (answer.status, text_of(answer)) == (401, text)


def test_production(launch, keys):
    host = launch([], keys=keys, config={'database': {'namespaces': ['second']}})
    admin = {'Authorization': f'Bearer {(host.data / "admin-token").read_text().strip()}'}
    with Database(host, 'demo-hearth-default-rtdb') as database:
        rules = json.dumps({'rules': {'$user': {'.read': 'auth.uid === $user'}}})
        assert database.send('PUT', '/.settings/rules.json', rules, headers=OWNER).status == 401
        assert database.send('PUT', '/.settings/rules.json', rules, headers=admin).status == 200
        token = keys.id_token('ada')
        assert database.send('GET', '/ada.json', query={'auth': token}).status == 200
        assert database.send('GET', '/bob.json', query={'auth': token}).status == 401
        answer = database.send('GET', '/ada.json', query={'auth': keys.id_token('ada', lifetime=-400, iat=int(time.time()) - 4000)})
        assert (answer.status, text_of(answer)) == (401, 'Auth token is expired')
        for bad in [unsigned(id_claims('ada')), keys.id_token('ada', project='other-project')]:
            assert database.send('GET', '/ada.json', query={'auth': bad}).status == 401
        assert database.send('GET', '/ada.json', headers=OWNER).status == 401
        assert database.send('GET', '/ada.json', headers=admin).status == 200
    with Database(host, 'stranger') as unknown:
        assert unknown.send('GET', '/a.json').status == 404
        assert unknown.send('PUT', '/a.json', '1', headers=admin).status == 404
    with Database(host, 'second') as second:
        assert second.send('PUT', '/a.json', '1', headers=admin).status == 200


def test_names_that_no_namespace_can_have(host):
    for name in ['../x', 'a.b', 'a b', 'ä', '']:
        with Database(host, name) as database:
            assert database.send('GET', '/a.json', headers=OWNER).status == 404, name


def test_the_host_names_the_namespace(host):
    with Database(host, 'by-host') as database:
        database.use_rules(OPEN_RULES)
        database.put('/a.json', 'found')
    answer = host.request('GET', '/a.json', host=f'by-host.localhost:{host.port}')
    assert (answer.status, answer.json) == (200, 'found')


def test_a_connection_serves_many_requests(database):
    with database.host.wire() as wire:
        for number in range(50):
            wire.send_request('PUT', database.target('/n.json'), OWNER, str(number))
        assert [wire.response('PUT').json for _ in range(50)] == list(range(50))
