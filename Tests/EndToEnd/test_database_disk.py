"""Disks that are full, read-only or broken: what was not written is not acknowledged, reads go on, and so does service afterwards."""

import concurrent.futures
import errno
import json
import os
import resource
import threading
import time

import pytest

from databases import OWNER, Database
from disks import BROKEN, FULL, READ_ONLY, FailingDisk, SmallDisk, read_only_file
from hearth import Host
from processes import until
from test_triggers import DEFAULT, EventHost

TEXT = 'x' * 20_000


class Storage:
    """A host without functions, with its databases on a separate disk."""

    def __init__(self, folder):
        self.host = Host(folder, [], mode='development')
        self.databases = self.host.data / 'database'
        self.file = self.databases / 'disk.sqlite'

    def prepare(self):
        """Makes the folders and the namespace."""
        self.host.start()
        with Database(self.host, 'disk') as database:
            database.put('/before.json', {'a': 1})
        self.host.stop()


@pytest.fixture
def storage(tmp_path):
    storage = Storage(tmp_path)
    yield storage
    storage.host.abandon()


@pytest.fixture
def small(storage):
    """A small disk."""
    storage.databases.mkdir(parents=True)
    storage.host.data.chmod(0o700)
    with SmallDisk(storage.databases) as disk:
        yield disk
        storage.host.abandon()


def fill(database, names):
    """Writes until the disk is full; what was acknowledged."""
    done = {}
    for name in names:
        answer = database.ask('PUT', f'/fill/{name}.json', TEXT)
        if answer.status != 200:
            assert (answer.status, answer.json) == (503, FULL)
            return done
        done[name] = TEXT
    raise AssertionError('the disk has more room than it should have')


# -- full

@pytest.mark.parametrize('relief', ['room is made', 'the disk grows'])
def test_a_full_disk(storage, small, relief):
    host = storage.host.start()
    with Database(host, 'disk') as database:
        database.put('/before.json', {'a': 1})
        the_disk_fills(storage, small, database, relief)
    host.kill()
    host.start()
    with Database(host, 'disk') as database:
        assert database.get('/before.json') == {'a': 1}
        assert set(database.get('/fill.json').values()) == {TEXT}
    host.stop()


def the_disk_fills(storage, small, database, relief):
    host = storage.host
    with database.stream('/fill.json') as stream:
        assert stream.put() == ('/', None)
        small.folder.joinpath('filler').write_bytes(bytes(1 << 20))
        done = fill(database, (f'n{number}' for number in range(1000)))
        assert database.get('/fill.json') == done
        for _ in range(50):
            answer = database.ask('PUT', '/fill/more.json', TEXT)
            assert (answer.status, answer.json) == (503, FULL)
        answer = database.ask('PATCH', '/.json', {'fill/more': TEXT, 'other/small': 1})
        assert (answer.status, answer.json) == (503, FULL)
        assert database.get('/other.json') is None
        assert [stream.put()[0] for _ in done] == [f'/{name}' for name in done]
        if relief == 'room is made':
            small.make_room()
        else:
            small.remount('size=64m')
        assert database.ask('PUT', '/fill/after.json', TEXT).status == 200
        assert stream.put() == ('/after', TEXT)
        done['after'] = TEXT
        assert database.get('/fill.json') == done
    # One line when it begins and one when it is over, and perhaps both once more for a small write in between.
    assert 1 <= host.log.count('a write failed') <= 2 and 1 <= host.log.count('writing works again') <= 2
    host.kill()
    host.start()
    assert database.get('/fill.json') == done


def test_a_full_disk_under_many_writers(storage, small):
    host = storage.host.start()

    def write(writer):
        with Database(host, 'disk') as database:
            return fill(database, (f'w{writer}n{number}' for number in range(1000)))
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        done = {name: text for part in pool.map(write, range(6)) for name, text in part.items()}
    with Database(host, 'disk') as database:
        assert database.get('/fill.json') == done
    host.kill()
    small.remount('size=64m')
    host.start()
    with Database(host, 'disk') as database:
        assert database.get('/fill.json') == done
        assert database.ask('PUT', '/fill/after.json', TEXT).status == 200
    host.stop()


