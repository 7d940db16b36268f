"""Registrations, topics and waiting messages where the host is upgraded, and where its data is saved and put back."""

import signal

import pytest

from commands import Commands
from messaging import OWN, Messaging, Receiver
from processes import until
from test_messaging_durability import Device, Sender
from upgrading import Upgradable

PROJECT = 'demo-hearth'
CONFIG = {'project': PROJECT, 'messaging': {'limits': {'pendingMessages': 100_000}, 'webPush': {'subject': 'mailto:a@example.com'}}}

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def host(tmp_path):
    host = Upgradable(tmp_path / 'host', [], mode='development', config=CONFIG)
    yield host.start()
    host.abandon()


class Picture:
    """The data to keep: two devices, a topic, waiting messages, and the state of a finished one."""

    def __init__(self, host):
        messaging = Messaging(host, PROJECT)
        self.tokens = [messaging.register(name=name)['token'] for name in ('one', 'two')]
        messaging.subscribe('news', self.tokens)
        messaging.subscribe('sport', self.tokens[:1])
        self.delivered = messaging.send({'token': self.tokens[1], 'data': {'n': 'had'}})
        with Receiver(host, self.tokens[1], acknowledges=True) as receiver:
            assert receiver.next()['data'] == {'n': 'had'}
        messaging.send({'token': self.tokens[0], 'data': {'n': '1'}, 'android': {'collapse_key': 'k'}})
        messaging.send({'token': self.tokens[0], 'data': {'n': '2'}, 'android': {'collapse_key': 'k', 'priority': 'high'}})
        self.waiting = messaging.send({'topic': 'news', 'data': {'n': '3'}})
        messaging.settled(self.waiting)
        self.key = self.push_key(messaging)
        self.account = messaging.account()
        assert messaging.access_token(self.account)
        messaging.close()

    @staticmethod
    def push_key(messaging):
        return messaging.do('GET', f'{OWN}/projects/{PROJECT}/webPush')['publicKey']

    def is_kept(self, host):
        messaging = Messaging(host, PROJECT)
        devices = messaging.do('GET', f'{OWN}/projects/{PROJECT}/devices')['devices']
        assert [(device['token'], device['name']) for device in devices] == list(zip(self.tokens, ('one', 'two'), strict=True))
        topics = messaging.do('GET', f'{OWN}/projects/{PROJECT}/topics')['topics']
        assert topics == [{'name': 'news', 'subscriber_count': 2}, {'name': 'sport', 'subscriber_count': 1}]
        assert [outcome['outcome'] for outcome in messaging.message(self.delivered)['outcomes']] == ['delivered']
        assert messaging.message(self.waiting)['pending_count'] == 2
        assert self.push_key(messaging) == self.key
        assert messaging.access_token(self.account)
        messaging.close()

    def arrives(self, host):
        for token, wanted in zip(self.tokens, (['2', '3'], ['3']), strict=True):
            with Receiver(host, token, acknowledges=True) as receiver:
                assert receiver.ready['pending'] == len(wanted)
                assert [receiver.next()['data']['n'] for _ in wanted] == wanted


def test_an_upgrade_keeps_everything(host):
    picture = Picture(host)
    for _ in range(2):
        answer = host.upgrade()
        assert answer.status == 200, answer.text
        picture.is_kept(host)
    picture.arrives(host)
    host.kill()
    host.start()
    with Receiver(host, picture.tokens[0]) as receiver:
        assert receiver.ready['pending'] == 0


def test_an_upgrade_under_senders_and_receivers(host):
    """Devices come again, and what was accepted arrives, before and after."""
    messaging = Messaging(host, PROJECT)
    tokens = [messaging.register()['token'] for _ in range(2)]
    messaging.subscribe('all', tokens)
    messaging.close()
    seen, wanted = {token: set() for token in tokens}, {token: set() for token in tokens}
    for life in range(3):
        devices = [Device(host, token, seen[token]) for token in tokens]
        senders = [Sender(host, f'd{index}', {'token': token}, life * 10_000) for index, token in enumerate(tokens)]
        senders.append(Sender(host, 'all', {'topic': 'all'}, life * 10_000))
        for thread in (*devices, *senders):
            thread.start()
        until(lambda senders=senders: all(len(sender.accepted) > 10 for sender in senders), 'messages are sent')
        assert host.upgrade().status == 200
        for sender in senders:
            sender.is_over = True
        for sender in senders:
            sender.join(30)
            assert not sender.is_alive()
        for index, token in enumerate(tokens):
            wanted[token] |= senders[index].accepted | senders[2].accepted
        for device in devices:
            device.join(30)
            assert device.lost == []
    for token in tokens:
        device = Device(host, token, seen[token])
        device.start()
        until(lambda token=token: wanted[token] <= seen[token], 'all messages arrive', 60)
    host.stop()


def test_an_upgrade_that_fails_keeps_everything(host):
    picture = Picture(host)
    host.install_pretender(after='die')
    assert host.upgrade().status == 400
    picture.is_kept(host)
    picture.arrives(host)


def test_a_fan_out_goes_on_after_an_upgrade(host):
    messaging = Messaging(host, PROJECT)
    tokens = [messaging.register()['token'] for _ in range(500)]
    messaging.subscribe('news', tokens)
    name = messaging.send({'topic': 'news', 'data': {'n': '1'}})
    assert host.upgrade().status == 200
    messaging = Messaging(host, PROJECT)
    messaging.settled(name)
    assert messaging.message(name)['pending_count'] == 500


@pytest.mark.parametrize('into', ['the running host', 'the folder', 'another folder'])
def test_a_backup_keeps_everything(host, tmp_path, into):
    commands = Commands(host, tmp_path / 'commands')
    picture = Picture(host)
    commands.succeeds('backup', tmp_path / 'all.tar')
    messaging = Messaging(host, PROJECT)
    messaging.register(name='three')
    messaging.send({'token': picture.tokens[0], 'data': {'n': 'later'}})
    messaging.do('DELETE', f"{OWN}/projects/{PROJECT}/devices/{picture.tokens[1].split(':')[0]}")
    if into == 'the running host':
        commands.succeeds('restore', tmp_path / 'all.tar', '--force')
    else:
        host.stop(signal.SIGTERM)
        if into == 'another folder':
            host.data = tmp_path / 'elsewhere'
        commands.variables = {}
        commands.succeeds('restore', tmp_path / 'all.tar', '--data', host.data, '--force')
        host.start()
    until(lambda: host.request('GET', '/_/ready').status == 200, 'service')
    picture.is_kept(host)
    picture.arrives(host)
