"""`hearth messaging:send`, `messaging:devices`, `messaging:topics`: what arrives, and what is said where nothing does."""

import http.server
import json
import threading

import pytest

from commands import Commands
from messaging import Receiver
from tokens import PROJECT

NOBODY = 'cNobody000000000000001:APA91bNobodyNobodyNobodyNobody'


@pytest.fixture
def host(messaging_host):
    return messaging_host


@pytest.fixture
def hearth(host, tmp_path):
    return Commands(host, tmp_path / 'here')


def test_a_device_gets_it(host, admin, hearth):
    device = admin.register()
    with Receiver(host, device['token'], acknowledges=True) as receiver:
        name = hearth.succeeds('messaging:send', '--device', device['token'], '--title', 'Goal', '--body', '-1 : 0',
                               '--image', 'http://a.example/g.png', '--data', 'score=3', '--data', 'sum=1+1=2', '--data', 'none=')
        got = receiver.next()
        assert f"projects/{PROJECT}/messages/{got['message_id']}\n" == name
        assert got['notification'] == {'title': 'Goal', 'body': '-1 : 0', 'image': 'http://a.example/g.png'}
        assert got['data'] == {'score': '3', 'sum': '1+1=2', 'none': ''}
        said = hearth.result('messaging:send', '--fid', device['fid'], '--data', 'k=v')
        got = receiver.next()
        assert said == {'name': f"projects/{PROJECT}/messages/{got['message_id']}"} and got['data'] == {'k': 'v'}


def test_subscribers_get_it(host, admin, hearth):
    first, second = admin.register(), admin.register()
    admin.subscribe('news', [first['token'], second['token']])
    admin.subscribe('sport', [second['token']])
    with Receiver(host, first['token']) as one, Receiver(host, second['token']) as two:
        hearth.succeeds('messaging:send', '--topic', 'news', '--data', 'n=1')
        assert (one.next()['data'], two.next()['data']) == ({'n': '1'}, {'n': '1'})
        hearth.succeeds('messaging:send', '--condition', "'news' in topics && !('sport' in topics)", '--data', 'n=2')
        assert one.next()['data'] == {'n': '2'}
        hearth.succeeds('messaging:send', '--topic', 'sport', '--data', 'n=3')
        assert two.next()['data'] == {'n': '3'}


@pytest.mark.parametrize('form', ['text', 'file', 'marked', 'input', 'request'])
def test_a_whole_message(form, host, admin, hearth):
    device = admin.register()
    message = {'token': device['token'], 'data': {'a': '1', 'b': '2'}, 'android': {'priority': 'high', 'collapse_key': 'k'}}
    text = json.dumps({'message': message} if form == 'request' else message)
    (hearth.folder / 'message.json').write_text(text)
    source = {'text': text, 'file': 'message.json', 'marked': '@message.json', 'input': '-', 'request': 'message.json'}[form]
    with Receiver(host, device['token']) as receiver:
        hearth.succeeds('messaging:send', '--message', source, '--data', 'b=3', '--title', 't', given=text)
        got = receiver.next()
        assert (got['data'], got['priority'], got['notification']) == ({'a': '1', 'b': '3'}, 'high', {'title': 't'})


def test_a_dry_run_sends_nothing(host, admin, hearth):
    device = admin.register()
    assert hearth.succeeds('messaging:send', '--device', device['token'], '--data', 'n=1', '--dry-run') == 'The message is valid; nothing was sent\n'
    assert hearth.result('messaging:send', '--fid', device['fid'], '--data', 'n=1', '--dry-run') == {'dryRun': True}
    assert 'nothing was sent' in hearth.succeeds('messaging:send', '--message', '{message: {topic: "t"}, validate_only: true}')
    with Receiver(host, device['token']) as receiver:
        assert receiver.ready['pending'] == 0
    assert 'delete its token' in hearth.run('messaging:send', '--device', NOBODY, '--dry-run').sentence


# -- refusals

