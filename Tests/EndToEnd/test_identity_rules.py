"""Users of the host's own sign-in in rules of the database and in functions: over REST, live connections, and after their end."""

import contextlib
import json

import pytest

from databases import Database
from hearth import library, merged
from identity import API, Clock, Identity, claims, sign_in_host, succeeded
from live import Live

RULES = {'rules': {
    'users': {'$uid': {'.read': 'auth.uid === $uid', '.write': 'auth.uid === $uid'}},
    'staff': {'.read': "auth.token.role === 'staff'"}, 'verified': {'.read': 'auth.token.email_verified === true'},
    'mail': {'.read': "auth.token.email === 'ada@example.com'"}, 'anonymous': {'.read': "auth.provider === 'anonymous'"},
    'password': {'.read': "auth.token.firebase.sign_in_provider === 'password'"}, 'anyone': {'.read': 'auth !== null'}}}


class Place:
    """A host with sign-in, a database with rules, and a function."""

    def __init__(self, folder, mode):
        folder.mkdir(exist_ok=True)
        self.clock = Clock(folder / 'clock')
        (folder / 'rules.json').write_text(json.dumps(RULES))
        plugins = {'Callers': {'library': library('callers')}}
        self.host = sign_in_host(folder, mode, {'database': {'rules': 'rules.json'}}, self.clock, plugins).start()
        self.identity = Identity(self.host)
        self.database = Database(self.host, 'demo-p-default-rtdb')

    def close(self):
        self.database.close()
        self.identity.close()
        self.host.stop()
        self.clock.close()

    def rest(self, method, path, token, value=None):
        """The status of a request with a token."""
        query = {'auth': token} if token else {}
        return self.database.send(method, f'{path}.json', json.dumps(value) if method == 'PUT' else '', query).status

    def live(self):
        return Live(self.host.port, 'demo-p-default-rtdb')

    def caller(self, token):
        return self.host.callable('whoami', token=token)


@pytest.fixture(scope='module', params=['development', 'production'])
def place(request, tmp_path_factory):
    with contextlib.closing(Place(tmp_path_factory.mktemp(request.param) / 'host', request.param)) as place:
        yield place


@pytest.fixture
def identity(place):
    place.identity.empty()
    return place.identity


def test_rest(place, identity):
    ada, bob = identity.sign_up('ada@example.com'), identity.sign_up('bob@example.com')
    own, other = f"/users/{ada['localId']}", f"/users/{bob['localId']}"
    assert place.rest('PUT', own, ada['idToken'], {'n': 1}) == 200
    assert place.rest('GET', own, ada['idToken']) == 200
    for method, path, token in (('GET', other, ada['idToken']), ('PUT', other, ada['idToken']), ('GET', own, None), ('GET', own, 'junk'),
                                ('GET', own, ada['refreshToken'])):
        assert place.rest(method, path, token) == 401, (method, path)
    assert place.caller(ada['idToken']).json['result']['uid'] == ada['localId']


def test_claims(place, identity):
    user = identity.sign_up('ada@example.com')
    nobody = identity.sign_up()
    for path, token, status in (('mail', user, 200), ('mail', nobody, 401), ('password', user, 200), ('password', nobody, 401),
                                ('verified', user, 401), ('staff', user, 401),
                                ('anonymous', nobody, 200), ('anonymous', user, 401), ('anyone', nobody, 200)):
        assert place.rest('GET', f'/{path}', token['idToken']) == status, path
    identity.managed('accounts:update', localId=user['localId'], emailVerified=True, customAttributes='{"role":"staff"}')
    # Claims are those of the token: new ones come with a refresh.
    assert place.rest('GET', '/staff', user['idToken']) == 401
    fresh = identity.refreshed(user['refreshToken'])['id_token']
    assert place.rest('GET', '/staff', fresh) == 200 and place.rest('GET', '/verified', fresh) == 200


