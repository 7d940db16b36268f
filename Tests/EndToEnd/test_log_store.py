"""The log that is kept: what is in it, who may read it, how it is bounded, and that nothing but a full disk loses a line."""

import contextlib
import json
import re
import socket
import threading

import pytest

from databases import OWNER
from disks import SmallDisk
from hearth import Host
from kept_log import asked, lines, messages, says
from load import Load
from processes import until
from wire import Ended

SMALL = {'logging': {'store': {'bytes': 65536}}, 'workers': {'logBytesPerSecond': 100 << 20}}


@pytest.fixture(scope='module', params=[1, 3], ids=['one loop', 'three loops'])
def host(request, tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('log'), ['Conformance', 'probe'], mode='development',
                config={'server': {'loops': request.param}}).start()
    yield host
    host.stop()


class Follower:
    """A connection that follows the log on a separate thread."""

    def __init__(self, host, query=''):
        self.lines, self.host = [], host
        self.wire = host.wire()
        self.wire.send_request('GET', f'/_/api/logs?follow=true&{query}', OWNER.items())
        assert self.wire.head().status == 200
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        text = b''
        with contextlib.suppress(Ended, OSError):
            for chunk in self.wire.chunks():
                text += chunk
                *whole, text = text.split(b'\n')
                self.lines += [json.loads(line) for line in whole if line]

    def until(self, message, count=1):
        until(lambda: sum(line['message'] == message for line in self.lines) >= count, f'{count} lines {message!r}')

    def close(self):
        """The thread, which waits for more, sees the end of the connection."""
        with contextlib.suppress(OSError):
            self.wire.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.wire.close()


@pytest.fixture
def follow():
    made = []

    def begin(*args):
        made.append(Follower(*args))
        return made[-1]
    yield begin
    for follower in made:
        follower.close()


# -- what is in it

def test_every_line_says_whose_it_is(host):
    for line in says(host, 'whose-line'):
        assert (line['function'], line['plugin'], line['label']) == ('says', 'probe', 'says')
        assert line['version'] == 1 and re.fullmatch('[0-9a-f]{12}', line['artifact'])
        assert re.fullmatch('[a-z0-9]{12}', line['invocation']) and re.fullmatch('[0-9a-f]{32}', line['trace'])
        assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', line['time'])
    found = lines(host, 'limit=10000')
    assert [line['id'] for line in found] == sorted({line['id'] for line in found})


def test_what_is_kept_is_what_is_written(host):
    kept = says(host, 'written-too')

    def lines_written():
        found = [line for line in host.log.splitlines() if 'written-too' in line]
        return len(found) == len(kept) and found
    written = [json.loads(line) for line in until(lines_written, 'the lines are written')]
    assert written == [{name: value for name, value in line.items() if name != 'id'} for line in kept]


def test_filters(host):
    host.result('traced', 'filtered', headers={'traceparent': f'00-{"a1" * 16}-b7ad6b7169203331-01'})
    # The function and what its writes set off: with the last of it, nothing comes between two of the questions below.
    until(lambda: {'called filtered', 'passed filtered end'} <= set(messages(host, 'limit=10000')), 'everything is kept')
    said = says(host, 'filtered-line')
    assert {line['function'] for line in lines(host, 'function=says&limit=10000')} == {'says'}
    assert {line['function'] for line in lines(host, 'function=says,traced&limit=10000')} == {'says', 'traced'}
    assert lines(host, 'function=say') == []
    assert lines(host, f'invocation={said[0]["invocation"]}') == said
    assert {line['trace'] for line in lines(host, f'trace={"a1" * 16}')} == {'a1' * 16}
    assert {line['severity'] for line in lines(host, 'level=error&function=says')} == {'error'}
    assert {line['severity'] for line in lines(host, 'level=info&function=says')} == {'info', 'error'}
    assert lines(host, 'until=1h') == [] and lines(host, 'since=2100-01-01T00:00:00Z') == []
    newest = lines(host, 'limit=2')
    assert len(newest) == 2 and newest == lines(host, 'limit=10000')[-2:]
    assert lines(host, f'after={newest[0]["id"]}') == newest[1:]
    moment = said[-1]['time']
    assert said[-1] in lines(host, f'since={moment}&limit=10000')
    assert lines(host, 'limit=0') == []


def test_a_function_cannot_forge_what_filters_look_at(host):
    host.result('says', {'text': '","function":"echo","severity":"critical","message":"'})
    says(host, 'after-forging')
    assert 'echo' not in {line['label'] for line in lines(host, 'function=echo')} and lines(host, 'level=critical') == []


@pytest.mark.parametrize('query, words', [
    ('colour=red', 'there is no parameter "colour"; there are after, follow, function'), ('level=loud', 'level must be one of trace, debug'),
    ('limit=many', 'limit must be a number from 0 to 10000'), ('limit=10001', 'limit must be a number'),
    ('since=yesterday', 'since must be a time such as'),
    ('until=5x', 'until must be a time such as'), ('trace=xyz', 'trace must be the 32 hexadecimal digits'),
    ('after=first', 'after is the id of a line'),
    ('follow=maybe', 'follow must be true or false'), ('follow=true&until=1m', 'exclude each other'),
    ('since=2026-02-31T00:00:00Z', 'since must be a time'),
])
def test_what_cannot_be_asked(query, words, host):
    assert words in asked(host, query, status=400).json['error']['message']


def test_only_administrators(host):
    for headers in ([], [('Authorization', 'Bearer wrong')]):
        assert host.request('GET', '/_/api/logs', headers).status == 401
    assert host.request('POST', '/_/api/logs', OWNER.items()).status == 405
    assert host.request('GET', '/_/api/logs/x', OWNER.items()).status == 404


