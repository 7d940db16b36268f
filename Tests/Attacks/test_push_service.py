"""Anybody may register a device, and say where its messages are to be sent. Neither fills the disk, nor keeps other people's messages waiting,
nor makes the host speak to its own network."""

import contextlib
import json
import pathlib
import socket
import sqlite3
import time

import pytest

from hearth import compiled
from messaging import OWN, Messaging, Receiver
from processes import until
from push_services import Browser
from tokens import PROJECT, base64url

KEY = {'x-goog-api-key': 'AIza-public'}
SUPPORT = pathlib.Path(__file__).resolve().parents[1] / 'Support'
DEVICES = f'{OWN}/projects/{PROJECT}/devices'
REGISTRATIONS = f'/v1/projects/{PROJECT}/registrations'
INSTALLATIONS = f'/v1/projects/{PROJECT}/installations'
P256DH = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'
WEB = {'origin': 'https://app.example.com', 'endpoint': 'https://push.example.com/x', 'p256dh': P256DH, 'auth': 'BTBZMqHH6r4Tts7J_aSIgg',
       'applicationPubKey': P256DH}
PUSH = {'subject': 'mailto:ops@example.com'}


@pytest.fixture
def serve(launch):
    """A host with these settings of messaging, as its administrator sees it."""
    with contextlib.ExitStack() as stack:
        def make(env=None, **settings):
            host = launch([], mode='development', config={'messaging': settings}, env=env)
            return stack.enter_context(contextlib.closing(Messaging(host, PROJECT)))

        yield make


def ask(messaging, method, path, body=None, headers=KEY):
    """A request without any credential of the administrator's."""
    return messaging.host.request(method, path, headers, b'' if body is None else json.dumps(body).encode())


def installation(messaging):
    answer = ask(messaging, 'POST', INSTALLATIONS, {'appId': '1:1:web:1'})
    assert answer.status == 200, answer.body
    return {**KEY, 'x-goog-firebase-installations-auth': 'FIS ' + answer.json['authToken']['token']}


def register(messaging, shown=None, **web):
    return ask(messaging, 'POST', REGISTRATIONS, {'web': {**WEB, **web}}, shown or installation(messaging))


def outcome(messaging, name):
    """The outcome of a message; None while it waits."""
    found = ((item['outcome'], item.get('detail', '')) for item in messaging.message(name)['outcomes'])
    return next((item for item in found if item[0] != 'pending'), None)


# -- the disk

LONG = 900_000
FIELDS = [{'origin': 'https://' + 'a' * LONG}, {'endpoint': 'https://push.example.com/' + 'a' * LONG}, {'p256dh': P256DH + '=' * LONG},
          {'auth': WEB['auth'] + '=' * LONG}, {'applicationPubKey': 'a' * LONG}, {'origin': 'a' * 256}, {'p256dh': P256DH + '=' * 200},
          {'applicationPubKey': 'a' * 201}]


@pytest.mark.parametrize('field', FIELDS, ids=lambda field: f'{list(field)[0]}-{len(list(field.values())[0])}')
def test_a_field_of_a_browser_has_a_bound(field, serve):
    messaging = serve()
    answer = register(messaging, **field)
    assert answer.status == (413 if len(list(field.values())[0]) >= LONG else 400), answer.body
    assert messaging.do('GET', DEVICES)['devices'] == []


@pytest.mark.parametrize('field', ['package', 'bundle', 'origin'])
def test_a_field_of_a_device_has_a_bound(field, serve):
    messaging = serve()
    for length, status in ((LONG, 413), (256, 400), (255, 200)):
        answer = ask(messaging, 'POST', DEVICES, {'platform': 'android', field: 'a' * length}, KEY)
        assert answer.status == status, (length, answer.body)


def test_a_name_of_one_endless_character_is_cut(serve):
    messaging = serve()
    device = ask(messaging, 'POST', DEVICES, {'platform': 'android', 'name': 'e' + '\u0301' * 5_000}, KEY)
    assert device.status == 200 and len(device.json['name']) <= 200
    path = f"{DEVICES}/{device.json['fid']}"
    assert len(messaging.do('PATCH', path, {'name': 'e' + '\u0301' * 5_000})['name']) <= 200
    assert messaging.ask('PATCH', path, {'package': 'a' * 256}).status == 400


def test_what_a_browser_says_besides_is_not_given_back(serve):
    answer = register(serve(), more='a' * 10_000)
    assert answer.status == 200 and set(answer.json['web']) == set(WEB)


def too_fast(answer):
    assert answer.status == 429, answer.body
    assert 0 < int(answer.header('Retry-After')) <= 60
    assert answer.json['error']['status'] == 'RESOURCE_EXHAUSTED'
    return True


def new_minute(messaging):
    messaging.control('clock', advance_seconds=60 - messaging.now() % 60)


CALLS = [('POST', DEVICES, {'platform': 'android'}), ('POST', INSTALLATIONS, {'appId': '1:1:web:1'})]


