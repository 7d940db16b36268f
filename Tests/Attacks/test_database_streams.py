"""Attack: going on to hear what a token or a rule no longer allows."""

import contextlib
import time

import pytest

from databases import OPEN_RULES, Database, EventStream
from fixtures import shared_host
from hearth import Host
from tokens import id_claims, unsigned

SKEW = 60
ADA = {'Authorization': f'Bearer {unsigned(id_claims("ada"))}'}
MEMBERS = {'rules': {
    'members': {'.write': True},
    'board': {'.read': "root.child('members').child(auth.uid).val() == true", '.write': True, '.indexOn': '.value'},
}}
LONG = 'x' * (6 << 20)


host = shared_host()


@pytest.fixture
def database(host, request):
    with Database(host, request.node.name.replace('_', '-').replace('[', '-').replace(']', '').lower()[:60]) as database:
        database.use_rules(MEMBERS)
        database.put('/.json', {'members': {'ada': True}, 'board': {'a': 1}})
        yield database


@pytest.fixture(scope='module')
def skewed(tmp_path_factory, keys):
    """A host in production mode whose clock may be a minute from the issuer's."""
    config = {'auth': {'clockSkewSeconds': SKEW}, 'database': {'namespaces': ['skewed']}}
    host = Host(tmp_path_factory.mktemp('skewed'), [], keys=keys, config=config).start()
    token = (host.data / 'admin-token').read_text().strip()
    with Database(host, 'skewed') as database:
        rules = '{"rules": {".read": "auth != null", ".write": "auth != null"}}'
        assert database.send('PUT', '/.settings/rules.json', rules, headers={'Authorization': f'Bearer {token}'}).status == 200
        yield database
    host.stop()


@pytest.mark.parametrize('lifetime', [3 - SKEW, 1], ids=['expired within the skew', 'before its end'])
def test_a_token_ends_its_stream_whatever_the_skew(lifetime, skewed, keys):
    """Accepted until its end and the skew, and no longer."""
    claims = id_claims('ada', lifetime=lifetime, iat=int(time.time()) - 120, auth_time=int(time.time()) - 120)
    headers = {'Authorization': f'Bearer {keys.id.sign(claims)}'}
    if lifetime > 0:
        # It goes on while requests with the token do, of which the first case waits for the end.
        with skewed.stream('/a.json', headers=headers) as stream:
            assert stream.put() == ('/', None)
            time.sleep(max(0, claims['exp'] + 1 - time.time()))
            assert skewed.ask('PUT', '/a.json', 1, headers=headers).status == 200
            assert stream.put() == ('/', 1)
        assert skewed.ask('DELETE', '/a.json', headers=headers).status == 200
        return
    with skewed.stream('/a.json', headers=headers) as stream:
        assert stream.put() == ('/', None)
        assert stream.next() == ('auth_revoked', 'Auth token is expired')
        assert stream.has_ended()
    assert skewed.ask('GET', '/a.json', headers=headers).status == 401


@pytest.mark.parametrize('query', [{}, {'orderBy': '"$key"', 'limitToLast': 5}], ids=['value', 'query'])
@pytest.mark.parametrize('path', ['/board.json', '/board/a.json'], ids=['place', 'below'])
def test_nothing_is_shown_from_the_commit_on_that_forbids_it(path, query, database):
    with database.stream(path, query, headers=ADA) as stream:
        stream.put()
        # Still allowed: this arrives, and so the next change is within the time of any judgement that is remembered.
        database.put('/board/a.json', {'b': 2}, headers={})
        assert stream.next()[0] == 'put'
        database.put('/members/ada.json', False, headers={})
        database.put('/board/a.json', {'b': 'secret'}, headers={})
        assert stream.next() == ('cancel', 'Permission denied')
        assert stream.has_ended()


@pytest.mark.parametrize('change', [('/members/ada.json', False), ('/members/ada.json', None), ('/members.json', None), ('/members/ada/x.json', 1)])
def test_a_stream_ends_with_the_membership_although_its_own_data_is_unchanged(change, database):
    """At once, not only with the next keep-alive, which is after 30 s."""
    with database.stream('/board.json', headers=ADA) as stream, database.stream('/board.json', headers={'Authorization': 'Bearer owner'}) as other:
        assert stream.put() == other.put() == ('/', {'a': 1})
        # Changes of other members do not matter.
        database.put('/members/bob.json', True, headers={})
        database.put('/members/bob.json', None, headers={})
        database.put('/board/a.json', 2, headers={})
        assert stream.put() == other.put() == ('/a', 2)
        database.put(*change, headers={})
        assert stream.next() == ('cancel', 'Permission denied')
        assert stream.has_ended()
        database.put('/board/a.json', 3, headers={})
        assert other.put() == ('/a', 3)


