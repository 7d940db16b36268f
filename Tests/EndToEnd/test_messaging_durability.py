"""kill -9 of the host under senders and receivers: what was accepted arrives."""

import random
import threading
import time

import pytest

from hearth import Host
from messaging import Messaging, Receiver
from processes import until
from tokens import PROJECT
from wire import Ended

CONFIG = {'project': PROJECT, 'messaging': {'limits': {'pendingMessages': 100_000}}}


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path, [], mode='development', config=CONFIG)
    yield host
    host.abandon()


class Sender(threading.Thread):
    """Sends numbers to a target until the host has ended or it is stopped, and records which were accepted."""

    def __init__(self, host, name, target, first):
        super().__init__(daemon=True)
        self.host, self.name, self.target, self.number = host, name, target, first
        self.accepted, self.is_over = set(), False

    def run(self):
        try:
            messaging = Messaging(self.host, PROJECT)
            while not self.is_over:
                self.number += 1
                message = {**self.target, 'data': {'from_sender': self.name, 'n': str(self.number)}}
                answer = messaging.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': message})
                if answer.status == 200:
                    self.accepted.add((self.name, self.number))
        except (Ended, OSError):
            return


class Device(threading.Thread):
    """Receives and acknowledges until the host is gone; what it has seen outlives the host."""

    def __init__(self, host, token, seen):
        super().__init__(daemon=True)
        self.host, self.token, self.seen = host, token, seen
        self.lost = []

    def run(self):
        try:
            with Receiver(self.host, self.token) as receiver:
                while True:
                    frame = receiver.next(60)
                    if frame['type'] == 'deleted_messages':
                        self.lost.append(frame)
                    else:
                        self.seen.add((frame['data']['from_sender'], int(frame['data']['n'])))
                    receiver.acknowledge(frame['message_id'])
        except (Ended, OSError, AssertionError):
            return


@pytest.mark.timeout(300)
def test_kills_under_senders_and_receivers(host):
    host.start()
    admin = Messaging(host, PROJECT)
    tokens = [admin.register()['token'] for _ in range(3)]
    admin.subscribe('all', tokens)
    admin.close()
    # The last device is connected in the end only.
    seen = {token: set() for token in tokens}
    wanted = {token: set() for token in tokens}
    chance, count = random.Random(7), 0
    for life in range(8):
        senders = [Sender(host, f'd{index}', {'token': token}, count) for index, token in enumerate(tokens)]
        senders.append(Sender(host, 'topic', {'topic': 'all'}, count))
        senders.append(Sender(host, 'condition', {'condition': "'all' in topics && !('none' in topics)"}, count))
        devices = [Device(host, token, seen[token]) for token in tokens[:2]]
        for thread in [*devices, *senders]:
            thread.start()
        time.sleep(chance.uniform(0.1, 0.8))
        host.kill()
        for thread in [*devices, *senders]:
            thread.join(20)
        count = max(sender.number for sender in senders)
        for sender in senders:
            for index, token in enumerate(tokens):
                if sender.name in (f'd{index}', 'topic', 'condition'):
                    wanted[token] |= sender.accepted
        host.start()
    assert min(len(numbers) for numbers in wanted.values()) > 20
    devices = [Device(host, token, seen[token]) for token in tokens]
    for device in devices:
        device.start()
    for device in devices:
        until(lambda device=device: wanted[device.token] <= seen[device.token],
              f'every accepted message: {sorted(wanted[device.token] - seen[device.token])[:10]}', 60)
        assert device.lost == []
    host.kill()


def test_a_restart_forgets_nothing(host):
    host.start()
    admin = Messaging(host, PROJECT)
    device = admin.register(name='phone')
    admin.subscribe('news', [device['token']])
    kept = admin.send({'token': device['token'], 'data': {'k': 'kept'}})
    replaced = admin.send({'token': device['token'], 'data': {'k': 'old'}, 'android': {'collapse_key': 'c'}})
    account = admin.account()
    token = admin.access_token(account)
    admin.close()
    host.stop()
    host.start()
    admin = Messaging(host, PROJECT)
    assert admin.subscribers('news') == {device['fid']}
    answer = admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {
        'token': device['token'], 'data': {'k': 'new'}, 'android': {'collapse_key': 'c'}}}, token=token)
    assert answer.status == 200, answer.body
    with Receiver(host, device['token'], acknowledges=True) as receiver:
        assert receiver.ready['pending'] == 2
        assert [receiver.next()['data'] for _ in range(2)] == [{'k': 'kept'}, {'k': 'new'}]
        until(lambda: admin.message(kept)['outcomes'][0]['outcome'] == 'delivered', 'the acknowledgement is stored')
    outcome = admin.message(replaced)['outcomes'][0]
    assert (outcome['outcome'], outcome['detail']) == ('collapsed_by', answer.json['name'].rpartition('/')[2])
    admin.close()
    host.stop()


def test_what_was_not_acknowledged_comes_again(host):
    host.start()
    admin = Messaging(host, PROJECT)
    token = admin.register()['token']
    names = [admin.send({'token': token, 'data': {'n': str(number)}}).rpartition('/')[2] for number in range(3)]
    with Receiver(host, token) as receiver:
        assert [receiver.next()['message_id'] for _ in names] == names
        receiver.acknowledge(names[1])
    with Receiver(host, token) as receiver:
        assert [receiver.next()['message_id'] for _ in range(2)] == [names[0], names[2]]
    admin.close()
    host.stop()
