"""`hearth auth:keys`: the key file of a server. The Admin SDK for Python takes it unmodified, for users, the database and messages."""

import json
import os
import stat

import firebase_admin
import pytest
from firebase_admin import auth, credentials, messaging
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request
from google.oauth2 import service_account

from commands import Commands
from google_gateway import GoogleGateway
from identity import PASSWORD, Identity, refusal, sign_in_host

SCOPE = 'https://www.googleapis.com/auth/'


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = sign_in_host(tmp_path_factory.mktemp('keys') / 'host', config={'auth': {'publicUrl': 'https://api.example.org'}}).start()
    yield host
    host.stop()


@pytest.fixture
def hearth(host, tmp_path):
    return Commands(host, tmp_path / 'here')


@pytest.fixture
def connect(host, tmp_path, monkeypatch):
    """Makes an app of the SDK from a key file. The addresses of users and messages are fixed in the SDK, so that they are led here."""
    gateway = GoogleGateway(tmp_path, host.port)
    for name, value in gateway.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(messaging._MessagingService, 'FCM_URL', f'http://127.0.0.1:{host.port}/v1/projects/{{0}}/messages:send')
    apps = []

    def make(file):
        apps.append(firebase_admin.initialize_app(credentials.Certificate(str(file)), name=f'keys-{file.name}'))
        return apps[-1]

    yield make
    for app in apps:
        firebase_admin.delete_app(app)
    gateway.close()


def access(host, key, *scopes):
    """The status with which the owner of a key may: users, the database, messages."""
    account = service_account.Credentials.from_service_account_info(key, scopes=[f'{SCOPE}{scope}' for scope in scopes])
    account.refresh(Request())
    token = account.token
    headers = {'Authorization': f'Bearer {token}', 'Content-Type': 'application/json'}
    project = f'/v1/projects/{host.config["project"]}'
    asked = [('POST', f'/identitytoolkit.googleapis.com{project}/accounts:query', '{}'), ('GET', '/.settings/rules.json', ''),
             ('POST', f'{project}/messages:send', '{"validate_only": true, "message": {"topic": "news"}}')]
    return [host.request(method, path, headers, body.encode()).status for method, path, body in asked]


def test_one_file_for_everything(host, hearth, connect):
    said = hearth.succeeds('auth:keys', '--add', 'backend')
    file = hearth.folder / 'backend-key.json'
    key = json.loads(file.read_text())
    assert 'backend-key.json' in said and key['private_key'] not in said and 'PRIVATE' not in said
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert key['type'] == 'service_account' and key['token_uri'] == f'http://127.0.0.1:{host.port}/token'
    app = connect(file)
    user = auth.create_user(email='server@example.com', password=PASSWORD, app=app)
    # The SDK sends its token to databases behind TLS only: test_database_service_accounts has such a host.
    headers = {'Authorization': f'Bearer {app.credential.get_access_token().access_token}'}
    assert host.request('PUT', '/made.json', headers, json.dumps(user.uid).encode()).status == 200
    assert host.request('GET', '/made.json', headers).json == user.uid
    assert messaging.send(messaging.Message(topic='news'), dry_run=True, app=app).startswith('projects/')
    assert not any(name.suffix == '.part' for name in hearth.folder.iterdir())


def test_the_host_keeps_the_public_key_only(host, hearth):
    """And it keeps it across a restart, also for custom tokens."""
    hearth.succeeds('auth:keys', '--add', 'kept', '--output', 'kept.json')
    key = json.loads((hearth.folder / 'kept.json').read_text())
    secret = ''.join(key['private_key'].splitlines()[1:3])[:100].encode()
    assert not any(secret in path.read_bytes() for path in host.data.rglob('*') if path.is_file())
    host.stop()
    host.start()
    hearth.url = f'http://127.0.0.1:{host.port}'
    app = firebase_admin.initialize_app(credentials.Certificate(key), name='kept')
    token = auth.create_custom_token('by-a-server', app=app).decode()
    firebase_admin.delete_app(app)
    with Identity(host) as identity:
        assert identity.do('accounts:signInWithCustomToken', token=token, returnSecureToken=True)['idToken']


def test_scopes(host, hearth):
    for names, expected in ((['auth'], [200, 401, 403]), (['database'], [401, 200, 403]), (['messaging'], [401, 401, 200]),
                            (['auth', 'messaging'], [200, 401, 200])):
        name = '-'.join(names)
        hearth.succeeds('auth:keys', '--add', name, *(part for scope in names for part in ('--scope', scope)), '--output', f'{name}.json')
        key = json.loads((hearth.folder / f'{name}.json').read_text())
        found = access(host, key, 'cloud-platform', 'identitytoolkit', 'firebase.database', 'firebase.messaging')
        assert [status == 200 for status in found] == [status == 200 for status in expected], (names, found)
    listed = {account['client_email'].partition('@')[0]: account['scopes'] for account in hearth.result('auth:keys')['keys']}
    assert (listed['auth-messaging'], listed['database']) == (['auth', 'messaging'], ['database'])
    # A custom token signs in as anyone: only a key for users makes one.
    app = firebase_admin.initialize_app(credentials.Certificate(json.loads((hearth.folder / 'database.json').read_text())), name='bounded')
    token = auth.create_custom_token('anyone', app=app).decode()
    firebase_admin.delete_app(app)
    with Identity(host) as identity:
        assert refusal(identity.post('accounts:signInWithCustomToken', token=token)) == 'CREDENTIAL_MISMATCH'


def test_a_key_that_is_removed(host, hearth, connect):
    hearth.succeeds('auth:keys', '--add', 'gone')
    app = connect(hearth.folder / 'gone-key.json')
    auth.create_user(uid='before', app=app)
    assert 'gone@' in hearth.succeeds('auth:keys')
    assert hearth.succeeds('auth:keys', '--remove', 'gone').endswith('.iam.gserviceaccount.com is removed\n')
    # The SDK gets 401, and then no new access token.
    with pytest.raises(GoogleAuthError):
        auth.create_user(uid='after', app=app)
    assert 'gone@' not in hearth.succeeds('auth:keys')
    assert 'there is no account gone@' in hearth.run('auth:keys', '--remove', 'gone').sentence


def test_files_and_accounts_are_not_replaced(host, hearth):
    (hearth.folder / 'twice-key.json').write_text('mine')
    assert 'exists already' in hearth.run('auth:keys', '--add', 'twice').sentence
    assert 'twice@' not in hearth.succeeds('auth:keys')
    assert 'cannot be written' in hearth.run('auth:keys', '--add', 'twice', '--output', 'no/folder/here.json').sentence
    assert 'twice@' not in hearth.succeeds('auth:keys')
    shown = json.loads(hearth.succeeds('auth:keys', '--add', 'twice', '--output', '-', '--server-url', 'https://api.example.org/'))
    assert shown['token_uri'] == 'https://api.example.org/token' and 'PRIVATE KEY' in shown['private_key']
    assert 'has a key already' in hearth.run('auth:keys', '--add', 'twice', '--output', 'other.json').sentence
    assert not (hearth.folder / 'other.json').exists() and (hearth.folder / 'twice-key.json').read_text() == 'mine'


@pytest.mark.parametrize('arguments', [['--add', 'a', '--remove', 'a'], ['--scope', 'auth'], ['--add', 'Big'], ['--add', 'a', '--scope', 'all'],
                                       ['--output', 'x'], ['--remove', 'a', '--server-url', 'https://a']], ids=' '.join)
def test_wrong_arguments(hearth, arguments):
    assert hearth.run('auth:keys', *arguments).status == 64
