"""Random requests to a database, each answer held against a model of the specification.

A failure names its seed: HEARTH_MODEL_SEED=<seed> runs it again. HEARTH_MODEL_OPERATIONS sets how many requests there are.
"""

import json
import os
import random
import urllib.parse

import pytest

from database_model import Model, Node, export_of, hash_of, parse, query, shallow_of, value_of
from databases import OWNER, Database
from expectations import same

OPERATIONS = int(os.environ.get('HEARTH_MODEL_OPERATIONS', 4000))
KEYS = ['0', '1', '2', '3', '10', '01', '-1', '-01', '2147483647', '2147483648', 'a', 'b', 'c', 'h', 'x', 'y', 'Z', 'é', '\U0001f600', '\uffee',
        '\ue000', ' ', '%', 'a b', '-', 'zz']
LEAVES = [True, False, 0, 1, -1, 2, 7, 1.5, -2.25, 1e300, 2 ** 53 + 1, -2 ** 63, 2 ** 63 - 1, '', 'a', 'b', 'é', '\U0001f600', '\uffee', '10', '9',
          'text with "quotes" and \\ and \n']
PRIORITIES = [None, None, 1, 2, -5.5, 'p', 'q', '\U0001f600']
INDEXED = ['h', 'x/y', '.value']
RULES = {'rules': {'.indexOn': INDEXED, '$a': {'.indexOn': INDEXED, '$b': {'.indexOn': INDEXED}}}}


