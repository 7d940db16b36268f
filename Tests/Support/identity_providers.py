"""Identity providers on loopback: a Facebook that answers well, wrongly, slowly or not at all, and issuers of ID tokens."""

import base64
import hashlib
import hmac
import html
import json
import threading
import time
import urllib.parse
import uuid

import jwt

from local_server import Handler, LocalServer
from tokens import SigningKey, base64url

APP_ID, APP_SECRET = '1234567890', 'fbsecret-do-not-leak'
RAW_NONCE = 'raw-nonce_0123456789ABCDEFabcdef'
JWKS_PATH = '/.well-known/oauth/openid/jwks/'
# Every access token stands for what the table of the cases says.
UNKNOWN = '*'


def hashed(nonce):
    """A raw nonce as a provider puts it into its ID token."""
    return hashlib.sha256(nonce.encode()).hexdigest()


class Provider(LocalServer):
    """A server that a test can make slow, silent or wrong. `requests` has what it was asked."""

    def __init__(self):
        self.requests, self.lock = [], threading.Lock()
        self.status, self.body, self.delay, self.silent = None, None, 0, threading.Event()
        self.silent.set()
        outer = self

        class Exchange(Handler):
            def do_GET(self):
                outer.serve(self, 'GET', b'')

            def do_POST(self):
                outer.serve(self, 'POST', self.rfile.read(int(self.headers.get('Content-Length') or 0)))

        super().__init__(Exchange)

    def misbehave(self, status=None, body=None, delay=0, silent=False):
        """From now on: answers with this status and these bytes, answers late, or never. Without arguments: behaves well."""
        self.status, self.body, self.delay = status, body, delay
        if silent:
            self.silent.clear()
        else:
            self.silent.set()

    def close(self):
        self.silent.set()
        super().close()

    def serve(self, exchange, method, body):
        parts = urllib.parse.urlsplit(exchange.path)
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        if not parts.path.startswith('/__'):
            time.sleep(self.delay)
            self.silent.wait(120)
        answer = (self.status or 200, self.body or b'{}', {}) if (self.status or self.body) and not parts.path.startswith('/__') else (
            self.answer(method, parts.path, query, body, exchange.headers))
        status, content, headers = answer if len(answer) == 3 else (*answer, {})
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        try:
            exchange.send_response(status)
            for name, value in {'Content-Type': 'application/json', 'Content-Length': str(len(content)), **headers}.items():
                exchange.send_header(name, value)
            exchange.end_headers()
            exchange.wfile.write(content)
        except OSError:
            # The host has lost patience, as it should.
            exchange.close_connection = True

    def note(self, **what):
        with self.lock:
            self.requests.append(what)

    def answer(self, method, path, query, body, headers):
        raise NotImplementedError


