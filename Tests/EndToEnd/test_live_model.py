"""Hundreds of clients of the live connection that do random things, and everything that they see held against a model.

Checks that, at the end, each listen shows what its query selects in the final data; that each listen went only through states that the database
had, in their order, and never saw a part of a write; that the changes of an own write came before its answer; that answers have the order of
requests; that nothing arrives for a listen after its end; that nothing is heard without permission; and that operations for the end of a
connection run once.

A failure names its seed: HEARTH_MODEL_SEED=<seed> runs the same clients again. HEARTH_LIVE_OPERATIONS sets how many operations there are, and
HEARTH_LIVE_CLIENTS how many clients. With HEARTH_LIVE_NESTED=1, clients also listen to all of a place and to all of one below it at the same time.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import time

import pytest

import live_world
from database_model import parse
from databases import Database
from live_history import History, check_permissions
from live_views import EMPTY, digest
from processes import until

OPERATIONS = int(os.environ.get('HEARTH_LIVE_OPERATIONS', 8000))
CLIENTS = int(os.environ.get('HEARTH_LIVE_CLIENTS', 200))
PROCESSES = 2
SUPPORT = pathlib.Path(live_world.__file__).parent


class Helper:
    """A process of the test, which reports with lines of JSON."""

    def __init__(self, script, **order):
        environment = {**os.environ, 'PYTHONHASHSEED': '0'}
        self.process = subprocess.Popen([sys.executable, SUPPORT / script, json.dumps(order)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)

    def tell(self, **order):
        self.process.stdin.write(json.dumps(order) + '\n')
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        assert line, f'a helper ended with {self.process.wait()}'
        facts = json.loads(line)
        assert 'fault' not in facts, facts['fault']
        return facts

    def end(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()


class Keeper:
    """Opens and closes places while the clients run, and notes when."""

    def __init__(self, database, chance):
        self.database, self.random = database, chance
        self.closed = dict.fromkeys([*live_world.ROOMS, live_world.VAULT])
        self.closings = {place: [] for place in self.closed}
        for room in live_world.ROOMS:
            self.apply(room, True)
        self.apply(live_world.VAULT, True)

    def apply(self, place, is_open):
        if place == live_world.VAULT:
            self.database.use_rules(live_world.rules(is_open))
        else:
            self.database.put(f'/gate/{place[1]}.json', is_open)

    def toggle(self):
        place = self.random.choice(list(self.closed))
        begin = time.monotonic_ns()
        self.apply(place, self.closed[place] is not None)
        end = time.monotonic_ns()
        if self.closed[place] is None:
            self.closed[place] = begin, end
        else:
            self.closings[place].append((*self.closed[place], begin, end))
            self.closed[place] = None

    def intervals(self):
        """The times of each closing: when it began and was complete, and the same of the opening that ended it."""
        forever = 1 << 62
        for place, since in self.closed.items():
            if since is not None:
                self.closings[place].append((*since, forever, forever))
        return [[place, intervals] for place, intervals in self.closings.items()]


def run(host, database, seed, folder, helpers):
    chance = random.Random(f'keeper {seed}')
    database.use_rules(live_world.rules(True))
    common = {'port': host.port, 'namespace': database.namespace, 'seed': seed}
    observer = Helper('live_history.py', **common)
    helpers.append(observer)
    observer.hear()
    keeper = Keeper(database, chance)
    share = CLIENTS // PROCESSES
    files = [str(folder / f'records-{number}') for number in range(PROCESSES)]
    swarms = [Helper('live_swarm.py', **common, first=number * share, count=share, operations=OPERATIONS // PROCESSES, records=file)
              for number, file in enumerate(files)]
    helpers.extend(swarms)
    begin = time.monotonic()
    running, done = list(swarms), []
    while running:
        for swarm in list(running):
            facts = swarm.hear()
            if 'done' in facts:
                running.remove(swarm)
                done.append(facts)
            else:
                keeper.toggle()
    seconds = time.monotonic() - begin
    check_ends(database, done)
    database.put('/marks/last.json', True)
    final = folder / 'final.json'
    final.write_text(json.dumps(database.get('/.json', query={'format': 'export'})))
    shut = [place for place, since in keeper.closed.items() if since is not None]
    for swarm in swarms:
        swarm.tell(final=str(final), shut=shut)
    settled = [swarm.hear() for swarm in swarms]
    observer.hear()
    observer.tell(final=str(final), records=files, closings=keeper.intervals())
    verdict = observer.hear()
    print(f'{OPERATIONS} operations of {CLIENTS} clients in {seconds:.1f} s, {sum(facts["messages"] for facts in settled)} messages, '
          f'{sum(facts["listens"] for facts in settled)} open listens at the end, all: {time.monotonic() - begin:.1f} s; {verdict}')
    assert verdict['count'] == 0, '\n'.join([f'{verdict["count"]} faults', *verdict['faults']])


def check_ends(database, done):
    """Checks the operations for the ends of connections, and the counters: each operation has run once."""
    wanted = {name: count for facts in done for name, count in facts['ends'].items()}

    def unlike():
        found = database.get('/ends.json') or {}
        return [(name, count, found.get(name, 0)) for name, count in wanted.items()
                if (found.get(name, 0) not in (0, 1) if count == 'maybe' else found.get(name, 0) != count)]
    until(lambda: not unlike(), f'each operation for the end of a connection has run once: {unlike()}')
    for name in live_world.COUNTERS:
        least, most = (sum(facts['counts'][name][side] for facts in done) for side in (0, 1))
        found = database.get(f'/pub/c/{name}.json') or 0
        assert least <= found <= most, (name, least, found, most)


@pytest.mark.timeout(240 + OPERATIONS // 50)
def test_random_clients(launch, tmp_path):
    seed = int(os.environ.get('HEARTH_MODEL_SEED', random.SystemRandom().randrange(10 ** 9)))
    print(f'HEARTH_MODEL_SEED={seed}')
    host = launch([], mode='development')
    helpers = []
    try:
        with Database(host, 'live-model') as database:
            run(host, database, seed, tmp_path, helpers)
    finally:
        for helper in helpers:
            helper.end()


# The check itself

PLACE = ('pub', 'l0')
FIRST, SECOND, OTHER = 2_000_001, 3_000_001, 4_000_001


def history(states, marks=()):
    """The faults that a history of four changes finds in a listen with these states."""
    found = History(1, {(PLACE, None)}, {})
    for place, value in (('l0/a', {'w': FIRST}), ('l0/a/n', 1), ('l1', {'w': OTHER}), ('l0/a', {'w': SECOND})):
        found.replay(json.dumps({'t': 'd', 'd': {'a': 'd', 'b': {'p': f'pub/{place}', 'd': value}}}))
    found.check_view(7, PLACE, None, [digest(EMPTY if state is None else parse({'a': state})) for state in states], marks)
    return found.faults


@pytest.mark.parametrize('states, marks', [
    ([None], []), ([None, {'w': FIRST}, {'w': FIRST, 'n': 1}, {'w': SECOND}], []), ([None, {'w': SECOND}], [(2, SECOND)]),
    ([{'w': FIRST}, {'w': SECOND}], [(0, FIRST)]), ([None], [(1, 9_000_001)]), ([{'w': FIRST, 'n': 1}], [(1, FIRST)]),
    ([None, {'w': SECOND}], [(1, OTHER)])])
def test_what_a_listen_may_show(states, marks):
    assert history(states, marks) == []


@pytest.mark.parametrize('states, marks, reason', [
    ([{'n': 1}], [], 'never existed'), ([{'w': SECOND, 'n': 1}], [], 'never existed'), ([{'w': SECOND}, {'w': FIRST}], [], 'is older'),
    ([None], [(1, FIRST)], 'is older'), ([{'w': FIRST}], [(0, SECOND)], 'is older'), ([{'w': FIRST}, None], [], 'is older')])
def test_what_a_listen_must_not_show(states, marks, reason):
    fault, = history(states, marks)
    assert reason in fault


def test_what_the_record_of_changes_must_have():
    found = History(1, {(PLACE, None)}, {SECOND: ''})
    for number in (SECOND + 1, SECOND):
        found.replay(json.dumps({'t': 'd', 'd': {'a': 'd', 'b': {'p': 'pub/l0/a', 'd': number}}}))
    found.check_writes({FIRST: 'p'}, [SECOND], [])
    texts = ['replaced a value', 'are in no change', 'refused writes were performed', 'in the other order']
    assert len(found.faults) == 4 and all(text in fault for text, fault in zip(texts, found.faults, strict=True)), found.faults


def test_what_permissions_allow():
    closings = {live_world.VAULT: [(10, 20, 50, 60)]}
    assert check_permissions({(live_world.VAULT, 15): 30, (live_world.VAULT, 25): 55}, [(live_world.VAULT, 55, 70)], closings) == []
    heard, denied = check_permissions({(live_world.VAULT, 25): 45}, [(live_world.VAULT, 61, 70)], closings)
    assert 'after the end of its permission' in heard and 'while it was allowed' in denied
