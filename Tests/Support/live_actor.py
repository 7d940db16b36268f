"""The random behaviour of a client of test_live_model.py: it writes, listens, reads, leaves and comes back."""

import os
import random
import time

from database_model import hash_of, parse
from live_client import Fault, LiveClient, Request
from live_views import digest, part
from live_world import COUNTERS, FEW, KEYS, LEAF_LISTS, LISTS, NUMBERS, PRIORITIES, ROOMS, VAULT, Values, guard
from tokens import id_claims, unsigned

USERS = 12
TOKENS = {f'u{number}': unsigned(id_claims(f'u{number}')) for number in range(USERS)}
DEPTH, LISTENS = 6, 8
REST_SECONDS = 20
IS_NESTED = os.environ.get('HEARTH_LIVE_NESTED') == '1'


class Actor(LiveClient):
    """A client that does something random whenever it has few pending requests."""

    ACTIONS = {
        'put_item': 24, 'put_field': 10, 'delete_item': 6, 'merge_list': 8, 'merge_wide': 6, 'set_priority': 3, 'count': 4, 'transact': 8,
        'replace_list': 1, 'delete_list': 0.3, 'write_below_leaf': 2, 'put_deep': 5, 'put_own': 2, 'be_refused': 2, 'add_listen': 10,
        'end_listen': 5, 'repeat_listen': 2, 'get': 5, 'promise': 2, 'revoke_promise': 1, 'change_user': 1, 'leave': 0.7, 'rest': 0.7}

    def __init__(self, swarm, number):
        super().__init__(swarm, number)
        self.random = random.Random(f'{swarm.seed} {number}')
        self.values = Values(self.random)
        self.written, self.away, self.connections = 0, 0, 0
        self.is_admin = number % 9 == 4
        self.uid = None if number % 7 == 2 else f'u{number % USERS}'
        # Whether the operation for the end of this connection will run: 1, 0, or None if that is not known.
        self.will_end = 0
        self.has_named_last = False

    def begin(self):
        last = self.session if self.random.random() < 0.8 else None
        self.has_named_last = last is not None
        self.connect(last)

    # Life

    @property
    def may_act(self):
        return self.is_greeted and len(self.pending) < DEPTH and not self.is_resting

    def act(self):
        name, = self.random.choices(list(self.ACTIONS), self.ACTIONS.values())
        getattr(self, name)()

    def greeted(self):
        """The host has sent its first message: sends credentials, and then all listens that the client still has, as client libraries do."""
        self.uid_at_host = None
        if self.will_end == 1 and self.has_named_last:
            self.request('g', EndSeen(self), p=f'/ends/{self.end_name}', q={})
        self.connections += 1
        self.swarm.beginnings.append(self.next_number())
        self.sign_in()
        old, self.listens, self.tags = list(self.listens.values()), {}, {}
        for listen in old:
            if self.random.random() < 0.2:
                self.swarm.keep(listen)
            else:
                self.listen(listen.path, listen.index, listen.query, known=listen)
        self.will_end = 0
        if self.random.random() < 0.5:
            self.promise()

    def sign_in(self):
        if self.is_admin:
            self.request('gauth', Request(self), cred='owner')
        elif self.uid:
            self.request('auth', SignIn(self, self.uid), cred=TOKENS[self.uid])
        elif self.uid_at_host:
            self.request('unauth', SignIn(self, None))

    def change_user(self):
        if not self.is_admin:
            self.uid = self.random.choice([None, *TOKENS])
            self.sign_in()

    def leave(self):
        """Loses the connection. Sometimes the client comes back at once."""
        self.swarm.ends[self.end_name] = self.will_end if self.will_end is not None else 'maybe'
        self.cut(abruptly=self.random.random() < 0.5)
        self.away = self.random.choice([0, 0, self.random.randint(1, 200)])

    def rest(self):
        """Does not read for a while."""
        self.is_resting, self.rests_until = True, time.monotonic() + REST_SECONDS
        self.away = self.random.randint(1, 400)
        self.swarm.pause(self)

    def tick(self):
        """Time passes for a client that is away or does not read."""
        self.away -= 1
        # The host gives up a client that takes nothing for two minutes.
        if self.away > 0 and not (self.is_resting and time.monotonic() > self.rests_until):
            return
        if self.is_resting:
            self.is_resting = False
            self.swarm.resume(self)
        elif self.socket is None:
            self.begin()

    # Writes

    def next_number(self):
        self.written += 1
        return (self.number + 1) * 10 ** 6 + self.written

    def write(self, action, path, value, number=None, **more):
        place = '/' + '/'.join(path)
        self.request(action, Write(self, f'{action} {place}', number), p=place, d=value, **more)

    def any_list(self):
        return self.random.choice(LISTS)

    def put_item(self):
        path, number = self.any_list(), self.next_number()
        self.write('p', (*path, self.random.choice(KEYS)), self.values.item(path, number), number)

    def put_field(self):
        path, number = self.any_list(), self.next_number()
        if path not in LEAF_LISTS:
            self.write('m', (*path, self.random.choice(KEYS)), {'n': self.random.choice(NUMBERS), 'w': number}, number)

    def delete_item(self):
        path = (*self.any_list(), self.random.choice(KEYS))
        if self.random.random() < 0.5:
            return self.write('p', path, None)
        number = self.next_number()
        self.write('m', (), {'/'.join(path): None, f'marks/{self.number}': number}, number)

    def merge_list(self):
        path, number = self.any_list(), self.next_number()
        chosen = self.random.sample(KEYS, self.random.randint(2, 5))
        members = {key: None if self.random.random() < 0.3 else self.values.item(path, number) for key in chosen}
        members[chosen[0]] = self.values.item(path, number)
        self.write('m', path, members, number)

    def merge_wide(self):
        """Writes to several lists at once."""
        number = self.next_number()
        members = {f'marks/{self.number}': number}
        for path in self.random.sample(LISTS, 3):
            members['/'.join((*path, self.random.choice(KEYS)))] = self.values.item(path, number) if self.random.random() < 0.8 else None
        self.write('m', (), members, number)

    def set_priority(self):
        self.write('p', (*self.any_list(), self.random.choice(KEYS), '.priority'), self.random.choice([None, *PRIORITIES]))

    def count(self):
        name = self.random.choice(COUNTERS)
        self.request('p', Count(self, name), p=f'/pub/c/{name}', d={'.sv': {'increment': 1}})

    def transact(self):
        """Writes a child on the condition that it is as this client sees it."""
        views = [listen for listen in self.listens.values() if listen.query is None and listen.is_answered and len(listen.path) > 1
                 and listen.path[:2] in LISTS]
        if not views:
            return
        listen = self.random.choice(views)
        rest = (self.random.choice(KEYS),) if len(listen.path) == 2 else ()
        if len(listen.path) > 3:
            return
        path, number = (*listen.path, *rest), self.next_number()
        seen = part(listen.view.node, rest)
        known = hash_of(seen)
        self.swarm.transactions[number] = known
        request = Transaction(self, number, listen, rest, digest(seen))
        self.request('p', request, p='/' + '/'.join(path), d=self.values.item(path[:2], number), h=known)

    def replace_list(self):
        path, number = self.any_list(), self.next_number()
        self.write('p', path, self.values.list(path, number), number)

    def delete_list(self):
        self.write('p', self.any_list(), None)

    def write_below_leaf(self):
        """Writes below a place that may be a leaf, or deletes there."""
        path, number = (*self.random.choice(LEAF_LISTS), self.random.choice(KEYS), self.random.choice('xy')), self.next_number()
        value = self.random.choice([None, number])
        self.write('p', path, value, number if value else None)

    def put_deep(self):
        number = self.next_number()
        path = [self.random.choice('xyz') for _ in range(self.random.randint(1, 3))]
        value = self.values.deep(number) if self.random.random() < 0.8 else None
        self.write('p', ('pub', 't', *path), value, number if value else None)

    def put_own(self):
        if self.uid and not self.is_changing_user:
            number = self.next_number()
            self.write('p', ('user', self.uid, self.random.choice('xyz')), number, number)

    def be_refused(self):
        """Sends a write that the host must refuse."""
        number = self.next_number()
        path, value, status = self.random.choice([
            ('/checked', f'a{number}', 'permission_denied'), ('/gate/r0', number, 'permission_denied'), ('/pub/a.b', number, 'failure'),
            ('/.info/x', number, 'permission_denied'), ('/pub/l0', {'a': number, '$': 1}, 'failure')])
        if not (self.is_admin and path.startswith(('/checked', '/gate'))):
            self.request('p', Refused(self, number, path, status), p=path, d=value)

    # Reads

    def add_listen(self):
        if len(self.listens) >= LISTENS:
            return self.end_listen()
        path, index, query = self.place()
        overlaps = any(path[:len(other.path)] == other.path or other.path[:len(path)] == path for other in self.ending)
        if (path, index) not in self.listens and not overlaps and (query or IS_NESTED or not self.nests(path)):
            self.listen(path, index, query)
        return None

    def nests(self, path):
        """Whether there is a listen of all of a place above or below."""
        return any(path[:len(other.path)] == other.path or other.path[:len(path)] == path
                   for other in [*self.listens.values(), *self.ending] if other.query is None)

    def place(self):
        """A random place to listen to, with or without a query."""
        chance, kind = self.random, self.random.random()
        path = self.any_list()
        if kind < 0.4 or path == FEW:
            index = chance.randrange(len(self.swarm.queries[path]))
            return path, index, self.swarm.queries[path][index]
        if kind < 0.7:
            return path, None, None
        if kind < 0.8:
            return (*path, chance.choice(KEYS), *chance.choice([(), (), ('n',), ('x', 'y')])), None, None
        others = [('pub', 't'), ('pub', 't', 'x'), ('pub', 't', 'y', 'z'), ('pub', 'c'), ('marks',), VAULT, chance.choice(ROOMS),
                  ('user', self.uid or 'u0'), ('user', 'u1'), ('pub', 'none'), ('pub',) if chance.random() < 0.3 else ('pub', 't')]
        if self.is_admin:
            others.append(())
        return chance.choice(others), None, None

    def end_listen(self):
        if self.listens:
            self.unlisten(self.random.choice(list(self.listens.values())))

    def repeat_listen(self):
        """Listens once more to the same query, with another tag."""
        same = [listen for listen in self.listens.values() if listen.query]
        if same:
            listen = self.random.choice(same)
            self.listen(listen.path, listen.index, listen.query)

    def get(self):
        path, index, query = self.place()
        if path[:1] not in (('room',), ('user',), ('vault',)):
            self.request('g', Get(self, path, index), p='/' + '/'.join(path), q=query.wire if query else {})

    # Operations for the end of the connection

    @property
    def end_name(self):
        return f'c{self.number}x{self.connections}'

    def promise(self):
        """Registers an operation for the end."""
        if self.will_end == 0:
            self.will_end = None
            self.request('o', Promise(self, 1), p=f'/ends/{self.end_name}', d={'.sv': {'increment': 1}})

    def revoke_promise(self):
        if self.will_end == 1:
            self.will_end = None
            self.request('oc', Promise(self, 0), p=f'/ends/{self.end_name}', d=None)


