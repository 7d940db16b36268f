"""Messages go on to where a device registered: a browser's push service (RFC 8030, 8291, 8292), and Apple's. Both are fakes on this
machine that look closely at what they are sent."""

import json
import stat

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from certificates import make_certificate
from messaging import Messaging
from processes import until
from push_services import Apple, Browser
from tokens import PROJECT, base64url

KEY = {'x-goog-api-key': 'AIza-test'}
FID = 'cBrowserOne00000000001'


@pytest.fixture
def browser():
    with Browser() as service:
        yield service


def pushing(launch, **more):
    settings = {'webPush': {'subject': 'mailto:ops@example.com', 'localEndpoints': True}, **more}
    host = launch([], config={'messaging': settings}, mode='development')
    return Messaging(host, PROJECT)


def public_key(messaging):
    return messaging.do('GET', f'/_messaging/v1/projects/{PROJECT}/webPush')['publicKey']


def register(messaging, subscription, fid=FID):
    """Registers like the web SDK: an installation, then a registration with its token."""
    body = {'fid': fid, 'authVersion': 'FIS_v2', 'appId': '1:1:web:1', 'sdkVersion': 'w:0.6.4'}
    made = messaging.ask('POST', f'/v1/projects/{PROJECT}/installations', body, headers=KEY)
    assert made.status == 200, made.body
    headers = {**KEY, 'x-goog-firebase-installations-auth': 'FIS ' + made.json['authToken']['token']}
    web = {'origin': 'https://app.example.com', 'applicationPubKey': public_key(messaging), **subscription}
    answer = messaging.ask('POST', f'/v1/projects/{PROJECT}/registrations', {'web': web}, headers=headers)
    assert answer.status == 200, answer.body
    return answer.json['token']


def outcomes(messaging, name):
    return [(outcome['outcome'], outcome.get('detail', '')) for outcome in messaging.message(name)['outcomes']]


def test_a_browser_is_pushed_to(launch, browser):
    messaging = pushing(launch)
    token = register(messaging, browser.subscription())
    name = messaging.send({'token': token, 'notification': {'title': 'Hi', 'body': 'you'}, 'data': {'a': '1'},
                           'webpush': {'headers': {'TTL': '60', 'Urgency': 'high', 'Topic': 'news'}, 'fcm_options': {'link': 'https://a.example/'}}})
    until(lambda: browser.requests, 'the push arrives')
    push = browser.requests[0]
    text = browser.opened(push)
    assert text['notification'] == {'title': 'Hi', 'body': 'you', 'click_action': 'https://a.example/'}
    assert text['data'] == {'a': '1'} and text['fcmOptions'] == {'link': 'https://a.example/'}
    assert text['fcmMessageId'] == name.rpartition('/')[2]
    assert push.headers['urgency'] == 'high' and push.headers['topic'] == 'news' and 0 <= int(push.headers['ttl']) <= 60
    assert push.headers['content-encoding'] == 'aes128gcm'
    key, claims = browser.sender(push)
    assert key == public_key(messaging) and claims['sub'] == 'mailto:ops@example.com'
    until(lambda: outcomes(messaging, name) == [('delivered', '')], 'it counts as delivered')


def test_the_key_is_kept_and_secret(launch, browser):
    messaging = pushing(launch)
    key = public_key(messaging)
    file = messaging.host.data / 'messaging/web-push-key.pem'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    messaging.close()
    messaging.host.stop()
    messaging.host.start()
    assert public_key(Messaging(messaging.host, PROJECT)) == key


def test_a_key_whose_writer_was_interrupted_is_made_again(prepare):
    """The files that a machine leaves that stopped while the first host started."""
    host = prepare([], config={'messaging': {'webPush': {'subject': 'mailto:ops@example.com'}}}, mode='development')
    folder = host.data / 'messaging'
    folder.mkdir(mode=0o700, parents=True)
    (folder / 'web-push-key.pem').write_bytes(b'')
    (folder / 'web-push-key.pem.new').write_text('-----BEGIN PRI')
    host.start()
    assert public_key(Messaging(host, PROJECT))
    assert stat.S_IMODE((folder / 'web-push-key.pem').stat().st_mode) == 0o600
    assert not (folder / 'web-push-key.pem.new').exists()