def test_fields_are_named(hearth):
    outcome = hearth.run('messaging:send', '--topic', 'news', '--data', 'from=x', '--json', '--message',
                         '{android: {ttl: "3000000s", notification: {color: "red"}}}')
    assert outcome.sentence.startswith('the message is refused: message.data: ')
    assert 'message.android.ttl: ' in outcome.sentence and 'message.android.notification.color: must be #RRGGBB' in outcome.sentence
    assert outcome.json['error'] == outcome.sentence
    details = outcome.json['details']
    assert details['code'] == 'INVALID_ARGUMENT' and details['message']
    assert [field['field'] for field in details['fields']] == ['message.data', 'message.android.ttl', 'message.android.notification.color']


@pytest.mark.parametrize('message,said', [
    ('{data: {k: 1}}', "'message.data[0].value'"), ('{nonsense: 1}', 'Unknown name "nonsense" at \'message\''),
    ('{android: {ttl: "60"}}', "'message.android.ttl'"), ('{data: {k: "%s"}}' % ('x' * 5000), 'message.data: size 5001 exceeds 4096'),
])
def test_a_message_that_is_none(message, said, hearth):
    sentence = hearth.run('messaging:send', '--topic', 'news', '--message', message).sentence
    assert sentence.startswith('the message is refused: ') and said in sentence
    assert sentence.count(said) == 1


def test_receivers_that_are_none(admin, hearth):
    assert 'the receiver is not registered' in hearth.run('messaging:send', '--device', NOBODY, '--title', 't').sentence
    assert hearth.run('messaging:send', '--device', NOBODY, '--title', 't', '--json').json['details']['code'] == 'UNREGISTERED'
    assert 'message.token: ' in hearth.run('messaging:send', '--device', 'x', '--title', 't').sentence
    assert 'invalid characters' in hearth.run('messaging:send', '--topic', 'a b', '--title', 't').sentence
    assert 'message.condition: ' in hearth.run('messaging:send', '--condition', 'news', '--title', 't').sentence


def test_faults(admin, hearth):
    for fault, said in (('unavailable', 'try again in'), ('internal', "see the host's log"), ('third_party_auth', 'messaging.apns')):
        admin.control('fault', fault=fault)
        assert said in hearth.run('messaging:send', '--topic', 'news', '--title', 't').sentence
    admin.control('fault', fault='')
    assert 'HEARTH_TOKEN' in hearth.run('messaging:send', '--topic', 'news', '--title', 't', '--token', 'wrong').sentence
    assert 'hearth serve' in hearth.run('messaging:send', '--topic', 'news', '--url', 'http://127.0.0.1:1').sentence


