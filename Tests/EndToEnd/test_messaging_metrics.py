"""Metrics of push messages, as Prometheus reads them."""

import json

import pytest

from hearth import Host
from messaging import Messaging, Receiver
from processes import until
from push_services import Google
from test_metrics import grown, scraped, value
from tokens import PROJECT

TOKEN = 'cTokenOne0000000000001:' + 'A' * 40


@pytest.fixture(scope='module')
def messaging_host(tmp_path_factory):
    settings = {'limits': {'pendingMessages': 3}, 'quotas': {'devicePerMinute': 8}}
    host = Host(tmp_path_factory.mktemp('figures'), [], mode='development', config={'messaging': settings}).start()
    yield host
    host.stop()


@pytest.fixture
def host(messaging_host):
    return messaging_host


def sends(outcome):
    return 'hearth_messaging_sends_total', {'outcome': outcome}


def deliveries(outcome):
    return 'hearth_messaging_deliveries_total', {'outcome': outcome}


def gauge(host, name):
    return value(scraped(host), f'hearth_messaging_{name}')


def test_sends_by_outcome(host, admin):
    def act():
        token = admin.register()['token']
        for _ in range(2):
            admin.send({'token': token, 'data': {'k': 'v'}, 'android': {'collapse_key': 'k'}})
        admin.send({'topic': 'nobody'})
        admin.send({'topic': 'nobody'}, validate_only=True)
        admin.refused({'topic': 'no spaces'})
        admin.refused({'token': TOKEN})
        assert admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {'topic': 't'}}, token='wrong').status == 401
        for fault in ('unavailable', 'internal'):
            admin.control('fault', fault=fault)
            admin.refused({'topic': 'nobody'})
        admin.control('fault', fault='')
    wanted = {'accepted': 3, 'checked': 1, 'invalid': 1, 'unregistered': 1, 'forbidden': 1, 'quotaExceeded': 0, 'unavailable': 1, 'failed': 1}
    found = grown(host, act, *[sends(outcome) for outcome in wanted], ('hearth_messaging_commit_seconds_count', {}),
                  ('hearth_messaging_commit_sends_sum', {}))
    assert dict(zip(wanted, found, strict=False)) == wanted
    assert found[-2:] == [3, 3]


def test_quotas(host, admin):
    token = admin.register()['token']

    def act():
        for number in range(9):
            admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {'token': token, 'android': {'collapse_key': 'k'}}})
    # The minute may end meanwhile.
    for _ in range(2):
        if grown(host, act, sends('quotaExceeded')) != [0]:
            return
    pytest.fail('no send was refused')


def test_deliveries_and_what_waits(host, admin):
    token = admin.register()['token']
    before = gauge(host, 'pending_messages')

    def act():
        for _ in range(2):
            admin.send({'token': token, 'android': {'collapse_key': 'k'}, 'data': {'k': 'v'}})
        admin.send({'token': token, 'android': {'ttl': '0s'}})
        admin.send({'token': token, 'data': {'k': 'v'}})
        assert gauge(host, 'pending_messages') == before + 2
        with Receiver(host, token, acknowledges=True) as receiver:
            receiver.next(), receiver.next()
            until(lambda: gauge(host, 'pending_messages') == before, 'nothing waits')
            assert gauge(host, 'connected_devices') == 1
        until(lambda: gauge(host, 'connected_devices') == 0, 'nobody is connected')
    outcomes = {'delivered': 2, 'collapsed_by': 1, 'dropped_ttl0': 1, 'expired': 0, 'forward_failed': 0}
    assert dict(zip(outcomes, grown(host, act, *[deliveries(name) for name in outcomes]), strict=True)) == outcomes


def test_overflow_and_expiry(host, admin):
    token = admin.register()['token']

    def act():
        for _ in range(4):
            admin.send({'token': token, 'data': {'k': 'v'}})
        admin.send({'token': token, 'data': {'k': 'v'}, 'android': {'ttl': '5s'}})
        admin.control('clock', advance_seconds=10)
        with Receiver(host, token):
            pass
    assert grown(host, act, deliveries('overflow'), deliveries('expired'), ('hearth_messaging_pending_messages', {})) == [4, 1, 0]


def test_what_waits_is_known_after_a_crash(launch):
    host = launch([], mode='development')
    admin = Messaging(host, PROJECT)
    devices = [admin.register()['token'] for _ in range(3)]
    admin.subscribe('news', devices)
    admin.settled(admin.send({'topic': 'news', 'data': {'k': 'v'}}))
    assert gauge(host, 'fan_outs') == 0
    assert gauge(host, 'pending_messages') == 3
    host.kill()
    host.start()
    until(lambda: gauge(host, 'pending_messages') == 3, 'three wait')
    assert value(scraped(host), *sends('accepted')[:1]) == 0


def test_google(launch, tmp_path):
    with Google(PROJECT) as google:
        (tmp_path / 'key.json').write_text(json.dumps(google.key_file()))
        settings = {'backend': 'google', 'google': {'serviceAccount': str(tmp_path / 'key.json'), 'sendUrl': google.url, 'topicUrl': google.url}}
        host = launch([], mode='development', config={'messaging': settings})
        admin = Messaging(host, PROJECT)

        def act():
            admin.send({'topic': 'news'})
            # The first break is that of a kept connection, which is replaced at once.
            for answers in (['reset', 'reset'], [(503, {}, {'error': {'status': 'UNAVAILABLE'}})]):
                google.answers.extend(answers)
                admin.send({'topic': 'news'})
            google.answers.append((404, {}, {'error': {'status': 'NOT_FOUND', 'details': [
                {'@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', 'errorCode': 'UNREGISTERED'}]}}))
            admin.refused({'token': TOKEN})
        calls = [('hearth_messaging_google_calls_total', {'code': code}) for code in ('2xx', '4xx', '5xx', 'none')]
        found = grown(host, act, *calls, ('hearth_messaging_google_retries_total', {}), ('hearth_messaging_google_call_seconds_count', {}),
                      sends('accepted'), sends('unregistered'))
        assert found == [3, 1, 1, 1, 2, 6, 3, 1]
        assert gauge(host, 'google_waiting') == 0
