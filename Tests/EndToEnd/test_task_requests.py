"""Requests for tasks: the Admin SDK for Python as a client, strangers, nonsense and limits."""

import base64
import json
from datetime import datetime, timedelta, timezone

import firebase_admin
import pytest
from firebase_admin import credentials, exceptions, functions

from databases import OWNER
from messaging import Messaging
from processes import until
from task_host import PLACE, TaskHost, rfc3339
from tokens import PROJECT

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def make(tmp_path):
    """Makes a host for the test, which is not started."""
    hosts = []

    def make_host(**options):
        hosts.append(TaskHost(tmp_path / f'host{len(hosts)}', **options))
        return hosts[-1]
    yield make_host
    for host in hosts:
        host.abandon()
        host.clock.close()


@pytest.fixture
def host(make):
    host = make().start()
    yield host
    host.stop()


# -- Admin SDK

@pytest.fixture
def app(host, tmp_path):
    """An app with a service account of the host, whose requests go there."""
    owner = Messaging(host, PROJECT)
    key = tmp_path / 'key.json'
    key.write_text(json.dumps(owner.account()))
    owner.close()
    patch = pytest.MonkeyPatch()
    patch.setattr(functions, '_CLOUD_TASKS_API_URL_FORMAT', f'http://127.0.0.1:{host.port}/v2/{functions._CLOUD_TASKS_API_RESOURCE_PATH}')
    app = firebase_admin.initialize_app(credentials.Certificate(str(key)), name='tasks')
    yield app
    firebase_admin.delete_app(app)
    patch.undo()


def check_sdk(host, queue):
    task = queue.enqueue({'data': {'a': 1}}, functions.TaskOptions(headers={'X-A': 'b'}))
    run = host.until_runs('note', 1)[0]
    assert (run['id'], run['data'], run['headers']) == (task, {'a': 1}, {'x-a': 'b'})
    moment = datetime.now(timezone.utc) + timedelta(hours=1)
    options = functions.TaskOptions(task_id='named', schedule_time=moment, dispatch_deadline_seconds=30)
    assert queue.enqueue({'data': 2}, options) == 'named'
    with pytest.raises(exceptions.AlreadyExistsError):
        queue.enqueue({'data': 2}, functions.TaskOptions(task_id='named'))
    queue.delete('named')
    with pytest.raises(exceptions.NotFoundError):
        queue.delete('named')
    assert queue.enqueue({'data': 3}, functions.TaskOptions(schedule_delay_seconds=3600))
    until(lambda: [task['state'] for task in host.tasks('note')] == ['later'], 'the first task is settled')
    with pytest.raises(exceptions.InvalidArgumentError, match='"data"'):
        queue.enqueue({'a': 1})


def test_the_admin_sdk_with_a_service_account(host, app):
    check_sdk(host, functions.task_queue('note', app=app))
    with pytest.raises(exceptions.NotFoundError):
        functions.task_queue('missing', app=app).enqueue({'data': 1})
    with pytest.raises(exceptions.NotFoundError, match='is in us-central1'):
        functions.task_queue('locations/europe-west1/functions/note', app=app).enqueue({'data': 1})
    with pytest.raises(exceptions.PermissionDeniedError):
        functions.task_queue('projects/foreign/locations/us-central1/functions/note', app=app).enqueue({'data': 1})


def test_the_admin_sdk_as_for_an_emulator(host, monkeypatch):
    monkeypatch.setenv('CLOUD_TASKS_EMULATOR_HOST', f'127.0.0.1:{host.port}')
    app = firebase_admin.initialize_app(options={'projectId': PROJECT}, name='emulated')
    try:
        check_sdk(host, functions.task_queue('note', app=app))
    finally:
        firebase_admin.delete_app(app)


# -- hostile input

def test_strangers_are_refused(host):
    target = f'{PLACE}/note/tasks'
    for headers in ({}, {'Authorization': 'Bearer no'}, {'Authorization': 'Basic b3duZXI='}, {'Authorization': 'Bearer ya29.no'}):
        answer = host.request('POST', target, {**headers, 'Content-Type': 'application/json'}, '{}')
        assert (answer.status, answer.json['error']['status']) == (401, 'UNAUTHENTICATED')
    page = {**OWNER, 'Origin': 'https://evil.example', 'Content-Type': 'application/json'}
    assert host.request('POST', target, page, '{}').status == 401
    owner = Messaging(host, PROJECT)
    account = owner.account()
    bounded = owner.access_token(account, 'https://www.googleapis.com/auth/firebase.messaging')
    owner.close()
    assert host.request('POST', target, {'Authorization': f'Bearer {bounded}', 'Content-Type': 'application/json'}, '{}').status == 401
    assert host.request('POST', '/_/api/tasks/note:purge').status == 401
    assert host.runs('note') == []


