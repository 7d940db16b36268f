"""The live connection of the database: credentials, changing permissions, and the end of a session (spec database 3.4, 4, 10)."""

import json
import time

import pytest

from databases import Database
from fixtures import own_database, shared_host
from live import Live, View, connect
from tokens import id_claims, unsigned
from websocket import CLOSE

ADA = unsigned(id_claims('ada'))
BOB = unsigned(id_claims('bob'))
RULES = {'rules': {
    'open': {'.read': True, '.write': True},
    'users': {'$uid': {'.read': 'auth.uid === $uid', '.write': 'auth.uid === $uid'}},
    'gate': {'.read': "root.child('open/door').val() === true"},
    'once': {'.read': True, '.write': "!data.exists() && root.child('open/locked').val() !== true"},
}}


host = shared_host()
database = own_database(RULES)


@pytest.fixture
def live(database):
    with Live(database.host.port, database.namespace) as live:
        yield live


def settled(database, path, value):
    """Waits until a place has a value."""
    end = time.monotonic() + 10
    while database.get(path) != value:
        assert time.monotonic() < end, database.get(path)
        time.sleep(0.02)


# Credentials


@pytest.mark.parametrize('action', ['auth', 'gauth'])
def test_a_user(action, live):
    answer = live.do(action, cred=ADA)
    assert answer['auth']['uid'] == 'ada' and answer['auth']['provider'] == 'password'
    assert answer['expires'] > time.time()
    live.do('p', p='/users/ada', d=1)
    assert live.do('g', p='/users/ada', q={}) == 1
    assert live.ask('g', p='/users/bob', q={}) == ('permission_denied', 'Permission denied')
    live.do('unauth')
    assert live.ask('g', p='/users/ada', q={}) == ('permission_denied', 'Permission denied')


def test_requests_wait_for_the_credential_before_them(live):
    numbers = [live.request('s', c={}), live.request('auth', cred=ADA), live.request('q', p='/users/ada', h=''),
               live.request('p', p='/users/ada', d=1)]
    assert [live.answer(number)[0] for number in numbers] == ['ok'] * 4


def test_an_administrator(live):
    assert live.do('gauth', cred='owner') == {'auth': None}
    live.do('p', p='/users/ada', d=1)
    assert live.do('gauth', cred='owner', authvar={'uid': 'bob'})['auth'] == {'uid': 'bob'}
    assert live.ask('g', p='/users/ada', q={})[0] == 'permission_denied'
    live.do('gauth', cred='owner', noauth=True)
    assert live.ask('g', p='/users/bob', q={})[0] == 'permission_denied'


def test_a_page_of_another_site_is_no_administrator(database):
    with connect(database, headers=[('Origin', 'https://attacker.example')]) as live:
        assert live.ask('gauth', cred='owner')[0] == 'invalid_token'
        assert live.ask('auth', cred=ADA)[0] == 'invalid_token'


@pytest.mark.parametrize('body, status', [
    ({'cred': 'x'}, 'invalid_token'), ({'cred': ''}, 'invalid_token'), ({'cred': ADA, 'authvar': {'uid': 'bob'}}, 'invalid_token'),
    ({'cred': unsigned(id_claims('ada', project='other'))}, 'invalid_token'), ({'cred': 'a.b.c'}, 'invalid_token')])
def test_refused_credentials(body, status, live):
    live.do('auth', cred=ADA)
    found, text = live.ask('auth', **body)
    assert found == status and text
    assert live.ask('g', p='/users/ada', q={})[0] == 'permission_denied'


@pytest.mark.parametrize('body', [{}, {'cred': 5}, {'cred': None}])
def test_credentials_of_no_form(body, live):
    assert live.ask('auth', **body)[0] == 'invalid_token'