def test_a_log_does_not_fill_the_disk(storage, small):
    """Overwriting a few values for long needs little room: the log is moved before it takes the room that this needs."""
    storage.host.start()
    with Database(storage.host, 'disk') as database:
        for number in range(1500):
            assert database.ask('PUT', f'/k{number % 20}.json', f'{number}{TEXT}').status == 200
        assert small.free() > 1 << 20


def test_a_log_that_fills_the_disk_is_moved_first(storage, small):
    """New room goes to the move of the log, not to the log."""
    storage.host.start()
    with Database(storage.host, 'disk') as database:
        for number in range(25):
            assert database.ask('PUT', f'/k{number}.json', TEXT).status == 200
        small.fill()
        until(lambda: database.ask('PUT', '/more.json', TEXT * 5).status == 503, 'the disk is full')
        small.remount('size=6m')
        until(lambda: database.ask('PUT', '/more.json', 1).status == 200, 'writes work again')
        for number in range(300):
            assert database.ask('PUT', f'/k{number % 25}.json', f'{number}{TEXT}').status == 200


def test_what_else_needs_room(storage, tmp_path):
    """Rules, settings and new namespaces on a full disk."""
    disk = FailingDisk(storage.databases, tmp_path / 'fault')
    host = storage.host
    host.variables = disk.variables
    host.start()
    with Database(host, 'disk') as database, Database(host, 'fresh') as fresh:
        database.use_rules({'rules': {'open': {'.read': True}}})
        disk.fail('write open', errno.ENOSPC)
        for path, body in (('/.settings/rules.json', '{"rules": {".read": true}}'), ('/.settings/strictTriggerValidation.json', 'false')):
            answer = database.send('PUT', path, body, headers=OWNER)
            assert (answer.status, answer.json) == (503, FULL)
        assert database.send('GET', '/open.json').status == 200
        assert database.send('GET', '/closed.json').status == 401
        for path in ('/a.json', '/b.json'):
            answer = fresh.ask('PUT', path, TEXT)
            assert (answer.status, answer.json) == (503, FULL)
            assert fresh.ask('GET', path).status == 503
        disk.mend()
        until(lambda: fresh.ask('PUT', '/a.json', TEXT).status == 200, 'the new namespace is made')
        assert fresh.get('/a.json') == TEXT
        database.use_rules({'rules': {'closed': {'.read': True}}})
        assert database.send('GET', '/open.json').status == 401
    host.stop()


def test_rules_that_change_on_a_full_disk(storage, tmp_path):
    """The rules take effect as soon as the disk has space, without saving the file again."""
    disk = FailingDisk(storage.databases, tmp_path / 'fault')
    rules = tmp_path / 'rules.json'
    rules.write_text('{"rules": {"open": {".read": true}}}')
    host = Host(storage.host.folder, [], mode='development', config={'database': {'rules': str(rules)}})
    host.variables = disk.variables
    host.start()
    with Database(host, 'disk') as database:
        # Rules are kept with a database, which its first value makes.
        assert database.ask('PUT', '/open.json', TEXT).status == 200
        assert database.send('GET', '/open.json').status == 200
        disk.fail('write open', errno.ENOSPC)
        rules.write_text('{"rules": {"closed": {".read": true}}}')
        assert host.until_logged('the database rules could not be applied; trying again')
        assert database.send('GET', '/open.json').status == 200
        disk.mend()
        until(lambda: database.send('GET', '/closed.json').status == 200, 'the new rules are in force')
        assert database.send('GET', '/open.json').status == 401
    assert host.log.count('could not be applied') == 1
    host.stop()


