"""A client of the database's live connection that works message by message (spec database 3)."""

import json
import os

from websocket import CLOSE, TEXT, WebSocket

SEGMENT_UNITS = 16384
FRAME_BYTES = 65536


def units(text):
    """The length of a text in UTF-16 units."""
    return len(text.encode('utf-16-le')) // 2


def segments(text):
    """The frames of a message of a client."""
    if units(text) <= SEGMENT_UNITS:
        return [text]
    parts, start = [], 0
    while start < len(text):
        # A character outside of the basic plane counts twice, so half as many are always few enough.
        parts.append(text[start:start + SEGMENT_UNITS // 2])
        start += SEGMENT_UNITS // 2
    return [str(len(parts)), *parts]


class Live:
    """A live connection. Checks the form of each message that the host sends."""

    def __init__(self, port, namespace, last=None, headers=(), timeout=20, host=None, app=None, extensions=None, receive_buffer=None):
        path = f'/.ws?v=5&ns={namespace}' + (f'&ls={last}' if last else '') + (f'&ac={app}' if app else '')
        self.socket = WebSocket(port, path, headers=headers, timeout=timeout, extensions=extensions, receive_buffer=receive_buffer, host=host)
        assert self.socket.head.status == 101, self.socket.head
        self.number = 0
        self.pushes = []
        self.answers = {}
        self.controls = []
        kind, self.hello = self.control()
        assert kind == 'h', (kind, self.hello)
        self.session = self.hello['s']

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cut()

    def cut(self):
        """Ends the connection without a word."""
        self.socket.wire.close()

    def close(self):
        """Ends the connection with a close frame, and waits for the answer."""
        self.socket.send(CLOSE, b'\x03\xe8')
        while self.socket.frame()[0] != CLOSE:
            pass
        self.cut()

    # Sending

    def send(self, message):
        for frame in segments(message if isinstance(message, str) else json.dumps(message)):
            self.socket.send(TEXT, frame)

    def request(self, action, **body):
        """Sends a request, and returns its number."""
        self.number += 1
        self.send({'t': 'd', 'd': {'r': self.number, 'a': action, 'b': body}})
        return self.number

    def ask(self, action, **body):
        """Sends a request, and returns the status and the payload of the answer."""
        return self.answer(self.request(action, **body))

    def do(self, action, **body):
        """Sends a request that must succeed, and returns the payload of the answer."""
        status, payload = self.ask(action, **body)
        assert status == 'ok', (status, payload)
        return payload

    # Receiving

    def message(self):
        """The next message."""
        opcode, payload = self.socket.frame()
        assert opcode == TEXT, (opcode, payload)
        text = payload.decode()
        if len(text) <= 6 and text.isdigit():
            count = int(text)
            assert 1 < count <= 9999, count
            parts = []
            for _ in range(count):
                opcode, part = self.socket.frame()
                assert opcode == TEXT and len(part) <= FRAME_BYTES and units(part.decode()) <= SEGMENT_UNITS
                parts.append(part.decode())
            text = ''.join(parts)
            assert units(text) > SEGMENT_UNITS
        else:
            assert units(text) <= SEGMENT_UNITS
        return json.loads(text)

    def take(self):
        """Receives a message and files it: an answer, a push, or a control message."""
        message = self.message()
        assert set(message) == {'t', 'd'} and message['t'] in 'cd', message
        data = message['d']
        if message['t'] == 'c':
            assert set(data) == {'t', 'd'}, message
            self.controls.append((data['t'], data['d']))
        elif 'r' in data:
            assert set(data) == {'r', 'b'} and set(data['b']) == {'s', 'd'}, message
            assert isinstance(data['b']['d'], str) or data['b']['s'] == 'ok', message
            self.answers[data['r']] = (data['b']['s'], data['b']['d'])
        else:
            assert set(data) == {'a', 'b'}, message
            body = data['b']
            if data['a'] in ('d', 'm'):
                assert 'd' in body and isinstance(body['p'], str) and body.get('t', 1) is not None, message
            self.pushes.append((data['a'], body))

    def answer(self, number):
        """The answer to a request. What comes before it is filed."""
        while number not in self.answers:
            self.take()
        return self.answers.pop(number)

    def control(self):
        while not self.controls:
            self.take()
        return self.controls.pop(0)

    def push(self):
        """The next push as (action, body)."""
        while not self.pushes:
            self.take()
        return self.pushes.pop(0)

    def taken(self):
        """The pushes that were received and not looked at yet."""
        pushes, self.pushes = self.pushes, []
        return pushes

    # Phrases

    def listen(self, path, hash='', query=None, tag=None):
        """Listens, and returns the pushes that came with the answer."""
        extra = {'q': query, 't': tag} if query is not None else {}
        self.do('q', p=path, h=hash, **extra)
        return self.taken()

    def own(self):
        """Becomes an administrator."""
        self.do('gauth', cred='owner')
        return self


class View:
    """The state that a client shows for one listen, after the pushes that it has got."""

    def __init__(self, path, tag=None):
        self.path, self.tag, self.value = keys(path), tag, None
        self.states = []

    def apply(self, pushes):
        """Applies pushes as the client libraries do, and keeps the states between them."""
        for action, body in pushes:
            if body.get('t') != self.tag or action not in ('d', 'm'):
                continue
            place = keys(body['p'])
            if action == 'd':
                self.set(place, body['d'])
            else:
                for name, value in body['d'].items():
                    self.set(place + keys(name), value)
            self.states.append(json.loads(json.dumps(self.value)))
        return self.value

    def set(self, place, value):
        if place[:len(self.path)] == self.path:
            self.value = with_value(self.value, place[len(self.path):], value)
        elif self.path[:len(place)] == place:
            for key in self.path[len(place):]:
                value = value.get(key) if isinstance(value, dict) else None
            self.value = value


def keys(path):
    return [key for key in path.split('/') if key]


def with_value(tree, place, value):
    """The tree with a value at a place; empty nodes vanish."""
    if not place:
        return None if value == {} else value
    tree = dict(tree) if isinstance(tree, dict) else {}
    below = with_value(tree.get(place[0]), place[1:], value)
    if below is None:
        tree.pop(place[0], None)
    else:
        tree[place[0]] = below
    return tree or None


def connect(database, **options):
    """A live connection to a database."""
    return Live(database.host.port, database.namespace, **options)


def name_of(request):
    """A namespace of a test's own."""
    return ''.join(c if c.isalnum() else '-' for c in request.node.name.lower())[:40] + '-' + os.urandom(4).hex()