def test_tokens_that_end(keys, prepare):
    host = prepare([], keys=keys, config={'auth': {'clockSkewSeconds': 0}}).start()
    owner = (host.data / 'admin-token').read_text().strip()
    with Live(host.port, 'demo-hearth-default-rtdb') as live:
        assert live.do('gauth', cred=owner) == {'auth': None}
        live.do('p', p='/', d={'a': 1})
        assert live.ask('gauth', cred='owner')[0] == 'invalid_token'
        assert live.ask('auth', cred=unsigned(id_claims('ada')))[0] == 'invalid_token'
        assert live.ask('auth', cred=keys.id.sign(id_claims('ada', lifetime=-5))) == ('expired_token', 'Auth token is expired')
        answer = live.do('auth', cred=keys.id.sign(id_claims('ada', lifetime=2)))
        assert answer['auth']['uid'] == 'ada' and answer['expires'] <= time.time() + 2
        assert live.push() == ('ac', {'s': 'expired_token', 'd': 'Auth token is expired'})
        assert live.socket.frame()[0] == CLOSE


# Permission


def test_a_denied_listen(live):
    assert live.ask('q', p='/users/ada', h='') == ('permission_denied', 'Permission denied')
    assert live.taken() == []


def test_another_user_loses_the_listens(live):
    live.do('auth', cred=ADA)
    live.listen('/users/ada')
    live.listen('/open/a')
    live.do('auth', cred=BOB)
    assert live.push() == ('c', {'p': 'users/ada'})
    live.do('p', p='/open/a', d=1)
    assert live.taken() == [('d', {'p': 'open/a', 'd': 1})]


def test_new_rules_end_listens(database, live):
    query = {'i': '.key', 'l': 2, 'vf': 'l', 'sp': 'a'}
    live.listen('/open/list')
    live.listen('/open/list', query=query, tag=4)
    database.use_rules({'rules': {'.read': False}})
    assert sorted(json.dumps(body) for _, body in (live.push(), live.push())) == sorted(
        json.dumps(body) for body in ({'p': 'open/list'}, {'p': 'open/list', 'q': [query]}))
    database.ask('PUT', '/open/list.json', {'b': 1})
    assert live.ask('q', p='/open/list', h='')[0] == 'permission_denied'
    assert live.taken() == []


def test_data_that_the_rules_look_at_ends_listens(database, live):
    database.put('/.json', {'open': {'door': True}, 'gate': 1})
    assert live.listen('/gate') == [('d', {'p': 'gate', 'd': 1})]
    database.ask('PATCH', '/.json', {'open/door': False, 'gate': 'secret'})
    assert live.push() == ('c', {'p': 'gate'})


# Operations for the end


def test_a_listen_below_one_that_ends_with_a_change(database, live):
    """The listen above would have sent the change; the one below sends it instead."""
    database.use_rules({'rules': {'.write': True, 'a': {'.read': "root.child('allow').val() === true", 'b': {'.read': True}}}})
    for value in range(1, 20, 2):
        database.put('/.json', {'allow': True, 'a': {'b': value, 'c': 1}})
        view = View('/a/b')
        live.listen('/a')
        view.apply([('d', {'p': 'a/b', 'd': value})] + live.listen('/a/b'))
        live.do('m', p='/', d={'allow': False, 'a/b': value + 1})
        pushes = live.taken()
        assert ('c', {'p': 'a'}) in pushes
        assert view.apply([push for push in pushes if push[0] != 'c']) == value + 1
        live.do('n', p='/a/b')


def test_the_end_of_a_session(database, live):
    live.do('p', p='/open/list', d={'a': 1, 'b': 2})
    live.do('o', p='/open/presence', d={'last': {'.sv': 'timestamp'}, 'on': False})
    live.do('om', p='/open/list', d={'a': None, 'c/d': 3})
    live.do('o', p='/open/never', d=1)
    live.do('oc', p='/open/never', d=None)
    assert database.get('/open/presence.json') is None
    live.close()
    settled(database, '/open/list.json', {'b': 2, 'c': {'d': 3}})
    presence = database.get('/open/presence.json')
    assert presence['on'] is False and abs(presence['last'] - time.time() * 1000) < 60_000
    assert database.get('/open/never.json') is None


