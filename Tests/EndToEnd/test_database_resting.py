"""Unused databases release their threads, files and memory, and open again with the next request."""

import collections
import contextlib
import errno
import json
import pathlib
import re
import threading

import pytest

from databases import OPEN_RULES, OWNER, Database
from disks import FailingDisk
from hearth import Host
from processes import descriptors, steady, until
from upgrading import Upgradable
from wire import Ended

LIMIT = 6
NAMES = [f'n{number}' for number in range(4 * LIMIT)]
GUEST = {'headers': {}}


@pytest.fixture
def launch(tmp_path):
    """Makes hosts, each with a few databases open at a time and little patience with idle ones."""
    hosts = []

    def make(plugins=(), idle=0.3, limit=LIMIT, kind=Host, **database):
        config = {'server': {'loops': 2}, 'workers': {'drainSeconds': 1},
                  'database': {'idleSeconds': idle, 'limits': {'openNamespaces': limit}, **database}}
        hosts.append(kind(tmp_path / f'host{len(hosts)}', plugins, mode='development', config=config))
        return hosts[-1]
    yield make
    for host in hosts:
        host.abandon()


def awake(host):
    """The databases of which the host has a file open."""
    found = (re.search(r'/([a-z0-9-]+)\.sqlite', path) for path in descriptors(host.pid).values() if '/database/' in path)
    return {match.group(1) for match in found if match}


def until_asleep(host, *names):
    until(lambda: awake(host) <= set(names), f'only {names} are open')


def size(host):
    """The numbers of threads and descriptors of a host, without the threads of Swift's runtime, which have other names."""
    names = []
    for task in pathlib.Path(f'/proc/{host.pid}/task').iterdir():
        with contextlib.suppress(OSError):
            names.append((task / 'comm').read_text().strip())
    return names.count('hearth'), len(descriptors(host.pid))


def put(host, name, path, value):
    with Database(host, name) as database:
        database.put(path, value)


def get(host, name, path='/.json', **options):
    with Database(host, name) as database:
        return database.ask('GET', path, **options)


def figure(host, name, labels=''):
    text = host.request('GET', '/_/metrics').body.decode()
    return float(re.search(rf'^{name}{re.escape(labels)} (\S+)$', text, re.MULTILINE).group(1))


def events(host):
    """The events that functions were called with so far."""
    return [note['context']['event'] for note in host.noted()]


# -- memory and descriptors

def test_more_than_the_limit_one_after_another(launch):
    host = launch().start()
    for round in range(3):
        for name in NAMES:
            put(host, name, '/round.json', round)
            assert len(awake(host)) <= LIMIT + 1
    assert [get(host, name).json for name in NAMES] == [{'round': 2}] * len(NAMES)
    host.kill()
    host.start()
    assert [get(host, name).json for name in NAMES] == [{'round': 2}] * len(NAMES)
    host.stop()
    # A properly closed database has an empty log.
    assert list(host.data.glob('database/*-wal')) == []


def test_what_was_taken_is_given_back(launch):
    host = launch(limit=40, idle=1).start()
    for name in NAMES:
        put(host, name, '/a.json', 1)
    until_asleep(host)
    before = steady(lambda: size(host), 'threads and descriptors')
    most = 0
    for _ in range(3):
        for name in NAMES:
            put(host, name, '/a.json', 2)
            assert get(host, name, '/a.json').json == 2
            most = max(most, len(awake(host)))
        until_asleep(host)
    assert most > LIMIT
    until(lambda: size(host) == before, f'{before} threads and descriptors')
    host.stop()


