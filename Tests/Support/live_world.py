"""The database of test_live_model.py: its places, rules, queries, and the values that clients write.

Each write carries a number of its own in a leaf, by which it is found in the record of all changes. Values of places whose read permission changes
carry the time at which they were sent.
"""

import random
import time

from live_views import Query

KEYS = ['0', '1', '2', '10', '01', '-1', 'a', 'b', 'Z', 'é', '\U0001f600', '\uffee', 'k1', 'zz']
NUMBERS = [0, 1, 2, 2, 3.5, -1, 10]
TEXTS = ['', 'a', 'b', 'b', 'é', '\U0001f600', '\uffee', '10']
PRIORITIES = [1, 2, -5.5, 'p', 'q']
OBJECT_LISTS = [('pub', f'l{number}') for number in range(6)]
LEAF_LISTS = [('pub', 'v0'), ('pub', 'v1')]
TIMED, FEW = ('timed', 't0'), ('few', 'f0')
ROOMS = [('room', f'r{number}') for number in range(3)]
VAULT = ('vault',)
LISTS = [*OBJECT_LISTS, *LEAF_LISTS, TIMED, FEW, *ROOMS]
WITHOUT_INDEX = ('pub', 'l5')
COUNTERS = ['c0', 'c1', 'c2']
INDEX = ['n', 's', 'x/y', 'w', '.value']
NUMBER_BASE, LEAST_NUMBER = 10 ** 12, 10 ** 6


def rules(is_vault_open):
    indexed = {'.indexOn': INDEX}
    public = {'.read': True, '.write': True}
    lists = {path[1]: indexed for path in LISTS if path[0] == 'pub' and path != WITHOUT_INDEX}
    own = 'auth !== null && auth.uid === $u'
    return {'rules': {
        'pub': {**public, **lists}, 'marks': public, 'ends': public, 'gate': {'.read': True},
        'timed': {'.read': 'now > 0', '.write': True, 't0': indexed},
        'few': {'.write': True, 'f0': {**indexed, '.read': 'query.limitToFirst <= 3'}},
        'room': {'$r': {'.read': "root.child('gate').child($r).val() === true", '.write': True, **indexed}},
        'vault': {'.read': is_vault_open, '.write': True},
        'user': {'$u': {'.read': own, '.write': own}},
        'checked': {'.write': True, '.validate': 'newData.isNumber()'},
    }}


def queries(seed):
    """The queries of each list."""
    chance = random.Random(f'queries {seed}')
    return {path: list({query.text: query for query in (random_query(chance, path) for _ in range(8))}.values()) for path in LISTS}


def random_query(chance, path):
    if path == FEW:
        return Query(chance.choice(['.key', 'n', '.priority']), limit=chance.randint(1, 3))
    order = chance.choice(['.key', '.value', '.priority', 'n', 's', 'x/y', 'w'])
    start = end = None
    if chance.random() < 0.15:
        start = end = (*bound(chance, order), True)
    else:
        if chance.random() < 0.45:
            start = (*bound(chance, order), chance.random() < 0.6)
        if chance.random() < 0.45:
            end = (*bound(chance, order), chance.random() < 0.6)
    limit = chance.randint(1, 6) if chance.random() < 0.7 or not (start or end) else None
    return Query(order, start, end, limit, takes_last=bool(limit) and chance.random() < 0.5)


def bound(chance, order):
    if order == '.key':
        return chance.choice(KEYS), None
    values = [None, *NUMBERS, *TEXTS] if order == '.priority' else [None, True, False, *NUMBERS, *TEXTS]
    value = chance.choice(PRIORITIES if order == '.priority' and chance.random() < 0.5 else values)
    return value, chance.choice(KEYS) if chance.random() < 0.3 else None


def guard(path):
    """The place on whose permission a read of this path depends, if it changes."""
    return path[:2] if path[:1] == ('room',) else VAULT if path[:1] == VAULT else None


class Values:
    """Random values of one client."""

    def __init__(self, chance):
        self.random = chance

    def item(self, path, number):
        """A child of a list."""
        chance = self.random
        if path in LEAF_LISTS:
            value = chance.choice([chance.randint(0, 9) * NUMBER_BASE + number, f'{chance.choice("abz")}{number}'])
        else:
            value = {'w': number, 'n': chance.choice(NUMBERS), 's': chance.choice(TEXTS)}
            value.update({'x': {'y': chance.choice([True, False, *NUMBERS, *TEXTS])}} if chance.random() < 0.4 else {})
            value.update({'t': {'.sv': 'timestamp'}} if chance.random() < 0.1 else {})
            del value[chance.choice(['n', 's'])]
            if guard(path):
                value['at'] = f'@{time.monotonic_ns()}'
        if chance.random() < 0.15:
            priority = chance.choice(PRIORITIES)
            return {**value, '.priority': priority} if isinstance(value, dict) else {'.value': value, '.priority': priority}
        return value

    def list(self, path, number):
        return {key: self.item(path, number) for key in self.random.sample(KEYS, self.random.randint(1, 6))}

    def deep(self, number):
        """A value of any form below the tree that has no form."""
        value = number
        for _ in range(self.random.randint(0, 2)):
            value = {self.random.choice('xyz'): self.random.choice(NUMBERS), self.random.choice('xyz'): value}
            if self.random.random() < 0.2:
                value['.priority'] = self.random.choice(PRIORITIES)
        return value


def number_of(leaf):
    """The number of the write that a leaf comes from; None if it has none."""
    if isinstance(leaf, str):
        text = leaf[1:]
        if not (leaf[:1].isalpha() and text.isdecimal() and text.isascii()):
            return None
        leaf = int(text)
    elif type(leaf) not in (int, float):
        return None
    number = int(leaf) % NUMBER_BASE
    return number if LEAST_NUMBER <= number < 10 ** 10 else None


def sent_at(leaf):
    """The time at which a value was sent; 0 if it does not say so."""
    return int(leaf[1:]) if isinstance(leaf, str) and leaf[:1] == '@' else 0


