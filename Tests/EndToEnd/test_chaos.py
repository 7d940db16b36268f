"""Everything at once, by the dice: callers, clients that leave, functions that crash or hang, workers that are killed.

A failure prints its seed; HEARTH_SEED=... gives it back."""

import contextlib
import json
import os
import random
import signal
import threading
import time

import pytest

from hearth import callable_headers
from processes import children, descriptors, resident_kib, until
from wire import Ended

SECONDS = 8
CALLS = [('pid', {}), ('count', {}), ('sleep', {'milliseconds': 30}), ('late', {'milliseconds': 30}), ('big', {'bytes': 200_000}),
         ('says', {'text': 'x'}), ('abort', {}), ('exit', {}), ('spin', {}), ('garbledChunk', {}), ('wrongKind', {})]
STREAMS = [('stream', {'count': 20, 'bytes': 5000}), ('waits', {}), ('pid', {}), ('abort', {})]
# Allowed answers: a result, or one of the protocol's errors with its status.
DEFINED = {(200, None), (500, 'INTERNAL'), (503, 'UNAVAILABLE'), (504, 'DEADLINE_EXCEEDED'), (429, 'RESOURCE_EXHAUSTED')}


class Chaos:
    def __init__(self, host, seed):
        self.host, self.seed, self.end = host, seed, time.monotonic() + SECONDS
        self.surprises, self.answers, self.lock = [], 0, threading.Lock()

    def run(self, *players):
        threads = [threading.Thread(target=self.play, args=(player, number), daemon=True) for number, player in enumerate(players)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS + 40)
            assert not thread.is_alive(), 'somebody waits for ever'

    def play(self, player, number):
        dice = random.Random(f'{self.seed}-{number}')
        while time.monotonic() < self.end:
            try:
                player(dice)
            except Exception as surprise:
                with self.lock:
                    self.surprises.append(f'{player.__name__}: {surprise!r}')
                return

    def caller(self, dice):
        """Keeps a connection for a while; each call must be answered."""
        with self.host.wire(timeout=30) as wire:
            for _ in range(dice.randrange(1, 20)):
                name, data = dice.choice(CALLS)
                answer = wire.request('POST', self.host.path(name), callable_headers(), json.dumps({'data': data}))
                outcome = answer.status, answer.json.get('error', {}).get('status')
                if outcome not in DEFINED:
                    raise AssertionError(f'{name} was answered {outcome}')
                with self.lock:
                    self.answers += 1

    def listener(self, dice):
        """Reads a stream to its end, which is a result or an error."""
        name, data = dice.choice(STREAMS[:1] + STREAMS[2:])
        with self.host.wire(timeout=30) as wire:
            headers = [*callable_headers(), ('Accept', 'text/event-stream')]
            wire.send_request('POST', self.host.path(name), headers, json.dumps({'data': data}))
            assert wire.head().status == 200
            last = list(wire.frames())[-1]
            assert last.startswith(('data: {"result"', 'data: {"error"')), last[:100]

    def leaver(self, dice):
        """Goes away at some point of the conversation."""
        name, data = dice.choice(CALLS + STREAMS)
        wire = self.host.wire(timeout=30)
        headers = callable_headers() + ([('Accept', 'text/event-stream')] if dice.random() < 0.5 else [])
        with contextlib.suppress(Ended, OSError):
            wire.send_request('POST', self.host.path(name), headers, json.dumps({'data': data}))
            if dice.random() < 0.5:
                wire.socket.settimeout(dice.random() / 10)
                wire.read_exactly(dice.randrange(1, 5000))
        (wire.reset if dice.random() < 0.5 else wire.close)()

    def killer(self, dice):
        time.sleep(dice.random() / 2)
        workers = self.host.workers()
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(dice.choice(workers).pid, dice.choice([signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP]))


@pytest.mark.timeout(150)
@pytest.mark.parametrize('loops', [1, 2])
def test_chaos(loops, launch):
    seed = os.environ.get('HEARTH_SEED') or str(random.randrange(1 << 32))
    host = launch(['probe'], config={
        'server': {'loops': loops}, 'defaults': {'timeoutSeconds': 1, 'maxInstances': 3},
        'workers': {'prewarmed': 0, 'blockedLoopSeconds': 0.5, 'restartLimit': 1000, 'idleSeconds': 1}, 'logging': {'level': 'critical'}})
    host.result('pid')
    count, memory = len(descriptors(host.pid)), resident_kib(host.pid)
    chaos = Chaos(host, seed)
    chaos.run(*[chaos.caller] * 4, *[chaos.listener] * 2, *[chaos.leaver] * 3, chaos.killer)
    assert not chaos.surprises, f'HEARTH_SEED={seed}: {chaos.surprises}'
    assert chaos.answers > 20
    until(lambda: host.callable('pid').status == 200, f'served again after HEARTH_SEED={seed}', 40)
    until(lambda: len(host.workers()) <= 3, f'no worker is left over: HEARTH_SEED={seed}', 40)
    until(lambda: not [process for process in children(host.pid) if process.is_zombie], f'no zombie: HEARTH_SEED={seed}')
    # Each further worker has a few descriptors in the host.
    until(lambda: len(descriptors(host.pid)) <= count + 10, f'no descriptor is left over: HEARTH_SEED={seed}', 40)
    assert resident_kib(host.pid) - memory < 64 * 1024