def test_an_address_may_register_so_often_in_a_minute(serve):
    messaging = serve(quotas={'anonymousPerAddressPerMinute': 4})
    new_minute(messaging)
    auth = installation(messaging)
    token = register(messaging, auth).json['token']
    assert [ask(messaging, *call, KEY).status for call in CALLS] == [200, 200]
    topic = f'{REGISTRATIONS}/{token}/topicSubscriptions/news:subscribe'
    calls = [*CALLS, ('POST', REGISTRATIONS, {'web': WEB}), ('PATCH', f'{REGISTRATIONS}/{token}', {'web': WEB}), ('POST', topic, {}),
             ('POST', f'{OWN}/devices/{token}/topics', {'topic': 'news'}), ('DELETE', f'{REGISTRATIONS}/{token}', None)]
    assert all(too_fast(ask(messaging, *call, auth)) for call in calls)
    assert messaging.register()['token'], 'a sender registers as many as it likes'
    new_minute(messaging)
    assert ask(messaging, 'DELETE', f'{REGISTRATIONS}/{token}', None, auth).status == 200


def test_all_together_may_register_so_often(serve):
    messaging = serve(quotas={'anonymousPerMinute': 2, 'anonymousPerAddressPerMinute': 0})
    new_minute(messaging)
    assert [ask(messaging, *CALLS[0], KEY).status for _ in range(2)] == [200, 200]
    assert all(too_fast(ask(messaging, *call, KEY)) for call in CALLS)


def test_an_address_behind_a_trusted_proxy(launch):
    config = {'server': {'trustedProxies': ['127.0.0.1']}, 'messaging': {'quotas': {'anonymousPerAddressPerMinute': 2}}}
    messaging = Messaging(launch([], mode='development', config=config), PROJECT)
    new_minute(messaging)

    def status(client):
        return ask(messaging, *CALLS[0], {**KEY, 'X-Forwarded-For': client}).status
    assert [status('203.0.113.1') for _ in range(3)] == [200, 200, 429]
    assert [status('203.0.113.2') for _ in range(3)] == [200, 200, 429]
    assert [status(f'2001:db8::{number}') for number in range(3)] == [200, 200, 429], 'they are one customer'
    assert [status('2001:db8:0:1::1'), status('2001:db8:0:2::1')] == [200, 200]


def test_devices_that_never_come_back_make_room(serve):
    messaging = serve(limits={'newDevices': 5})
    made = [ask(messaging, *CALLS[0], KEY).json for _ in range(4)]
    with Receiver(messaging.host, made[0]['token']):
        pass
    messaging.subscribe('news', [made[1]['token']])
    messaging.send({'token': made[2]['token'], 'data': {'a': '1'}})
    messaging.register()
    late = [ask(messaging, *CALLS[0], KEY).json for _ in range(20)]
    left = {device['fid'] for device in messaging.do('GET', DEVICES)['devices']}
    assert {device['fid'] for device in made[:3]} <= left, 'one has connected, senders have named the others'
    assert made[3]['fid'] not in left and {device['fid'] for device in late[-4:]} <= left
    assert len(left) <= 3 + 1 + 5


def test_devices_of_an_earlier_version_count_as_known(serve):
    """It did not note that a device took messages from its push service."""
    messaging = serve(limits={'newDevices': 2})
    made = [ask(messaging, *CALLS[0], KEY).json['fid'] for _ in range(2)]
    messaging.host.stop()
    with contextlib.closing(sqlite3.connect(messaging.host.data / 'messaging/messaging.sqlite')) as store:
        store.executescript('DROP TABLE installation; DROP INDEX deviceNew')
    messaging.host.start()
    for _ in range(5):
        assert ask(messaging, *CALLS[0], KEY).status == 200
    left = {device['fid'] for device in Messaging(messaging.host, PROJECT).do('GET', DEVICES)['devices']}
    assert set(made) <= left and len(left) <= 2 + 2


def test_topics_that_nobody_has_are_forgotten(serve):
    messaging = serve()
    device = messaging.register()
    for number in range(3):
        path = f"{OWN}/devices/{device['token']}/topics"
        assert messaging.ask('POST', path, {'topic': f'topic{number}'}).status == 200
    assert messaging.ask('POST', path, {'topic': 'topic0', 'subscribe': False}).status == 200
    topics = f'{OWN}/projects/{PROJECT}/topics'
    assert [topic['name'] for topic in messaging.do('GET', topics)['topics']] == ['topic1', 'topic2']
    messaging.do('DELETE', f"{DEVICES}/{device['fid']}")
    assert messaging.do('GET', topics)['topics'] == []


# -- other people's messages

class Silent:
    """Push services that take connections and never answer: as many as there are addresses of this machine."""

    def __init__(self):
        self.listener = socket.create_server(('0.0.0.0', 0), backlog=1024)
        self.port = self.listener.getsockname()[1]

    def endpoint(self, number):
        return f'http://127.1.{number // 250}.{number % 250 + 1}:{self.port}/push'


