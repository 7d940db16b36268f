"""A client of the live connection that never blocks, for hundreds of them in one process. Checks the order of everything that the host sends."""

import base64
import functools
import json
import os
import socket
import struct
import time

from database_model import hash_of, parse
from live import segments
from live_views import EMPTY, QueryView, WholeView, digest, keys, leaves
from live_world import WITHOUT_INDEX, guard, sent_at

UPGRADE = ('GET /.ws?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
           'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n')


class Fault(AssertionError):
    """The host has broken a rule of the protocol."""


@functools.lru_cache(maxsize=1 << 14)
def parsed(payload):
    """A message of the host. The same push for many clients is parsed once."""
    message = json.loads(payload)
    data = message['d']
    if message['t'] == 'c':
        return 'control', data['t'], data['d']
    if 'r' in data:
        return 'answer', data['r'], data['b']['s'], data['b']['d']
    body = data['b']
    if data['a'] not in ('d', 'm'):
        return data['a'], body
    place = keys(body['p'])
    named = {'': body['d']} if data['a'] == 'd' else body['d']
    members = [(keys(name), parse(value)) for name, value in named.items()]
    # Deletions come last, so that a parent that loses some children and gets others keeps its priority.
    members.sort(key=lambda member: member[1].is_empty)
    secrets = {}
    for rest, node in members:
        if (guarded := guard(place + rest)) is not None:
            secrets[guarded] = max(secrets.get(guarded, 0), *(sent_at(leaf) for leaf in leaves(node)), 0)
    return 'push', place, members, body.get('t'), secrets


class Listen:
    """One listen of a client, with the states that it has shown."""

    def __init__(self, client, path, index, query):
        self.client, self.path, self.index, self.query = client, path, index, query
        self.view = QueryView(path, query) if query else WholeView(path)
        self.tag, self.number, self.sent = None, 0, 0
        self.is_answered = self.is_ending = False
        # The states, and before which of them the write of a number was known to have happened.
        self.states, self.marks = [], []

    @property
    def key(self):
        return self.path, self.index

    def note(self):
        if self.view.is_complete:
            state = digest(self.view.node)
            if not self.states or self.states[-1] != state:
                self.states.append(state)

    def mark(self, number):
        """The write of this number has happened before now."""
        if number and (not self.marks or self.marks[-1] != (len(self.states), number)):
            self.marks.append((len(self.states), number))

    def record(self):
        return self.client, self.path, self.index, self.states, self.marks