def test_nobody_else_reads_the_files(host):
    folder = host.data / 'logs'
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


# -- how it lasts

def test_it_outlives_the_host_however_it_ends(launch):
    host = launch(['probe'], mode='development')
    first = says(host, 'before')
    host.kill()
    [file] = (host.data / 'logs').iterdir()
    with open(file, 'ab') as log:
        log.write(b'{"id":9999999999999999,"time":"2286-11-20T17:46:39.999Z","sev')
    host.start()
    second = says(host, 'after')
    kept = lines(host, 'limit=10000')
    assert [line for line in kept if line['message'] == 'before'] == first
    assert [line['id'] for line in kept] == sorted({line['id'] for line in kept}) and kept[-1]['id'] >= second[-1]['id']
    assert len(list((host.data / 'logs').iterdir())) == 1, 'it goes on in the same file'


def test_it_is_bounded(launch):
    host = launch(['probe'], mode='development', config=SMALL)
    for number in range(20):
        host.result('shout', {'bytes': 100_000, 'lineLength': 1000})
    says(host, 'the-end')
    size = sum(file.stat().st_size for file in (host.data / 'logs').iterdir())
    assert size <= 65536 and messages(host)[-1] == 'the-end'


def test_a_clock_that_was_set_back(launch):
    """Ids rise all the same."""
    host = launch(['probe'], mode='development')
    host.stop()
    [file] = (host.data / 'logs').iterdir()
    future = {'id': 5_000_000_000_000_000, 'time': '2128-06-11T08:53:20.000Z', 'severity': 'info', 'label': 'hearth', 'message': 'from the future'}
    with open(file, 'a') as log:
        log.write(json.dumps(future, separators=(',', ':')) + '\n')
    host.start()
    assert all(line['id'] > future['id'] for line in says(host, 'later'))


def test_a_full_disk_stops_nothing(prepare):
    """Lines that are not stored are counted, and standard error still has them."""
    host = prepare(['probe'], mode='development')
    (host.data / 'logs').mkdir(parents=True)
    host.data.chmod(0o700)
    with SmallDisk(host.data / 'logs') as disk:
        host.start()
        says(host, 'there-is-room')
        disk.fill()
        for number in range(20):
            host.result('says', {'text': f'no-room-{number}-' + 'x' * 60})
        host.until_logged('log lines cannot be kept')
        disk.make_room()

        def kept_again():
            host.result('says', {'text': 'room-again'})
            return 'room-again' in messages(host)
        until(kept_again, 'lines are kept again')
        until(lambda: any('log lines are kept again' in message for message in messages(host, 'limit=100')), 'it says so')
        text = host.request('GET', '/_/metrics').body.decode()
        assert int(re.search(r'hearth_log_lines_dropped_total{where="store"} (\d+)', text)[1]) > 0
        assert all(json.loads(line) for line in asked(host, 'limit=10000').body.splitlines())
        host.stop()


# -- following

def test_following(host, follow):
    follower = follow(host, 'limit=0&function=says')
    says(host, 'followed')
    follower.until('followed', 4)
    assert all(line['function'] == 'says' for line in follower.lines)
    again = follow(host, f'after={follower.lines[1]["id"]}&function=says')
    again.until('followed', 2)
    says(host, 'more')
    for one in (follower, again):
        one.until('more', 4)
    assert again.lines == follower.lines[2:]


def test_many_follow_at_once(host, follow):
    followers = [follow(host, 'limit=0&function=says') for _ in range(8)]
    says(host, 'for-all')
    for follower in followers:
        follower.until('for-all', 4)
        follower.close()
    until(lambda: 'hearth_log_followers 0' in host.request('GET', '/_/metrics').body.decode(), 'nobody follows any more')


def test_too_many_followers_are_refused(launch, follow):
    host = launch(['probe'], mode='development')
    for _ in range(64):
        follow(host, 'limit=0')
    assert 'which is the limit' in asked(host, 'follow=true', status=429).json['error']['message']


def test_nothing_is_lost_between_what_is_kept_and_what_comes(host, follow):
    """Followers begin while lines are written as fast as they can be."""
    with Load(host, 'pid', clients=2):
        first = says(host, 'mark')[0]['id']
        followers = []
        for number in range(12):
            host.result('says', {'text': f'between-{number}'})
            followers.append(follow(host, f'after={first}&function=says'))
        says(host, 'the-last')
        for follower in followers:
            follower.until('the-last', 4)
    wanted = [line for line in lines(host, f'after={first}&function=says')]
    assert all(follower.lines == wanted for follower in followers)


def test_a_slow_reader_is_told_what_it_has_missed(launch):
    host = launch(['probe'], mode='development', config={'workers': {'logBytesPerSecond': 1 << 30}})
    with host.wire(receive_buffer=4096) as wire:
        wire.send_request('GET', '/_/api/logs?follow=true&limit=0&function=shout', OWNER.items())
        assert wire.head().status == 200
        for _ in range(30):
            host.result('shout', {'bytes': 1_000_000, 'lineLength': 1000})
        seen, missing, text = 0, 0, b''
        for chunk in wire.chunks():
            text += chunk
            *whole, text = text.split(b'\n')
            for line in map(json.loads, filter(None, whole)):
                missing += line.get('dropped', 0)
                seen += 'dropped' not in line
            if missing:
                break
        assert seen > 0 and missing > 0
    until(lambda: 'hearth_log_followers 0' in host.request('GET', '/_/metrics').body.decode(), 'it has gone')


def test_a_host_that_stops_ends_the_streams(launch):
    host = launch(['probe'], mode='development')
    follower = Follower(host)
    host.stop(seconds=5)
    follower.thread.join(5)
    assert not follower.thread.is_alive()
