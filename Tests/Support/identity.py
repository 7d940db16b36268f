"""A client of a host's sign-in: users, their tokens, and the administrator of both; and a clock that a test moves."""

import itertools
import json
import os
import struct
import time
import urllib.parse

from disks import SUPPORT
from hearth import Host, compiled, merged
from identity_providers import decoded
from messaging import Messaging
from wire import Ended, Wire

API = '/identitytoolkit.googleapis.com'
TOKEN = '/securetoken.googleapis.com/v1/token'
APP_CHECK = '/firebaseappcheck.googleapis.com'
PASSWORD = 'notasecret'
# In production, each way to sign in is off until the configuration names it.
EVERY_WAY = {'password': True, 'emailLink': True, 'anonymous': True, 'phoneNumber': True}
# Consecutive addresses are of different networks, because limits of attempts are for networks too.
addresses = (f'127.{1 + (os.getpid() + number) % 250}.{number // 250 % 256}.{1 + number // 64000 % 254}' for number in itertools.count())


class Clock:
    """The clocks of a process, which a test moves. `variables` are for the environment of the process."""

    def __init__(self, path):
        self.file = open(path, 'w+b', buffering=0)
        self.ahead = 0
        self.advance(0)
        self.variables = {'LD_PRELOAD': compiled(SUPPORT / 'moved_clock.c', ()), 'CLOCK_FILE': str(path)}

    def advance(self, seconds):
        self.ahead += seconds
        os.pwrite(self.file.fileno(), struct.pack('q', self.ahead), 0)

    def now(self):
        return int(time.time()) + self.ahead

    def close(self):
        self.file.close()