def test_dead_services_do_not_keep_others_waiting(serve):
    messaging = serve(webPush={**PUSH, 'localEndpoints': True})
    silent = Silent()
    with contextlib.closing(silent.listener), Browser() as browser:
        live = register(messaging, **browser.subscription()).json['token']
        messaging.send({'token': live, 'data': {'number': '0'}})
        until(lambda: len(browser.requests) == 1, 'the first push arrives')
        dead = [register(messaging, endpoint=silent.endpoint(number)).json['token'] for number in range(120)]
        messaging.subscribe('news', dead)
        messaging.settled(messaging.send({'topic': 'news', 'data': {'a': '1'}}))
        for number in range(1, 6):
            messaging.send({'token': live, 'data': {'number': str(number)}})
        until(lambda: len(browser.requests) == 6, 'other pushes arrive', 8)


def test_a_dead_service_does_not_keep_a_new_one_waiting(serve):
    messaging = serve(webPush={**PUSH, 'localEndpoints': True})
    silent = Silent()
    with contextlib.closing(silent.listener), Browser() as browser:
        dead = [register(messaging, endpoint=f'{silent.endpoint(0)}/{number}').json['token'] for number in range(120)]
        messaging.subscribe('news', dead)
        messaging.settled(messaging.send({'topic': 'news', 'data': {'a': '1'}}))
        live = register(messaging, **browser.subscription()).json['token']
        messaging.send({'token': live, 'data': {'a': '1'}})
        until(lambda: browser.requests, 'the push arrives', 8)


class Punctual(Browser):
    """Notes when each request came."""

    def __init__(self):
        self.times = []
        super().__init__()

    def serve(self, handler):
        self.times.append(time.monotonic())
        super().serve(handler)


def test_a_service_that_asks_for_no_wait_is_not_asked_at_once(serve):
    messaging = serve(webPush={**PUSH, 'localEndpoints': True})
    with Punctual() as browser:
        token = register(messaging, **browser.subscription()).json['token']
        browser.answers.extend([(503, {'Retry-After': '0'}, b'')] * 2)
        messaging.send({'token': token, 'data': {'a': '1'}})
        until(lambda: len(browser.times) == 3, 'the third attempt')
    first, second, third = browser.times
    assert second - first >= 0.5 and third - second >= 1


def test_a_device_has_one_attempt_at_a_time_while_its_service_fails(serve):
    messaging = serve(webPush={**PUSH, 'localEndpoints': True})
    with Punctual() as browser:
        token = register(messaging, **browser.subscription()).json['token']
        browser.answers.extend([(503, {'Retry-After': '0'}, b'')] * 5)
        names = [messaging.send({'token': token, 'data': {'a': str(number)}}) for number in range(20)]
        until(lambda: all(outcome(messaging, name) == ('delivered', '') for name in names), 'all are delivered in the end', 30)
        assert len(browser.requests) <= len(names) + 5


# -- the host's own network

@contextlib.contextmanager
def own_service():
    """A server in the host's network that clients must not reach; it counts its connections."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        listener.setblocking(False)
        yield listener


def came(listener):
    with contextlib.suppress(BlockingIOError):
        connection, _ = listener.accept()
        connection.close()
        return True
    return False


def resolving(serve, address, **push):
    return serve({'LD_PRELOAD': compiled(SUPPORT / 'resolver.c', ()), 'RESOLVED': address}, webPush={**PUSH, **push})


@pytest.mark.parametrize('address', ['127.0.0.1', '::ffff:127.0.0.1', '0.0.0.0'])
def test_a_name_that_leads_to_this_machine(address, serve):
    messaging = resolving(serve, address)
    with own_service() as listener:
        token = register(messaging, endpoint=f'https://push.example.com:{listener.getsockname()[1]}/x').json['token']
        name = messaging.send({'token': token, 'data': {'a': '1'}})
        until(lambda: outcome(messaging, name), 'the message is settled')
        assert not came(listener)
    assert outcome(messaging, name)[0] == 'forward_failed' and 'must not reach, such as private' in outcome(messaging, name)[1]


def test_a_network_that_is_allowed(serve):
    messaging = resolving(serve, '127.0.0.1', allowedNetworks=['127.0.0.0/8'])
    with own_service() as listener:
        token = register(messaging, endpoint=f'https://push.example.com:{listener.getsockname()[1]}/x').json['token']
        messaging.send({'token': token, 'data': {'a': '1'}})
        until(lambda: came(listener), 'the host connects')


# -- connections

def connected(messaging):
    text = messaging.ask('GET', '/_/metrics').text
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith('hearth_messaging_connected_devices '))


def test_a_connection_ends_whatever_token_its_device_has(serve):
    messaging = serve(limits={'connections': 1})
    device = messaging.register()
    receiver = Receiver(messaging.host, device['token'])
    until(lambda: connected(messaging) == 1, 'the device is connected')
    messaging.register(fid=device['fid'], token=f"{device['fid']}:{base64url(b'another token of it')}")
    receiver.close()
    until(lambda: connected(messaging) == 0, 'it counts as connected no more')
    with Receiver(messaging.host, messaging.register()['token']) as other:
        assert json.dumps(other.ready)
