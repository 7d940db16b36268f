"""Clients that write numbers to a database whose host is killed meanwhile, and know the data that must be there afterwards. They write
as soon as a host accepts connections."""

import contextlib
import copy
import json
import threading
import time

from databases import OWNER, Database
from wire import Ended

BULK = 1500


class Writer(threading.Thread):
    """A client with its own path. It waits for each answer, so that the state of at most one write is unknown after a kill."""

    def __init__(self, name, chance):
        super().__init__(daemon=True)
        self.name, self.chance = name, chance
        self.number = 0
        # The data that is certain; and the data if the write in doubt was done.
        self.state, self.doubt = {}, None
        self.acknowledged, self.undone = set(), set()
        self.count, self.problem = 0, None
        self.host = None
        self.is_accepted = threading.Event()

    def again(self, host):
        """A copy of this client for the next start of the host."""
        other = Writer(self.name, self.chance)
        for field in ('number', 'state', 'doubt', 'acknowledged', 'undone', 'count'):
            setattr(other, field, getattr(self, field))
        other.host = host
        return other

    # -- writing

    def run(self):
        with Database(self.host, 'crash') as database:
            try:
                database.connection = self.connect()
                self.is_accepted.set()
                self.check(database)
                while True:
                    self.write(database)
            except (Ended, OSError):
                return
            except Exception as problem:  # noqa: BLE001 - reported to the test, which fails with it
                self.problem = problem

    def connect(self):
        """Returns the first connection that the host accepts."""
        process = self.host.process
        while process and process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError):
                return self.host.wire()
            time.sleep(0.001)
        raise Ended('the host has ended')

    def write(self, database):
        self.number += 1
        step = self.chance.choices([self.put, self.remove, self.watch, self.update, self.post, self.bulk], [5, 2, 4, 4, 3, 1])[0]
        method, path, value, after = step(self.number)
        self.doubt = after
        connection = database.connection = database.connection or self.host.wire()
        body = '' if method == 'DELETE' else json.dumps(value)
        answer = connection.request(method, database.target(path), OWNER, body)
        assert answer.status == 200, f'{method} {path}: {answer.status} {answer.body!r}'
        if method == 'POST':
            del after['posts'][None]
            after['posts'][answer.json['name']] = value
        self.settle(after)
        self.count += 1

    def settle(self, state):
        """Sets the state to that of an acknowledged write."""
        if state.get('watched') != self.state.get('watched'):
            self.acknowledged.add(state['watched'])
        self.state, self.doubt = state, None

    def with_changes(self, **changes):
        state = {**copy.copy(self.state), **changes}
        return {key: value for key, value in state.items() if value is not None}

    def put(self, number):
        key = f'k{self.chance.randrange(4)}'
        return 'PUT', f'/crash/{self.name}/{key}.json', number, self.with_changes(**{key: number})

    def remove(self, number):
        key = self.chance.choice(['k0', 'k1', 'pair', 'bulk'])
        return 'DELETE', f'/crash/{self.name}/{key}.json', None, self.with_changes(**{key: None})

    def watch(self, number):
        return 'PUT', f'/watched/{self.name}.json', number, self.with_changes(watched=number)

    def update(self, number):
        """Updates three paths atomically, one of which triggers functions."""
        body = {f'crash/{self.name}/pair/a': number, f'crash/{self.name}/pair/b': {'c': number}, f'watched/{self.name}': number}
        return 'PATCH', '/.json', body, self.with_changes(pair={'a': number, 'b': {'c': number}}, watched=number)

    def post(self, number):
        return 'POST', f'/crash/{self.name}/posts.json', number, self.with_changes(posts={**self.state.get('posts', {}), None: number})

    def bulk(self, number):
        """Writes so many rows that a deletion leaves some of them for later."""
        rows = {f'r{row}': number for row in range(BULK)}
        return 'PUT', f'/crash/{self.name}/bulk.json', rows, self.with_changes(bulk=rows)

    # -- checking

    def check(self, database):
        """Checks that the data is that of the acknowledged writes, with or without the write in doubt, and not a part of it."""
        found = database.get(f'/crash/{self.name}.json') or {}
        watched = database.get(f'/watched/{self.name}.json')
        if watched is not None:
            found['watched'] = watched
        if self.doubt is not None and found != self.state:
            doubt = self.doubt
            if None in doubt.get('posts', {}):
                doubt = {**doubt, 'posts': named(doubt['posts'], found.get('posts', {}))}
            assert found == doubt, f'{self.name}: {differences(found, self.state)}; in doubt {differences(found, doubt)}'
            return self.settle(doubt)
        if self.doubt is not None and self.doubt.get('watched') != self.state.get('watched'):
            self.undone.add(self.doubt['watched'])
        assert found == self.state, f'{self.name}: {differences(found, self.state)}'
        self.doubt = None


def named(posts, found):
    """The posts with the name that the host gave to the one in doubt."""
    new = set(found) - set(posts)
    name = new.pop() if len(new) == 1 else None
    return {key if key is not None else name: value for key, value in posts.items()}


def differences(found, wanted):
    """A short description of the differences between two objects."""
    keys = [key for key in {*found, *wanted} if found.get(key) != wanted.get(key)]
    return {key: (str(found.get(key))[:80], str(wanted.get(key))[:80]) for key in keys}
