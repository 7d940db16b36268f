"""Sending through Google's service, which is a fake on this machine with delays, refusals and broken connections."""

import concurrent.futures
import json

import pytest

from messaging import Messaging
from push_services import Google
from tokens import PROJECT


@pytest.fixture
def google():
    with Google(PROJECT) as service:
        yield service


@pytest.fixture
def messaging(launch, google, tmp_path):
    file = tmp_path / 'service-account.json'
    file.write_text(json.dumps(google.key_file()))
    settings = {'backend': 'google', 'google': {'serviceAccount': str(file), 'sendUrl': google.url, 'topicUrl': google.url, 'parallelism': 8}}
    return Messaging(launch([], config={'messaging': settings}, mode='development'), PROJECT)


def fault(status, code, name, headers=None, **details):
    error = {'@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', 'errorCode': code}
    return status, headers or {}, {'error': {'code': status, 'message': 'says Google', 'status': name, 'details': [error] if code else [], **details}}


def test_a_message_goes_through(messaging, google):
    name = messaging.send({'topic': 'news', 'android': {'ttl': '60s'}, 'notification': {'title': 'Hi'}})
    assert name.startswith(f'projects/{PROJECT}/messages/')
    request = google.sends()[0]
    assert request.path == f'/v1/projects/{PROJECT}/messages:send'
    assert json.loads(request.body) == {'message': {'topic': 'news', 'android': {'ttl': '60s'}, 'notification': {'title': 'Hi'}}}
    messaging.send({'topic': 'news'}, validate_only=True)
    assert json.loads(google.sends()[1].body)['validate_only'] is True
    assert len(google.issued) == 1, 'one token serves'


def test_what_breaks_a_rule_does_not_leave(messaging, google):
    assert messaging.refused({'topic': 'no spaces'})['status'] == 'INVALID_ARGUMENT'
    assert google.requests == []


@pytest.mark.parametrize('answer, status, code', [
    (fault(404, 'UNREGISTERED', 'NOT_FOUND'), 404, 'UNREGISTERED'),
    (fault(403, 'SENDER_ID_MISMATCH', 'PERMISSION_DENIED'), 403, 'SENDER_ID_MISMATCH'),
    (fault(400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'), 400, 'INVALID_ARGUMENT'),
    (fault(401, 'THIRD_PARTY_AUTH_ERROR', 'UNAUTHENTICATED'), 401, 'THIRD_PARTY_AUTH_ERROR'),
])
def test_refusals_are_passed_on(messaging, google, answer, status, code):
    google.answers.append(answer)
    error = messaging.refused({'token': 'cTokenOne0000000000001:' + 'A' * 40})
    assert error['code'] == status
    assert code in [detail.get('errorCode') for detail in error['details']]
    assert len(google.sends()) == 1, 'it is not tried again'


def test_a_page_of_somebody_on_the_way_is_no_dead_token(messaging, google):
    google.answers.extend([(404, {'Content-Type': 'text/html'}, b'<html>not here</html>')] * 5)
    error = messaging.refused({'token': 'cTokenOne0000000000001:' + 'A' * 40})
    assert error['code'] == 500, error


@pytest.mark.parametrize('answer', [fault(503, 'UNAVAILABLE', 'UNAVAILABLE'), fault(500, 'INTERNAL', 'INTERNAL'), 'reset',
                                    fault(429, 'QUOTA_EXCEEDED', 'RESOURCE_EXHAUSTED', {'Retry-After': '1'})])
def test_what_fails_for_a_while_is_tried_again(messaging, google, answer):
    google.answers.append(answer)
    assert messaging.send({'topic': 'news'})
    assert len(google.sends()) == 2


def test_a_long_wait_is_the_callers(messaging, google):
    google.answers.append(fault(429, 'QUOTA_EXCEEDED', 'RESOURCE_EXHAUSTED', {'Retry-After': '3000'}))
    answer = messaging.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': {'topic': 'news'}})
    assert answer.status == 429 and answer.header('retry-after') == '3000'
    assert len(google.sends()) == 1


def test_an_access_token_that_is_refused_is_asked_for_anew(messaging, google):
    messaging.send({'topic': 'news'})
    google.refused.add(google.issued[0])
    assert messaging.send({'topic': 'news'})
    assert len(google.issued) == 2


def test_a_bad_grant_says_so(messaging, google):
    google.grants.extend([(400, {}, {'error': 'invalid_grant', 'error_description': 'Invalid JWT Signature.'})])
    error = messaging.refused({'topic': 'news'})
    assert error['code'] == 401 and 'Invalid JWT Signature.' in error['message'], error
    assert messaging.send({'topic': 'news'}), 'a failure is not remembered'


def test_one_renewal_for_all_and_bounded_parallelism(messaging, google):
    google.delay = 0.05
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        names = list(pool.map(lambda _: Messaging(messaging.host, PROJECT).send({'topic': 'news'}), range(64)))
    assert len(set(names)) == 64 and len(google.issued) == 1
    assert 2 <= google.most_under_way <= 8


def test_topics(messaging, google):
    tokens = ['cTokenOne0000000000001:' + 'A' * 40, 'cTokengone000000000001:gone' + 'A' * 40]
    answer = messaging.do('POST', '/iid/v1:batchAdd', {'to': '/topics/news', 'registration_tokens': tokens})
    assert answer == {'results': [{}, {'error': 'NOT_FOUND'}]}
    assert json.loads(google.requests[-1].body) == {'to': '/topics/news', 'registration_tokens': tokens}


@pytest.mark.parametrize('content, sentence', [
    ('{}', 'is not the key file of a service account'), ('{', 'is not JSON'),
    (json.dumps({'type': 'service_account', 'project_id': 'p'}), 'has no "client_email"'),
])
def test_a_bad_key_file_stops_the_start(prepare, tmp_path, content, sentence):
    file = tmp_path / 'key.json'
    file.write_text(content)
    host = prepare([], config={'messaging': {'backend': 'google', 'google': {'serviceAccount': str(file)}}}).spawn()
    assert host.process.wait(30) == 1
    assert sentence in host.log
    host.process = None
