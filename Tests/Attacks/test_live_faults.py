"""Faults around the live connection: cut connections, a killed host, lost clients, floods, slow readers, and full disks.

Each has an exact answer, the host goes on serving others, and operations for the end of a connection run exactly once.
"""

import contextlib
import ctypes
import itertools
import json
import select
import socket
import struct
import threading
import time

import pytest

from databases import Database
from fixtures import own_database, shared_host
from hearth import ROOT, compiled
from live import View, connect, name_of
from processes import until
from websocket import CONTINUATION, TEXT
from wire import Ended

DEFAULT = 'demo-hearth-default-rtdb'
RULES = {'rules': {'open': {'.read': True, '.write': True}, 'users': {'$uid': {'.read': 'auth.uid === $uid', '.write': True}}}}
MEBIBYTE = 1 << 20


host = shared_host()
database = own_database(RULES)


@pytest.fixture
def small(launch, request):
    """A database of a host that holds little for its clients."""
    host = launch([], mode='development', config={'server': {'memoryBytes': 32 * MEBIBYTE}})
    with Database(host, name_of(request)) as database:
        database.use_rules(RULES)
        yield database


@contextlib.contextmanager
def bystander(database):
    """Another client, which must have been served when the block ends."""
    with connect(database) as live:
        yield live
        live.do('p', p='/open/bystander', d=1)
        assert live.do('g', p='/open/bystander', q={}) == 1


# Cut connections


PUT = json.dumps({'t': 'd', 'd': {'r': 9, 'a': 'p', 'b': {'p': '/open/cut', 'd': 'x' * 300}}}).encode()


@pytest.mark.parametrize('end', ['fin', 'reset'])
@pytest.mark.parametrize('bytes_sent', [1, 2, 3, 5, 8, 9, 100, 8 + len(PUT) - 1])
def test_a_cut_within_a_frame(bytes_sent, end, database):
    frame = b'\x81\xfe' + len(PUT).to_bytes(2, 'big') + b'\0\0\0\0' + PUT
    with bystander(database), connect(database) as live:
        live.do('o', p='/open/ends', d={'.sv': {'increment': 1}})
        live.socket.wire.send(frame[:bytes_sent])
        live.socket.wire.reset() if end == 'reset' else live.cut()
        until(lambda: database.get('/open/ends.json'), 'the operation for the end has run')
        assert database.get('/open.json') == {'ends': 1}


@pytest.mark.parametrize('frames', [
    [(TEXT, '3')], [(TEXT, '3'), (TEXT, PUT[:99])], [(TEXT, '3'), (TEXT, PUT[:99]), (TEXT, PUT[99:200])],
    [('first', PUT[:99])], [('first', PUT[:99]), ('more', PUT[99:])]])
def test_a_cut_within_a_message(frames, database):
    with bystander(database), connect(database) as live:
        live.do('o', p='/open/ends', d={'.sv': {'increment': 1}})
        for kind, payload in frames:
            live.socket.send({'first': TEXT, 'more': CONTINUATION}.get(kind, kind), payload, is_final=kind == TEXT)
        live.cut()
        until(lambda: database.get('/open/ends.json'), 'the operation for the end has run')
        assert database.get('/open.json') == {'ends': 1}


def test_requests_before_the_end_are_performed(database):
    """Even those that are still waiting when the client says goodbye."""
    with bystander(database), connect(database) as live:
        live.do('o', p='/open/ends', d={'.sv': {'increment': 1}})
        for number in range(200):
            live.request('p', p=f'/open/n/k{number}', d=number)
        live.close()
        until(lambda: database.get('/open/ends.json'), 'the operation for the end has run')
        assert len(database.get('/open/n.json')) == 200 and database.get('/open/ends.json') == 1


# A killed host


class Writer(threading.Thread):
    """Counts up, and resumes on a new connection whenever it has lost one."""

    def __init__(self, database, number, stop):
        super().__init__()
        self.database, self.number, self.stop_event = database, number, stop
        self.acknowledged, self.sent, self.sessions, self.fault = 0, 0, {}, None

    def run(self):
        last = None
        while not self.stop_event.is_set():
            try:
                with connect(self.database, last=last, timeout=10) as live:
                    last = live.session
                    self.serve(live)
            except (OSError, Ended):
                time.sleep(0.01)
            except Exception as error:
                self.fault = error
                return

    def serve(self, live):
        place = f'/open/ends/{self.number}x{len(self.sessions)}'
        self.sessions[place] = False
        live.do('o', p=place, d={'.sv': {'increment': 1}})
        self.sessions[place] = True
        view = View(f'/open/w/{self.number}')
        view.apply(live.listen(f'/open/w/{self.number}'))
        assert self.acknowledged <= (view.value or 0) <= self.sent, (self.acknowledged, view.value, self.sent)
        while not self.stop_event.is_set():
            self.sent += 1
            live.do('p', p=f'/open/w/{self.number}', d=self.sent)
            self.acknowledged = self.sent
            assert view.apply(live.taken()) == self.sent
        live.close()