def test_a_part_that_is_cancelled(database, live):
    live.do('p', p='/open/a', d={'keep': 1})
    live.do('o', p='/open/a', d={'x': {'y': 1, 'z': 2}, 'w': 3})
    live.do('oc', p='/open/a/x/y', d=None)
    live.do('o', p='/open/a/x/z', d=4)
    live.cut()
    settled(database, '/open/a.json', {'keep': 1, 'x': {'z': 4}, 'w': 3})


def test_operations_that_are_not_allowed(database, live):
    assert live.ask('o', p='/users/ada', d=1) == ('permission_denied', 'Permission denied')
    assert live.ask('om', p='/', d={'open/a': 1, 'users/ada': 2}) == ('permission_denied', 'Permission denied')
    assert live.ask('o', p='/open/$', d=1)[0] == 'failure'
    assert live.ask('om', p='/open', d=1)[0] == 'failure'
    live.do('o', p='/once', d='me')
    database.put('/open/locked.json', True)
    live.do('o', p='/open/also', d=1)
    live.close()
    # All of a session are one write, which the rules judge again.
    with connect(database) as next_one:
        next_one.do('p', p='/open/after', d=1)
    assert database.get('/once.json') is None


def test_the_last_user_of_a_session_counts(database, live):
    live.do('auth', cred=ADA)
    live.do('o', p='/users/ada/on', d=False)
    live.do('unauth')
    live.close()
    with connect(database) as other:
        other.do('auth', cred=ADA)
        other.do('o', p='/users/ada/at', d=1)
    settled(database, '/users/ada.json', {'at': 1})


def test_a_session_that_its_client_has_lost(database, live):
    """Its operations come before the first request of the next one, so that they do not undo it."""
    live.do('o', p='/open/on', d=False)
    for _ in range(5):
        with connect(database, last=live.session) as again:
            again.do('p', p='/open/on', d=True)
            assert again.do('g', p='/open/on', q={}) is True
    live.cut()
    with connect(database) as other:
        assert other.do('g', p='/open/on', q={}) is True


def test_requests_of_a_lost_session_come_first(database, live):
    """The client sends again what was not answered, and goes on. Requests that the host has received earlier must not run later."""
    large = {f'k{number:05}': number for number in range(50_000)}
    for turn in range(3):
        database.put('/open/large.json', {**large, 'turn': turn})
        # The hash of the large node must be computed; the write waits for that.
        live.request('p', p='/open/large', d=1, h='wrong')
        live.request('p', p='/open/count', d='old')
        with connect(database, last=live.session) as again:
            again.do('p', p='/open/count', d='new')
            while live.socket.frame()[0] != CLOSE:
                pass
            assert again.do('g', p='/open/count', q={}) == 'new'
        live = connect(database)
    live.cut()


@pytest.mark.parametrize('last', ['x', 'a' * 65, '0' * 32 + '-' + '0' * 32])
def test_sessions_that_never_were(last, database):
    with connect(database, last=last) as live:
        live.do('p', p='/open/on', d=True)


def test_operations_create_no_database(host):
    """Refused operations, and the end of operations that never were, leave no trace."""
    with Live(host.port, 'absent-of-operations') as live:
        assert live.ask('o', p='/a', d=1)[0] == 'permission_denied'
        assert live.ask('om', p='/', d={'a': 1})[0] == 'permission_denied'
        assert live.ask('oc', p='/a', d=None) == ('ok', '')
        live.do('gauth', cred='owner')
        assert not list((host.data / 'database').glob('absent-of-operations*'))
        live.do('o', p='/a', d=1)
        assert list((host.data / 'database').glob('absent-of-operations*'))


def test_operations_are_bounded_before_they_are_parsed(live):
    for action, data in [('om', {f'k{number}': 1 for number in range(1001)}), ('o', 'x' * 262_144), ('om', {'a': 'x' * 262_144})]:
        status, text = live.ask(action, p='/open/many', d=data)
        assert status == 'failure' and 'at most 1000 places and of 262144 bytes' in text
    live.do('o', p='/open/many', d={'z': 1})
    live.do('om', p='/open/many', d={f'k{number}': number for number in range(999)})
    live.do('oc', p='/open/many', d=None)


