"""The record of all changes of a database, and the check of everything that clients of test_live_model.py have seen against it.

    live_history.py {"port": P, "namespace": N, "seed": S}

Listens to all of the database as an administrator. Its pushes are the commits in their order. Then reads orders as lines of JSON.
"""

import bisect
import collections
import functools
import json
import os
import pathlib
import pickle
import sys
import traceback

import live_world
from database_model import export_of, hash_of, parse
from live import Live
from live_client import parsed
from live_views import EMPTY, digest, leaves, part, placed

LAST = 'marks/last'


class Timeline:
    """The states of one place or query, each with the index of the change that made it."""

    def __init__(self, first):
        self.starts, self.states, self.places = [0], [first], collections.defaultdict(list)
        self.places[first].append(0)

    def add(self, index, state):
        if state != self.states[-1]:
            self.places[state].append(len(self.states))
            self.starts.append(index)
            self.states.append(state)

    def changes_at(self, index):
        place = bisect.bisect_left(self.starts, index)
        return place < len(self.starts) and self.starts[place] == index

    def find(self, state, begin, least):
        """The first period from `begin` on with a state that lasts beyond the change `least`; None if there is none."""
        periods = self.places.get(state, ())
        for place in periods[bisect.bisect_left(periods, begin):]:
            if place + 1 == len(self.starts) or self.starts[place + 1] > least:
                return place
        return None


class History:
    """The changes, replayed for the places that clients have listened to."""

    def __init__(self, seed, watched, transactions):
        self.queries, self.transactions = live_world.queries(seed), transactions
        self.timelines = collections.defaultdict(dict)
        for path, index in watched:
            self.timelines[path][index] = Timeline(digest(EMPTY))
        self.root, self.length, self.indices, self.faults = EMPTY, 0, {}, []
        self.order = collections.defaultdict(list)

    @functools.cache
    def related(self, path):
        return [other for other in self.timelines if other[:len(path)] == path or path[:len(other)] == other]

    def replay(self, payload):
        kind, *rest = parsed(payload)
        if kind != 'push':
            return
        place, members, _, _ = rest
        self.length += 1
        number = next((number for _, node in members for leaf in leaves(node) if (number := live_world.number_of(leaf))), None)
        if number is not None and number not in self.indices:
            self.indices[number] = self.length
            self.order[number // 10 ** 6].append(number)
            if number in self.transactions:
                found = hash_of(part(self.root, place))
                if found != self.transactions[number]:
                    self.faults.append(f'a transaction at {place} replaced a value that its client has not seen')
        touched = {}
        for below, node in members:
            path = place + below
            self.root = placed(self.root, path, node)
            touched.update(dict.fromkeys(self.related(path)))
        for path in touched:
            node = part(self.root, path)
            for index, timeline in self.timelines[path].items():
                timeline.add(self.length, digest(node if index is None else self.queries[path][index].result(node)))

    # Checks

    def check_view(self, client, path, index, states, marks):
        """Checks that the states of a listen follow one another in the order of the changes, and include the writes that are marked."""
        timeline, period, least = self.timelines[path][index], 0, 0
        marks = collections.deque(marks)
        for number, state in enumerate([None, *states]):
            before = period
            while True:
                if state is not None:
                    period = timeline.find(state, period, least)
                    if period is None:
                        return self.fail(client, path, index, state, before, least, number, len(states))
                    least = max(least, timeline.starts[period])
                if not marks or marks[0][0] != number:
                    break
                written = self.indices.get(marks.popleft()[1], 0)
                # Only the changes of an own write must come before its answer.
                if timeline.changes_at(written):
                    least = max(least, written)
        return None

    def fail(self, client, path, index, state, before, least, number, count):
        timeline = self.timelines[path][index]
        where = timeline.places.get(state)
        reason = ('never existed' if not where else
                  f'is older than what was seen or written before (period {where[-1]}, change {timeline.starts[where[-1]]})')
        query = '' if index is None else self.queries[path][index].text
        self.faults.append(f'client {client} at /{"/".join(path)} {query}: state {number} of {count} {reason}; the last one was of '
                           f'period {before} of {len(timeline.states)}, at least change {least} of {self.length}')

    def check_writes(self, acknowledged, refused, beginnings):
        lost = [(number, action) for number, action in acknowledged.items() if number not in self.indices]
        if lost:
            self.faults.append(f'{len(lost)} acknowledged writes are in no change: {lost[:5]}')
        if ghosts := [number for number in refused if number in self.indices]:
            self.faults.append(f'{len(ghosts)} refused writes were performed: {ghosts[:5]}')
        starts = sorted(beginnings)
        for client, numbers in self.order.items():
            for first, second in zip(numbers, numbers[1:]):
                # The last requests of a lost connection may be performed later than the first ones of the next.
                if first > second and not any(second < start <= first for start in starts):
                    self.faults.append(f'client {client - 1} wrote {second} before {first}, but they were performed in the other order: '
                                       f'{acknowledged.get(second)}, {acknowledged.get(first)}')


def check_permissions(heard, denials, closings):
    """Checks that nothing that was sent while a place was closed was heard before it was opened again, and that each denial had a reason."""
    faults = []
    for (place, at), when in heard.items():
        for _, shut, opening, _ in closings.get(place, ()):
            if shut < at and when < opening:
                faults.append(f'a client heard from {place} what was written {(at - shut) / 1e6:.3f} ms after the end of its permission')
                break
    for place, sent, when in denials:
        if not any(closing <= when and opened >= sent for closing, _, _, opened in closings.get(place, ())):
            faults.append(f'a listen to {place} was denied while it was allowed')
    return faults


def record(port, namespace):
    """Returns the messages of all changes up to the last."""
    texts = []
    with Live(port, namespace, timeout=None) as live:
        live.own()
        live.listen('/')
        print(json.dumps({'ready': True}), flush=True)
        while True:
            text = json.dumps(live.message())
            texts.append(text)
            if f'"p": "{LAST}"' in text:
                return texts


def verdict(seed, texts, order):
    parts = [pickle.loads(pathlib.Path(path).read_bytes()) for path in order['records']]
    records = [record for facts in parts for record in facts['records']]
    history = History(seed, {(path, index) for _, path, index, _, _ in records},
                      {number: known for facts in parts for number, known in facts['transactions'].items()})
    for text in texts:
        history.replay(text)
    final = parse(json.loads(pathlib.Path(order['final']).read_text()))
    if digest(final) != digest(history.root):
        history.faults.append(f'the record of changes ends with {export_of(history.root)} instead of {export_of(final)}')
    history.check_writes(
        {number: action for facts in parts for number, action in facts['acknowledged'].items()},
        [number for facts in parts for number in facts['refused']], [start for facts in parts for start in facts['beginnings']])
    closings = {tuple(path): intervals for path, intervals in order['closings']}
    for facts in parts:
        history.faults += check_permissions(facts['heard'], facts['denials'], closings)
    for entry in records:
        history.check_view(*entry)
    return {'faults': history.faults[:20], 'count': len(history.faults), 'changes': history.length, 'views': len(records),
            'states': sum(len(states) for _, _, _, states, _ in records)}


def main():
    assert os.environ.get('PYTHONHASHSEED') == '0', 'digests must be the same in all processes'
    order = json.loads(sys.argv[1])
    try:
        texts = record(order['port'], order['namespace'])
        print(json.dumps({'recorded': len(texts)}), flush=True)
        print(json.dumps(verdict(order['seed'], texts, json.loads(sys.stdin.readline()))), flush=True)
    except Exception:
        print(json.dumps({'fault': traceback.format_exc()}), flush=True)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