class Answers(http.server.BaseHTTPRequestHandler):
    """A host whose messaging service gives prepared answers."""

    protocol_version = 'HTTP/1.1'
    said = (200, {}, b'')

    def do_GET(self):
        self.answer(200, {}, b'{"project": "p", "mode": "development"}')

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.answer(*self.said)

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in {**headers, 'Content-Length': str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def refusal(status, name, code=None, message='words.'):
    details = [{'@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', 'errorCode': code}] if code else []
    return json.dumps({'error': {'code': status, 'message': message, 'status': name, 'details': details}}).encode()


@pytest.mark.parametrize('status,headers,body,said', [
    (429, {'Retry-After': '30'}, refusal(429, 'RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED'), 'too many messages (words); try again in 30 seconds'),
    (503, {'Retry-After': '1'}, refusal(503, 'UNAVAILABLE', 'UNAVAILABLE'), 'try again in 1 second'),
    (403, {}, refusal(403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH'), 'another project than p'),
    (403, {}, refusal(403, 'PERMISSION_DENIED'), 'admin-token'),
    (404, {}, b'<html>', 'does not know this URL'), (200, {}, b'{}', 'not a Hearth host'),
])
def test_answers_of_other_services(status, headers, body, said, tmp_path):
    answers = type('These', (Answers,), {'said': (status, headers, body)})
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        hearth = Commands(None, tmp_path / 'here', url=f'http://127.0.0.1:{server.server_port}')
        assert said in hearth.run('messaging:send', '--topic', 'news', '--title', 't').sentence
    finally:
        server.shutdown()


# -- what is typed

@pytest.mark.parametrize('arguments,said', [
    ([], '--device, --fid, --topic or --condition'), (['--title', 't'], '--device, --fid, --topic or --condition'),
    (['--token', 'x:y'], "--token is the administrator's, a device's goes with --device"),
    (['--topic', 'a', '--fid', 'b'], '--fid and --topic'), (['--topic', 'a', '--data', 'k'], 'KEY=VALUE'),
    (['--topic', 'a', '--data', '=v'], 'KEY=VALUE'), (['--topic', 'a', '--data', 'k=1', '--data', 'k=2'], 'the key k twice'),
    (['--topic'], '--topic'),
])
def test_wrong_arguments(arguments, said, hearth):
    outcome = hearth.run('messaging:send', *arguments)
    assert (outcome.status, outcome.output) == (64, '')
    assert said in outcome.error and 'hearth messaging:send --help' in outcome.error


@pytest.mark.parametrize('arguments,said', [
    (['--message', 'nowhere.json'], 'cannot be read'), (['--message', '{a:'], 'not JSON (1:'), (['--message', '-'], 'standard input is not JSON'),
    (['--message', '{data: {}}'], 'names no receiver'), (['--message', '{topic: "a"}', '--fid', 'x'], 'already has a topic'),
    (['--message', '{message: 1}', '--topic', 'x'], 'a message must be an object'),
    (['--message', '{data: 1}', '--topic', 'x', '--data', 'k=v'], 'message.data is not an object'),
])
def test_messages_that_cannot_be_used(arguments, said, hearth):
    assert said in hearth.run('messaging:send', *arguments).sentence


def test_a_whole_message_need_not_name_its_receiver(admin, hearth):
    device = admin.register()
    assert hearth.succeeds('messaging:send', '--message', '{"data": {"k": "v"}}', '--fid', device['fid']).startswith('projects/')


# -- lists

def test_devices(host, admin, hearth):
    assert hearth.succeeds('messaging:devices') == 'No devices.\n'
    first, second = admin.register(name='her \x1b[31mphone\n'), admin.register('web', 'http://a.example')
    with Receiver(host, first['token']):
        heading, one, two = hearth.succeeds('messaging:devices').splitlines()
        assert heading.split() == ['FID', 'PLATFORM', 'APPLICATION', 'LAST', 'SEEN', 'NAME']
        assert one.split()[:4] == [first['fid'], 'android', 'com.example.app', 'connected'] and 'phone' in one and '\x1b' not in one
        assert two.split()[:3] == [second['fid'], 'web', 'http://a.example']
    found = hearth.result('messaging:devices', '--limit', '1')
    assert [device['token'] for device in found['devices']] == [first['token']] and found['hasMore']
    assert 'There are more: use --limit 10.' in hearth.succeeds('messaging:devices', '--limit', '1')


def test_topics(admin, hearth):
    assert hearth.succeeds('messaging:topics') == 'No topics.\n'
    device = admin.register()
    for name in ('sport', 'news'):
        admin.subscribe(name, [device['token']])
    assert hearth.succeeds('messaging:topics').splitlines() == ['TOPIC  SUBSCRIBERS', 'news   1', 'sport  1']
    assert hearth.result('messaging:topics') == {
        'topics': [{'name': 'news', 'subscriber_count': 1}, {'name': 'sport', 'subscriber_count': 1}], 'hasMore': False}


def test_topics_are_completed(admin, hearth):
    admin.subscribe('news', [admin.register()['token']])
    assert hearth.succeeds('complete', 'messaging:send', '--topic', 'n') == 'words\nnews\t1 subscriber\n'
    assert hearth.succeeds('complete', 'messaging:send', '--message', '') == 'files\n'
    assert '--condition\t' in hearth.succeeds('complete', 'messaging:send', '--c')
