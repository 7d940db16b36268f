"""kill -9 of the host under writers, and power that fails: what was acknowledged is there, nothing is half there, its functions run."""

import os
import random
import time

import pytest

from crash_writers import Writer
from databases import OWNER, Database
from disks import PowerDisk
from hearth import Host
from processes import until


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path, ['Conformance'], mode='development')
    yield host
    host.abandon()


@pytest.fixture
def chance(record_property):
    """The seed of a run that failed can be given back as HEARTH_SEED."""
    seed = int(os.environ.get('HEARTH_SEED') or random.SystemRandom().randrange(1 << 32))
    print(f'HEARTH_SEED={seed}')
    record_property('seed', seed)
    return random.Random(seed)


@pytest.mark.timeout(300)
def test_kills_under_writers(host, chance):
    lives(host, chance, 40, lambda: None)


@pytest.mark.timeout(300)
def test_power_that_fails_under_writers(host, chance, tmp_path):
    disk = PowerDisk(host.data / 'database', tmp_path / 'synced')
    host.variables = disk.variables
    lives(host, chance, 25, lambda: disk.lose_power(chance))


def lives(host, chance, count, after_kill):
    """So many lives of a host, each ended by a kill under writers."""
    writers = [Writer(f'w{number}', random.Random(chance.random())) for number in range(5)]
    for _ in range(count):
        if chance.random() < 0.2:
            host.spawn()
            time.sleep(chance.uniform(0, 0.5))
            host.kill()
            after_kill()
        writers = life(host, writers, chance.uniform(0, 1.2))
        after_kill()
    host.start()
    check(host, writers)
    assert sum(writer.count for writer in writers) > 10 * count
    wanted = {(writer.name, number) for writer in writers for number in writer.acknowledged}
    assert wanted
    until(lambda: wanted <= noted(host), f'every event: {sorted(wanted - noted(host))[:10]}', 120)
    # A missing write has not happened for the functions either.
    undone = {(writer.name, number) for writer in writers for number in writer.undone}
    assert not undone & noted(host)
    assert host.request('GET', '/_/api/databases/-/dead-letters', OWNER).json['deadLetters'] == []
    host.stop()


def life(host, writers, seconds):
    """One life of the host: each client checks what the last one left and writes, as soon as it is accepted; then the host is killed."""
    host.spawn()
    writers = [writer.again(host) for writer in writers]
    for writer in writers:
        writer.start()
    assert writers[0].is_accepted.wait(30), host.log[-2000:]
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
    """The writers and numbers that functions were called with."""
    with Database(host, 'crash') as database:
        notes = (database.get('/noted/written.json') or {}).values()
    return {(note['params']['id'], note['after']) for note in notes}