class SignIn(Request):
    def __init__(self, client, uid):
        super().__init__(client)
        self.uid = uid
        client.is_changing_user = True

    def answered(self, status, payload):
        super().answered(status, payload)
        self.client.uid_at_host = self.uid
        self.client.is_changing_user = any(isinstance(request, SignIn) for request in self.client.pending)

    def lost(self):
        self.client.is_changing_user = False


class Write(Request):
    def __init__(self, client, action, number):
        super().__init__(client, action)
        self.written = number

    def answered(self, status, payload):
        super().answered(status, payload)
        if self.written:
            self.client.swarm.acknowledged[self.written] = self.action
            self.client.wrote(self.written, self.number)


class Refused(Request):
    def __init__(self, client, number, path, status):
        super().__init__(client)
        self.written, self.path, self.status = number, path, status

    def answered(self, status, payload):
        if status != self.status or not payload:
            raise Fault(f'a write to {self.path} was answered {status} {payload!r}')
        self.client.swarm.refused.append(self.written)


class Count(Request):
    def __init__(self, client, name):
        super().__init__(client)
        self.name = name

    def answered(self, status, payload):
        super().answered(status, payload)
        self.client.swarm.count(self.name, 1, 1)

    def lost(self):
        self.client.swarm.count(self.name, 0, 1)


