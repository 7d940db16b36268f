"""The messaging service of a host, with senders and receiving devices."""

import datetime
import json
import urllib.parse

import jwt
import pytest

from processes import until
from wire import Ended, Wire

OWN = '/_messaging/v1'
SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'


class Messaging:
    """The messaging service of a host, used by its administrator over one connection."""

    def __init__(self, host, project):
        self.host, self.project = host, project
        self.admin = (host.data / 'admin-token').read_text().strip()
        self.wire = host.wire()

    def close(self):
        self.wire.close()

    def ask(self, method, path, body=None, token=None, headers=None, host=None):
        headers = {'Authorization': f'Bearer {token or self.admin}', **(headers or {})}
        payload = b'' if body is None else json.dumps(body).encode()
        return self.wire.request(method, path, headers, payload, host)

    def do(self, method, path, body=None):
        """Sends a request that must succeed, and returns its JSON."""
        answer = self.ask(method, path, body)
        assert answer.status == 200, f'{method} {path}: {answer.status} {answer.body!r}'
        return answer.json

    def send(self, message, project=None, **more):
        return self.do('POST', f'/v1/projects/{project or self.project}/messages:send', {'message': message, **more})['name']

    def refused(self, message, **more):
        """Sends a message that must be refused, and returns the error."""
        answer = self.ask('POST', f'/v1/projects/{self.project}/messages:send', {'message': message, **more})
        assert answer.status >= 400, answer.body
        return answer.json['error']

    def register(self, platform='android', package='com.example.app', project=None, **more):
        body = {'platform': platform, 'package': package, **more}
        return self.do('POST', f'{OWN}/projects/{project or self.project}/devices', body)

    def subscribe(self, topic, tokens):
        answer = self.do('POST', '/iid/v1:batchAdd', {'to': f'/topics/{topic}', 'registration_tokens': tokens})
        assert answer == {'results': [{}] * len(tokens)}, answer

    def subscribers(self, topic):
        answer = self.do('GET', f'{OWN}/projects/{self.project}/topics/{topic}/subscribers')
        return {device['fid'] for device in answer['subscribers']}

    def message(self, name):
        """A message's states. Fails if the message is unknown."""
        return self.find(name) or pytest.fail(f'{name} is not known')

    def find(self, name):
        """A message's states; None if it has been deleted."""
        project, _, identity = name.removeprefix('projects/').partition('/messages/')
        answer = self.ask('GET', f'{OWN}/projects/{project}/messages/{urllib.parse.quote(identity)}')
        assert answer.status in (200, 404), answer.body
        return answer.json if answer.status == 200 else None

    def settled(self, name):
        """Waits until all receivers of a message are known. A deleted message has no receivers left."""
        until(lambda: not (self.find(name) or {'fanning_out': False})['fanning_out'], f'{name} is distributed')

    def control(self, name, **body):
        return self.do('POST', f'{OWN}/control/{name}', body)

    def account(self, name='tester', project=None):
        """Creates a service account and returns its key file."""
        return self.do('POST', f'{OWN}/projects/{project or self.project}/credentials', {'name': name})

    def access_token(self, account, scope=SCOPE):
        form = urllib.parse.urlencode({
            'grant_type': 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'assertion': assertion(account, self.now(), scope=scope)})
        answer = self.wire.request('POST', '/token', {'Content-Type': 'application/x-www-form-urlencoded'}, form)
        assert answer.status == 200, answer.body
        return answer.json['access_token']

    def now(self):
        """The time of the service's clock in seconds."""
        return int(datetime.datetime.fromisoformat(self.control('clock')['now']).timestamp())


def assertion(account, now, aud=None, scope=SCOPE, iat=0, exp=3600, tamper=False):
    """The assertion by which a service account gets an access token. Times are in seconds from now."""
    claims = {'iss': account['client_email'], 'aud': aud or account['token_uri'], 'scope': scope, 'iat': now + iat, 'exp': now + exp}
    token = jwt.encode(claims, account['private_key'], 'RS256', headers={'kid': account['private_key_id']})
    return token[:-8] + ('A' if token[-8] != 'A' else 'B') + token[-7:] if tamper else token


class Receiver:
    """A device that is connected by server-sent events."""

    def __init__(self, host, token, state='foreground', last=None, acknowledges=False):
        self.host, self.token, self.acknowledges = host, token, acknowledges
        self.wire = Wire(host.port)
        headers = {'Last-Event-ID': last} if last else {}
        self.wire.send_request('GET', f'{OWN}/devices/{token}/events?state={state}', headers)
        self.head = self.wire.head()
        assert self.head.status == 200, self.head
        self.events = self.wire.frames()
        self.ready = self.next()
        assert self.ready['type'] == 'ready', self.ready

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.wire.close()

    def next(self, seconds=20):
        """The next frame. Skips heartbeats."""
        self.wire.socket.settimeout(seconds)
        for text in self.events:
            if text.startswith(':'):
                continue
            lines = dict(line.split(': ', 1) for line in text.split('\n'))
            frame = json.loads(lines['data'])
            if lines['event'] == 'end':
                raise Ended(frame['reason'])
            assert frame['type'] == lines['event'], text
            assert lines.get('id') == frame.get('message_id'), text
            if self.acknowledges and 'message_id' in frame:
                self.acknowledge(frame['message_id'])
            return frame
        raise Ended('the stream has ended')

    def until(self, is_last):
        """The frames before the first one for which `is_last` is true."""
        frames = []
        while not is_last(frame := self.next()):
            frames.append(frame)
        return frames

    def acknowledge(self, *ids):
        self.post('acks', {'message_ids': ids})

    def set_state(self, state):
        self.post('state', {'state': state})

    def post(self, part, body):
        answer = self.host.request('POST', f'{OWN}/devices/{self.token}/{part}', {'Content-Type': 'application/json'}, json.dumps(body))
        assert answer.status == 200, answer.body
        return answer.json
