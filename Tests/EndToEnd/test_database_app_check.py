"""App Check of the database, where the configuration enforces it (spec database 2.3, 3.1, 3.4, 3.5, 10.2)."""

import time

import pytest

from databases import OPEN_RULES, OWNER, Database
from fixtures import own_database
from hearth import Host
from live import Live, connect
from polling import Polling
from tokens import SigningKey, app_check_claims, id_claims, unsigned, with_bad_signature
from websocket import CLOSE

MISSING = 'Missing appcheck token'
INVALID = 'Invalid appcheck token'
EXPIRED = 'Appcheck token is expired'
ADA = unsigned(id_claims('ada'))
REFUSED = {
    'no token': (lambda keys: 'abc', 'invalid_token', INVALID),
    'placeholder': (lambda keys: 'eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==', 'invalid_token', INVALID),
    'bad signature': (lambda keys: with_bad_signature(keys.app_token()), 'invalid_token', INVALID),
    'another key': (lambda keys: SigningKey(keys.app.kid).sign(app_check_claims()), 'invalid_token', INVALID),
    'other project': (lambda keys: keys.app_token(aud=['projects/1', 'projects/other']), 'invalid_token', INVALID),
    'an ID token': (lambda keys: keys.id_token(), 'invalid_token', INVALID),
    'very long': (lambda keys: 'x' * 17000, 'invalid_token', INVALID),
    'expired': (lambda keys: keys.app_token(lifetime=-300), 'expired_token', EXPIRED),
}


@pytest.fixture(scope='module')
def host(tmp_path_factory, keys):
    config = {'database': {'enforceAppCheck': True}}
    host = Host(tmp_path_factory.mktemp('app-check'), ['Conformance'], mode='development', keys=keys, config=config).start()
    yield host
    host.stop()


database = own_database()


@pytest.fixture
def live(database):
    with connect(database) as live:
        yield live


def header(token):
    return {'X-Firebase-AppCheck': token}


def error_of(answer):
    return answer.status, answer.json['error']


def has_ended(live, status, text):
    """Whether the host says that the token has ended, and ends the connection without another message."""
    assert live.push() == ('apc', {'s': status, 'd': text})
    return live.socket.frame()[0] == CLOSE and live.taken() == [] and live.answers == {}


# REST


