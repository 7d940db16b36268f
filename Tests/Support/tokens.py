"""Keys and tokens for tests: ID tokens, App Check tokens, and a JWKS server on loopback."""

import base64
import json
import time
import uuid

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from local_server import Handler, LocalServer

PROJECT = 'demo-hearth'
PROJECT_NUMBER = '123456789'


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


class SigningKey:
    """An RSA key with its id."""

    def __init__(self, kid=None):
        self.kid = kid or uuid.uuid4().hex
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def jwk(self):
        numbers = self.private.public_key().public_numbers()
        modulus = base64url(numbers.n.to_bytes(256, 'big'))
        return {'kty': 'RSA', 'use': 'sig', 'alg': 'RS256', 'kid': self.kid, 'n': modulus, 'e': 'AQAB'}

    def sign(self, claims, **headers):
        return jwt.encode(claims, self.private, algorithm='RS256', headers={'kid': self.kid, **headers})


def jwks(*keys):
    return {'keys': [key.jwk for key in keys]}


def id_claims(uid='u1', project=PROJECT, lifetime=3600, **more):
    now = int(time.time())
    claims = {
        'iss': f'https://securetoken.google.com/{project}', 'aud': project, 'sub': uid, 'user_id': uid,
        'iat': now - 10, 'auth_time': now - 10, 'exp': now + lifetime,
        'firebase': {'sign_in_provider': 'password', 'identities': {}},
    }
    claims.update(more)
    return {name: value for name, value in claims.items() if value is not None}


def app_check_claims(app_id='1:123:web:abc', project=PROJECT, lifetime=3600, **more):
    now = int(time.time())
    claims = {
        'iss': f'https://firebaseappcheck.googleapis.com/{PROJECT_NUMBER}', 'sub': app_id,
        'aud': [f'projects/{PROJECT_NUMBER}', f'projects/{project}'],
        'iat': now - 10, 'exp': now + lifetime, 'jti': uuid.uuid4().hex,
    }
    claims.update(more)
    return {name: value for name, value in claims.items() if value is not None}


def unsigned(claims):
    """A token as the emulator makes them: alg none and an empty signature."""
    parts = [{'alg': 'none', 'typ': 'JWT'}, claims]
    return '.'.join(base64url(json.dumps(part).encode()) for part in parts) + '.'


def with_bad_signature(token):
    """The token with one byte of its signature changed."""
    head, body, signature = token.split('.')
    raw = bytearray(base64.urlsafe_b64decode(signature + '=='))
    raw[40] ^= 1
    return f'{head}.{body}.{base64url(bytes(raw))}'


class Keys:
    """The trusted keys of a host: one for ID tokens and one for App Check tokens."""

    def __init__(self):
        self.id, self.app = SigningKey('id-1'), SigningKey('app-1')

    def id_token(self, uid='u1', **claims):
        return self.id.sign(id_claims(uid, **claims))

    def app_token(self, app_id='1:123:web:abc', **claims):
        return self.app.sign(app_check_claims(app_id, **claims))


class KeyServer(LocalServer):
    """Serves keys on loopback, as a JWKS or as `document` formats them. Counts requests, and fails on demand."""

    def __init__(self, *keys, cache_control='public, max-age=3600', document=jwks):
        self.keys, self.cache_control, self.status, self.calls = list(keys), cache_control, 200, 0
        outer = self

        class Exchange(Handler):
            def do_GET(self):
                outer.calls += 1
                body = json.dumps(document(*outer.keys)).encode() if outer.status == 200 else b'no'
                self.send_response(outer.status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                if outer.cache_control:
                    self.send_header('Cache-Control', outer.cache_control)
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Exchange)

    @property
    def url(self):
        return f'{super().url}/jwks'
