"""Functions with task queues: rates, delays, names, retries, crashes and upgrades, and the commands."""

import json
import re
import time
from collections import Counter
from datetime import datetime

import pytest

from commands import Commands
from databases import OWNER
from hearth import ROOT
from processes import until
from task_host import TaskHost, rfc3339
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


@pytest.fixture
def commands(host, tmp_path):
    return Commands(host, tmp_path / 'commands')


def call(host, function, data):
    return host.request('POST', f'/{PROJECT}/us-central1/{function}', {'Content-Type': 'application/json'}, json.dumps({'data': data}))


# -- tasks

def test_a_task_runs_with_what_it_was_given(host):
    answer = host.enqueue('note', {'n': [1, 2.5, None]}, name='first', headers={'X-Shop': 'a "b"', 'Authorization': 'Bearer no'})
    assert answer.status == 200, answer.text
    assert answer.json['name'] == f'projects/{PROJECT}/locations/us-central1/queues/note/tasks/first'
    assert answer.json['dispatchDeadline'] == '600s'
    run = host.until_runs('note', 1)[0]
    assert (run['id'], run['queue'], run['retryCount'], run['executionCount']) == ('first', 'note', 0, 0)
    assert run['data'] == {'n': [1, 2.5]} and run['headers'] == {'x-shop': 'a "b"'}
    assert run['scheduledTime'] == answer.json['scheduleTime'] and 'previousResponse' not in run
    host.until_empty('note')
    assert host.metric('hearth_task_dispatch_delay_seconds_count') == 1 and host.metric('hearth_tasks') == 0


def test_functions_enqueue_and_delete(host):
    answer = call(host, 'enqueue', {'queue': 'note', 'data': {'a': 1}, 'id': 'mine', 'headers': {'X-A': '1'}})
    assert answer.json == {'result': 'mine'}
    run = host.until_runs('note', 1)[0]
    assert (run['id'], run['data'], run['headers']) == ('mine', {'a': 1}, {'x-a': '1'})
    host.until_empty('note')
    assert call(host, 'enqueue', {'queue': 'note', 'id': 'mine'}).json['error']['status'] == 'ALREADY_EXISTS'
    assert call(host, 'enqueue', {'queue': 'other'}).json['error']['status'] == 'NOT_FOUND'
    assert call(host, 'enqueue', {'queue': 'note', 'deadline': 14}).json['error']['status'] == 'INVALID_ARGUMENT'
    made = call(host, 'enqueue', {'queue': 'note', 'delay': 3600}).json['result']
    assert [task['id'] for task in host.tasks('note')] == [made]
    assert call(host, 'withdraw', {'queue': 'note', 'id': made}).status == 200
    assert host.tasks('note') == [] and call(host, 'withdraw', {'queue': 'note', 'id': made}).json['error']['status'] == 'NOT_FOUND'


def test_data_of_another_shape_is_a_dead_letter(host):
    task = host.enqueued('typed', {'to': 1})
    letter = until(host.letters, 'a dead letter')[0]
    assert letter['event'] == task and letter['error'].startswith('invalid-argument: ')
    host.until_empty('typed')


# -- rate and concurrency

def test_the_rate_is_kept(host):
    # The worker is ready, so that the first tasks do not wait for it and run together.
    host.enqueued('steady', 'first')
    host.until_runs('steady', 1)
    host.until_empty('steady')
    for number in range(60):
        host.enqueued('steady', number)
    times = sorted(run['at'] for run in host.until_runs('steady', 61, 60))[1:]
    # The bucket has four tokens, a fifth of a second's. A stalled worker runs some tasks together, but not most of them.
    assert times[-1] - times[0] >= 56 * 50 - 1500, times
    assert sorted(run['data'] for run in host.runs('steady')[1:]) == list(range(60))


def test_no_more_run_at_the_same_time(host):
    for number in range(6):
        host.enqueued('pair', number)
    assert len(host.until_runs('pair', 2)) == 2
    # Another queue is not concerned.
    host.enqueued('note')
    host.until_runs('note', 1)
    assert len(host.runs('pair')) == 2
    host.put('go', True)
    host.until_runs('pair', 6)
    host.until_empty('pair')


