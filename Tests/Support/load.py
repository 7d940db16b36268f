"""Clients in threads that call without pause and record every outcome."""

import collections
import json
import socket
import threading

from hearth import callable_headers
from wire import Ended, Wire, request_bytes


class Crowd:
    """Threads that run until the block ends. `run` gets the number of its thread, from 0, and has to check `stopping`."""

    def __init__(self, clients):
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,), daemon=True) for number in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), 'a request was never answered'

    def run(self, number):
        raise NotImplementedError


class Load(Crowd):
    """Calls a function: `with Load(host, 'echo') as load:` until the block ends. An outcome is one word or (status, error status)."""

    def __init__(self, host, name, data=1, clients=8, keep_alive=True, token=None, tls=None):
        super().__init__(clients)
        self.request = request_bytes('POST', host.path(name), callable_headers(token), json.dumps({'data': data}))
        self.port, self.keep_alive, self.tls = host.port, keep_alive, tls
        self.outcomes, self.lock = collections.Counter(), threading.Lock()

    def count(self):
        with self.lock:
            return sum(self.outcomes.values())

    def note(self, outcome):
        with self.lock:
            self.outcomes[outcome] += 1

    def run(self, number):
        wire = None
        while not self.stopping.is_set():
            try:
                is_new = wire is None
                wire = wire or Wire(self.port, tls=self.tls, timeout=50)
            except ConnectionRefusedError:
                self.note('refused')
                self.stopping.wait(0.02)
                continue
            outcome = self.call(wire, is_new)
            self.note(outcome)
            if isinstance(outcome, str) or not self.keep_alive or outcome[2]:
                wire.close()
                wire = None
        if wire:
            wire.close()

    def call(self, wire, is_new):
        """(status, error status, whether the connection ends), or one word for a request without an answer."""
        try:
            wire.send(self.request)
            answer = wire.response('POST')
        except socket.timeout:
            return 'silence'
        except (Ended, OSError):
            return 'cut' if wire.buffer else ('closed at once' if is_new else 'closed between requests')
        error = answer.json.get('error', {}).get('status') if answer.body else None
        return answer.status, error, (answer.header('Connection') or '').lower() == 'close'

    def answers(self):
        """The number of answers with each (status, error status)."""
        with self.lock:
            counted = collections.Counter()
            for outcome, count in self.outcomes.items():
                if not isinstance(outcome, str):
                    counted[outcome[:2]] += count
            return counted

    def lost(self):
        """The calls without an answer, by outcome."""
        with self.lock:
            return {outcome: count for outcome, count in self.outcomes.items() if isinstance(outcome, str)}