class Identity:
    """The sign-in of a host, as an app and its administrator use it. `source` is the address from which its requests come."""

    def __init__(self, host, project=None, key='fake-api-key', source=None):
        self.host, self.project, self.key, self.source = host, project or host.config['project'], key, source
        self.wire = None

    def close(self):
        if self.wire:
            self.wire.close()
            self.wire = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def admin(self):
        """The administrator's credential as a header."""
        secret = 'owner' if self.host.mode == 'development' else (self.host.data / 'admin-token').read_text().strip()
        return {'Authorization': f'Bearer {secret}'}

    # Requests

    def send(self, method, path, headers=(), body=b'', host=None):
        """Sends a request over the kept connection. Reconnects once if the host has closed it."""
        for attempt in (1, 2):
            self.wire = self.wire or Wire(self.host.port, source=self.source, timeout=60)
            try:
                return self.wire.request(method, path, headers, body, host)
            except (Ended, ConnectionError):
                self.close()
                if attempt == 2:
                    raise
        return None

    def ask(self, method, path, body=None, headers=None):
        """Sends JSON as the administrator or with these headers."""
        payload = b'' if body is None else json.dumps(body).encode()
        return self.send(method, path, {'Content-Type': 'application/json', **(self.admin if headers is None else headers)}, payload)

    def post(self, action, headers=None, version='v1', **body):
        """Sends a request of an app, and returns the answer."""
        return self.ask('POST', f'{API}/{version}/{action}?key={self.key}', body, headers or {})

    def do(self, action, **body):
        """Sends a request of an app that must succeed, and returns its JSON."""
        return succeeded(self.post(action, **body), action)

    def refused(self, action, status=400, **body):
        """Sends a request of an app that must be refused, and returns the error's message."""
        return refusal(self.post(action, **body), status)

    def manage(self, action, method='POST', version='v1', headers=None, **body):
        """Sends a request of the administrator below the project, such as `accounts:update`."""
        separator = '' if action.startswith(':') else '/'
        return self.ask(method, f'{API}/{version}/projects/{self.project}{separator}{action}', body if method != 'GET' else None, headers)

    def managed(self, action, **body):
        return succeeded(self.manage(action, **body), action)

    # Users

    def sign_up(self, email=None, password=PASSWORD, **more):
        """A new user: with an e-mail address, or anonymous."""
        fields = {'email': email, 'password': password} if email else {}
        return self.do('accounts:signUp', returnSecureToken=True, **fields, **more)

    def sign_in(self, email, password=PASSWORD, **more):
        return self.do('accounts:signInWithPassword', email=email, password=password, returnSecureToken=True, **more)

    def with_provider(self, provider='facebook.com', **more):
        """Signs in with a provider's credential (`access_token=`, `id_token=`, `nonce=`), and returns the answer."""
        names = ('access_token', 'id_token', 'nonce', 'user', 'code', 'oauth_token_secret')
        form = {'providerId': provider, **{name: more.pop(name) for name in names if name in more}}
        body = {'requestUri': 'http://localhost', 'postBody': urllib.parse.urlencode(form), 'returnSecureToken': True, 'returnIdpCredential': True}
        return self.post('accounts:signInWithIdp', **{**body, **more})

    def refresh(self, token):
        """Refreshes, as apps on Apple's systems do, and returns the answer."""
        return self.ask('POST', f'{TOKEN}?key={self.key}', {'grantType': 'refresh_token', 'refreshToken': token}, {})

    def refreshed(self, token):
        return succeeded(self.refresh(token), 'token')

    def lookup(self, token):
        """The user of an ID token."""
        return self.do('accounts:lookup', idToken=token)['users'][0]

    def user(self, uid):
        """A user, for the administrator; None if there is none."""
        return self.managed('accounts:lookup', localId=[uid]).get('users', [None])[0]

    def every_user(self, page=1000):
        """All users, page by page."""
        users, token = [], ''
        while token is not None:
            path = f'{API}/v1/projects/{self.project}/accounts:batchGet?maxResults={page}&nextPageToken={urllib.parse.quote(token)}'
            answer = succeeded(self.ask('GET', path), 'batchGet')
            users += answer.get('users', [])
            token = answer.get('nextPageToken')
        return users

    def empty(self):
        """Deletes all users."""
        while users := self.every_user():
            for start in range(0, len(users), 1000):
                self.managed('accounts:batchDelete', localIds=[user['localId'] for user in users[start:start + 1000]], force=True)

    # Codes that were sent out of band

    def codes(self, kind='oobCodes'):
        return succeeded(self.ask('GET', f'/emulator/v1/projects/{self.project}/{kind}'), kind)[kind]

    def mail_code(self):
        """The last code that was mailed."""
        return self.codes()[-1]['oobCode']

    def text_code(self):
        """The last code that was sent as a text message."""
        return self.codes('verificationCodes')[-1]['code']

    def enroll_phone(self, user, number='+15555550123', name='my phone'):
        """Enrols a second factor for a user with an e-mail address, and returns the tokens."""
        self.managed('accounts:update', localId=user['localId'], emailVerified=True)
        started = self.do('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'], phoneEnrollmentInfo={'phoneNumber': number})
        proof = {'sessionInfo': started['phoneSessionInfo']['sessionInfo'], 'code': self.text_code()}
        return self.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'], phoneVerificationInfo=proof, displayName=name)

    # Service accounts

    def service_account(self, name='tester'):
        """The key file of a new service account."""
        messaging = Messaging(self.host, self.project)
        try:
            return messaging.account(name)
        finally:
            messaging.close()


def succeeded(answer, what):
    assert answer.status == 200, f'{what}: {answer.status} {answer.body!r}'
    return answer.json


def refusal(answer, status=400):
    """The message of an error."""
    assert answer.status == status, f'{answer.status} {answer.body!r}'
    return answer.json['error']['message']


def claims(token):
    return decoded(token)[1]


def sign_in_host(folder, mode='production', config=None, clock=None, plugins=(), **options):
    """A host with sign-in that is not started yet."""
    settings = {'project': 'demo-p', 'auth': {'apiKeys': ['fake-api-key'], 'signIn': EVERY_WAY} if mode == 'production' else {}}
    variables = {**(clock.variables if clock else {}), **options.pop('env', {})}
    return Host(folder, plugins, mode=mode, config=merged(settings, config or {}), env=variables, **options)
