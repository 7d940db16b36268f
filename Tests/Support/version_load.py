"""Clients that call without pause while versions are deployed, and record when each call began and which version answered."""

import contextlib
import json
import threading
import time
from dataclasses import dataclass

from hearth import callable_headers
from wire import Wire, request_bytes


@dataclass(frozen=True)
class Call:
    """An answered call, with times of the monotonic clock."""

    function: str
    began: float
    ended: float
    version: int


class VersionLoad:
    """Calls functions: `with VersionLoad(host, 'one', 'two') as load:` until the block ends. A failed call fails the test."""

    def __init__(self, host, *names, clients=4, data=1, pause=0):
        self.host, self.names, self.pause = host, names, pause
        self.requests = {name: request_bytes('POST', host.path(name), callable_headers(), json.dumps({'data': data})) for name in names}
        self.calls, self.failures = [], []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(index,), daemon=True) for index in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        self.wait_for(len(self.threads))
        return self

    def __exit__(self, kind, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), 'a call was never answered'
        if kind is None:
            assert not self.failures, (len(self.failures), self.failures[:5])

    def run(self, index):
        with Wire(self.host.port, timeout=50) as wire:
            number = index
            while not self.stopping.is_set():
                name = self.names[number % len(self.names)]
                number += 1
                began = time.monotonic()
                try:
                    wire.send(self.requests[name])
                    answer = wire.response('POST')
                    version = answer.json['result']['version']
                except Exception as problem:  # noqa: BLE001 - reported to the test, which fails with it
                    self.failures.append((name, repr(problem), getattr(locals().get('answer'), 'body', b'')[:200]))
                    return
                self.calls.append(Call(name, began, time.monotonic(), version))
                if self.pause:
                    time.sleep(self.pause)

    def wait_for(self, count, seconds=30):
        """Waits for `count` more calls."""
        wanted, end = len(self.calls) + count, time.monotonic() + seconds
        while len(self.calls) < wanted and time.monotonic() < end and not self.failures:
            time.sleep(0.002)
        assert len(self.calls) >= wanted or self.failures, 'calls are not answered'

    @contextlib.contextmanager
    def change(self):
        """Waits for some calls before and after the block; yields the times when the block began and ended."""
        self.wait_for(20)
        times = [time.monotonic(), None]
        yield times
        times[1] = time.monotonic()
        self.wait_for(40)

    def versions(self, name, since=0.0, until=float('inf')):
        """The versions that answered the calls of `name` which began and ended in this period."""
        return {call.version for call in list(self.calls) if call.function == name and call.began >= since and call.ended <= until}
