"""The Admin SDK for Python as a client of the messaging service, unmodified except for its addresses."""

import json

import firebase_admin
import pytest
from firebase_admin import credentials, exceptions, messaging

from messaging import Messaging, Receiver
from tokens import PROJECT

# The SDK prefers installation ids to tokens by now; both must work.
pytestmark = pytest.mark.filterwarnings('ignore::DeprecationWarning')


@pytest.fixture(scope='module')
def host(messaging_host):
    return messaging_host


@pytest.fixture(scope='module')
def app(host, tmp_path_factory):
    """An app with a service account of the host, whose requests go there."""
    owner = Messaging(host, PROJECT)
    key = tmp_path_factory.mktemp('key') / 'key.json'
    key.write_text(json.dumps(owner.account()))
    owner.close()
    patch = pytest.MonkeyPatch()
    patch.setattr(messaging._MessagingService, 'FCM_URL', f'http://127.0.0.1:{host.port}/v1/projects/{{0}}/messages:send')
    patch.setattr(messaging._MessagingService, 'IID_URL', f'http://127.0.0.1:{host.port}')
    app = firebase_admin.initialize_app(credentials.Certificate(str(key)), name='messaging')
    service = messaging._get_messaging_service(app)
    patch.setattr(service, '_fcm_topic_url', f'http://127.0.0.1:{host.port}/v1/projects/{PROJECT}/registrations')
    yield app
    firebase_admin.delete_app(app)
    patch.undo()


def test_send(app, admin, host):
    token = admin.register()['token']
    with Receiver(host, token) as receiver:
        message = messaging.Message(
            token=token, data={'score': '3'}, notification=messaging.Notification('Goal', '1:0'),
            android=messaging.AndroidConfig(
                ttl=60, priority='high', notification=messaging.AndroidNotification(
                    color='#00ff00', vibrate_timings_millis=[0, 100], priority='max', visibility='public',
                    light_settings=messaging.LightSettings('#ff0000', 200, 300))))
        name = messaging.send(message, app=app)
        assert name.startswith(f'projects/{PROJECT}/messages/0:')
        frame = receiver.next()
        assert frame['data'] == {'score': '3'}
        assert frame['notification'] | {'title': 'Goal', 'body': '1:0', 'color': '#00ff00'} == frame['notification']
        assert (frame['ttl'], frame['priority']) == (60, 'high')
        assert frame['payload']['gcm.n.vibrate_timings'] == '[0,100]'


def test_dry_run(app, admin, host):
    token = admin.register()['token']
    assert messaging.send(messaging.Message(token=token), dry_run=True, app=app).startswith(f'projects/{PROJECT}/messages/')
    with Receiver(host, token) as receiver:
        assert receiver.ready['pending'] == 0


def test_send_each(app, admin):
    tokens = [admin.register()['token'] for _ in range(3)]
    dead = admin.register()
    admin.do('DELETE', f"/_messaging/v1/projects/{PROJECT}/devices/{dead['fid']}")
    response = messaging.send_each([messaging.Message(token=token) for token in [*tokens, dead['token']]], app=app)
    assert (response.success_count, response.failure_count) == (3, 1)
    assert isinstance(response.responses[3].exception, messaging.UnregisteredError)


def test_multicast(app, admin, host):
    tokens = [admin.register()['token'] for _ in range(20)]
    response = messaging.send_each_for_multicast(messaging.MulticastMessage(tokens=tokens, data={'k': 'v'}), app=app)
    assert response.success_count == 20
    for token in tokens:
        with Receiver(host, token) as receiver:
            assert receiver.next()['data'] == {'k': 'v'}


@pytest.mark.parametrize('subscribe, unsubscribe, reason', [
    (messaging.subscribe_to_topic, messaging.unsubscribe_from_topic, 'UNREGISTERED'),
    (messaging.subscribe_to_topic_legacy, messaging.unsubscribe_from_topic_legacy, 'INVALID_ARGUMENT'),
], ids=['subscriptions', 'instances'])
def test_topics(app, admin, host, subscribe, unsubscribe, reason):
    tokens = [admin.register()['token'] for _ in range(2)]
    for _ in range(2):
        response = subscribe([*tokens, 'garbage'], 'news', app=app)
        assert (response.success_count, response.failure_count) == (2, 1)
        assert (response.errors[0].index, response.errors[0].reason) == (2, reason)
    for _ in range(2):
        assert unsubscribe(tokens[1], '/topics/news', app=app).success_count == 1
    name = messaging.send(messaging.Message(topic='news', data={'k': 'v'}), app=app)
    admin.settled(name)
    with Receiver(host, tokens[0]) as first, Receiver(host, tokens[1]) as second:
        assert first.next()['from'] == '/topics/news'
        assert second.ready['pending'] == 0


def test_errors(app, admin):
    token = admin.register()['token']
    with pytest.raises(messaging.UnregisteredError):
        messaging.send(messaging.Message(token='fGw0qy4TGgk:APA91bGtWGjuhp4WRhHXgbabIYp1jxEKI08ofj_v1bKh'), app=app)
    with pytest.raises(exceptions.InvalidArgumentError, match='Invalid data payload key: from'):
        messaging.send(messaging.Message(token=token, data={'from': 'x'}), app=app)
    admin.control('fault', fault='third_party_auth')
    with pytest.raises(messaging.ThirdPartyAuthError):
        messaging.send(messaging.Message(token=token), app=app)
    admin.control('fault')


def test_a_quota(launch):
    host = launch([], mode='development', config={'project': PROJECT, 'messaging': {'quotas': {'devicePerHour': 2}}})
    admin = Messaging(host, PROJECT)
    token = admin.register()['token']
    for _ in range(2):
        admin.send({'token': token})
    answer = admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {'token': token}})
    assert answer.status == 429
    assert 0 < int(answer.header('Retry-After')) <= 3600
    details = {detail['@type'].rpartition('.')[2]: detail for detail in answer.json['error']['details']}
    assert details['FcmError']['errorCode'] == 'QUOTA_EXCEEDED'
    assert details['QuotaFailure']['violations'][0]['description'] == 'Device message quota exceeded.'
    admin.close()
