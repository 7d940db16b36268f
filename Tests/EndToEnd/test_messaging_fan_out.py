"""A message to many devices: the rows of all devices are written in batches, also by the next host, and other requests do not wait for them."""

import sqlite3

import pytest

from hearth import Host
from messaging import Messaging, Receiver
from processes import until
from tokens import PROJECT

COUNT = 20_000


@pytest.fixture
def host(tmp_path):
    """A host that is not started yet, with many devices that have subscribed to a topic."""
    host = Host(tmp_path, [], mode='development', config={'project': PROJECT})
    host.start()
    admin = Messaging(host, PROJECT)
    admin.register()
    admin.close()
    host.stop()
    store = sqlite3.connect(host.data / 'messaging/messaging.sqlite')
    seen, = store.execute('SELECT seen FROM device').fetchone()
    store.executemany('INSERT INTO device VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)', (
        (1000 + number, PROJECT, f'cDevice{number:015}', f'cDevice{number:015}:APA91bDeviceDeviceDeviceDevice', 'android', 'com.example.app',
         '', '{}', seen, seen) for number in range(COUNT)))
    store.execute('INSERT INTO topic VALUES(1, ?, ?, ?)', (PROJECT, 'many', COUNT))
    store.executemany('INSERT INTO subscription VALUES(1, ?, ?)', ((1000 + number, seen) for number in range(COUNT)))
    store.execute('INSERT INTO topic VALUES(2, ?, ?, 1)', (PROJECT, 'few'))
    store.execute('INSERT INTO subscription VALUES(2, 1000, ?)', (seen,))
    store.commit()
    store.close()
    yield host
    host.abandon()


def test_everybody_gets_it_once_over_a_kill(host):
    host.start()
    admin = Messaging(host, PROJECT)
    names = [admin.send({'topic': 'many', 'data': {'k': 'v'}}),
             admin.send({'condition': "'many' in topics && !('few' in topics)", 'data': {'k': 'v'}})]
    until(lambda: any(admin.message(name)['pending_count'] for name in names), 'some have it')
    admin.close()
    host.kill()
    host.start()
    admin = Messaging(host, PROJECT)
    for name, count in zip(names, (COUNT, COUNT - 1), strict=True):
        until(lambda name=name: not admin.message(name)['fanning_out'], 'all have it', 60)
        assert admin.message(name)['pending_count'] == count
    with Receiver(host, f'cDevice{0:015}:APA91bDeviceDeviceDeviceDevice') as receiver:
        assert receiver.ready['pending'] == 1
    with Receiver(host, f'cDevice{COUNT - 1:015}:APA91bDeviceDeviceDeviceDevice') as receiver:
        assert [receiver.next()['message_id'] for _ in names] == [name.rpartition('/')[2] for name in names]
    admin.close()
    host.stop()


def test_as_many_at_a_time_as_are_allowed(host):
    host.write_config([], {'project': PROJECT, 'messaging': {'quotas': {'fanOuts': 2}}})
    host.start()
    admin = Messaging(host, PROJECT)
    device = admin.register()

    def send(**target):
        return admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {**target, 'data': {'k': 'v'}}})
    first, second, refused = send(topic='many'), send(condition="'many' in topics && 'many' in topics"), send(topic='many')
    assert (first.status, second.status, refused.status) == (200, 200, 429)
    assert refused.header('Retry-After') == '60' and 'QUOTA_EXCEEDED' in refused.text
    assert send(token=device['token']).status == 200
    for answer in (first, second):
        until(lambda answer=answer: not admin.message(answer.json['name'])['fanning_out'], 'all have it', 60)
    assert send(topic='many').status == 200
    admin.close()
    host.stop()


def test_others_do_not_wait(host):
    host.start()
    admin = Messaging(host, PROJECT)
    name = admin.send({'topic': 'many', 'data': {'k': 'v'}})
    device = admin.register()
    meanwhile = 0
    while admin.message(name)['fanning_out']:
        admin.send({'token': device['token'], 'data': {'k': 'v'}})
        meanwhile += 1
    assert meanwhile > 3
    assert admin.message(name)['pending_count'] == COUNT
    admin.close()
    host.stop()