class LiveClient:
    """The connections of one client, one after the other, and its listens."""

    def __init__(self, swarm, number):
        self.swarm, self.number = swarm, number
        self.socket, self.buffer, self.out = None, b'', b''
        self.is_open = self.is_greeted = self.is_resting = False
        self.parts, self.missing = [], 0
        self.session, self.requests, self.tag = None, 0, 0
        self.pending, self.listens, self.ending, self.tags = [], {}, [], {}
        self.is_admin, self.is_changing_user = False, False
        # The user for whom the next requests are sent, and the one whom the host has confirmed last.
        self.uid = self.uid_at_host = None
        self.acknowledged = 0

    # Connection

    def connect(self, last=None):
        query = f'v=5&ns={self.swarm.namespace}' + (f'&ls={last}' if last else '')
        self.socket = socket.socket()
        if self.number % 10 == 3:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        # Clients of one address share the turns that it has.
        self.socket.bind((f'127.0.{self.number >> 7}.{self.number % 128 + 2}', 0))
        self.socket.connect(('127.0.0.1', self.swarm.port))
        self.socket.setblocking(False)
        key = base64.b64encode(os.urandom(16)).decode()
        self.buffer, self.parts, self.missing = b'', [], 0
        self.out = UPGRADE.format(query=query, port=self.swarm.port, key=key).encode()
        self.is_open = self.is_greeted = False
        self.requests, self.pending = 0, []
        self.swarm.watch(self)
        self.flush()

    def cut(self, abruptly):
        """Ends the connection. The answers to pending requests are lost."""
        self.swarm.unwatch(self)
        if abruptly:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\x01\0\0\0\0\0\0\0')
        self.socket.close()
        self.socket, self.is_open, self.is_greeted, self.is_resting = None, False, False, False
        for request in self.pending:
            request.lost()
        self.pending, self.ending, self.tags = [], [], {}

    def flush(self):
        while self.out:
            try:
                sent = self.socket.send(self.out)
            except BlockingIOError:
                break
            self.out = self.out[sent:]
        self.swarm.want(self, bool(self.out))

    def send(self, message):
        for text in segments(json.dumps(message)):
            payload = text.encode()
            size = len(payload)
            length = bytes([0x80 | size]) if size < 126 else b'\xfe' + struct.pack('>H', size)
            # A mask of zeros is a mask.
            self.out += b'\x81' + length + b'\0\0\0\0' + payload

    def request(self, action, request, **body):
        """Sends a request. `request` gets the answer."""
        self.requests += 1
        request.number = self.requests
        self.pending.append(request)
        self.send({'t': 'd', 'd': {'r': self.requests, 'a': action, 'b': body}})

    def read(self):
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionError as error:
            raise Fault(f'the host has ended the connection of client {self.number}: {error}') from None
        if not data:
            raise Fault(f'the host has closed the connection of client {self.number}')
        self.buffer += data
        if not self.is_open and not self.session_began():
            return
        at, end = 0, len(self.buffer)
        while end - at >= 2:
            head, size = (4, int.from_bytes(self.buffer[at + 2:at + 4], 'big')) if self.buffer[at + 1] == 126 else (2, self.buffer[at + 1])
            if size > 126 and head == 2:
                head, size = 10, int.from_bytes(self.buffer[at + 2:at + 10], 'big')
            if end - at < head + size:
                break
            if self.buffer[at] != 0x81:
                raise Fault(f'a frame that is not a text: {self.buffer[at:at + 60]!r}')
            self.frame(self.buffer[at + head:at + head + size])
            at += head + size
            if self.socket is None:
                return
        self.buffer = self.buffer[at:]

    def session_began(self):
        head, mark, rest = self.buffer.partition(b'\r\n\r\n')
        if mark:
            if not head.startswith(b'HTTP/1.1 101 '):
                raise Fault(f'no upgrade: {head!r}')
            self.buffer, self.is_open = rest, True
        return self.is_open

    def frame(self, payload):
        if self.missing:
            self.parts.append(payload)
            self.missing -= 1
            if self.missing:
                return
            payload, self.parts = b''.join(self.parts), []
        elif len(payload) <= 6 and payload.isdigit():
            self.missing = int(payload)
            return
        self.swarm.messages += 1
        kind, *rest = parsed(payload)
        getattr(self, f'take_{kind}')(*rest)

    # Messages

    def take_control(self, kind, data):
        if kind != 'h':
            raise Fault(f'an unexpected control message: {kind} {data}')
        self.session, self.is_greeted = data['s'], True
        self.greeted()

    def take_answer(self, number, status, payload):
        if not self.pending or self.pending[0].number != number:
            raise Fault(f'the answer to {number} came while {self.pending and self.pending[0].number} was the next')
        self.pending.pop(0).answered(status, payload)

    def take_push(self, place, members, tag, secrets):
        if tag is not None:
            listen = self.tags.get(tag)
            if listen is None:
                raise Fault(f'a push for tag {tag}, which is not listened to: {place} {members}')
            concerned = [listen]
        else:
            concerned = [listen for listen in self.listens.values() if listen.query is None]
            if not any(place[:len(listen.path)] == listen.path for listen in [*concerned, *self.ending] if listen.query is None):
                raise Fault(f'client {self.number} does not listen to /{"/".join(place)}: {members}')
        if place[:1] == ('user',) and len(place) > 1 and not self.is_admin and place[1] != self.uid_at_host:
            raise Fault(f'{self.uid_at_host} heard {place}')
        for listen in concerned:
            if not listen.is_ending and listen.view.apply(place, members):
                listen.note()
                if listen.query and listen.view.faults:
                    raise Fault(listen.view.faults[0])
        if secrets and not self.is_admin:
            now = time.monotonic_ns()
            for guarded, at in secrets.items():
                self.swarm.heard.setdefault((guarded, at), now)

    def take_c(self, body):
        path, query = keys(body['p']), body.get('q')
        key = next((key for key, listen in self.listens.items() if key[0] == path and (
            listen.query is None if query is None else listen.query is not None and [listen.query.wire] == query)), None)
        listen = self.listens.get(key)
        if listen is None or not listen.is_answered:
            # The client has ended this listen, or replaced it, while the message was on its way.
            if any(other.path == path and (other.query is None) == (query is None) for other in self.ending):
                return
            if listen is None:
                raise Fault(f'the end of a listen that there is not: {body}')
        listen.is_ending = True
        # Own writes that this client may not see any more; test_live_crowds.py has their order.
        while listen.marks and listen.marks[-1][0] == len(listen.states):
            listen.marks.pop()
        self.denied(listen)
        self.drop(listen)
        self.swarm.keep(listen)
        self.tags.pop(listen.tag, None)

    def denied(self, listen):
        """Notes that a listen was denied, which must have had a reason."""
        guarded = guard(listen.path)
        if self.is_admin:
            raise Fault(f'an administrator was denied {listen.path}')
        if guarded is not None:
            self.swarm.denials.append((guarded, listen.sent, time.monotonic_ns()))
        elif listen.path[:1] != ('user',) or listen.path[1] == self.uid_at_host and not self.is_changing_user:
            raise Fault(f'client {self.number} ({self.uid_at_host}) may listen to {listen.path} {listen.index}, but was denied')

    # Listens

    def listen(self, path, index, query, known=None):
        """Listens. `known` is a listen of an earlier connection, whose value the client still has."""
        listen = known or Listen(self.number, path, index, query)
        old = self.listens.get(listen.key)
        if old is not None and old is not listen:
            self.swarm.keep(old)
            old.is_ending = True
            self.ending.append(old)
        has_value = known is not None and listen.view.is_complete
        listen.is_answered, listen.sent = False, time.monotonic_ns()
        self.listens[listen.key] = listen
        body = {'p': '/' + '/'.join(path), 'h': hash_of(listen.view.node) if has_value else ''}
        if query:
            self.tag += 1
            listen.tag = self.tag
            self.tags[listen.tag] = listen
            body.update(q=query.wire, t=listen.tag)
        listen.mark(self.acknowledged)
        self.request('q', ListenRequest(self, listen, old if old is not listen else None), **body)
        listen.number = self.requests

    def unlisten(self, listen):
        self.drop(listen)
        listen.is_ending = True
        self.ending.append(listen)
        self.swarm.keep(listen)
        body = {'p': '/' + '/'.join(listen.path)}
        if listen.query:
            body.update(q=listen.query.wire, t=listen.tag)
        self.request('n', UnlistenRequest(self, listen), **body)

    def drop(self, listen):
        if self.listens.get(listen.key) is listen:
            del self.listens[listen.key]

    def wrote(self, number, request):
        """A write was acknowledged: the listens before it show it."""
        self.acknowledged = number
        for listen in self.listens.values():
            if listen.number < request and listen.is_answered:
                listen.mark(number)