class FakeFacebook(Provider):
    """The Graph API and the keys of Limited Login, as the cases describe them. `tokens` is their table of access tokens."""

    def __init__(self, tokens):
        super().__init__()
        self.tokens, self.rotated = tokens, False
        self.keys = {name: SigningKey(name) for name in ('fb-key-1', 'fb-key-2')}

    def reset(self):
        """Forgets what was asked, takes back the rotation of keys, and behaves well again."""
        with self.lock:
            self.requests, self.rotated = [], False
        self.misbehave()

    def limited(self, sub='20001', key='fb-key-1', **claims):
        """The ID token of a Limited Login whose raw nonce is RAW_NONCE."""
        now = int(time.time())
        values = {'iss': 'https://www.facebook.com', 'aud': APP_ID, 'sub': sub, 'iat': now, 'exp': now + 3600, 'jti': str(uuid.uuid4()),
                  'nonce': hashed(RAW_NONCE), 'email': f'limited{sub}@example.com', 'name': 'Lima Fake', 'given_name': 'Lima', **claims}
        return self.keys[key].sign({name: value for name, value in values.items() if value is not None})

    def answer(self, method, path, query, body, headers):
        pieces = path.split('/')
        if pieces[1].startswith('v') and pieces[1][1:2].isdigit():
            path = '/' + '/'.join(pieces[2:])
        if path == '/__log':
            return 200, {'requests': list(self.requests)}
        if path == '/__reset':
            self.reset()
            return 200, {}
        if path == '/__rotate':
            self.rotated = True
            return 200, {}
        if path == JWKS_PATH:
            self.note(path=path)
            key = self.keys['fb-key-2' if self.rotated else 'fb-key-1']
            return 200, {'keys': [key.jwk]}, {'Cache-Control': 'max-age=3600'}
        if path == '/debug_token':
            return self.debug_token(query)
        if path == '/me':
            return self.me(query)
        if path == '/recaptcha/siteverify':
            return siteverify(dict(urllib.parse.parse_qsl(body.decode())))
        self.note(path=path)
        return 404, graph_error('Unsupported get request.', 100)

    def entry(self, token):
        found = self.tokens.get(token, self.tokens[UNKNOWN])
        return self.tokens[found['sameAs']] if 'sameAs' in found else found

    def debug_token(self, query):
        self.note(path='/debug_token', inputToken=query.get('input_token'), accessToken=query.get('access_token'))
        if query.get('access_token') != f'{APP_ID}|{APP_SECRET}':
            return 400, graph_error('Invalid OAuth access token signature.', 190)
        entry = self.entry(query.get('input_token'))
        time.sleep(entry.get('debugDelayMs', 0) / 1000)
        status = entry.get('debugStatus', 200)
        return (200, {'data': entry['debug']}) if status == 200 else (status, entry['debug'])

    def me(self, query):
        token = query.get('access_token', '')
        proof = hmac.new(APP_SECRET.encode(), token.encode(), hashlib.sha256).hexdigest()
        is_proved = query.get('appsecret_proof') == proof
        self.note(path='/me', accessToken=token, proofOk=is_proved)
        if not is_proved:
            return 400, graph_error('Invalid appsecret_proof provided in the API argument', 100)
        entry = self.entry(token)
        if 'meStatus' in entry:
            return entry['meStatus'], entry['me']
        fields = {part.split('.')[0].split('{')[0] for part in query.get('fields', 'id,name').split(',')}
        return 200, {name: value for name, value in entry['me'].items() if name in fields}


def graph_error(message, code):
    return {'error': {'message': message, 'type': 'OAuthException', 'code': code, 'fbtrace_id': 'FAKE'}}


def siteverify(form):
    """The verification of a reCAPTCHA, as the cases describe it."""
    token = form.get('response')
    if token == 'rc-5xx':
        return 500, b'no'
    scores = {'rc-good': {'success': True, 'score': 0.9, 'hostname': 'localhost', 'action': 'fire_app_check'},
              'rc-lowscore': {'success': True, 'score': 0.1}}
    return 200, scores.get(token, {'success': False})