def test_those_in_use_are_not_closed_and_beyond_them_is_no_room(launch):
    host = launch(limit=2).start()
    with Database(host, 'one') as one, Database(host, 'two') as two, Database(host, 'three') as three:
        one.put('/a.json', 1)
        two.put('/b.json', 1)
        streams = [one.stream('/a.json'), two.stream('/a.json')]
        assert [stream.put() for stream in streams] == [('/', 1), ('/', None)]
        refused = three.ask('PUT', '/a.json', 3)
        assert (refused.status, refused.json) == (503, {'error': '2 namespaces are in use, which is the limit; try again'})
        assert refused.header('Retry-After') == '1'
        until(lambda: awake(host) == {'one', 'two'}, 'they stay')
        # Long after both would have become idle.
        threading.Event().wait(1.5)
        one.put('/a.json', 2)
        assert streams[0].put() == ('/', 2)
        streams[1].wire.close()
        until(lambda: three.ask('PUT', '/a.json', 3).status == 200, 'there is room')
        assert three.get('/a.json') == 3 and one.get('/a.json') == 2
        streams[0].wire.close()
    until_asleep(host)
    host.stop()


def test_who_profiles_keeps_it_open(launch):
    host = launch().start()
    with Database(host, 'one') as database:
        with database.stream('/.settings/profile.json') as profiler:
            assert profiler.head.status == 200
            # Long after it would have become idle.
            threading.Event().wait(1.5)
            assert awake(host) == {'one'}
            database.put('/a.json', 1)
            assert profiler.next()[1]['path'] == ['a']
        until_asleep(host)
    host.stop()