class Request:
    """A request that waits for its answer."""

    number = 0

    def __init__(self, client, action=None):
        self.client, self.action = client, action

    def answered(self, status, payload):
        """Handles the answer. By default it must be a success."""
        if status != 'ok':
            raise Fault(f'client {self.client.number}: {self.action or type(self).__name__} was answered {status} {payload!r}')

    def lost(self):
        """The connection has ended before the answer."""


class ListenRequest(Request):
    def __init__(self, client, listen, replaced):
        super().__init__(client)
        self.listen, self.replaced = listen, replaced

    def answered(self, status, payload):
        client, listen = self.client, self.listen
        if self.replaced:
            client.ending.remove(self.replaced)
            client.tags.pop(self.replaced.tag, None)
        if status == 'permission_denied':
            client.denied(listen)
            client.drop(listen)
            client.tags.pop(listen.tag, None)
            if not listen.is_ending:
                client.swarm.keep(listen)
            return
        super().answered(status, payload)
        if listen.is_ending:
            # The listen has ended before it had a value, perhaps.
            return
        needs_index = listen.query and listen.path == WITHOUT_INDEX and listen.query.order not in ('$key', '$priority')
        if payload != ({'w': ['no_index']} if needs_index else {}):
            raise Fault(f'{listen.path} {listen.query and listen.query.text} was answered {payload}')
        listen.is_answered = True
        # The listen has begun after all earlier writes.
        listen.mark(client.acknowledged)
        if not listen.view.is_complete:
            # No value and no push: there is nothing.
            listen.view.node, listen.view.is_complete = EMPTY, True
        listen.note()


class UnlistenRequest(Request):
    def __init__(self, client, listen):
        super().__init__(client)
        self.listen = listen

    def answered(self, status, payload):
        super().answered(status, payload)
        self.client.ending.remove(self.listen)
        self.client.tags.pop(self.listen.tag, None)