def test_a_pause_and_a_purge(host):
    host.act('note:pause')
    for number in range(5):
        host.enqueued('note', number, name=f'n{number}')
    host.enqueued('note', name='later', scheduleTime=rfc3339(time.time() + 3600))
    host.stop()
    host.start()
    queue = host.queue('note')
    assert (queue['state'], queue['tasks']) == ('paused', 6) and queue['bytes'] > 0
    assert host.delete('note', 'n3').status == 200 and host.delete('note', 'n3').status == 404
    host.act('note:resume')
    assert {run['id'] for run in host.until_runs('note', 4)} == {'n0', 'n1', 'n2', 'n4'}
    until(lambda: host.queue('note')['tasks'] == 1, 'the ends of the tasks are recorded')
    host.act('note:pause')
    for number in range(20):
        host.enqueued('note', number)
    assert host.act('note:purge') == {'deleted': 21}
    assert host.queue('note')['tasks'] == 0 and host.tasks('note') == []
    host.act('note:resume')
    last = host.enqueued('note', 'last')
    assert host.until_runs('note', 5)[-1]['id'] == last and len(host.runs('note')) == 5


# -- times

def test_tasks_wait_for_their_time(host):
    soon = host.enqueued('note', 'soon', scheduleTime=rfc3339(host.clock.now() + 1800))
    hour = host.enqueued('note', 'hour', scheduleTime=rfc3339(host.clock.now() + 3600))
    host.enqueued('note', 'month', scheduleTime=rfc3339(host.clock.now() + 29 * 86_400))
    past = host.enqueued('note', 'past', scheduleTime=rfc3339(host.clock.now() - 3600))
    assert [run['id'] for run in host.until_runs('note', 1)] == [past]
    until(lambda: host.queue('note')['tasks'] == 3, 'the end of the task is recorded')
    assert [(task['id'], task['state']) for task in host.tasks('note')][:2] == [(soon, 'later'), (hour, 'later')]
    for task in (soon, hour):
        host.stop()
        host.clock.advance(1800)
        host.start()
        run = host.until_runs('note', 2 if task == soon else 3)[-1]
        assert run['id'] == task and run['at'] >= milliseconds(run['scheduledTime'])
    until(lambda: host.queue('note')['tasks'] == 1, 'the end of the task is recorded')


def milliseconds(text):
    return datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp() * 1000


def test_a_task_is_made_due_by_hand(host, commands):
    task = host.enqueued('note', scheduleTime=rfc3339(host.clock.now() + 3600))
    assert commands.succeeds('tasks:run', 'note', task) == f'{task} is due\n'
    assert host.until_runs('note', 1)[0]['id'] == task
    host.until_empty('note')


def test_a_deadline_ends_an_attempt(host):
    task = host.enqueued('hasty')
    letter = until(host.letters, 'a dead letter')[0]
    assert letter['event'] == task and letter['attempts'] == 1
    host.put('go', True)


# -- names

def test_names_are_unique_until_an_hour_after_the_end(host):
    assert host.enqueue('note', 1, name='one').status == 200
    host.until_runs('note', 1)
    host.until_empty('note')
    answer = host.enqueue('note', 2, name='one')
    assert (answer.status, answer.json['error']['status']) == (409, 'ALREADY_EXISTS')
    host.kill()
    host.start()
    assert host.enqueue('note', 2, name='one').status == 409
    assert host.enqueue('note', 2, name='one', scheduleTime=rfc3339(host.clock.now() + 9)).status == 409
    # Another queue has names of its own.
    assert host.enqueue('steady', 2, name='one').status == 200
    host.clock.advance(3700)
    assert host.enqueue('note', 3, name='one').status == 200
    assert [run['data'] for run in host.until_runs('note', 2)] == [1, 3]


# -- retries

def test_failed_tasks_are_repeated_and_kept(host, commands):
    host.put('failures', 2)
    task = host.enqueued('flaky', 'x')
    runs = host.until_runs('flaky', 3)
    assert [(run['id'], run['retryCount'], run['executionCount']) for run in runs] == [(task, 0, 0), (task, 1, 1), (task, 2, 2)]
    assert runs[1]['previousResponse'] == 409 and runs[1]['retryReason'] == 'aborted: not yet'
    host.until_empty('flaky')
    assert host.letters() == []
    host.put('failures', 100)
    task = host.enqueued('flaky', 'y', name='kept')
    letter = until(host.letters, 'a dead letter')[0]
    assert (letter['function'], letter['event'], letter['attempts'], letter['error']) == ('flaky', 'kept', 3, 'aborted: not yet')
    host.until_empty('flaky')
    assert host.enqueue('flaky', name='kept').status == 409
    assert 'flaky' in commands.succeeds('events:list', '--tasks')
    assert 'google.cloud.tasks.task.v2.dispatched' in commands.succeeds('events:show', letter['id'], '--tasks')
    host.put('failures', 0)
    assert commands.succeeds('events:replay', '--tasks', '--all') == '1 event will be delivered again\n'
    assert host.until_runs('flaky', 7)[-1]['id'] == 'kept'
    host.until_empty('flaky')
    assert host.letters() == []