def test_a_host_that_is_killed_under_writers(prepare):
    """Acknowledged writes are there, clients go on, and each operation for the end of a connection has run once."""
    host = prepare([], mode='development').start()
    stop = threading.Event()
    with Database(host, DEFAULT) as database:
        database.use_rules(RULES)
        writers = [Writer(database, number, stop) for number in range(8)]
        for writer in writers:
            writer.start()
        try:
            for _ in range(4):
                marks = [writer.acknowledged for writer in writers]
                until(lambda marks=marks: all(writer.acknowledged > mark or writer.fault for writer, mark in zip(writers, marks)), 'all go on')
                host.kill()
                host.start()
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        assert [writer.fault for writer in writers] == [None] * 8
        sessions = {place: known for writer in writers for place, known in writer.sessions.items()}
        database.close()

        def counts():
            found = database.get('/open/ends.json') or {}
            return {place: found.get(place.rsplit('/', 1)[1], 0) for place in sessions}
        until(lambda: all(counts()[place] == 1 for place, known in sessions.items() if known), f'each operation has run: {counts()}')
        assert set(counts().values()) <= {0, 1} and len(sessions) >= 32
        for writer in writers:
            assert writer.acknowledged <= database.get(f'/open/w/{writer.number}.json') <= writer.sent
        host.stop()
        host.start()
        database.close()
        assert set(counts().values()) <= {0, 1}


# Lost clients


def test_clients_that_say_nothing_are_given_up(prepare):
    """Time runs 60 times as fast: the silence of two minutes takes two seconds. A client that says something stays."""
    host = prepare([], mode='development', env={'LD_PRELOAD': compiled(ROOT / 'Tests/Support/fast_clock.c', ()), 'CLOCK_FACTOR': '60'}).start()
    with Database(host, DEFAULT) as database:
        database.use_rules(RULES)
        with connect(database) as lost, connect(database) as quiet:
            lost.do('o', p='/open/lost', d={'.sv': {'increment': 1}})
            quiet.do('o', p='/open/quiet', d={'.sv': {'increment': 1}})

            def is_given_up():
                quiet.send('0')
                return database.get('/open/lost.json')
            until(is_given_up, 'the lost client is given up', 20)
            assert quiet.do('g', p='/open', q={}) == {'lost': 1}
            with pytest.raises((Ended, ConnectionError, AssertionError)):
                lost.do('s', c={})


def test_a_client_that_disappears_while_it_listens(prepare):
    """Data on its way to a client is no sign of life. A client that receives, and says nothing, stays."""
    host = prepare([], mode='development', env={'LD_PRELOAD': compiled(ROOT / 'Tests/Support/fast_clock.c', ()), 'CLOCK_FACTOR': '60'}).start()
    with Database(host, DEFAULT) as database:
        database.use_rules(RULES)
        with connect(database) as lost, connect(database, timeout=60) as silent:
            for live in (lost, silent):
                live.do('o', p='/open/ended', d={'.sv': {'increment': 1}})
                live.do('q', p='/open/tick', h='')
            deafen(lost.socket.wire.socket)
            ticks = itertools.count()

            def is_given_up():
                database.put('/open/tick.json', next(ticks))
                return database.get('/open/ended.json')
            assert until(is_given_up, 'the lost client is given up', 30) == 1
            assert silent.do('g', p='/open/ended', q={}) == 1


def deafen(connection):
    """Makes the kernel drop what arrives for a socket, so that nothing is acknowledged, as if the machine were gone."""
    drop_all = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0))
    program = struct.pack('HxxxxxxP', 1, ctypes.addressof(drop_all))
    connection.setsockopt(socket.SOL_SOCKET, 26, program)


# Floods


def test_more_listens_than_are_allowed(database):
    with bystander(database) as other, connect(database, timeout=60) as live:
        for start in range(0, 10_000, 500):
            numbers = [live.request('q', p=f'/open/many/k{number}', h='') for number in range(start, start + 500)]
            assert {live.answer(number)[0] for number in numbers} == {'ok'}
        status, text = live.ask('q', p='/open/many/more', h='')
        assert status == 'too_big' and '10000' in text
        # One that repeats is none more, and one that ends makes room.
        live.do('q', p='/open/many/k7', h='')
        live.do('n', p='/open/many/k8')
        live.do('q', p='/open/many/more', h='')
        other.do('m', p='/open/many', d={'more': 1, 'k7': 2, 'k8': 3})
        assert sorted((live.push()[1]['p'], live.push()[1]['p'])) == ['open/many/k7', 'open/many/more']
        live.do('s', c={})
        assert live.taken() == []


