"""Disks that are full, read-only or broken under the store of messages: nothing is acknowledged that is not stored, and service comes back."""

import errno

import pytest

from disks import FailingDisk, SmallDisk, read_only_file
from hearth import Host
from messaging import OWN, Messaging, Receiver
from processes import until

PROJECT = 'demo-hearth'
SEND = f'/v1/projects/{PROJECT}/messages:send'
TEXT = 'x' * 3000
FULL = 'The disk is full: nothing was stored. Try again when there is room.'
READ_ONLY = 'The disk cannot be written to: nothing was stored.'
ELSE = 'The service is currently unavailable.'
CONFIG = {'project': PROJECT, 'messaging': {'limits': {'pendingMessages': 100_000}}}


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path / 'host', [], mode='development', config=CONFIG)
    yield host
    host.abandon()


@pytest.fixture
def folder(host):
    return host.data / 'messaging'


@pytest.fixture
def disk(host, folder, tmp_path):
    disk = FailingDisk(folder, tmp_path / 'fault')
    host.variables = disk.variables
    return disk


def refuses(messaging, token, said, number=0):
    answer = messaging.ask('POST', SEND, {'message': {'token': token, 'data': {'n': f'failed {number}'}}})
    error = answer.json['error']
    assert (answer.status, error['status'], error['message']) == (503, 'UNAVAILABLE', said)
    assert answer.header('retry-after')


def accepts(messaging, token, text):
    return messaging.ask('POST', SEND, {'message': {'token': token, 'data': {'n': text}}}).status == 200


def received(host, token, count):
    """The messages that a device gets, each acknowledged."""
    with Receiver(host, token, acknowledges=True) as receiver:
        assert receiver.ready['pending'] == count
        return [receiver.next()['data']['n'] for _ in range(count)]


def test_a_full_disk(host, folder):
    folder.mkdir(parents=True)
    host.data.chmod(0o700)
    with SmallDisk(folder) as small:
        host.start()
        messaging = Messaging(host, PROJECT)
        token = messaging.register()['token']
        small.folder.joinpath('filler').write_bytes(bytes(1 << 20))
        done = []
        while (answer := messaging.ask('POST', SEND, {'message': {'token': token, 'data': {'n': TEXT + str(len(done))}}})).status == 200:
            done.append(TEXT + str(len(done)))
            assert len(done) < 5000, 'the disk has more room than it should have'
        assert answer.json['error']['message'] == FULL
        for number in range(50):
            answer = messaging.ask('POST', SEND, {'message': {'token': token, 'data': {'n': TEXT}}})
            assert answer.status == 503 and answer.json['error']['message'] == FULL
        small.make_room()
        until(lambda: accepts(messaging, token, 'after'), 'service')
        assert 1 <= host.log.count('messages cannot be stored') <= 3 and host.log.count('a checkpoint failed') <= 2
        host.kill()
        # Acknowledgements need space, too.
        small.remount('size=64m')
        host.start()
        assert received(host, token, len(done) + 1) == [*done, 'after']
        host.kill()
        host.start()
        with Receiver(host, token) as receiver:
            assert receiver.ready['pending'] == 0
        host.stop()


@pytest.mark.parametrize('calls,error,said', [
    ('write open', errno.EROFS, READ_ONLY), ('write', errno.ENOSPC, FULL), ('write', errno.EIO, ELSE), ('sync', errno.EIO, ELSE),
    ('write sync', errno.ENOSPC, FULL),
], ids=lambda value: errno.errorcode.get(value) if isinstance(value, int) else None)
def test_a_disk_that_fails_under_the_host(host, disk, calls, error, said):
    host.start()
    messaging = Messaging(host, PROJECT)
    token, other = messaging.register()['token'], messaging.register()['token']
    messaging.subscribe('news', [other])
    wanted = []
    for round in range(3):
        assert accepts(messaging, token, f'before {round}')
        disk.fail(calls, error)
        answer = messaging.ask('POST', SEND, {'message': {'token': token, 'data': {'n': f'failed {round}'}}})
        assert (answer.status, answer.json['error']['message']) == (503, said)
        for body in ({'message': {'topic': 'news', 'data': {'n': 'failed'}}}, {'message': {'token': other, 'data': {'n': 'failed'}}}):
            assert messaging.ask('POST', SEND, body).status == 503
        assert messaging.ask('POST', f'{OWN}/projects/{PROJECT}/devices', {'platform': 'android'}).status == 503
        assert host.request('GET', f'{OWN}/devices/{token}/events').status == 503
        disk.mend()
        until(lambda round=round: accepts(messaging, token, f'after {round}'), 'service')
        wanted += [f'before {round}', f'after {round}']
    messaging.settled(messaging.send({'topic': 'news', 'data': {'n': 'to all'}}))
    host.kill()
    host.start()
    assert received(host, token, len(wanted)) == wanted
    assert received(host, other, 1) == ['to all']
    devices = Messaging(host, PROJECT).do('GET', f'{OWN}/projects/{PROJECT}/devices')['devices']
    assert [device['token'] for device in devices] == [token, other]
    host.stop()