def test_a_long_back_off_outlives_a_crash(host):
    host.put('failures', 1)
    task = host.enqueued('patient', 'x')
    until(lambda: [(task['state'], task['attempts']) for task in host.tasks('patient')] == [('later', 1)], 'the task waits')
    host.kill()
    host.start()
    assert host.delete('patient', 'other').status == 404
    assert len(host.runs('patient')) == 1
    host.stop()
    host.clock.advance(31)
    host.start()
    again = host.until_runs('patient', 2)[1]
    assert (again['id'], again['retryCount']) == (task, 1)
    host.until_empty('patient')


# -- crashes and upgrades

def test_a_crash_loses_nothing_and_repeats_nothing_settled(host):
    host.act('pair:pause')
    ids = [host.enqueued('steady', number, name=f's{number}') for number in range(40)] + [host.enqueued('pair', 0)]
    settled = len(host.until_runs('steady', 15))
    until(lambda: host.queue('steady')['tasks'] <= 40 - settled, 'they are settled')
    settled = 40 - host.queue('steady')['tasks']
    early = {task['id'] for task in host.tasks('steady')}
    done = {f's{number}' for number in range(40)} - early
    host.kill()
    host.start()
    host.until_empty('steady')
    counts = Counter(run['id'] for run in host.runs('steady'))
    assert set(counts) == set(ids[:40]) and settled >= 15
    assert all(counts[task] == 1 for task in done), counts
    # Those that ran when the host was killed are repeated, no others.
    assert sum(counts.values()) - 40 <= 12, counts
    assert host.queue('pair')['tasks'] == 1


def test_a_task_that_a_crash_interrupts_is_repeated(host):
    task = host.enqueued('slow')
    host.until_runs('slow', 1)
    host.kill()
    host.start()
    again = host.until_runs('slow', 2)
    assert [run['id'] for run in again] == [task] * 2
    host.put('go', True)
    host.until_empty('slow')
    assert len(host.runs('slow')) == 2


def test_an_upgrade_runs_nothing_twice(host):
    slow = host.enqueued('slow')
    host.until_runs('slow', 1)
    for number in range(60):
        host.enqueued('steady', number)
    later = host.enqueued('note', scheduleTime=rfc3339(host.clock.now() + 3))
    for _ in range(2):
        answer = host.upgrade()
        assert answer.status == 200, answer.text
    host.put('go', True)
    host.until_empty('slow')
    host.until_empty('steady')
    assert [run['id'] for run in host.runs('slow')] == [slow] and list(host.get('ended').values()) == [slow]
    assert sorted(run['data'] for run in host.runs('steady')) == list(range(60))
    assert host.until_runs('note', 1)[0]['id'] == later


def test_a_failed_upgrade_runs_nothing_twice(host):
    host.enqueued('slow')
    host.until_runs('slow', 1)
    for number in range(40):
        host.enqueued('steady', number)
    host.install_pretender(after='die')
    assert host.upgrade().status != 200
    host.put('go', True)
    host.until_empty('slow')
    host.until_empty('steady')
    assert len(host.runs('slow')) == 1 and sorted(run['data'] for run in host.runs('steady')) == list(range(40))


def test_tasks_of_a_deleted_function_are_dead_letters(host):
    host.enqueued('note', 'later', scheduleTime=rfc3339(host.clock.now() + 3600))
    host.stop()
    host.write_config(['Members'], {})
    host.start()
    letter = until(host.letters, 'a dead letter')[0]
    assert letter['function'] == 'note'
    assert host.enqueue('note').status == 404
    assert 'note' not in [queue['name'] for queue in host.request('GET', '/_/api/tasks', OWNER).json['queues'] if queue['tasks']]


# -- commands, backup, docs

