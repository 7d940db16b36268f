"""Fake push services of browsers, Apple and Google. Each records its requests, and answers as prepared."""

import base64
import collections
import itertools
import json
import secrets
import socket
import ssl
import threading
import time

import h2.config
import h2.connection
import h2.events
import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from local_server import Handler, LocalServer
from tokens import base64url

Request = collections.namedtuple('Request', 'method path headers body')


def unbase64url(text):
    return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))


class Service(LocalServer):
    """An HTTP/1.1 server on a free port. `answers` has (status, headers, body) for the next requests; later requests succeed."""

    def __init__(self):
        self.requests, self.answers, self.delay = [], collections.deque(), 0
        self.under_way = self.most_under_way = 0
        self.lock = threading.Lock()
        service = self

        class Exchange(Handler):
            def do_POST(self):
                service.serve(self)

            do_GET = do_POST

        super().__init__(Exchange)

    def serve(self, handler):
        body = handler.rfile.read(int(handler.headers.get('Content-Length') or 0))
        request = Request(handler.command, handler.path, {name.lower(): value for name, value in handler.headers.items()}, body)
        with self.lock:
            self.requests.append(request)
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            answer = self.answers.popleft() if self.answers and self.may_fail(request) else None
        time.sleep(self.delay)
        with self.lock:
            self.under_way -= 1
        if answer == 'reset':
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
            handler.connection.close()
            handler.close_connection = True
            return
        status, headers, text = answer or self.usual(request)
        data = text if isinstance(text, bytes) else json.dumps(text).encode()
        handler.send_response(status)
        for name, value in {'Content-Length': len(data), **headers}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(data)

    def may_fail(self, request):
        return True

    def usual(self, request):
        return 201, {}, b''


class Browser(Service):
    """A browser with its push service: creates subscriptions, and decrypts messages (RFC 8291)."""

    def __init__(self):
        super().__init__()
        self.key, self.secret = ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(16)
        self.public = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def subscription(self, path='/push/1'):
        return {'endpoint': self.url + path, 'p256dh': base64url(self.public), 'auth': base64url(self.secret)}

    def opened(self, request):
        """The JSON in a push message, as a service worker gets it."""
        salt, size, count = request.body[:16], int.from_bytes(request.body[16:20], 'big'), request.body[20]
        sender, box = request.body[21:21 + count], request.body[21 + count:]
        assert size == 4096 and len(request.body) <= 4096
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        secret = derived(shared, self.secret, b'WebPush: info\0' + self.public + sender, 32)
        key, nonce = derived(secret, salt, b'Content-Encoding: aes128gcm\0', 16), derived(secret, salt, b'Content-Encoding: nonce\0', 12)
        text = AESGCM(key).decrypt(nonce, box, None)
        assert text[-1] == 2
        return json.loads(text[:-1])

    def sender(self, request):
        """The sender's public key and claims in a push message (RFC 8292)."""
        scheme, _, rest = request.headers['authorization'].partition(' ')
        parts = dict(part.strip().split('=', 1) for part in rest.split(','))
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unbase64url(parts['k']))
        assert scheme == 'vapid'
        return parts['k'], jwt.decode(parts['t'], key, algorithms=['ES256'], audience=self.url)


def derived(key, salt, info, length):
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(key)


class Google(Service):
    """The FCM HTTP v1 API, the topic API and the token endpoint, for one service account."""

    def __init__(self, project='demo-hearth'):
        super().__init__()
        self.project, self.private = project, rsa.generate_private_key(65537, 2048)
        self.issued, self.grants, self.life, self.refused, self.numbers = [], collections.deque(), 3599, set(), itertools.count(1)

    def key_file(self):
        pem = self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return {'type': 'service_account', 'project_id': self.project, 'private_key_id': 'k1', 'private_key': pem,
                'client_email': f'sender@{self.project}.iam.gserviceaccount.com', 'client_id': '1', 'token_uri': self.url + '/token'}

    def may_fail(self, request):
        return request.path != '/token'

    def sends(self):
        return [request for request in self.requests if request.path.endswith('/messages:send')]

    def usual(self, request):
        if request.path == '/token':
            return self.grants.popleft() if self.grants else self.grant(request)
        token = request.headers.get('authorization', '').removeprefix('Bearer ')
        if token not in self.issued or token in self.refused:
            return 401, {}, {'error': {'code': 401, 'message': 'Request had invalid authentication credentials.', 'status': 'UNAUTHENTICATED'}}
        body = json.loads(request.body)
        if request.path.startswith('/iid/'):
            return 200, {}, {'results': [{'error': 'NOT_FOUND'} if 'gone' in token else {} for token in body['registration_tokens']]}
        return 200, {}, {'name': f'projects/{self.project}/messages/{next(self.numbers)}'}

    def grant(self, request):
        fields = dict(part.split('=', 1) for part in request.body.decode().split('&'))
        claims = jwt.decode(fields['assertion'], self.private.public_key(), algorithms=['RS256'], audience=self.url + '/token', leeway=20)
        assert claims['scope'].endswith('/firebase.messaging') and claims['exp'] - claims['iat'] <= 3600
        self.issued.append(f'ya29.{len(self.issued)}')
        return 200, {}, {'access_token': self.issued[-1], 'expires_in': self.life, 'token_type': 'Bearer'}


class Apple:
    """APNs: HTTP/2 over TLS. `answers` has (status, reason) for the next requests."""

    def __init__(self, certificate, key):
        self.requests, self.answers, self.connections = [], collections.deque(), 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols(['h2'])
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'https://localhost:{self.listener.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            stream = self.context.wrap_socket(connection, server_side=True)
        except OSError:
            return
        self.connections += 1
        protocol, bodies, heads = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False)), {}, {}
        protocol.initiate_connection()
        stream.sendall(protocol.data_to_send())
        while data := self.received(stream):
            for event in protocol.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    heads[event.stream_id] = {name.decode(): value.decode() for name, value in event.headers}
                    bodies[event.stream_id] = b''
                elif isinstance(event, h2.events.DataReceived):
                    bodies[event.stream_id] += event.data
                    protocol.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.answer(protocol, event.stream_id, heads.pop(event.stream_id), bodies.pop(event.stream_id))
            stream.sendall(protocol.data_to_send())

    def received(self, stream):
        try:
            return stream.recv(65536)
        except OSError:
            return b''

    def answer(self, protocol, stream_id, head, body):
        self.requests.append(Request(head.pop(':method'), head.pop(':path'), head, json.loads(body)))
        status, reason = self.answers.popleft() if self.answers else (200, None)
        protocol.send_headers(stream_id, [(':status', str(status))], end_stream=reason is None)
        if reason:
            protocol.send_data(stream_id, json.dumps({'reason': reason}).encode(), end_stream=True)