@pytest.mark.parametrize('action', ['auth', 'gauth'])
def test_a_live_connection(place, identity, action):
    ada, bob = identity.sign_up('ada@example.com'), identity.sign_up('bob@example.com')
    path = f"/users/{ada['localId']}"
    with place.live() as live:
        assert live.ask('q', p=path, h='')[0] == 'permission_denied'
        assert live.do(action, cred=ada['idToken'])['auth']['uid'] == ada['localId']
        live.do('q', p=path, h='')
        live.do('p', p=f'{path}/n', d=1)
        assert live.ask('p', p=f"/users/{bob['localId']}", d=1)[0] == 'permission_denied'
        # Another user of the same connection.
        live.do(action, cred=bob['idToken'])
        assert live.ask('p', p=f'{path}/n', d=2)[0] == 'permission_denied'
        live.do('unauth')
        assert live.ask('p', p=f"/users/{bob['localId']}", d=1)[0] == 'permission_denied'
    with place.live() as live:
        for wrong in ('junk', ada['refreshToken'], ada['idToken'][:-30]):
            assert live.ask(action, cred=wrong)[0] != 'ok', wrong[:20]


def test_a_deleted_user(place, identity):
    """The token of a deleted user is worth the same everywhere; sign-in refuses it at once, and no new one is to be had."""
    user = identity.sign_up('ada@example.com')
    path, token = f"/users/{user['localId']}", user['idToken']
    with place.live() as live:
        live.do('auth', cred=token)
        identity.managed('accounts:delete', localId=user['localId'])
        assert identity.refused('accounts:lookup', idToken=token).startswith(('USER_NOT_FOUND', 'TOKEN_EXPIRED', 'INVALID_ID_TOKEN'))
        assert identity.refresh(user['refreshToken']).status == 400
        with place.live() as other:
            accepted = {place.rest('PUT', path, token, 1) == 200, other.ask('auth', cred=token)[0] == 'ok', place.caller(token).status == 200}
        assert len(accepted) == 1, 'services disagree about the token'


def test_an_expired_token(place, identity):
    # In development tokens do not expire, as with the emulator.
    if place.host.mode == 'development':
        return
    user = identity.sign_up('ada@example.com')
    path, token = f"/users/{user['localId']}", user['idToken']
    assert place.rest('PUT', path, token, 1) == 200
    place.clock.advance(3700)
    assert place.rest('PUT', path, token, 1) == 401
    assert place.caller(token).status == 401
    with place.live() as live:
        assert live.ask('auth', cred=token)[0] != 'ok'
    fresh = identity.refreshed(user['refreshToken'])['id_token']
    assert place.rest('PUT', path, fresh, 1) == 200
    assert claims(fresh)['auth_time'] == claims(token)['auth_time']


def test_the_second_factor_is_seen(place, identity):
    if place.host.mode == 'production':
        return
    user = identity.sign_up('ada@example.com')
    tokens = identity.enroll_phone(user)
    assert claims(tokens['idToken'])['firebase']['sign_in_second_factor'] == 'phone'
    assert place.caller(tokens['idToken']).json['result']['uid'] == user['localId']


def test_the_configuration_file_counts_beside_what_an_administrator_has_changed(tmp_path):
    host = sign_in_host(tmp_path / 'host').start()
    path = f'{API}/v2/projects/demo-p/config'
    try:
        with Identity(host) as identity:
            succeeded(identity.ask('PATCH', f'{path}?updateMask=mfa.state', {'mfa': {'state': 'ENABLED'}}), 'patch')
            identity.sign_up()
        host.stop()
        host.write_config((), merged(host.config, {'auth': {'signIn': {'anonymous': False}}}))
        host.start()
        with Identity(host) as identity:
            known = identity.ask('GET', path).json
            assert (known['mfa']['state'], known['signIn']['anonymous']) == ('ENABLED', {'enabled': False})
            assert identity.refused('accounts:signUp').startswith('ADMIN_ONLY_OPERATION')
    finally:
        host.stop()
