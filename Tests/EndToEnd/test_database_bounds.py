"""The resources of a host that clients can hold together: event streams, and incoming bodies."""

import pytest

from databases import OPEN_RULES, OWNER, Database
from fixtures import shared_host
from hearth import Host
from processes import until
from wire import gzipped

MEBIBYTE = 1 << 20
LIMITS = {'server': {'loops': 1}, 'database': {'limits': {'streams': 3, 'uploadBytes': 4 * MEBIBYTE, 'writeBytes': 6 * MEBIBYTE}}}
TOO_MUCH = {'error': 'Too much is being written at this moment; nothing was done, try again'}


host = shared_host(config=LIMITS)


@pytest.fixture
def database(host):
    with Database(host, 'bounds') as database:
        database.use_rules(OPEN_RULES)
        yield database


def test_event_streams(database):
    streams = [database.stream(f'/{number}.json') for number in range(3)]
    assert [stream.put() for stream in streams] == [('/', None)] * 3
    refused = database.send('GET', '/0.json', headers={'Accept': 'text/event-stream'})
    assert (refused.status, refused.json) == (503, {'error': '3 event streams are open, which is the limit'})
    assert refused.header('Retry-After') == '1'
    # The open streams get every change, and other reads do not count as streams.
    database.put('/0.json', 1)
    assert streams[0].put() == ('/', 1)
    assert database.get('/0.json') == 1
    streams.pop().wire.close()
    until(lambda: opens(database), 'there is room for another one')
    for stream in streams:
        stream.wire.close()


def opens(database):
    with database.stream('/0.json') as stream:
        return stream.head.status == 200


def test_event_streams_of_a_database_on_all_loops(launch):
    limits = {'server': {'loops': 2}, 'database': {'limits': {'streamsPerNamespace': 4}}}
    host = launch([], mode='development', config=limits)
    with Database(host, 'one') as one, Database(host, 'two') as two:
        streams = [one.stream(f'/{number}.json') for number in range(3)]
        profiler = one.stream('/.settings/profile.json')
        assert [stream.head.status for stream in [*streams, profiler]] == [200] * 4
        refused = one.send('GET', '/0.json', headers={'Accept': 'text/event-stream', **OWNER})
        assert (refused.status, refused.json) == (503, {'error': '4 event streams of this database are open, which is the limit'})
        with two.stream('/0.json') as other:
            assert other.put() == ('/', None)
        profiler.wire.close()
        until(lambda: opens(one), 'there is room for another one')
        for stream in streams:
            stream.wire.close()


class Upload:
    """A body of which the host has the head, and what was sent of it so far."""

    def __init__(self, database, headers):
        self.wire = database.host.wire()
        lines = [f'PUT {database.target("/body.json")} HTTP/1.1', 'Host: localhost', *(f'{name}: {value}' for name, value in headers.items())]
        self.wire.send('\r\n'.join(lines) + '\r\n\r\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def send(self, data):
        """Goes on; a host that has refused it already may not read it."""
        try:
            self.wire.send(data)
        except ConnectionError:
            pass
        return self

    def answer(self):
        return self.wire.response()


def text(size):
    """A JSON string of so many bytes."""
    return b'"' + b'x' * (size - 2) + b'"'


def sized(database, size):
    return Upload(database, {'Content-Length': size})


def chunked(database, *chunks):
    upload = Upload(database, {'Transfer-Encoding': 'chunked'})
    for chunk in chunks:
        upload.send(f'{len(chunk):x}\r\n'.encode() + chunk + b'\r\n')
    return upload


def is_admitted(database, size):
    """Whether the host takes in a body of this size: its head alone is refused, or its body awaited."""
    with Upload(database, {'Content-Length': size, 'Expect': '100-continue'}) as upload:
        answer = upload.wire.head()
        assert answer.status in (100, 503)
        return answer.status == 100


@pytest.fixture
def held(database):
    """An upload that takes three of the four MiB there are."""
    with sized(database, 3 * MEBIBYTE) as upload:
        until(lambda: not is_admitted(database, 2 * MEBIBYTE), 'the host has the head')
        yield upload


def test_bodies_of_a_known_length(database, held):
    with sized(database, 2 * MEBIBYTE) as other:
        answer = other.answer()
        assert (answer.status, answer.json, answer.header('Retry-After')) == (503, TOO_MUCH, '1')
    # Small bodies are not counted, and bodies that fit are admitted.
    assert database.put('/small.json', 'x' * 100_000) == 'x' * 100_000
    assert held.send(text(3 * MEBIBYTE)).answer().status == 200
    until(lambda: is_admitted(database, 2 * MEBIBYTE), 'what was answered is given back')


def test_a_client_that_goes_away_gives_its_part_back(database, held):
    held.wire.reset()
    until(lambda: is_admitted(database, 2 * MEBIBYTE), 'its part is given back')


def test_the_largest_body_finds_room_by_itself(database):
    with sized(database, 5 * MEBIBYTE) as upload:
        assert upload.send(text(5 * MEBIBYTE)).answer().status == 200


def test_chunked_bodies(database, held):
    with chunked(database, text(200_000), b'') as small:
        assert small.answer().status == 200
    with chunked(database, *[b'"' + b'x' * 1_000_000] * 2) as large:
        answer = large.answer()
        assert (answer.status, answer.json) == (503, TOO_MUCH)
    held.wire.reset()
    until(lambda: is_admitted(database, 2 * MEBIBYTE), 'its part is given back')
    body = text(3 * MEBIBYTE)
    with chunked(database, body[:MEBIBYTE], body[MEBIBYTE:], b'') as large:
        assert large.answer().status == 200
    until(lambda: is_admitted(database, 2 * MEBIBYTE), 'what was answered is given back')
    with chunked(database, *[b'x' * MEBIBYTE] * 7) as too_large:
        assert too_large.answer().status == 413


def test_compressed_bodies(database, held):
    small, large = gzipped(text(200_000)), gzipped(text(3 * MEBIBYTE))
    assert len(large) < 10_000
    assert compressed(database, small).status == 200
    answer = compressed(database, large)
    assert (answer.status, answer.json) == (503, TOO_MUCH)
    held.wire.reset()
    until(lambda: is_admitted(database, 2 * MEBIBYTE), 'its part is given back')
    assert compressed(database, large).status == 200
    assert compressed(database, gzipped(text(7 * MEBIBYTE))).status == 413
    until(lambda: is_admitted(database, 2 * MEBIBYTE), 'what was answered is given back')


def compressed(database, body):
    with Upload(database, {'Content-Encoding': 'gzip', 'Content-Length': len(body)}) as upload:
        return upload.send(body).answer()
