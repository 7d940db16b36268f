"""Access to a database of a running host: one namespace over one kept connection."""

import contextlib
import json
import time
import urllib.parse

from wire import Ended

OWNER = {'Authorization': 'Bearer owner'}
OPEN_RULES = {'rules': {'.read': True, '.write': True}}


class Database:
    """One namespace of a host in development mode."""

    def __init__(self, host, namespace):
        self.host, self.namespace = host, namespace
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def target(self, path, query=()):
        pairs = {'ns': self.namespace, **dict(query)}
        return f'{path}?{urllib.parse.urlencode(pairs)}'

    def send(self, method, path, body='', query=(), headers=()):
        """Sends a request and returns the answer. Reconnects once if the host has closed the connection."""
        for attempt in (1, 2):
            self.connection = self.connection or self.host.wire()
            try:
                return self.connection.request(method, self.target(path, query), dict(headers), body)
            except (Ended, ConnectionError):
                self.close()
                if attempt == 2:
                    raise
        return None

    def ask(self, method, path, value=None, **options):
        """Sends JSON, by default with the owner's credentials."""
        body = '' if method in ('GET', 'DELETE') else json.dumps(value)
        return self.send(method, path, body, headers=options.pop('headers', OWNER), **options)

    def get(self, path, **options):
        answer = self.ask('GET', path, **options)
        assert answer.status == 200, f'{answer.status} {answer.body!r}'
        return answer.json

    def put(self, path, value, **options):
        answer = self.ask('PUT', path, value, **options)
        assert answer.status == 200, f'{answer.status} {answer.body!r}'
        return answer.json

    def use_rules(self, rules):
        """Sets the rules: an object, or the text of a document."""
        text = rules if isinstance(rules, str) else json.dumps(rules)
        answer = self.send('PUT', '/.settings/rules.json', text, headers=OWNER)
        assert answer.status == 200, f'{answer.status} {answer.body!r}'

    def stream(self, path, query=(), headers=OWNER):
        return EventStream(self, path, query, headers)


class EventStream:
    """A text/event-stream of a database, on a separate connection."""

    def __init__(self, database, path, query=(), headers=OWNER, receive_buffer=None):
        self.wire = database.host.wire(receive_buffer=receive_buffer)
        self.wire.send_request('GET', database.target(path, query), {'Accept': 'text/event-stream', **headers})
        self.head = self.wire.head()
        self.frames = self.wire.frames() if self.head.is_chunked else iter(())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def next(self, seconds=10):
        """The next event as (name, data). Skips keep-alives."""
        self.wire.socket.settimeout(seconds)
        for frame in self.frames:
            lines = dict(line.split(': ', 1) for line in frame.split('\n'))
            assert set(lines) == {'event', 'data'}, frame
            if lines['event'] != 'keep-alive':
                return lines['event'], json.loads(lines['data'])
        raise Ended('the stream has ended')

    def put(self, seconds=10):
        """The path and data of the next event, which must be a put."""
        name, data = self.next(seconds)
        assert name == 'put', (name, data)
        return data['path'], data['data']

    def has_ended(self):
        with contextlib.suppress(Ended):
            return self.next() is None
        return True


def milliseconds():
    return int(time.time() * 1000)
