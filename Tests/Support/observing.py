"""Functions that observe the database, and what the host has of them."""

import json

from databases import OWNER, Database
from hearth import callable_headers
from processes import until

STREAM = ('Accept', 'text/event-stream')


class Observing:
    """A call of a function that observes and streams what it sees."""

    def __init__(self, host, at, name='observe', token=None, **step):
        self.wire = host.wire()
        body = json.dumps({'data': {'at': at, **step}})
        self.wire.send_request('POST', host.path(name), [*callable_headers(token=token), STREAM], body)
        self.head = self.wire.head()
        self.frames = (json.loads(frame.removeprefix('data: ')) for frame in self.wire.frames() if frame.startswith('data: '))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def next(self):
        """The next message of the function."""
        frame = next(self.frames)
        assert 'message' in frame, frame
        return frame['message']

    def value(self):
        return self.next()['value']

    def result(self):
        """The result, after which nothing follows."""
        frame = next(self.frames)
        assert 'result' in frame, frame
        assert not list(self.frames)
        return frame['result']

    def end(self):
        """How the loop has ended, according to the function's last message and its result."""
        end = self.next()['end']
        assert self.result() == end
        return end


def exists(host, namespace):
    """Writes to a database elsewhere. One that was never written to has no listeners, and calls wait for its creation."""
    with Database(host, namespace) as database:
        database.put('/elsewhere.json', True)


def metric(host, name, owner=None):
    text = host.request('GET', '/_/metrics', owner or OWNER).text
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith((f'{name} ', f'{name}{{')))


def listeners(host, owner=None):
    return metric(host, 'hearth_database_listeners', owner)


def until_listeners(host, count, owner=None):
    until(lambda: listeners(host, owner) == count, f'{count} listeners')


def mark(host, path):
    return host.result('database', {'do': 'raw', 'method': 'observe', 'value': {'path': path}})['mark']
