"""Clients that read long answers slowly or not at all: what they hold of the host, of its descriptors and of its disk has an end."""

import threading

import pytest

from databases import OPEN_RULES, OWNER, Database
from hearth import Host
from processes import anonymous_kib, descriptors, until
from wire import Ended

MEBIBYTE = 1 << 20
LARGE = {f'k{number:03}': 'x' * 10_000 for number in range(500)}
GUEST = {}
# The connections to a database that may stay open: the writer's, two of each of two quick and two slow readers, and one of each loop.
QUIET = 1 + 2 * (2 + 2) + 2


@pytest.fixture
def serve(launch):
    """Starts a host with these limits and a database that has a large value."""
    opened = []

    def make(mode='development', server=(), **limits):
        server = {'loops': 2, 'trustedProxies': ['127.0.0.1'], **dict(server)}
        host = launch([], mode=mode, config={'server': server, 'database': {'readers': 2, 'limits': limits}})
        database = Database(host, 'slow')
        opened.append(database)
        database.use_rules(OPEN_RULES)
        database.put('/large.json', LARGE)
        return host, database
    yield make
    for database in opened:
        database.close()


class Reader:
    """Requests the large value and reads as much of it as requested."""

    def __init__(self, database, headers=GUEST, path='/large.json'):
        self.wire = database.host.wire(receive_buffer=4096)
        self.wire.send_request('GET', database.target(path), headers)
        self.answer = self.wire.head()
        if self.answer.status != 200:
            self.answer.body = self.wire.read_exactly(int(self.answer.header('Content-Length')))

    @property
    def status(self):
        return self.answer.status

    def is_cut(self):
        """Reads what there is; whether the connection ends without the end of the body."""
        try:
            while True:
                size = int(self.wire.read_until(b'\r\n'), 16)
                self.wire.read_exactly(size + 2)
                if size == 0:
                    return False
        except (Ended, ConnectionResetError):
            return True

    def close(self):
        self.wire.close()


def snapshots(host):
    """How many connections to the database there are: SQLite keeps descriptors of the file itself until the last one is closed."""
    return sum(path.endswith('/slow.sqlite-wal') for path in descriptors(host.pid).values())


def test_the_readers_of_one_client_are_bounded(serve):
    host, database = serve(longReadsPerClient=4)
    readers = [Reader(database) for _ in range(4)]
    assert {reader.status for reader in readers} == {200}
    refused = Reader(database)
    assert refused.answer.json == {'error': '4 long answers of one client are being read, which is the limit; try again'}
    assert (refused.status, refused.answer.header('Retry-After')) == (503, '1')
    stream = database.stream('/large.json', headers=OWNER)
    assert stream.head.status == 503
    # Other clients, as a trusted proxy names them, may have others.
    other = Reader(database, {'X-Forwarded-For': '203.0.113.1, 203.0.113.2'})
    assert other.status == 200
    # Short answers, and another database, are read as before.
    assert database.get('/large/k001.json') == LARGE['k001']
    readers.pop().close()
    again = until(lambda: next(iter([reader for reader in [Reader(database)] if reader.status == 200]), None), 'there is room again')
    assert not again.is_cut()
    for reader in [*readers, refused, other, again]:
        reader.close()
    until(lambda: snapshots(host) <= QUIET, 'snapshots and their descriptors are given back')


def test_the_readers_of_a_database_are_bounded(serve):
    host, database = serve(longReads=3)
    readers = [Reader(database) for _ in range(3)]
    refused = Reader(database)
    assert refused.answer.json == {'error': '3 long answers of this database are being read, which is the limit; try again'}
    assert refused.status == 503
    host.until_logged('long answers are refused')
    with Database(host, 'other') as other:
        other.put('/large.json', LARGE)
        elsewhere = Reader(other, OWNER)
        assert elsewhere.status == 200
        elsewhere.close()
    for reader in readers:
        assert not reader.is_cut()
        reader.close()
    assert not Reader(database).is_cut()


def test_three_hundred_readers_with_the_defaults(serve):
    host, database = serve()
    before = len(descriptors(host.pid))
    readers = [Reader(database) for _ in range(300)]
    statuses = [reader.status for reader in readers]
    assert statuses.count(200) == 32 and statuses.count(503) == 268
    # A connection of each client, and three descriptors for each snapshot.
    assert len(descriptors(host.pid)) <= before + 300 + 3 * 32 + 20
    assert database.get('/large/k001.json') == LARGE['k001']
    for reader in readers:
        reader.close()