@pytest.mark.parametrize('status', [404, 410])
def test_a_dead_subscription_ends_the_registration(launch, browser, status):
    messaging = pushing(launch)
    token = register(messaging, browser.subscription())
    browser.answers.append((status, {}, b''))
    messaging.send({'token': token, 'data': {'a': '1'}})

    def is_gone():
        answer = messaging.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {'token': token}})
        return answer.status == 404 and answer.json['error']['details'][0]['errorCode'] == 'UNREGISTERED'
    until(is_gone, 'the sender hears that the token is dead')


def test_what_fails_for_a_while_is_tried_again(launch, browser):
    messaging = pushing(launch)
    token = register(messaging, browser.subscription())
    browser.answers.extend([(503, {}, b''), (429, {'Retry-After': '1'}, b''), (500, {}, b'')])
    name = messaging.send({'token': token, 'data': {'a': '1'}})
    until(lambda: len(browser.requests) >= 4, 'the fourth attempt', 60)
    until(lambda: outcomes(messaging, name) == [('delivered', '')], 'it counts as delivered')
    assert len({request.body[:16] for request in browser.requests}) == len(browser.requests), 'a salt was used twice'


def test_a_new_connection_that_breaks_is_another_attempt(launch, browser):
    messaging = pushing(launch)
    token = register(messaging, browser.subscription())
    browser.answers.append('reset')
    name = messaging.send({'token': token, 'data': {'a': '1'}})
    until(lambda: outcomes(messaging, name) == [('delivered', '')], 'it counts as delivered')
    first, second = browser.requests
    assert first.body[:16] != second.body[:16], 'a salt was used twice'


def test_a_kept_connection_that_breaks_is_replaced_at_once(launch, browser):
    """Services close connections that they find idle: no failure of theirs, and no attempt lost."""
    messaging = pushing(launch)
    token = register(messaging, browser.subscription())
    browser.answers.append((201, {}, b''))
    for count in range(1, 11):
        name = messaging.send({'token': token, 'data': {'a': str(count)}})
        until(lambda: outcomes(messaging, name) == [('delivered', '')], 'it counts as delivered')
        broken, sent = ([None] + browser.requests)[-2:]
        assert broken is None or broken.body == sent.body, 'it was an attempt of its own'
        assert len(browser.requests) == 2 * count - 1
        browser.answers.append('reset')


@pytest.mark.parametrize('status', [400, 403, 413])
def test_what_is_refused_for_good_is_not(launch, browser, status):
    messaging = pushing(launch)
    token = register(messaging, browser.subscription())
    browser.answers.append((status, {}, b'bad JWT'))
    name = messaging.send({'token': token, 'data': {'a': '1'}})
    until(lambda: [outcome for outcome, _ in outcomes(messaging, name)] == ['forward_failed'], 'it has failed')
    assert len(browser.requests) == 1


def test_private_addresses_are_not_sent_to(launch, browser):
    """Registering a browser must not make the host send requests to its own network."""
    messaging = pushing(launch, webPush={'subject': 'mailto:ops@example.com'})
    token = register(messaging, browser.subscription())
    name = messaging.send({'token': token, 'data': {'a': '1'}})
    until(lambda: outcomes(messaging, name)[:1] and outcomes(messaging, name)[0][0] == 'forward_failed', 'it has failed')
    assert 'not an https address of a public host' in outcomes(messaging, name)[0][1]
    assert browser.requests == []