def test_more_requests_than_are_read(database):
    """The host stops reading, serves others meanwhile, and answers everything in order."""
    with bystander(database) as other, connect(database, timeout=60) as live:
        text = 'x' * 2000
        live.do('p', p='/open/text', d=text)
        frame = {'t': 'd', 'd': {'r': 0, 'a': 'g', 'b': {'p': '/open/text', 'q': {}}}}
        sent = 0
        live.socket.wire.socket.settimeout(60)
        stop = threading.Event()

        def flood():
            nonlocal sent
            while not stop.is_set() and sent < 30_000:
                frame['d']['r'] = sent + 1000
                live.send(frame)
                sent += 1
        thread = threading.Thread(target=flood)
        thread.start()
        try:
            for number in range(20):
                other.do('p', p='/open/other', d=number)
            for number in range(30_000):
                data = live.message()['d']
                assert data == {'r': number + 1000, 'b': {'s': 'ok', 'd': text}}
        finally:
            stop.set()
            thread.join()


def test_a_client_that_sends_and_never_reads(small):
    """Its memory is bounded, and others do not notice."""
    host, database = small.host, small
    with bystander(database) as other, connect(database) as live:
        live.do('p', p='/open/text', d='x' * 100_000)
        before = host.peak_bytes()
        wire = live.socket.wire.socket
        wire.setblocking(False)
        message = json.dumps({'t': 'd', 'd': {'r': 1, 'a': 'g', 'b': {'p': '/open/text', 'q': {}}}}).encode()
        frame, sent = b'\x81' + bytes([0x80 | len(message)]) + b'\0\0\0\0' + message, 0
        while sent < 20_000 and select.select([], [wire], [], 1)[1]:
            with contextlib.suppress(BlockingIOError):
                wire.send(frame)
                sent += 1
            if sent % 500 == 0:
                other.do('p', p='/open/other', d=sent)
        assert host.peak_bytes() - before < 100 * MEBIBYTE


def test_members_of_wrong_types_take_no_memory(small):
    """Only texts are parsed where a text belongs, and an object only up to its limit."""
    before = small.host.peak_bytes()
    zeros = '[' + '0,' * 4_000_000 + '0]'
    bodies = [('auth', f'{{"cred":{zeros}}}', 'invalid_token'), ('gauth', f'{{"cred":"owner","authvar":{{"a":{zeros}}}}}', 'failure'),
              ('appcheck', f'{{"token":{zeros}}}', 'failure'), ('q', f'{{"p":{zeros},"h":""}}', 'failure'),
              ('q', f'{{"p":"/open","h":{zeros}}}', 'failure'), ('n', '{' + '"x":0,' * 1_000_000 + '"p":"/open"}', 'ok')]
    with connect(small, timeout=60) as live:
        for number, (action, body, status) in enumerate(bodies, 1):
            live.send(f'{{"t":"d","d":{{"r":{number},"a":"{action}","b":{body}}}}}')
            assert live.answer(number)[0] == status, action
    assert small.host.peak_bytes() - before < 80 * MEBIBYTE


def test_large_writes_that_wait(small):
    """Writes of a client that does not read wait behind its reads. The host takes only a few of them, and all once the client reads."""
    host, database = small.host, small
    count = 60
    with bystander(database) as other, connect(database, timeout=60) as live:
        live.do('p', p='/open/text', d='x' * 500_000)
        before = host.peak_bytes()
        reads = [live.request('g', p='/open/text', q={}) for _ in range(40)]
        writes = []
        text = 'y' * MEBIBYTE

        def write():
            for _ in range(count):
                writes.append(live.request('p', p='/open/large', d=text))
        thread = threading.Thread(target=write)
        thread.start()
        for number in range(200):
            other.do('p', p='/open/other', d=number)
        assert len(writes) < count / 2
        assert host.peak_bytes() - before < 100 * MEBIBYTE
        assert all(live.answer(number)[0] == 'ok' for number in reads)
        for index in range(count):
            until(lambda: len(writes) > index, 'the write is sent')  # pylint: disable=cell-var-from-loop
            assert live.answer(writes[index])[0] == 'ok'
        thread.join()
        assert live.do('g', p='/open/large', q={}) == text


def test_a_slow_reader(small):
    """It misses states and gets the newest one; the host holds little for it, and the others get every state."""
    host, database = small.host, small
    with connect(database, timeout=60) as slow, connect(database) as quick, connect(database) as writer:
        slow_view, quick_view = View('/open/big'), View('/open/big')
        slow_view.apply(slow.listen('/open/big'))
        quick_view.apply(quick.listen('/open/big'))
        slow.listen('/open/big', query={'i': '.key', 'l': 1, 'vf': 'r'}, tag=1)
        before = host.peak_bytes()
        text = 'x' * 300_000
        for number in range(150):
            writer.do('p', p='/open/big', d={'text': text, 'number': number})
            quick_view.apply([quick.push()])
            assert quick_view.value['number'] == number
            quick_view.states.clear()
        assert host.peak_bytes() - before < 100 * MEBIBYTE
        numbers = []
        while not slow_view.value or slow_view.value['number'] != 149:
            slow_view.apply([slow.push()])
            slow_view.states.clear()
            if slow_view.value:
                numbers.append(slow_view.value['number'])
        assert numbers == sorted(numbers) and len(set(numbers)) < 75
        slow.do('p', p='/open/big', d=None)
        assert slow_view.apply(slow.taken()) is None