def test_many_at_a_time(launch):
    """Clients that come and go on twice as many databases as can be open: no client gets a wrong answer."""
    host = launch(limit=LIMIT + 10).start()
    wrong = []

    def work(client):
        for step in range(40):
            name = NAMES[(client * 7 + step * 5) % len(NAMES)]
            with Database(host, name) as database:
                if database.ask('PUT', f'/c{client}.json', step).status != 200 or database.get(f'/c{client}.json') != step:
                    wrong.append((client, step))
    clients = [threading.Thread(target=work, args=[client]) for client in range(8)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert wrong == []
    host.stop()


def test_reads_go_on_while_the_disk_takes_nothing(launch, tmp_path):
    host = launch()
    disk = FailingDisk(host.data / 'database', tmp_path / 'fault')
    host.variables = disk.variables
    host.start()
    put(host, 'kept', '/a.json', 1)
    disk.fail('write', errno.ENOSPC)
    # Long after it would have become idle.
    threading.Event().wait(1.5)
    assert awake(host) == {'kept'} and get(host, 'kept', '/a.json').json == 1
    disk.mend()
    until_asleep(host)
    assert get(host, 'kept', '/a.json').json == 1
    host.stop()


def answered(answer):
    assert answer.status in (200, 503)
    return answer if answer.status == 200 else None


def test_a_kill_while_they_come_and_go(launch):
    """Each client writes 0, 1, 2, ... to its databases in turn; what was acknowledged is there."""
    host = launch(limit=10, idle=0.1).start()
    acknowledged, begun = {}, {}

    def work(client):
        own = NAMES[client::4]
        for step in range(10_000):
            name = own[step % len(own)]
            begun[name] = step
            try:
                with Database(host, name) as database:
                    database.put('/step.json', step)
            except (Ended, OSError):
                return
            acknowledged[name] = step
    for _ in range(2):
        clients = [threading.Thread(target=work, args=[client]) for client in range(4)]
        for client in clients:
            client.start()
        until(lambda: len(acknowledged) == len(NAMES) and min(acknowledged.values()) > 50, 'each was written to a few times')
        host.kill()
        for client in clients:
            client.join()
        host.start()
        for name in NAMES:
            # Right after the start, those that are being opened are in use.
            found = until(lambda: answered(get(host, name, '/step.json')), f'{name} can be read')
            assert found.json in (acknowledged[name], begun[name]), name
        acknowledged.clear()
    host.stop()


# -- what was given holds

def test_rules_over_rest(launch):
    host = launch().start()
    put(host, 'ruled', '/a.json', 1)
    until_asleep(host)
    assert get(host, 'ruled', **GUEST).status == 401
    until_asleep(host)
    with Database(host, 'ruled') as database:
        database.use_rules(OPEN_RULES)
    until_asleep(host)
    assert get(host, 'ruled', **GUEST).json == {'a': 1}
    host.stop()


def test_a_rules_file_that_changes_meanwhile(launch, tmp_path):
    file = tmp_path / 'rules.json'
    file.write_text('{"rules": {".read": false}}')
    host = launch(rules=str(file)).start()
    put(host, 'filed', '/a.json', 1)
    assert get(host, 'filed', **GUEST).status == 401
    until_asleep(host)
    file.write_text(json.dumps(OPEN_RULES))
    assert host.until_logged('the database rules were reloaded')
    assert awake(host) == set()
    assert get(host, 'filed', **GUEST).json == {'a': 1}
    # Rules uploaded now stay, even while the database is closed.
    with Database(host, 'filed') as database:
        database.use_rules({'rules': {'.read': False}})
    until_asleep(host)
    assert get(host, 'filed', **GUEST).status == 401
    host.stop()


# -- events

def test_functions_run_on_writes_to_those_that_rested(launch):
    host = launch(['events']).start()
    for round in range(3):
        for name in NAMES[:3]:
            put(host, name, '/noted/n.json', round)
        until(lambda: len(events(host)) == 3 * (round + 1), 'the functions have run')
        until_asleep(host)
    # Nothing was delivered again when they were opened.
    assert collections.Counter(event['instance'] for event in events(host)) == dict.fromkeys(NAMES[:3], 3)
    assert figure(host, 'hearth_outbox_events_waiting') == 0
    host.stop()


PATIENT = {'retryMinSeconds': 0.5, 'retryMaxSeconds': 0.5, 'retryAgeSeconds': 600}


def until_tried_again(host):
    """Each of the databases has an event that is tried again and again."""
    def attempts():
        found = dict.fromkeys(NAMES, 0)
        for event in events(host):
            found[event['instance']] = max(found[event['instance']], event['attempt'])
        return found
    before = attempts()
    until(lambda: all(attempt >= before[name] + 2 for name, attempt in attempts().items()), 'every event is tried again', 60)


def test_events_of_more_databases_than_can_be_open(launch):
    host = launch(['events'], triggers=PATIENT).start()
    for name in NAMES:
        put(host, name, '/retried/r.json', 'fail')
    until_tried_again(host)
    host.kill()
    host.start()
    until_tried_again(host)
    host.stop()


def test_an_upgrade_while_most_of_them_rest(launch):
    host = launch(['events'], kind=Upgradable, triggers=PATIENT).start()
    for name in NAMES:
        put(host, name, '/retried/r.json', 'fail')
        put(host, name, '/a.json', name)
    for step in ({'before': 'die'}, {'after': 'refuse'}, {'after': 'die'}):
        host.install_pretender(**step)
        assert host.upgrade().status != 200
        until_tried_again(host)
    host.install()
    assert host.upgrade().status == 200
    until_tried_again(host)
    assert [get(host, name, '/a.json').json for name in NAMES] == NAMES
    host.stop()


# -- figures

def test_figures(launch):
    host = launch().start()
    for round in range(1, 4):
        for name in NAMES[:4]:
            put(host, name, '/a.json', round)
        assert figure(host, 'hearth_database_namespaces_open') >= 1
        until(lambda: figure(host, 'hearth_database_namespaces_open') == 0, 'none is open')
        assert figure(host, 'hearth_database_writes_total', '{operation="set",outcome="committed"}') == 4 * round
    host.stop()


def test_dead_letters_of_those_that_rest_are_counted(launch):
    host = launch(['events']).start()
    put(host, 'lost', '/noted/l.json', 'fail')
    until(lambda: figure(host, 'hearth_outbox_dead_letters_kept') == 1, 'there is a dead letter')
    until_asleep(host)
    assert figure(host, 'hearth_outbox_dead_letters_kept') == 1
    letters = host.request('GET', '/_/api/databases/lost/dead-letters', OWNER).json['deadLetters']
    assert [letter['path'] for letter in letters] == ['/noted/l']
    host.stop()