def test_a_read_has_a_deadline(serve):
    host, database = serve(readSeconds=0.5)
    reader, stream = Reader(database), database.stream('/large.json', headers=GUEST)
    administrator = Reader(database, OWNER)
    host.until_logged('a long answer was cut off: its time is over')
    until(lambda: host.log.count('its time is over') == 2, 'both are cut off')
    assert reader.is_cut()
    with pytest.raises((Ended, ConnectionResetError)):
        stream.next()
    # An administrator of the database has no time limit for reading.
    assert not administrator.is_cut()
    for wire in (reader.wire, stream.wire, administrator.wire):
        wire.close()
    assert database.get('/large.json') == LARGE


def test_many_slow_readers_while_much_is_written(serve):
    """Readers of many addresses come again and again, and read nothing; queries and event streams among them."""
    host, database = serve(server={'memoryBytes': 128 * MEBIBYTE}, logBytes=64 * MEBIBYTE, longReads=48)
    log = host.data / 'database/slow.sqlite-wal'
    paths = ['/large.json', '/large.json', '/large.json?orderBy="$key"&limitToFirst=400']
    readers, most = [], {'log': 0, 'descriptors': 0, 'snapshots': 0, 'kibibytes': 0}
    before = len(descriptors(host.pid)), anonymous_kib(host.pid)
    for round in range(110):
        for number in range(3):
            readers.append(slow_request(database, paths[number], address=f'203.0.{len(readers) % 97}.{number}', streams=round % 3 == 0))
        database.put('/other.json', [str(round)] * 10 + ['y' * 800_000])
        most['log'] = max(most['log'], log.stat().st_size)
        most['descriptors'] = max(most['descriptors'], len(descriptors(host.pid)))
        most['snapshots'] = max(most['snapshots'], snapshots(host))
        most['kibibytes'] = max(most['kibibytes'], anonymous_kib(host.pid))
    # The host cuts off some answers. When nothing is written, none is cut off, so that the limit is reached and others are refused.
    host.until_logged('long answers were cut off: they kept the log of changes from being emptied')
    for number in range(60):
        readers.append(slow_request(database, '/large.json', address=f'203.1.{number}.1', streams=False))
    host.until_logged('long answers are refused')
    assert most['log'] < 80 * MEBIBYTE
    assert most['snapshots'] <= 48 + QUIET
    assert most['descriptors'] <= before[0] + len(readers) + 3 * 48 + 40
    # The memory budget for clients, and as much again for the caches of connections and a turn of the loops.
    assert most['kibibytes'] - before[1] < 256 * 1024
    # All goes on, and all is given back.
    assert database.get('/other/0.json') == '109'
    for wire in readers:
        wire.close()
    until(lambda: snapshots(host) <= QUIET, 'snapshots and their descriptors are given back')
    assert not Reader(database).is_cut()


def slow_request(database, path, address, streams):
    """Sends a request and reads nothing of its answer."""
    wire = database.host.wire(receive_buffer=4096)
    headers = {'X-Forwarded-For': address} | ({'Accept': 'text/event-stream'} if streams else {})
    path, _, query = path.partition('?')
    wire.send_request('GET', f'{database.target(path)}&{query}' if query else database.target(path), headers)
    return wire


def test_the_log_is_emptied(serve):
    host, database = serve(logBytes=64 * MEBIBYTE)
    log = host.data / 'database/slow.sqlite-wal'
    # Readers that begin while others are disconnected hold the log as well.
    is_over = threading.Event()
    readers = [Reader(database) for _ in range(8)]

    def come_again():
        while not is_over.wait(0.05):
            readers.append(Reader(database))
    newcomer = threading.Thread(target=come_again)
    newcomer.start()
    most = 0
    try:
        for number in range(130):
            database.put('/other.json', [str(number)] * 10 + ['y' * 800_000])
            most = max(most, log.stat().st_size)
    finally:
        is_over.set()
        newcomer.join()
    assert 64 * MEBIBYTE <= most < 80 * MEBIBYTE
    line = host.until_logged('long answers were cut off: they kept the log of changes from being emptied')
    assert '"namespace":"slow"' in line.replace(': ', ':')
    assert all(reader.is_cut() for reader in readers[:8])
    for reader in readers:
        reader.close()
    assert database.get('/other.json')[0] == '129'
    assert not Reader(database).is_cut()
