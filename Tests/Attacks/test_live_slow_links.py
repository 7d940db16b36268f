"""A client with a slow link: a value that takes minutes to arrive still arrives. Time runs fast for the host."""

import time

import pytest

from databases import Database
from hearth import ROOT, compiled
from live import Live
from test_live_faults import DEFAULT, RULES

FACTOR = 60


@pytest.mark.parametrize('kind', ['listen', 'read'])
def test_a_value_that_takes_minutes(kind, prepare):
    """Clients that receive something do not say that they are alive, so the progress of what is sent counts."""
    clock = {'LD_PRELOAD': compiled(ROOT / 'Tests/Support/fast_clock.c', ()), 'CLOCK_FACTOR': str(FACTOR)}
    host = prepare([], mode='development', env=clock).start()
    with Database(host, DEFAULT) as database:
        database.use_rules(RULES)
        value = {f'k{number}': 'x' * 100_000 for number in range(150)}
        database.put('/open/large.json', value)
        with Live(host.port, DEFAULT, timeout=60, receive_buffer=65536) as live:
            number = live.request('q', p='/open/large', h='') if kind == 'listen' else live.request('g', p='/open/large', q={})
            wire, begin = live.socket.wire, time.monotonic()
            # About four minutes for the host. Nothing is waited for: this is the speed of the link.
            while len(wire.buffer) < 14_000_000:
                data = wire.socket.recv(65536)
                assert data, f'the host gave up after {(time.monotonic() - begin) * FACTOR:.0f} s of its time, {len(wire.buffer)} bytes were sent'
                wire.buffer += data
                time.sleep(0.02)
            status, payload = live.answer(number)
            assert status == 'ok'
            assert (live.push()[1]['d'] if kind == 'listen' else payload) == value
