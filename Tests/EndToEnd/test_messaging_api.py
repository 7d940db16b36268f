"""Interfaces beyond the cases of the specification: the service's own API, the instance API, topic subscriptions, browsers."""

import json

import pytest

from messaging import OWN, Messaging, Receiver, assertion
from tokens import PROJECT, base64url

P256DH = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'


@pytest.fixture(scope='module')
def host(messaging_host):
    return messaging_host


def test_a_device_from_its_registration_to_its_end(admin):
    device = admin.register('ios', 'com.example.ios', name='phone')
    path = f"{OWN}/projects/{PROJECT}/devices/{device['fid']}"
    assert admin.do('GET', path)['name'] == 'phone'
    assert admin.do('PATCH', path, {'name': 'other'})['name'] == 'other'
    assert [item['fid'] for item in admin.do('GET', f'{OWN}/projects/{PROJECT}/devices')['devices']] == [device['fid']]
    assert admin.do('DELETE', path) == {}
    assert admin.ask('GET', path).status == 404


def test_devices_come_in_pages(admin):
    fids = [admin.register()['fid'] for _ in range(5)]
    found, token = [], ''
    while token is not None:
        page = admin.do('GET', f'{OWN}/projects/{PROJECT}/devices?page_size=2&page_token={token}')
        found += [device['fid'] for device in page['devices']]
        token = page.get('next_page_token')
    assert found == fids


def test_an_application_registers_with_its_key_only(admin, host):
    answer = host.request('POST', f'{OWN}/projects/{PROJECT}/devices', {'x-goog-api-key': 'k'}, '{"platform": "android"}')
    assert answer.status == 200
    chosen = '{"platform": "android", "fid": "cAndroidOne00000000001"}'
    assert host.request('POST', f'{OWN}/projects/{PROJECT}/devices', {'x-goog-api-key': 'k'}, chosen).status == 400
    assert host.request('POST', f'{OWN}/projects/{PROJECT}/devices', {}, '{"platform": "android"}').status == 401


def test_long_polling(admin, host):
    token = admin.register()['token']
    assert host.request('GET', f'{OWN}/devices/{token}/messages').json == {'messages': []}
    with host.wire() as wire:
        wire.send_request('GET', f'{OWN}/devices/{token}/messages?wait=20')
        admin.send({'token': token, 'data': {'k': 'v'}})
        assert [message['data'] for message in wire.response().json['messages']] == [{'k': 'v'}]


def test_what_is_asked_of_an_unknown_token(host):
    for part, method in (('events', 'GET'), ('messages', 'GET'), ('acks', 'POST'), ('unregister', 'POST')):
        answer = host.request(method, f'{OWN}/devices/unknown/{part}', {}, '{"message_ids": []}' if method == 'POST' else '')
        assert (answer.status, answer.json['error']['status']) == (404, 'NOT_FOUND'), part


def test_the_instance_api(admin):
    device = admin.register('ios', 'com.example.ios')
    assert admin.do('POST', f"/iid/v1/{device['token']}/rel/topics/news", {}) == {}
    info = admin.do('GET', f"/iid/info/{device['token']}?details=true")
    assert info | {'application': 'com.example.ios', 'platform': 'IOS'} == info
    assert list(info['rel']['topics']) == ['news']
    tokens = ['ab' * 32, 'cd' * 32, 'not hex']
    imported = admin.do('POST', '/iid/v1:batchImport', {'application': 'com.example.ios', 'sandbox': True, 'apns_tokens': tokens})['results']
    assert [item['status'] for item in imported] == ['OK', 'OK', 'INVALID_ARGUMENT']
    again = admin.do('POST', '/iid/v1:batchImport', {'application': 'com.example.ios', 'sandbox': True, 'apns_tokens': tokens})['results']
    assert again == imported


def test_topic_subscriptions(admin):
    device = admin.register()
    path = f"/v1/projects/{PROJECT}/registrations/{device['fid']}/topicSubscriptions"
    for name in ('c', 'a', 'b'):
        assert admin.do('POST', f'{path}?topic_name={name}', {})['topic_name'] == name
    assert admin.ask('POST', f'{path}?topicName=a', {}).json['error']['status'] == 'ALREADY_EXISTS'
    page = admin.do('GET', f'{path}?page_size=2')
    assert [item['topic_name'] for item in page['topic_subscriptions']] == ['a', 'b']
    rest = admin.do('GET', f"{path}?page_size=2&page_token={page['next_page_token']}")
    assert [item['topic_name'] for item in rest['topic_subscriptions']] == ['c'] and 'next_page_token' not in rest
    assert admin.ask('PATCH', f'{path}/d', {}).status == 404
    assert admin.ask('GET', f'/v1/projects/{PROJECT}/registrations/cUnknown00000000000001/topicSubscriptions').status == 404
    topics = admin.do('GET', f'{OWN}/projects/{PROJECT}/topics')['topics']
    assert topics == [{'name': name, 'subscriber_count': 1} for name in 'abc']