@pytest.mark.parametrize('task, words', [
    ({'name': 'no'}, 'must begin with'),
    ({'name': f'projects/{PROJECT}/locations/us-central1/queues/other/tasks/a'}, 'must begin with'),
    ({'name': f'projects/{PROJECT}/locations/us-central1/queues/note/tasks/a b'}, '1 to 500 letters'),
    ({'name': f'projects/{PROJECT}/locations/us-central1/queues/note/tasks/' + 'a' * 501}, '1 to 500 letters'),
    ({'name': 5}, 'not a string'),
    ({'scheduleTime': 'tomorrow'}, 'RFC 3339'),
    ({'scheduleTime': '2099-01-01T00:00:00Z'}, '30 days'),
    ({'dispatchDeadline': '14s'}, '15 seconds'), ({'dispatchDeadline': '1801s'}, '30 minutes'), ({'dispatchDeadline': '1e3s'}, 'duration'),
    ({'dispatchDeadline': '9999999999999999999s'}, 'duration'),
    ({'httpRequest': {'body': '!'}}, 'base64'), ({'httpRequest': {}}, 'no body'), ({'httpRequest': None}, 'httpRequest'),
    ({'httpRequest': {'body': base64.b64encode(b'[1]').decode()}}, '"data"'),
    ({'httpRequest': {'body': base64.b64encode(b'{"data":').decode()}}, 'not JSON'),
    ({'httpRequest': {'body': 'e30=', 'httpMethod': 'GET'}}, 'POST only'),
    ({'httpRequest': {'body': base64.b64encode(b'{"data":1}').decode(), 'headers': {'a b': 'c'}}}, 'not valid'),
    ({'httpRequest': {'body': base64.b64encode(b'{"data":1}').decode(), 'headers': {'a': 'b\nc'}}}, 'not valid'),
    ({'httpRequest': {'body': base64.b64encode(b'{"data":1}').decode(), 'headers': {f'a{n}': '' for n in range(101)}}}, 'at most 100'),
    ({'httpRequest': {'body': base64.b64encode(b'{"data":"' + b'a' * (1 << 20) + b'"}').decode()}}, 'too large'),
])
def test_bad_tasks_are_refused(shared, task, words):
    body = {'httpRequest': {'body': base64.b64encode(b'{"data":1}').decode()}, **task}
    answer = shared.post(f'{PLACE}/note/tasks', {'task': body})
    assert (answer.status, answer.json['error']['status']) == (400, 'INVALID_ARGUMENT'), answer.text
    assert words in answer.json['error']['message']
    assert shared.tasks('note') == []


@pytest.fixture(scope='module')
def shared(tmp_path_factory):
    host = TaskHost(tmp_path_factory.mktemp('shared')).start()
    yield host
    host.stop()
    host.clock.close()


def test_other_requests_are_refused(shared):
    target = f'{PLACE}/note/tasks'
    assert shared.request('GET', target, OWNER).status == 501
    assert shared.post(target, {}).status == 400
    assert shared.request('POST', target, OWNER, '{"task":').status == 400
    assert shared.post(target, {'task': {'httpRequest': {'body': 'A' * (3 << 20)}}}).status == 413
    assert shared.post(f'/v2/projects/foreign/locations/us-central1/queues/note/tasks').status == 403
    assert shared.delete('note', 'a%2Fb').status == 404 and shared.delete('note', '9-99999999999999999999999').status == 404
    assert shared.post('/_/api/tasks/other:pause').status == 404 and shared.post('/_/api/tasks/note:start').status == 404
    assert shared.request('GET', '/_/api/tasks/note:pause', OWNER).status == 405
    assert shared.request('PUT', '/_/api/tasks/note', OWNER).status == 405
    assert shared.post('/_/api/tasks/note:enqueue', {'delaySeconds': -1}).status == 400


def test_a_queue_has_limits(make):
    host = make(tasks={'maxTasks': 3}).start()
    host.act('note:pause')
    for number in range(2):
        host.enqueued('note', number)
    host.enqueued('note', scheduleTime=rfc3339(host.clock.now() + 3600))
    answer = host.enqueue('note')
    assert (answer.status, answer.json['error']['status']) == (429, 'RESOURCE_EXHAUSTED') and int(answer.header('retry-after')) > 0
    host.kill()
    host.start()
    assert host.enqueue('note').status == 429 and host.metric('hearth_tasks', 'queue="note"') == 3
    host.act('note:resume')
    host.until_runs('note', 2)
    until(lambda: host.enqueue('note').status == 200, 'there is room again')
    host.stop()