def test_what_was_refused_stays_away_after_a_kill(host, disk):
    """A commit that the disk did not sync is still in the log, where the next host would find it."""
    host.start()
    messaging = Messaging(host, PROJECT)
    token = messaging.register()['token']
    for _ in range(2):
        assert accepts(messaging, token, 'kept')
        disk.fail('sync', errno.EIO)
        refuses(messaging, token, ELSE)
        assert messaging.ask('POST', f'{OWN}/projects/{PROJECT}/devices', {'platform': 'android'}).status == 503
        messaging.close()
        host.kill()
        disk.mend()
        host.start()
        messaging = Messaging(host, PROJECT)
        assert received(host, token, 1) == ['kept']
        assert len(messaging.do('GET', f'{OWN}/projects/{PROJECT}/devices')['devices']) == 1
    messaging.close()
    host.stop()


def test_a_connected_device_while_the_disk_is_full(host, disk):
    """Nothing comes that is not stored, and what was acknowledged in vain comes again."""
    host.start()
    messaging = Messaging(host, PROJECT)
    token = messaging.register()['token']
    with Receiver(host, token) as receiver:
        messaging.send({'token': token, 'data': {'n': '1'}})
        first = receiver.next()
        disk.fail('write', errno.ENOSPC)
        refuses(messaging, token, FULL)
        assert host.request('POST', f'{OWN}/devices/{token}/acks', {}, '{"message_ids": ["%s"]}' % first['message_id']).status == 503
        disk.mend()
        until(lambda: accepts(messaging, token, '2'), 'service')
        seen = [receiver.next()]
        if seen[0]['data']['n'] == '1':
            seen.append(receiver.next())
        assert seen[-1]['data']['n'] == '2'
        receiver.acknowledge(*{first['message_id'], *(frame['message_id'] for frame in seen)})
    assert received(host, token, 0) == []
    host.stop()


def test_a_fan_out_goes_on_when_there_is_room(host, disk):
    host.start()
    messaging = Messaging(host, PROJECT)
    tokens = [messaging.register()['token'] for _ in range(300)]
    messaging.subscribe('news', tokens)
    name = messaging.send({'topic': 'news', 'data': {'n': 'to all'}})
    disk.fail('write', errno.ENOSPC)
    refuses(messaging, tokens[0], FULL)
    disk.mend()
    messaging.settled(name)
    assert messaging.message(name)['pending_count'] == 300
    assert received(host, tokens[-1], 1) == ['to all']
    host.stop()


def test_a_full_disk_at_the_start(host, disk):
    disk.fail('write open', errno.ENOSPC)
    host.start()
    messaging = Messaging(host, PROJECT)
    assert messaging.ask('POST', f'{OWN}/projects/{PROJECT}/devices', {'platform': 'android'}).status == 503
    assert host.until_logged('the store of messages cannot be opened')
    disk.mend()
    until(lambda: messaging.ask('POST', f'{OWN}/projects/{PROJECT}/devices', {'platform': 'android'}).status == 200, 'service')
    host.stop()


def test_a_file_that_is_read_only(host, folder):
    host.start()
    messaging = Messaging(host, PROJECT)
    token = messaging.register()['token']
    messaging.send({'token': token, 'data': {'n': 'before'}})
    host.stop()
    with read_only_file(folder / 'messaging.sqlite'):
        host.start()
        messaging = Messaging(host, PROJECT)
        for _ in range(3):
            assert messaging.ask('POST', SEND, {'message': {'token': token}}).status == 503
        assert host.request('GET', '/_/ready').status == 200
    until(lambda: accepts(messaging, token, 'after'), 'service')
    assert received(host, token, 2) == ['before', 'after']
    host.stop()