def test_queries_and_hashes_are_bounded(live):
    """They are kept as long as the listen."""
    status, text = live.ask('q', p='/open', q={'i': '.key', 'l': 1, 'x': 'y' * 65_536}, t=1, h='')
    assert status == 'failure' and 'at most 65536 bytes' in text
    live.do('p', p='/open/a', d=1)
    live.do('q', p='/open', q={'i': '.key', 'l': 1}, t=1, h='x' * 1_000_000)
    assert live.taken() == [('d', {'p': 'open', 'd': {'a': 1}, 't': 1})]


def test_many_operations_of_one_client(database, live):
    """The most places are 1,000. What is beyond is refused, and changes nothing; cancelling makes room."""
    for start in range(0, 1000, 250):
        live.do('om', p='/open/many', d={f'k{number}': number for number in range(start, start + 250)})
    status, text = live.ask('o', p='/open/more', d=1)
    assert status == 'failure' and 'at most 1000 places' in text
    live.do('oc', p='/open/many/k5', d=None)
    live.do('o', p='/open/more', d=1)
    assert 'of 262144 bytes' in live.ask('o', p='/open/large', d='x' * 262144)[1]
    live.cut()
    settled(database, '/open/more.json', 1)
    assert database.get('/open/many.json') == {f'k{number}': number for number in range(1000) if number != 5}
    assert database.get('/open/large.json') is None


def test_presence_of_many(database):
    clients = [connect(database) for _ in range(20)]
    with connect(database) as watcher:
        view = View('/open/online')
        for number, client in enumerate(clients):
            client.do('o', p=f'/open/online/{number}x', d=None)
            client.do('p', p=f'/open/online/{number}x', d=True)
        view.apply(watcher.listen('/open/online'))
        assert len(view.value) == 20
        for client in clients:
            client.cut()
        while view.value:
            view.apply([watcher.push()])


@pytest.mark.parametrize('end', ['kill', 'stop'])
def test_the_end_of_the_host(end, prepare):
    """Operations run once, whether the host ends in order or not."""
    host = prepare([], mode='development').start()
    with Database(host, 'demo-hearth-default-rtdb') as database:
        database.use_rules(RULES)
        clients = [connect(database) for _ in range(5)]
        for client in clients:
            client.do('o', p='/open/ends', d={'.sv': {'increment': 1}})
        if end == 'kill':
            host.kill()
        else:
            host.stop()
        host.start()
        database.close()
        settled(database, '/open/ends.json', 5)
        host.stop()
        host.start()
        database.close()
        assert database.get('/open/ends.json') == 5
        for client in clients:
            client.cut()


def test_a_client_resumes_after_the_end_of_the_host(prepare):
    host = prepare([], mode='development').start()
    with Database(host, 'demo-hearth-default-rtdb') as database:
        database.use_rules(RULES)
        live = connect(database)
        live.do('p', p='/open/a', d='Hello World')
        host.kill()
        host.start()
        with connect(database, last=live.session) as again:
            assert again.listen('/open/a', hash='B8HWXc7zXMjrsnJxPRj7wrNGqt4=') == []
            again.do('p', p='/open/a', d=2)
            assert again.taken() == [('d', {'p': 'open/a', 'd': 2})]
        live.cut()


# Slow clients


def test_a_client_that_does_not_read(host, database):
    """It gets the newest value in the end; the others do not wait for it."""
    with connect(database) as slow, connect(database) as writer:
        view = View('/open/big')
        view.apply(slow.listen('/open/big'))
        text = 'x' * 200_000
        for number in range(120):
            writer.do('p', p='/open/big', d={'text': text, 'number': number})
        states = 0
        while not view.value or view.value['number'] != 119:
            view.apply([slow.push()])
            states += 1
        assert states < 120


def test_a_flood_of_listens(database, live):
    for start in range(0, 2000, 100):
        numbers = [live.request('q', p=f'/open/many/{number}', h='') for number in range(start, start + 100)]
        assert {live.answer(number)[0] for number in numbers} == {'ok'}
    live.do('p', p='/open/many', d={str(number): number for number in range(2000)})
    assert len(live.taken()) == 2000