def test_a_membership_that_returns_is_in_force_again(database):
    with database.stream('/board.json', headers=ADA) as stream:
        assert stream.put() == ('/', {'a': 1})
        for number in range(2, 20):
            # One write, after which the rules allow the stream as before.
            database.ask('PATCH', '/.json', {'members/ada': True, 'board/a': number}, headers={'Authorization': 'Bearer owner'})
            assert stream.next() == ('patch', {'path': '/', 'data': {'a': number}})


@pytest.mark.parametrize('rule', [
    "now > 0 && root.child('members').child(auth.uid).val() == true",
    ' && '.join([f"!root.child('banned/{number}').exists()" for number in range(70)] + ["root.child('members/ada').val() == true"]),
], ids=['time', 'many places'])
def test_rules_that_cannot_be_watched_are_evaluated_before_each_change(rule, database):
    database.use_rules({'rules': {'members': {'.write': True}, 'banned': {'.write': True}, 'board': {'.read': rule, '.write': True}}})
    with database.stream('/board.json', headers=ADA) as stream:
        assert stream.put() == ('/', {'a': 1})
        for number in range(2, 6):
            database.put('/board/a.json', number, headers={})
            assert stream.put() == ('/a', number)
        database.put('/members/ada.json', False, headers={})
        database.put('/board/a.json', 'secret', headers={})
        assert stream.next() == ('cancel', 'Permission denied')


def test_the_forbidding_write_itself_is_not_shown(database):
    with database.stream('/board.json', headers=ADA) as stream:
        assert stream.put() == ('/', {'a': 1})
        database.ask('PATCH', '/.json', {'members/ada': None, 'board/a': 'secret'}, headers={'Authorization': 'Bearer owner'})
        assert stream.next() == ('cancel', 'Permission denied')


def test_writes_behind_each_other_are_judged_too(database):
    """Many writes share a commit: none of those behind the forbidding one is shown."""
    with database.stream('/board.json', headers=ADA) as stream, database.host.wire() as writer:
        assert stream.put() == ('/', {'a': 1})
        for index in range(20):
            body = 'false' if index == 10 else f'"{"early" if index < 10 else "late"}"'
            path = '/members/ada.json' if index == 10 else '/board/a.json'
            writer.send_request('PUT', database.target(path), {}, body)
        for _ in range(20):
            assert writer.response('PUT').status == 200
        names = []
        with contextlib.suppress(Exception):
            while True:
                names.append(stream.next())
        assert names[-1] == ('cancel', 'Permission denied')
        assert 'late' not in str(names)


def test_rules_without_data_cost_no_judgement_and_still_end_the_stream(database):
    database.use_rules({'rules': {'board': {'.read': "auth.uid == 'ada'", '.write': True}}})
    with database.stream('/board.json', headers=ADA) as stream:
        assert stream.put() == ('/', {'a': 1})
        for value in range(5):
            database.put('/board/a.json', value, headers={})
            assert stream.put() == ('/a', value)
        database.use_rules({'rules': {'board': {'.write': True}}})
        database.put('/board/a.json', 'secret', headers={})
        assert stream.next() == ('cancel', 'Permission denied')


def rest_of(stream):
    """Every byte that is still on its way."""
    rest = bytearray()
    stream.wire.socket.settimeout(20)
    with contextlib.suppress(ConnectionResetError):
        while piece := stream.wire.socket.recv(1 << 20):
            rest += piece
    return bytes(stream.wire.buffer) + bytes(rest)


@pytest.mark.parametrize('what', ['rules', 'data'])
def test_no_frame_begins_within_another(what, database):
    database.use_rules(MEMBERS if what == 'data' else OPEN_RULES)
    database.put('/board.json', {'long': LONG, 'more': LONG})
    with EventStream(database, '/board.json', headers=ADA, receive_buffer=4096) as stream:
        # The client takes nothing: the value is on its way, and cannot end.
        if what == 'rules':
            database.use_rules({'rules': {}})
        else:
            database.put('/members/ada.json', False, headers={})
            database.put('/board/small.json', 1, headers={})
        # A later stream has been checked, so the host has handled both.
        with database.stream('/board/small.json', headers=ADA) as later:
            assert later.head.status == 401
        text = rest_of(stream)
    assert text.count(b'event: ') <= 1 and b'cancel' not in text, text[-200:]
    assert b'\n\n' not in text and not text.endswith(b'0\r\n\r\n')