class FakeIssuer(Provider):
    """An OpenID Connect issuer: discovery, keys, and the exchange of codes. It stands for Google and Apple as well.

    `secret_of` tells whether a client secret is right, for providers that take no fixed one. `access` has the users of access tokens, and
    `posts` makes the page answer with a form, as Apple's does.
    """

    def __init__(self, issuer=None, client_id='client-1', client_secret='client-secret', secret_of=None, posts=False):
        super().__init__()
        self.issuer, self.client_id, self.client_secret = issuer or self.url, client_id, client_secret
        self.secret_of, self.posts, self.access = secret_of or (lambda secret: secret == self.client_secret), posts, {}
        self.revoked = []
        self.key, self.codes = SigningKey('issuer-key-1'), {}

    def token(self, sub='30001', raw_nonce=None, key=None, **claims):
        """An ID token of this issuer. A claim that is None is left out."""
        now = int(time.time())
        values = {'iss': self.issuer, 'aud': self.client_id, 'sub': sub, 'iat': now, 'exp': now + 3600, 'email': f'oidc{sub}@example.com',
                  'email_verified': True, 'name': 'Olga Fake', 'nonce': hashed(raw_nonce) if raw_nonce else None, **claims}
        return (key or self.key).sign({name: value for name, value in values.items() if value is not None})

    def answer(self, method, path, query, body, headers):
        self.note(path=path)
        if path == '/.well-known/openid-configuration':
            return 200, {'issuer': self.issuer, 'authorization_endpoint': f'{self.url}/authorize', 'token_endpoint': f'{self.url}/token',
                         'jwks_uri': f'{self.url}/jwks', 'response_types_supported': ['id_token', 'code'],
                         'subject_types_supported': ['public'], 'id_token_signing_alg_values_supported': ['RS256']}
        if path == '/jwks':
            return 200, {'keys': [self.key.jwk]}, {'Cache-Control': 'max-age=3600'}
        if path == '/token':
            return self.exchange(dict(urllib.parse.parse_qsl(body.decode())), headers)
        if path == '/revoke':
            return self.revoke(dict(urllib.parse.parse_qsl(body.decode())))
        if path == '/authorize':
            return self.authorize(query)
        if path == '/tokeninfo' and query.get('access_token') in self.access:
            return 200, {'aud': self.client_id, **self.access[query['access_token']]}
        if path == '/userinfo' and headers.get('Authorization', '').removeprefix('Bearer ') in self.access:
            return 200, self.access[headers['Authorization'].removeprefix('Bearer ')]
        return (400 if path in ('/tokeninfo', '/userinfo') else 404), {'error': 'invalid_token'}

    def authorize(self, query):
        """The page of the provider, whose user agrees at once."""
        answer = {'state': query.get('state', '')}
        if query.get('response_type') == 'id_token':
            answer['id_token'] = self.token(nonce=query.get('nonce'))
            return 302, b'', {'Location': f"{query['redirect_uri']}#{urllib.parse.urlencode(answer)}"}
        answer['code'] = uuid.uuid4().hex
        self.codes[answer['code']] = query
        if not self.posts:
            return 302, b'', {'Location': f"{query['redirect_uri']}?{urllib.parse.urlencode(answer)}"}
        answer['user'] = '{"name":{"firstName":"Ada","lastName":"Fake"}}'
        fields = ''.join(f'<input type=hidden name="{name}" value="{html.escape(value)}">' for name, value in answer.items())
        form = f'<form method=post action="{html.escape(query["redirect_uri"])}">{fields}</form>'
        page = f'<!DOCTYPE html>{form}<script>document.forms[0].submit()</script>'
        return 200, page.encode(), {'Content-Type': 'text/html'}

    def exchange(self, form, headers):
        scheme, _, pair = headers.get('Authorization', '').partition(' ')
        if scheme.lower() == 'basic':
            name, _, secret = base64.b64decode(pair).decode().partition(':')
            form = {'client_id': urllib.parse.unquote(name), 'client_secret': urllib.parse.unquote(secret), **form}
        # A code stays usable after a request for another client.
        if form.get('client_id') != self.client_id or not self.secret_of(form.get('client_secret')):
            return 400, {'error': 'invalid_client'}
        request = self.codes.pop(form.get('code'), None)
        if request is None:
            return 400, {'error': 'invalid_grant'}
        if 'code_challenge' in request:
            challenge = base64url(hashlib.sha256(form.get('code_verifier', '').encode()).digest())
            if challenge != request['code_challenge']:
                return 400, {'error': 'invalid_grant'}
        return 200, {'id_token': self.token(nonce=request.get('nonce')), 'access_token': 'issuer-access',
                     'refresh_token': 'issuer-refresh', 'token_type': 'Bearer', 'expires_in': 3600}

    def revoke(self, form):
        if form.get('client_id') != self.client_id or not self.secret_of(form.get('client_secret')):
            return 400, {'error': 'invalid_client'}
        self.revoked.append((form.get('token'), form.get('token_type_hint')))
        return 200, b''


def decoded(token):
    """The header and the claims of a token, without any check."""
    return jwt.get_unverified_header(token), jwt.decode(token, options={'verify_signature': False})
