"""Access tokens of service accounts at the database: the Admin SDK for Python with a key file, in production mode and over TLS."""

import json

import firebase_admin
import pytest
from firebase_admin import credentials, db, exceptions
from google.auth.transport.requests import Request
from google.oauth2 import service_account

from hearth import Host
from messaging import Messaging
from secure_host import TLS, Secure
from tokens import PROJECT

RULES = {'rules': {'mine': {'$uid': {'.read': 'auth.uid == $uid', '.write': 'auth.uid == $uid'}}}}
SCOPE = 'https://www.googleapis.com/auth/'


@pytest.fixture(scope='module')
def secure(tmp_path_factory):
    """A host in production mode that speaks TLS."""
    host = Host(tmp_path_factory.mktemp('accounts'), [], config={**TLS, 'messaging': {'projects': ['other-project']}})
    secure = Secure(host).start()
    host.wire = secure.wire
    yield host
    host.stop()


def key_file(host, project=PROJECT):
    admin = Messaging(host, PROJECT)
    key = admin.account(project=project)
    admin.close()
    return key


@pytest.fixture(scope='module')
def key(secure):
    return key_file(secure)


@pytest.fixture
def trusted(secure, monkeypatch):
    """The host's certificate is one that the machine trusts."""
    monkeypatch.setenv('REQUESTS_CA_BUNDLE', str(secure.folder / 'cert.pem'))


@pytest.fixture
def connect(secure, key, trusted):
    apps = []

    def make(**options):
        certificate = credentials.Certificate(key)
        options = {'databaseURL': f'https://localhost:{secure.port}', **options}
        apps.append(firebase_admin.initialize_app(certificate, options, name=f'account-{len(apps)}'))
        return lambda path='/': db.reference(path, app=apps[-1])

    yield make
    for app in apps:
        firebase_admin.delete_app(app)


def test_the_sdk_is_an_administrator(connect):
    reference = connect()
    reference('players').set({'ada': {'score': 7}})
    assert reference('players/ada/score').transaction(lambda score: score + 1) == 8
    reference('players').update({'bob/score': 3})
    assert reference('players').order_by_key().limit_to_last(1).get() == {'bob': {'score': 3}}
    assert len(reference('list').push('one').key) == 20
    reference('players').delete()
    assert reference('players').get() is None


def test_the_sdk_acts_for_users(connect, secure, token):
    connect()('/mine').set({'ada': 'hers', 'bob': 'his'})
    ask(secure, 'PUT', '/.settings/rules.json', token('firebase.database'), json.dumps(RULES))
    ada = connect(databaseAuthVariableOverride={'uid': 'ada'})
    assert ada('mine/ada').get() == 'hers'
    for place in (ada('mine/bob'), connect(databaseAuthVariableOverride=None)('mine/ada')):
        with pytest.raises(exceptions.UnauthenticatedError):
            place.get()
        with pytest.raises(exceptions.UnauthenticatedError):
            place.set('changed')
    assert connect()('mine').get() == {'ada': 'hers', 'bob': 'his'}


def token_for(key, *scopes):
    """An access token of the account, fetched as SDKs do."""
    found = service_account.Credentials.from_service_account_info(key, scopes=[SCOPE + scope for scope in scopes])
    found.refresh(Request())
    return found.token


def ask(host, method, target, token, body='', in_query=False):
    if in_query:
        return host.request(method, f'{target}{"&" if "?" in target else "?"}access_token={token}', body=body)
    return host.request(method, target, {'Authorization': f'Bearer {token}'}, body)


@pytest.fixture
def token(key, trusted):
    return lambda *scopes, key=key: token_for(key, *scopes)


@pytest.mark.parametrize('in_query', [False, True], ids=['header', 'access_token'])
@pytest.mark.parametrize('scopes', [['firebase.database', 'userinfo.email'], ['cloud-platform']], ids=' '.join)
def test_the_scope_makes_an_administrator(scopes, in_query, secure, token):
    token = token(*scopes)
    assert ask(secure, 'PUT', '/by-hand.json', token, '1', in_query).status == 200
    assert ask(secure, 'GET', '/by-hand.json', token, in_query=in_query).json == 1
    assert ask(secure, 'GET', '/.settings/rules.json', token, in_query=in_query).status == 200
    override = ask(secure, 'GET', '/by-hand.json?auth_variable_override=%7B%22uid%22%3A%22x%22%7D', token, in_query=in_query)
    assert (override.status, override.json) == (401, {'error': 'Permission denied'})


@pytest.mark.parametrize('in_query', [False, True], ids=['header', 'access_token'])
@pytest.mark.parametrize('scopes', [['firebase.messaging'], ['userinfo.email'], ['identitytoolkit', 'firebase']], ids=' '.join)
def test_another_scope_does_not(scopes, in_query, secure, token):
    answer = ask(secure, 'GET', '/by-hand.json', token(*scopes), in_query=in_query)
    assert (answer.status, answer.json) == (401, {'error': 'Unauthorized request.'})


def test_an_account_of_another_project_does_not(secure, token):
    answer = ask(secure, 'GET', '/.json', token('cloud-platform', key=key_file(secure, 'other-project')))
    assert (answer.status, answer.json) == (401, {'error': 'Unauthorized request.'})


def test_a_changed_token_does_not(secure, token):
    head, content, code = token('cloud-platform').split('.')
    for wrong in [f'{head}.{content}.{code[:-4]}AAAA', f'{head}.{content}x.{code}', f'{head}.{content}', 'ya29.', 'ya29.x.y']:
        assert ask(secure, 'GET', '/.json', wrong).status == 401


def test_an_access_token_counts_in_development_mode_too(launch):
    host = launch([], mode='development')
    token = token_for(key_file(host), 'firebase.database')
    assert ask(host, 'PUT', '/a.json', token, '1').status == 200
    assert ask(host, 'GET', '/a.json', token, in_query=True).json == 1


def test_a_stream_of_an_account(secure, token):
    headers = {'Authorization': f'Bearer {token("firebase.database")}'}
    secure.request('PUT', '/news.json', headers, '1')
    with secure.wire() as wire:
        wire.send_request('GET', '/news.json', {**headers, 'Accept': 'text/event-stream'})
        assert wire.head().status == 200
        frames = wire.frames()
        assert next(frames) == 'event: put\ndata: {"path":"/","data":1}'
        secure.request('PUT', '/news.json', headers, '2')
        assert next(frames) == 'event: put\ndata: {"path":"/","data":2}'
