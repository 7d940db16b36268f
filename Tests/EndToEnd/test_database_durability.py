"""kill -9 of the host under writers: what was acknowledged is there, nothing is half there, and its functions run."""

import os
import random
import time

import pytest

from crash_writers import Writer
from databases import OWNER, Database
from hearth import Host
from processes import until

KILLS = 40


@pytest.fixture
def host(tmp_path):
    # A function whose worker goes down with the host is as good as interrupted: it comes again as soon as there is a worker.
    host = Host(tmp_path, ['Conformance'], mode='development', config={'workers': {'drainSeconds': 5}})
    yield host
    host.abandon()


def dice(record_property):
    """The seed of a run that failed can be given back as HEARTH_SEED."""
    seed = int(os.environ.get('HEARTH_SEED') or random.SystemRandom().randrange(1 << 32))
    print(f'HEARTH_SEED={seed}')
    record_property('seed', seed)
    return random.Random(seed)


@pytest.mark.timeout(300)
def test_kills_under_writers(host, record_property):
    chance = dice(record_property)
    writers = [Writer(f'w{number}', random.Random(chance.random())) for number in range(5)]
    for _ in range(KILLS):
        if chance.random() < 0.2:
            host.spawn()
            time.sleep(chance.uniform(0, 0.5))
            host.kill()
        writers = life(host, writers, chance.uniform(0, 1.2))
    host.start()
    check(host, writers)
    assert sum(writer.count for writer in writers) > 100 * KILLS / 10
    wanted = {(writer.name, number) for writer in writers for number in writer.acknowledged}
    assert wanted
    until(lambda: wanted <= noted(host), f'every event: {sorted(wanted - noted(host))[:10]}', 120)
    # What is not there has not happened, to the functions neither.
    undone = {(writer.name, number) for writer in writers for number in writer.undone}
    assert not undone & noted(host)
    assert host.request('GET', '/_/api/databases/-/dead-letters', OWNER).json['deadLetters'] == []
    host.stop()


def life(host, writers, seconds):
    """One life of the host: what the last one left is checked, then it is killed while it is written to."""
    host.start()
    check(host, writers)
    writers = [writer.again(host) for writer in writers]
    for writer in writers:
        writer.start()
    time.sleep(seconds)
    host.kill()
    for writer in writers:
        writer.join(30)
        assert not writer.is_alive() and writer.problem is None, writer.problem
    return writers


def check(host, writers):
    with Database(host, 'crash') as database:
        for writer in writers:
            writer.check(database)


def noted(host):
    """The writers and numbers that functions were told of."""
    with Database(host, 'crash') as database:
        notes = (database.get('/noted/written.json') or {}).values()
    return {(note['params']['id'], note['after']) for note in notes}