def test_a_full_disk_at_the_start(storage, small):
    host = storage.host
    storage.prepare()
    small.fill()
    host.start()
    with Database(host, 'disk') as database:
        answer = database.ask('PUT', '/text.json', TEXT)
        assert (answer.status, answer.json) == (503, FULL)
        small.make_room()
        until(lambda: database.ask('PUT', '/text.json', TEXT).status == 200, 'service')
        assert database.get('/.json') == {'before': {'a': 1}, 'text': TEXT}
    host.stop()


def test_a_limit_of_the_files_size(storage):
    host = storage.host.start()
    with Database(host, 'disk') as database:
        database.put('/before.json', {'a': 1})
        resource.prlimit(host.pid, resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
        done = fill(database, (f'n{number}' for number in range(1000)))
        assert database.get('/fill.json') == done
        resource.prlimit(host.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        until(lambda: database.ask('PUT', '/fill/after.json', TEXT).status == 200, 'writes work again')
        assert database.get('/fill.json') == {**done, 'after': TEXT}
    host.stop()


# -- read-only and broken

def test_a_folder_that_is_read_only_at_the_start(storage, small):
    host = storage.host
    storage.prepare()
    small.remount('ro')
    host.spawn()
    assert host.process.wait(30) == 1
    assert f'the data directory {storage.databases} cannot be written to: Read-only file system' in host.log
    small.remount('rw')
    host.start()
    with Database(host, 'disk') as database:
        assert database.get('/.json') == {'before': {'a': 1}}
    host.stop()


def test_a_file_that_is_read_only(storage):
    host = storage.host
    storage.prepare()
    with read_only_file(storage.file):
        host.start()
        with Database(host, 'disk') as database, Database(host, 'other') as other:
            for _ in range(3):
                answer = database.ask('PUT', '/a.json', 1)
                assert (answer.status, answer.json) == (503, READ_ONLY)
            assert other.put('/a.json', 1) == 1
    with Database(host, 'disk') as database:
        until(lambda: database.ask('PUT', '/a.json', 1).status == 200, 'service')
        assert database.get('/.json') == {'before': {'a': 1}, 'a': 1}
    host.stop()


@pytest.mark.parametrize('calls,error,status,body', [
    ('write open', errno.EROFS, 503, READ_ONLY), ('write', errno.ENOSPC, 503, FULL), ('write', errno.EDQUOT, 503, FULL),
    ('write', errno.EIO, 500, BROKEN), ('sync', errno.EIO, 500, BROKEN), ('write sync', errno.ENOSPC, 503, FULL),
], ids=lambda value: errno.errorcode.get(value) if isinstance(value, int) and value < 200 else None)
def test_a_disk_that_fails_under_the_host(storage, tmp_path, calls, error, status, body):
    disk = FailingDisk(storage.databases, tmp_path / 'fault')
    host = storage.host
    host.variables = disk.variables
    host.start()
    with Database(host, 'disk') as database, Database(host, 'other') as other:
        for round in range(5):
            assert database.put(f'/round{round}.json', {'done': True}) == {'done': True}
            disk.fail(calls, error)
            for number in range(20):
                answer = database.ask('PUT', f'/round{round}/failed{number}.json', number)
                assert (answer.status, answer.json) == (status, body)
            assert database.get(f'/round{round}.json') == {'done': True}
            if 'write' in calls:
                assert (answer := other.ask('PUT', '/a.json', 1)).status == status, answer.body
            disk.mend()
            until(lambda: database.ask('PUT', '/works.json', round).status == 200, 'service')
            until(lambda: other.ask('PUT', '/works.json', round).status == 200, 'service of the other')
        wanted = {**{f'round{round}': {'done': True} for round in range(5)}, 'works': 4}
        assert database.get('/.json') == wanted
        host.kill()
        host.start()
        assert database.get('/.json') == wanted
        assert other.get('/works.json') == 4
    host.stop()


def test_what_was_refused_stays_away_after_a_kill(storage, tmp_path):
    """A commit that the disk did not sync is still in the log, where the next host would find it."""
    disk = FailingDisk(storage.databases, tmp_path / 'fault')
    host = storage.host
    host.variables = disk.variables
    host.start()
    for round in range(2):
        with Database(host, 'disk') as database:
            database.put('/kept.json', round)
            disk.fail('sync', errno.EIO)
            for body in (['refused'], [TEXT] * 50):
                assert database.ask('PUT', '/kept.json', body).json == BROKEN
        host.kill()
        disk.mend()
        host.start()
        with Database(host, 'disk') as database:
            assert database.get('/.json') == {'kept': round}
    host.stop()


def test_reads_go_on_while_the_disk_is_read_only(storage, tmp_path):
    """Readers do not keep the writer from coming back, however many there are."""
    disk = FailingDisk(storage.databases, tmp_path / 'fault')
    host = storage.host
    host.variables = disk.variables
    host.start()
    is_over, answers = threading.Event(), []

    def read():
        with Database(host, 'disk') as database:
            while not is_over.is_set():
                answers.append((database.get('/small.json'), len(database.get('/large.json'))))
    with Database(host, 'disk') as database:
        database.put('/small.json', 1)
        database.put('/large.json', [TEXT] * 50)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read) for _ in range(4)]
            try:
                for round in range(4):
                    disk.fail('write open', errno.EROFS)
                    for _ in range(50):
                        assert database.ask('PUT', '/n.json', round).json == READ_ONLY
                    disk.mend()
                    until(lambda: database.ask('PUT', '/n.json', round).status == 200, 'service')
            finally:
                is_over.set()
            for reader in readers:
                reader.result()
    assert set(answers) == {(1, 50)}
    host.stop()