class Transaction(Write):
    def __init__(self, client, number, listen, rest, seen):
        super().__init__(client, f'transaction at {listen.path} {rest}', number)
        self.listen, self.rest, self.seen, self.states = listen, rest, seen, len(listen.states)

    def answered(self, status, payload):
        listen = self.listen
        # A hash reveals the value, so it requires the permission to read.
        is_denied = status == 'permission_denied' and guard(listen.path) and not self.client.is_admin
        if status != 'datastale' and not is_denied:
            return super().answered(status, payload)
        self.client.swarm.refused.append(self.written)
        if is_denied:
            return None
        # The client has got the newer value, unless it does not listen any more.
        if self.client.listens.get(listen.key) is listen and not listen.is_ending:
            if digest(part(listen.view.node, self.rest)) == self.seen and len(listen.states) == self.states:
                raise Fault(f'a transaction at {listen.path} {self.rest} was stale, but its client has no newer value')
        return None


class Get(Request):
    def __init__(self, client, path, index):
        super().__init__(client)
        self.path, self.index = path, index

    def answered(self, status, payload):
        super().answered(status, payload)
        # All earlier writes are part of the value.
        known = self.client.acknowledged
        self.client.swarm.records.append((self.client.number, self.path, self.index, [digest(parse(payload))], [(1, known)] if known else []))


class EndSeen(Request):
    """The first read after the loss of a connection that is named: its operation has run."""

    def answered(self, status, payload):
        super().answered(status, payload)
        if payload != 1:
            raise Fault(f'the operation of a lost connection has not run before the first request of the next: {payload!r}')


class Promise(Request):
    def __init__(self, client, outcome):
        super().__init__(client)
        self.outcome = outcome

    def answered(self, status, payload):
        super().answered(status, payload)
        self.client.will_end = self.outcome