class Session:
    """One run: a database and what it should be."""

    def __init__(self, database, seed):
        self.database, self.model, self.random = database, Model(), random.Random(seed)
        self.log = []

    def run(self, count):
        kinds = [self.put, self.put, self.patch, self.delete, self.post, self.increment, self.priority, self.get, self.export, self.shallow,
                 self.query, self.query, self.query, self.etag]
        for _ in range(count):
            self.random.choice(kinds)()

    # -- what is asked

    def path(self, depth=3, least=0):
        return [self.random.choice(KEYS) for _ in range(self.random.randint(least, depth))]

    def value(self, depth=3):
        if depth == 0 or self.random.random() < 0.45:
            leaf = self.random.choice(LEAVES)
            priority = self.random.choice(PRIORITIES)
            return {'.value': leaf, '.priority': priority} if self.random.random() < 0.15 else leaf
        if self.random.random() < 0.1:
            return [self.random.choice([None, self.value(depth - 1)]) for _ in range(self.random.randint(0, 4))]
        members = {key: self.value(depth - 1) for key in self.random.sample(KEYS, self.random.randint(0, 5))}
        if self.random.random() < 0.1:
            members['.priority'] = self.random.choice(PRIORITIES)
        if self.random.random() < 0.1:
            members[self.random.choice(KEYS)] = None
        return members

    def send(self, method, path, value=None, query=(), headers=(), suffix=''):
        target = '/' + '/'.join(urllib.parse.quote(key, safe='') for key in path) + suffix + '.json'
        body = '' if method in ('GET', 'DELETE') else json.dumps(value)
        self.log = [*self.log[-20:], (method, target, value, dict(query))]
        answer = self.database.send(method, target, body, query, {**OWNER, **dict(headers)})
        assert answer.status == 200, f'{answer.status} {answer.body!r} {self.log[-1]}'
        return answer

    def expect(self, answer, wanted):
        assert same(answer.json, wanted), f'\ngot    {answer.json!r}\nwanted {wanted!r}\nafter  {self.log}'

    # -- writes

    def put(self):
        # Rarely all of it: the tree has to grow.
        path, value = self.path(least=self.random.random() > 0.02), self.value()
        self.send('PUT', path, value)
        self.model.set(path, parse(value))

    def patch(self):
        path = self.path(2)
        members = {}
        for key in self.random.sample(KEYS, self.random.randint(0, 4)):
            rest = self.path(1)
            members['/'.join([key, *rest])] = self.random.choice([None, self.value(2)])
        self.send('PATCH', path, members)
        # Deletions come last, whatever the order of the members.
        for key, node in sorted(((key, parse(value)) for key, value in members.items()), key=lambda member: member[1].is_empty):
            self.model.set([*path, *key.split('/')], node)

    def delete(self):
        path = self.path(least=self.random.random() > 0.02)
        self.send('DELETE', path)
        self.model.set(path, Node())

    def post(self):
        path, value = self.path(2), self.value(2)
        self.model.set([*path, self.send('POST', path, value).json['name']], parse(value))

    def increment(self):
        path, delta = self.path(least=1), self.random.choice([1, -3, 0.5, 2 ** 62, -2 ** 62])
        self.model.increment(path, delta)
        self.expect(self.send('PUT', path, {'.sv': {'increment': delta}}), self.model.at(path).leaf)

    def priority(self):
        path, priority = self.path(), self.random.choice(PRIORITIES)
        self.send('PUT', path, priority, suffix='/.priority')
        self.model.set_priority(path, priority)

    # -- reads

    def get(self):
        path = self.path()
        self.expect(self.send('GET', path), value_of(self.model.at(path)))

    def export(self):
        path = self.path()
        self.expect(self.send('GET', path, query={'format': 'export'}), export_of(self.model.at(path)))

    def etag(self):
        path = self.path()
        answer = self.send('GET', path, headers={'X-Firebase-ETag': 'true'})
        assert answer.header('ETag') == (hash_of(self.model.at(path)) or 'null_etag'), self.log

    def shallow(self):
        path, page = self.path(), {}
        if self.random.random() < 0.6:
            page['limitToFirst'] = self.random.randint(1, 4)
        if self.random.random() < 0.6:
            page['startAfter'] = self.random.choice(KEYS)
        wanted = shallow_of(self.model.at(path), page.get('limitToFirst'), page.get('startAfter'))
        self.expect(self.send('GET', path, query={'shallow': 'true', **page}), wanted)

    def query(self):
        path = self.path(2)
        order = self.random.choice(['$key', '$value', '$priority', 'h', 'x/y'])
        parameters, start, end, limit = {'orderBy': json.dumps(order)}, None, None, None
        if self.random.random() < 0.15:
            start, parameters['equalTo'] = self.bound(order)
            end = start = (*start, True)
        else:
            if self.random.random() < 0.5:
                name = self.random.choice(['startAt', 'startAfter'])
                bound, parameters[name] = self.bound(order)
                start = (*bound, name == 'startAt')
            if self.random.random() < 0.5:
                name = self.random.choice(['endAt', 'endBefore'])
                bound, parameters[name] = self.bound(order)
                end = (*bound, name == 'endAt')
        takes_last = self.random.random() < 0.5
        if self.random.random() < 0.6:
            limit = parameters['limitToLast' if takes_last else 'limitToFirst'] = self.random.randint(1, 4)
        found = query(self.model.at(path), order, start, end, limit, takes_last)
        answer = self.send('GET', path, query=parameters)
        self.expect(answer, None if found is None else value_of(found) if found.children else {})

    def bound(self, order):
        """A bound as (value, key), and as a request has it."""
        if order == '$key':
            key = self.random.choice(KEYS)
            return (key, None), json.dumps(key)
        values = [leaf for leaf in [None, *LEAVES] if order != '$priority' or not isinstance(leaf, bool)]
        value = self.random.choice(values)
        if self.random.random() < 0.7:
            return (value, None), json.dumps(value)
        key = self.random.choice(KEYS)
        return (value, key), f'{json.dumps(value)},{json.dumps(key)}'


@pytest.mark.timeout(600 + OPERATIONS // 50)
@pytest.mark.parametrize('number', range(2))
def test_random_requests(number, launch):
    seed = int(os.environ.get('HEARTH_MODEL_SEED', random.SystemRandom().randrange(10 ** 9))) + number
    print(f'HEARTH_MODEL_SEED={seed}')
    host = launch([], mode='development')
    with Database(host, f'model-{number}') as database:
        database.use_rules(RULES)
        session = Session(database, seed)
        session.run(OPERATIONS // 2)
        host.stop()
        host.start()
        database.close()
        session.run(OPERATIONS // 2)
        session.expect(session.send('GET', [], query={'format': 'export'}), export_of(session.model.root))