def test_events_while_the_disk_fails(tmp_path):
    """An event whose completion cannot be recorded is delivered again, but not repeatedly."""
    database = tmp_path / 'data/database'
    disk = FailingDisk(database, tmp_path / 'fault')
    host = EventHost(tmp_path)
    host.variables = disk.variables
    host.start()
    try:
        with Database(host, DEFAULT) as database:
            for error in (errno.ENOSPC, errno.EIO, errno.EROFS):
                names = [f'{errno.errorcode[error].lower()}{number}' for number in range(5)]
                for name in names:
                    database.put(f'/noted/{name}.json', 'slow')
                    host.until_noted(f'noted/{name}')
                disk.fail('write open', error)
                assert database.ask('PUT', f'/noted/{names[0]}.json', 'refused').status in (500, 503)
                # All of them end meanwhile.
                time.sleep(1)
                disk.mend()
                until(lambda: database.ask('PUT', '/noted/after.json', error).status == 200, 'service')
                until(lambda: error in {note['payload']['after'] for note in host.notes('noted/after')}, 'the next event')
                for name in names:
                    # Refused writes reach no listener, and no event has to be delivered again.
                    assert {note['payload']['after'] for note in host.notes(f'noted/{name}')} == {'slow'}
                    assert len(host.notes(f'noted/{name}')) <= 2
        count = len(host.notes())
        host.stop()
        host.start()
        with Database(host, DEFAULT) as database:
            database.put('/noted/last.json', 1)
            host.until_noted('noted/last')
        assert len(host.notes()) == count + 1
        assert host.letters() == []
        host.stop()
    finally:
        host.abandon()


def test_a_damaged_file(storage):
    host = storage.host
    storage.prepare()
    storage.file.write_bytes(b'this was a database once' * 4096)
    host.start()
    with Database(host, 'disk') as database, Database(host, 'other') as other:
        for method in ('PUT', 'GET'):
            answer = database.ask(method, '/a.json', 1)
            assert (answer.status, answer.json) == (500, BROKEN)
        assert other.put('/a.json', 1) == 1
    assert os.path.getsize(storage.file) == 24 * 4096
    host.stop()