@pytest.mark.parametrize('method', ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'])
def test_requests_without_a_token_are_refused(method, database):
    database.put('/a.json', {'b': 1})
    answer = database.ask(method, '/a.json', {'b': 2}, headers={})
    assert error_of(answer) == (401, MISSING)
    assert answer.text == '{\n  "error" : "Missing appcheck token"\n}\n'
    assert database.get('/a.json') == {'b': 1}
    assert database.ask(method, '/a.json', {'b': 2}, headers={'X-Firebase-AppCheck': ''}).status == 401


@pytest.mark.parametrize('kind', REFUSED)
def test_requests_with_other_tokens_are_refused(kind, database, keys):
    make, _, text = REFUSED[kind]
    token = make(keys)
    if len(token) < 4096:
        assert error_of(database.ask('PUT', '/a.json', 1, headers=header(token))) == (401, text)
    if kind != 'very long':
        assert error_of(database.ask('GET', '/a.json', query={'ac': token}, headers={})) == (401, text)
    assert database.get('/a.json') is None


def test_requests_with_a_token_are_admitted(database, keys):
    token = keys.app_token()
    assert database.put('/a.json', {'b': 'x' * 100_000}, headers=header(token))['b'][:1] == 'x'
    for _ in range(2):
        assert database.get('/a/b.json', headers=header(token))[:1] == 'x'
        assert database.get('/a/b.json', headers={}, query={'ac': token})[:1] == 'x'
    assert database.get('/a/b.json', headers=header('junk'), query={'ac': keys.app_token()})[:1] == 'x', 'the parameter wins'


def test_the_token_of_an_app_does_not_replace_the_rules(database, keys):
    token = header(keys.app_token())
    database.use_rules({'rules': {'users': {'$uid': {'.read': 'auth.uid === $uid'}}}})
    assert error_of(database.ask('GET', '/users/ada.json', headers=token)) == (401, 'Permission denied')
    assert database.get('/users/ada.json', headers=token, query={'auth': ADA}) is None
    assert error_of(database.ask('GET', '/users/ada.json', headers={}, query={'auth': ADA})) == (401, MISSING)
    assert error_of(database.ask('GET', '/users/ada.json', headers=token, query={'auth': 'a.b.c'})) == (401, 'Could not parse auth token.')


def test_administrators_need_no_token(database):
    assert database.put('/a.json', 1) == 1
    assert database.get('/a.json', query={'auth_variable_override': '{"uid":"ada"}'}) == 1
    token = (database.host.data / 'admin-token').read_text().strip()
    assert database.get('/a.json', headers={'Authorization': f'Bearer {token}'}) == 1
    assert database.get('/a.json', headers={**OWNER, **header('junk')}) == 1


def test_preflights_are_answered(database):
    answer = database.ask('OPTIONS', '/a.json', headers={
        'Origin': 'https://app.example', 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'x-firebase-appcheck'})
    assert answer.status == 200
    assert 'x-firebase-appcheck' in answer.header('Access-Control-Allow-Headers').lower()


def test_unsigned_tokens_count_as_in_development_mode(database):
    token = unsigned(app_check_claims())
    assert database.get('/a.json', headers=header(token)) is None
    answer = database.ask('GET', '/a.json', headers={**header(token), 'Origin': 'https://attacker.example'})
    assert answer.status == 401 and 'without a signature' in answer.json['error']
    with connect(database, app=token) as live:
        live.do('p', p='/a', d=1)
    with connect(database, headers=[('Origin', 'https://attacker.example')]) as live:
        status, text = live.ask('appcheck', token=token)
        assert status == 'invalid_token' and 'without a signature' in text


def test_functions_need_no_token(database):
    """Functions use the database of their host, as administrators or as a user."""
    for more in ({}, {'as': 'ada'}):
        database.host.result('database', {'do': 'set', 'at': 'from-function', 'value': 7, 'instance': database.namespace, **more})
        assert database.get('/from-function.json') == 7
        database.put('/from-function.json', None)


def test_the_log_has_the_reasons(database, keys):
    database.ask('GET', '/a.json', headers={})
    database.host.until_logged('a token for the database was refused.*database.enforceAppCheck')
    database.ask('GET', '/a.json', headers=header(keys.app_token(aud=['projects/other'])))
    database.host.until_logged('a token for the database was refused.*App Check: ')


# Event streams


def test_streams(database, keys):
    with database.stream('/a.json', headers={}) as stream:
        assert stream.head.status == 401
    with database.stream('/a.json', headers=header('junk')) as stream:
        assert stream.head.status == 401
    with database.stream('/a.json', headers=header(keys.app_token(lifetime=3))) as stream:
        assert stream.put() == ('/', None)
        database.put('/a.json', 1)
        assert stream.put() == ('/', 1)
        assert stream.next(20) == ('auth_revoked', EXPIRED)
        assert stream.has_ended()


def test_a_stream_ends_with_the_token_that_ends_first(database, keys):
    app = keys.app_token(lifetime=3600)
    with database.stream('/a.json', {'auth': unsigned(id_claims('ada', lifetime=3)), 'ac': app}, headers={}) as stream:
        assert stream.put() == ('/', None)
        assert stream.next(20) == ('auth_revoked', 'Auth token is expired')
    with database.stream('/a.json', {'auth': ADA, 'ac': keys.app_token(lifetime=3)}, headers={}) as stream:
        assert stream.put() == ('/', None)
        assert stream.next(20) == ('auth_revoked', EXPIRED)


# Live connections


REQUESTS = [
    ('q', {'p': '/a', 'h': ''}), ('q', {'p': '/a', 'h': '', 'q': {'l': 1, 'vf': 'l'}, 't': 1}), ('g', {'p': '/a', 'q': {}}),
    ('p', {'p': '/a', 'd': 2}), ('m', {'p': '/', 'd': {'a': 2}}), ('o', {'p': '/a', 'd': 2}), ('om', {'p': '/', 'd': {'a': 2}}),
    ('oc', {'p': '/a', 'd': None}),
]


@pytest.mark.parametrize('action, body', REQUESTS)
def test_a_client_without_a_token_is_refused(action, body, database, live):
    database.put('/a.json', 1)
    assert live.ask(action, **body) == ('permission_denied', MISSING)
    assert live.taken() == []
    live.do('auth', cred=ADA)
    assert live.ask(action, **body) == ('permission_denied', MISSING), 'a user is no app'
    live.close()
    assert database.get('/a.json') == 1


def test_other_requests_are_answered(live):
    for action, body in [('s', {'c': {}}), ('n', {'p': '/a'}), ('unauth', {}), ('unappcheck', {}), ('unappeck', {})]:
        assert live.ask(action, **body)[0] == 'ok'


@pytest.mark.parametrize('way', ['url', 'header', 'request'])
def test_a_client_with_a_token(way, database, keys):
    token = keys.app_token()
    options = {'url': {'app': token}, 'header': {'headers': [('X-Firebase-AppCheck', token)]}, 'request': {}}[way]
    with connect(database, **options) as live:
        if way == 'request':
            assert live.do('appcheck', token=token) == ''
        assert live.listen('/a') == []
        live.do('p', p='/a', d=1)
        assert live.taken() == [('d', {'p': 'a', 'd': 1})]
        assert live.do('g', p='/a', q={}) == 1


def test_requests_wait_for_the_token_before_them(database, keys):
    """Web clients send everything right behind the first message, without waiting for answers."""
    with connect(database) as live:
        numbers = [live.request('s', c={}), live.request('auth', cred=ADA), live.request('appcheck', token=keys.app_token()),
                   live.request('q', p='/users/ada', h=''), live.request('p', p='/users/ada', d=1)]
        assert [live.answer(number)[0] for number in numbers] == ['ok'] * 5
    with connect(database, app=keys.app_token()) as live:
        numbers = [live.request('q', p='/a', h=''), live.request('p', p='/a', d=1)]
        assert [live.answer(number)[0] for number in numbers] == ['ok'] * 2


@pytest.mark.parametrize('kind', REFUSED)
def test_a_token_that_is_not_accepted(kind, database, keys):
    make, status, text = REFUSED[kind]
    with connect(database) as live:
        assert live.ask('appcheck', token=make(keys)) == (status, text)
        assert live.ask('s', c={})[0] == 'ok'
        live.request('q', p='/a', h='')
        assert has_ended(live, status, text)


def test_a_connection_that_is_opened_with_a_bad_token(database, keys):
    with connect(database, app='junk') as live:
        live.request('p', p='/a', d=1)
        assert has_ended(live, 'invalid_token', INVALID)
    with connect(database, app='junk') as live:
        live.do('appcheck', token=keys.app_token())
        live.do('p', p='/a', d=1)


def test_a_bad_token_ends_the_listens_of_a_good_one(database, keys):
    with connect(database, app=keys.app_token()) as live:
        live.listen('/a')
        number = live.request('appcheck', token='junk')
        assert live.answer(number) == ('invalid_token', INVALID)
        assert has_ended(live, 'invalid_token', INVALID)


@pytest.mark.parametrize('action', ['unappcheck', 'unappeck'])
def test_a_token_that_is_withdrawn(action, database, keys):
    with connect(database, app=keys.app_token()) as live:
        live.listen('/a')
        live.do(action)
        assert live.taken() == [('c', {'p': 'a'})]
        database.put('/a.json', 1)
        assert live.ask('q', p='/a', h='') == ('permission_denied', MISSING)
        live.do('appcheck', token=keys.app_token())
        assert live.listen('/a') == [('d', {'p': 'a', 'd': 1})]


def test_a_token_that_expires(database, keys):
    with connect(database) as live:
        live.do('appcheck', token=keys.app_token(lifetime=2))
        live.listen('/a')
        live.do('o', p='/gone', d=True)
        assert has_ended(live, 'expired_token', EXPIRED)
    end = time.monotonic() + 10
    while database.get('/gone.json') is not True:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_token_that_is_replaced_in_time(database, keys):
    with connect(database, app=keys.app_token(lifetime=2)) as live:
        live.listen('/a')
        live.do('appcheck', token=keys.app_token())
        time.sleep(2.5)
        database.put('/a.json', 1)
        assert live.push() == ('d', {'p': 'a', 'd': 1})


def test_an_administrator_needs_no_token(database, keys):
    with connect(database) as live:
        live.own()
        live.listen('/a')
        live.do('p', p='/a', d=1)
        live.ask('appcheck', token='junk')
        live.do('p', p='/a', d=2)
        assert [body['d'] for _, body in live.taken()] == [1, 2]
        live.do('gauth', cred='owner', authvar={'uid': 'ada'})
        live.do('p', p='/users/ada', d=1)
        live.do('unappcheck')
        live.do('unauth')
        assert ('c', {'p': 'a'}) in live.taken(), 'without the credential, the token is needed'
    with connect(database, app=keys.app_token(lifetime=1)) as live:
        live.own()
        assert live.listen('/a') == [('d', {'p': 'a', 'd': 2})]
        time.sleep(1.5)
        database.put('/a.json', 3)
        assert live.push() == ('d', {'p': 'a', 'd': 3})


def test_polling(database, keys):
    with Polling(database.host.port, database.namespace) as polling:
        assert polling.ask('p', p='/a', d=1) == ('permission_denied', MISSING)
    with Polling(database.host.port, database.namespace, app=keys.app_token()) as polling:
        assert polling.ask('p', p='/a', d=1)[0] == 'ok'


def test_production(launch, keys):
    host = launch([], keys=keys, config={'database': {'enforceAppCheck': True}})
    owner = {'Authorization': f'Bearer {(host.data / "admin-token").read_text().strip()}'}
    with Database(host, 'demo-hearth-default-rtdb') as database:
        assert database.ask('PUT', '/.settings/rules.json', OPEN_RULES, headers=owner).status == 200
        assert database.ask('PUT', '/a.json', 1, headers=owner).status == 200
        assert error_of(database.ask('GET', '/a.json', headers={})) == (401, MISSING)
        assert error_of(database.ask('GET', '/a.json', headers=header(unsigned(app_check_claims())))) == (401, INVALID)
        assert database.get('/a.json', headers=header(keys.app_token())) == 1
        with connect(database, app=unsigned(app_check_claims())) as live:
            live.request('g', p='/a', q={})
            assert has_ended(live, 'invalid_token', INVALID)


def test_tokens_do_not_matter_where_app_check_is_not_enforced(launch, keys):
    host = launch([], keys=keys, mode='development')
    with Database(host, 'free') as database:
        database.use_rules(OPEN_RULES)
        assert database.put('/a.json', 1, headers=header('junk')) == 1
        assert database.get('/a.json', headers={}, query={'ac': 'junk'}) == 1
        with connect(database, app='junk') as live:
            assert live.do('appcheck', token='junk') == ''
            assert live.listen('/a') == [('d', {'p': 'a', 'd': 1})]
            live.do('unappeck')
            database.put('/a.json', 2)
            assert live.push() == ('d', {'p': 'a', 'd': 2})


def test_a_clock_skew_holds_for_app_check_too(launch, keys):
    host = launch([], keys=keys, mode='development', config={'appCheck': {'clockSkewSeconds': 30}, 'database': {'enforceAppCheck': True}})
    with Database(host, 'skew') as database:
        database.use_rules(OPEN_RULES)
        token = keys.app_token(lifetime=-10)
        assert database.get('/a.json', headers=header(token)) is None
        with connect(database, app=token) as live:
            live.do('p', p='/a', d=1)