def test_commands(host, commands):
    listed = commands.succeeds('tasks:list').splitlines()
    assert listed[0].split() == ['QUEUE', 'STATE', 'TASKS', 'BYTES', 'PER', 'SECOND', 'CONCURRENT']
    assert ['steady', 'active', '0', '0', '20', '1000'] in [line.split() for line in listed]
    assert commands.succeeds('tasks:pause', 'note') == 'note is paused\n'
    assert commands.succeeds('tasks:enqueue', 'note', '{a: 1}', '--id', 'mine').startswith('mine is in note, due ')
    assert commands.succeeds('tasks:enqueue', 'note', '--delay', '60', '--id', 'other').startswith('other is in note, due ')
    rows = [line.split() for line in commands.succeeds('tasks:list', 'note').splitlines()]
    assert rows[0] == ['TASK', 'STATE', 'DUE', 'ATTEMPTS', 'ERROR'] and [row[:2] for row in rows[1:]] == [['mine', 'due'], ['other', 'later']]
    assert commands.succeeds('tasks:delete', 'note', 'other') == 'other is deleted\n'
    assert commands.succeeds('tasks:resume', 'note') == 'note is active\n'
    assert host.until_runs('note', 1)[0]['data'] == {'a': 1}
    host.until_empty('note')
    assert commands.succeeds('tasks:list', 'note') == 'No tasks.\n'
    assert commands.succeeds('tasks:purge', 'note') == '0 tasks of note are deleted\n'
    for command in (['pause', 'no'], ['resume', 'no'], ['purge', 'no'], ['list', 'no'], ['enqueue', 'no'], ['run', 'no', 'a'], ['delete', 'no', 'a']):
        assert commands.run(f'tasks:{command[0]}', *command[1:]).sentence == 'there is no task queue no; `hearth tasks:list` lists all'
    assert 'there is no such task' in commands.run('tasks:run', 'note', 'a').sentence
    assert commands.run('tasks:enqueue', 'note', '--id', 'mine').sentence == 'Requested entity already exists'
    assert commands.succeeds('functions:call', 'note', '{b: 2}') == 'note succeeded\n'
    assert host.runs('note')[-1]['data'] == {'b': 2} and 'task queue' in commands.succeeds('functions:list')


def test_tasks_are_backed_up_and_restored(host, commands, tmp_path):
    commands.succeeds('tasks:pause', 'note')
    commands.succeeds('tasks:enqueue', 'note', '7', '--id', 'kept')
    commands.succeeds('backup', tmp_path / 'all.tar')
    commands.succeeds('tasks:purge', 'note')
    commands.succeeds('restore', tmp_path / 'all.tar', '--force')
    until(lambda: [task['id'] for task in host.tasks('note')] == ['kept'], 'the task is there as in the backup')
    commands.succeeds('tasks:resume', 'note')
    assert host.until_runs('note', 1)[0]['data'] == 7


def test_the_page_is_right(host, commands):
    """The functions of docs/tasks.md are compiled, and its commands print what it shows."""
    page = (ROOT / 'docs/tasks.md').read_text()
    source = (ROOT / 'Tests/Plugins/Queues/Queues.swift').read_text()
    function = re.search(r'^```swift\nlet functions = Functions {\n(.*?)^}\n', page, re.MULTILINE | re.DOTALL)[1]
    assert function in source
    block = re.search(r'^```text\n(\$ hearth.*?)^```', page, re.MULTILINE | re.DOTALL)[1]
    shown = re.findall(r'^\$ hearth (.*)\n((?:[^$].*\n)*)', block, re.MULTILINE)
    assert len(shown) == 7
    for command, expected in shown:
        words = re.findall(r"'[^']*'|\S+", command)
        lines = commands.succeeds(*(word.strip("'") for word in words)).splitlines()
        if command == 'tasks:list':
            lines = [lines[0], next(line for line in lines if line.startswith('sendMail'))]
        found = [[word for word in line.split() if not re.match(r'\d{4}-', word)] for line in lines]
        assert found == [[word for word in line.split() if not re.match(r'\d{4}-', word)] for line in expected.splitlines()], command
    assert call(host, 'welcome', {'name': 'ada'}).status == 200
    assert until(lambda: host.get('sent/welcome-ada'), 'the mail is sent') == {'to': 'ada@example.com', 'text': 'Hello'}