def test_a_browser_registers(admin, host):
    key = {'x-goog-api-key': 'k'}
    made = host.request('POST', f'/v1/projects/{PROJECT}/installations', key, '{"appId": "1:1:web:1", "authVersion": "FIS_v2"}').json
    auth = {**key, 'x-goog-firebase-installations-auth': f"FIS {made['authToken']['token']}"}
    web = {'origin': 'http://localhost', 'endpoint': 'https://push.example.com/x', 'p256dh': P256DH, 'auth': 'BTBZMqHH6r4Tts7J_aSIgg',
           'applicationPubKey': P256DH}
    answer = admin.ask('POST', f'/v1/projects/{PROJECT}/registrations', {'web': web}, headers=auth)
    assert answer.status == 200, answer.body
    assert answer.json['token'].startswith(f"{made['fid']}:APA91b")
    assert answer.json['name'] == f"projects/{PROJECT}/registrations/{made['fid']}"
    topic = f"/v1/projects/{PROJECT}/registrations/{made['fid']}/topicSubscriptions/news"
    assert host.request('POST', f'{topic}:subscribe', auth, '{}').status == 200
    assert admin.subscribers('news') == {made['fid']}
    assert host.request('POST', f'{topic}:unsubscribe', auth, '{}').status == 200
    assert admin.subscribers('news') == set()
    renewed = host.request('POST', f"/v1/projects/{PROJECT}/installations/{made['fid']}/authTokens:generate",
                           {**key, 'Authorization': f"FIS_v2 {made['refreshToken']}"}, '{}')
    assert renewed.json['expiresIn'] == '604800s'
    registration = f"/v1/projects/{PROJECT}/registrations/{answer.json['token']}"
    assert host.request('DELETE', registration, {**auth, 'x-goog-firebase-installations-auth': 'FIS no'}).status == 401
    assert host.request('DELETE', registration, auth).status == 200
    assert admin.refused({'token': answer.json['token']})['status'] == 'NOT_FOUND'


@pytest.mark.parametrize('issued, expires', [(-2 ** 63, 2 ** 63 - 1), (2 ** 63 - 1, -2 ** 63), (-1, 1), (2 ** 63 - 1, 2 ** 63 - 1)])
def test_a_grant_of_all_time(issued, expires, host):
    """Its numbers are anybody's: they are refused, and nothing is reckoned with them that does not fit."""
    claims = {'iss': 'nobody', 'aud': f'http://127.0.0.1:{host.port}/token', 'iat': issued, 'exp': expires}
    parts = [base64url(json.dumps(part).encode()) for part in ({'alg': 'RS256'}, claims)]
    form = f"grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={'.'.join(parts)}.AAAA"
    answer = host.request('POST', '/token', {'content-type': 'application/x-www-form-urlencoded'}, form)
    assert (answer.status, answer.json['error']) == (400, 'invalid_grant')
    assert 'reasonable timeframe' in answer.json['error_description']
    assert host.request('GET', '/_/ready').status == 200


def test_a_send_that_is_repeated(admin, host):
    token = admin.register()['token']
    path, body = f'/v1/projects/{PROJECT}/messages:send', {'message': {'token': token, 'data': {'k': 'v'}}}
    names = {admin.ask('POST', path, body, headers={'X-Idempotency-Key': 'one'}).json['name'] for _ in range(3)}
    assert len(names) == 1
    with Receiver(host, token) as receiver:
        assert receiver.ready['pending'] == 1


def test_what_became_of_a_message(admin):
    devices = [admin.register() for _ in range(2)]
    admin.subscribe('news', [device['token'] for device in devices])
    name = admin.send({'topic': 'news', 'data': {'k': 'v'}, 'android': {'ttl': '60s'}})
    admin.settled(name)
    assert admin.message(name)['pending_count'] == 2
    admin.control('clock', advance_seconds=61)
    outcomes = admin.message(name)['outcomes']
    assert {(item['fid'], item['outcome']) for item in outcomes} == {(device['fid'], 'expired') for device in devices}
    listed = admin.do('GET', f'{OWN}/projects/{PROJECT}/messages')['messages']
    assert [item['name'] for item in listed] == [name]


def test_production_has_no_shortcuts(launch):
    host = launch([], mode='production', config={'project': PROJECT})
    admin = Messaging(host, PROJECT)
    message = {'message': {'topic': 'news'}}
    assert admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', message, token='owner').status == 401
    assert admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', message).status == 200
    assert admin.ask('POST', f'{OWN}/control/reset', {}).status == 404
    admin.close()


def test_a_body_that_is_too_large(host, admin):
    answer = admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {'topic': 'a', 'data': {'k': 'x' * (1 << 20)}}})
    assert answer.status == 413
    assert answer.json['error']['message'].startswith('Request payload size exceeds the limit')


@pytest.mark.parametrize('issued, expires', [(-60, 3600), (-3600, 60), (0, 3600), (-60, 3660)])
def test_a_grant_that_ends_within_an_hour_and_the_skew(issued, expires, admin, host):
    """Google's PHP library dates its grants a minute back and has them end an hour ahead."""
    account = admin.account('php')
    assert grant(host, assertion(account, admin.now(), iat=issued, exp=expires)).status == 200


@pytest.mark.parametrize('issued, expires', [(0, 3600 + 400), (-60, 86_400), (400, 3600), (-7200, -400)])
def test_a_grant_outside_of_that(issued, expires, admin, host):
    answer = grant(host, assertion(admin.account('php'), admin.now(), iat=issued, exp=expires))
    assert (answer.status, answer.json['error']) == (400, 'invalid_grant')


def grant(host, text):
    form = f'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={text}'
    return host.request('POST', '/token', {'content-type': 'application/x-www-form-urlencoded'}, form)


def test_the_details_of_an_instance(admin):
    device = admin.register()
    admin.subscribe('news', [device['token']])
    short = admin.do('GET', f"/iid/info/{device['token']}")
    assert {'application', 'applicationVersion', 'authorizedEntity', 'platform'} == set(short)
    info = admin.do('GET', f"/iid/info/{device['token']}?details=true")
    day = info['rel']['topics']['news']['addDate']
    assert info == {**short, 'rel': {'topics': {'news': {'addDate': day}}}, 'connectDate': day, 'connectionType': 'UNKNOWN', 'scope': '*'}