def test_a_message_survives_the_host(launch, prepare, browser):
    messaging = pushing(launch)
    token = register(messaging, browser.subscription())
    browser.answers.extend([(503, {'Retry-After': '3600'}, b'')])
    messaging.send({'token': token, 'data': {'a': '1'}})
    until(lambda: len(browser.requests) == 1, 'the first attempt')
    messaging.close()
    messaging.host.kill()
    messaging.host.start()
    until(lambda: len(browser.requests) == 2, 'the message is handed over again', 30)
    assert browser.opened(browser.requests[1])['data'] == {'a': '1'}


# -- Apple

@pytest.fixture
def apple(tmp_path):
    make_certificate(tmp_path)
    with Apple(tmp_path / 'cert.pem', tmp_path / 'key.pem') as service:
        yield service


def apns_key(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    path = folder / 'AuthKey.p8'
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path, key


def sending_to_apple(launch, apple, tmp_path):
    path, key = apns_key(tmp_path)
    settings = {'apns': {'key': str(path), 'keyId': 'ABCDE12345', 'teamId': 'FGHIJ67890', 'productionUrl': apple.url, 'sandboxUrl': apple.url},
                'certificateAuthority': str(tmp_path / 'cert.pem')}
    messaging = Messaging(launch([], config={'messaging': settings}, mode='development'), PROJECT)
    answer = messaging.do('POST', '/iid/v1:batchImport', {'application': 'com.example.app', 'sandbox': True, 'apns_tokens': ['ab' * 32]})
    return messaging, answer['results'][0]['registration_token'], key


def test_apple_is_sent_to(launch, apple, tmp_path):
    messaging, token, key = sending_to_apple(launch, apple, tmp_path)
    names = []
    for number in range(3):
        names.append(messaging.send({'token': token, 'notification': {'title': 'Hi'}, 'data': {'a': str(number)}}))
        until(lambda: len(apple.requests) == len(names), 'the message arrives')
    request = apple.requests[0]
    assert (request.method, request.path) == ('POST', '/3/device/' + 'ab' * 32)
    assert request.body['aps'] == {'alert': {'title': 'Hi'}} and request.body['a'] == '0'
    assert request.headers['apns-topic'] == 'com.example.app' and request.headers['apns-push-type'] == 'alert'
    scheme, _, text = request.headers['authorization'].partition(' ')
    assert scheme == 'bearer' and jwt.get_unverified_header(text)['kid'] == 'ABCDE12345'
    assert jwt.decode(text, key.public_key(), algorithms=['ES256'])['iss'] == 'FGHIJ67890'
    for name in names:
        until(lambda: outcomes(messaging, name) == [('delivered', '')], 'it counts as delivered')
    assert apple.connections == 1, 'messages share a connection'
    assert len({request.headers['authorization'] for request in apple.requests}) == 1, 'and a token'


def test_an_old_token_is_made_anew(launch, apple, tmp_path):
    messaging, token, _ = sending_to_apple(launch, apple, tmp_path)
    apple.answers.extend([(403, 'ExpiredProviderToken'), (200, None)])
    name = messaging.send({'token': token, 'notification': {'title': 'Hi'}})
    until(lambda: outcomes(messaging, name) == [('delivered', '')], 'it counts as delivered')
    assert len(apple.requests) == 2


def test_a_device_that_is_gone_is_unregistered(launch, apple, tmp_path):
    messaging, token, _ = sending_to_apple(launch, apple, tmp_path)
    apple.answers.append((410, 'Unregistered'))
    messaging.send({'token': token, 'notification': {'title': 'Hi'}})
    until(lambda: messaging.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {'token': token}}).status == 404, 'it is gone')


def test_a_key_that_is_none_stops_the_start(prepare, tmp_path):
    path = tmp_path / 'no.p8'
    path.write_text(json.dumps({'key': base64url(b'none')}))
    settings = {'apns': {'key': str(path), 'keyId': 'ABCDE12345', 'teamId': 'FGHIJ67890'}}
    host = prepare([], config={'messaging': settings}).spawn()
    assert host.process.wait(30) == 1
    assert 'is not a P-256 private key in PEM' in host.log
    host.process = None
