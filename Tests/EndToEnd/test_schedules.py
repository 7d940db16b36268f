"""Functions that run at due times: when they run, what is missed, crashes and upgrades, and the commands about them. The clocks of the hosts are
moved, so that no test waits for a due time."""

import calendar
import json
import os
import re
import signal
import time

import pytest

from commands import Commands
from databases import OWNER
from hearth import ROOT
from identity import Clock
from processes import until
from upgrading import Upgradable

pytestmark = pytest.mark.timeout(180)

MINUTE, DAY = 60, 86_400


class ScheduleHost(Upgradable):
    """A host with the functions of the plugin `Timetable`, and clocks that the test moves."""

    def __init__(self, folder, plugins=('Timetable',), **config):
        folder.mkdir(parents=True, exist_ok=True)
        self.clock = Clock(folder / 'clock')
        super().__init__(folder, list(plugins), mode='development', config=config, env=self.clock.variables)

    def set_clock(self, hour, minute, second):
        """Moves the clocks forward to the next time of this kind, in UTC."""
        now = time.gmtime(self.clock.now())
        ahead = (hour - now.tm_hour) * 3600 + (minute - now.tm_min) * 60 + second - now.tm_sec
        self.clock.advance(ahead if ahead > 0 else ahead + DAY)

    def get(self, path):
        # A request wakes the host, which then notices that its clocks have moved.
        return self.request('GET', f'/{path}.json', OWNER).json

    def put(self, path, value):
        answer = self.request('PUT', f'/{path}.json', OWNER, json.dumps(value))
        assert answer.status == 200, answer.text

    def runs(self, name):
        """The attempts of a function, in their order."""
        return list((self.get(f'runs/{name}') or {}).values())

    def until_runs(self, name, count, seconds=20):
        return until(lambda: len(found := self.runs(name)) >= count and found, f'{count} runs of {name}', seconds)

    def schedule(self, name):
        answer = self.request('GET', '/_/api/schedules', OWNER)
        assert answer.status == 200, answer.text
        return next((entry for entry in answer.json['schedules'] if entry['name'] == name), None)

    def until_settled(self, name, due=None):
        def settled():
            entry = self.schedule(name)
            return entry and not entry['running'] and (due is None or entry.get('lastDue') == due) and entry
        return until(settled, f'{name} is settled')

    def letters(self):
        return self.request('GET', '/_/api/schedules/dead-letters', OWNER).json['deadLetters']

    def metric(self, name):
        lines = self.request('GET', '/_/metrics', OWNER).text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.split('{')[0].split(' ')[0] == name)


@pytest.fixture
def make(tmp_path):
    """Makes a host for the test, which is not started."""
    hosts = []

    def make_host(**options):
        hosts.append(ScheduleHost(tmp_path / f'host{len(hosts)}', **options))
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
def at(make):
    """Starts a host whose clocks show this time of the day, in UTC."""
    hosts = []

    def start(*moment, **options):
        host = make(**options)
        host.set_clock(*moment)
        hosts.append(host)
        return host.start()
    yield start
    for host in hosts:
        host.stop()


@pytest.fixture
def commands(host, tmp_path):
    return Commands(host, tmp_path / 'commands')


def seconds(text):
    """Seconds since 1970 of a time in RFC 3339."""
    return calendar.timegm(time.strptime(text, '%Y-%m-%dT%H:%M:%S.000Z'))


def post(host, target, body=None):
    headers = [('Authorization', 'Bearer owner'), ('Content-Type', 'application/json')]
    return host.request('POST', f'/_/api/schedules/{target}', headers, json.dumps(body or {}))


# -- due times

def test_functions_run_at_their_due_times(at):
    host = at(10, 29, 58)
    first = host.until_runs('eachMinute', 1)[-1]
    host.until_settled('eachMinute', first['due'])
    host.clock.advance(MINUTE)
    second = host.until_runs('eachMinute', 2)[-1]
    assert seconds(second['due']) - seconds(first['due']) == MINUTE and seconds(first['due']) % MINUTE == 0
    assert first['due'].endswith('T10:30:00.000Z') and first['attempt'] == 1
    assert first['id'] == f"eachMinute-{seconds(first['due'])}" and first['job'] == 'firebase-schedule-eachMinute-us-central1'
    entry = host.until_settled('eachMinute', second['due'])
    assert entry['state'] == 'active' and entry['schedule'] == '* * * * *' and entry['timeZone'] == 'UTC' and 'lastError' not in entry
    assert seconds(entry['next']) == seconds(second['due']) + MINUTE
    assert host.metric('hearth_schedule_runs_total') >= 2 and host.metric('hearth_schedule_delay_seconds_count') >= 2
    assert host.metric('hearth_schedules') == 4
    # Three o'clock in Berlin is one or two hours earlier in UTC.
    assert host.schedule('nightly')['next'][11:16] in ('01:00', '02:00') and host.runs('flaky') == []


def test_a_due_time_runs_once_across_restarts(at):
    host = at(10, 29, 58)
    due = host.until_runs('eachMinute', 1)[-1]['due']
    host.until_settled('eachMinute', due)
    for _ in range(3):
        host.stop()
        host.start()
    host.kill()
    host.start()
    dues = [run['due'] for run in host.runs('eachMinute')]
    assert dues.count(due) == 1 and len(set(dues)) == len(dues)


@pytest.mark.parametrize('setting, count', [(None, 1), ('skip', 0), ('all', 10)])
def test_missed_due_times_are_told(at, setting, count):
    host = at(10, 0, 20, **({'schedules': {'missed': setting}} if setting else {}))
    assert post(host, 'eachMinute:pause').status == 200
    host.stop()
    host.clock.advance(10 * DAY)
    host.start()
    # The list is answered once all schedules are known, which is after the lines.
    assert host.schedule('flaky')
    lines = [json.loads(line) for line in host.log.splitlines() if 'due times have passed' in line]
    line = next(line for line in lines if line['function'] == 'flaky')
    assert line['setting'] == f"schedules.missed {setting or 'once'}" and line['count'] == '10' and line['last'][11:] == '12:00:00Z'
    assert {line['function'] for line in lines} == {'flaky', 'nightly', 'slow'}
    if count:
        host.until_runs('flaky', count)
    entry = host.until_settled('flaky')
    dues = [run['due'] for run in host.runs('flaky')]
    assert len(dues) == len(set(dues)) == count and dues == sorted(dues)
    assert entry['lastDue'][:19] + 'Z' == line['last'] and seconds(entry['next']) == seconds(entry['lastDue']) + DAY
    assert host.metric('hearth_schedule_missed_total') == {None: 27, 'skip': 30, 'all': 0}[setting]
    host.put('go', True)


# -- crashes and upgrades

def test_a_run_that_a_crash_interrupts_is_made_again(at):
    host = at(3, 59, 58)
    first = host.until_runs('slow', 1)[0]
    host.kill()
    host.start()
    again = host.until_runs('slow', 2)
    assert [run['id'] for run in again] == [first['id']] * 2 and again[1]['due'] == first['due']
    host.put('go', True)
    host.until_settled('slow', first['due'])
    host.kill()
    host.start()
    host.until_settled('slow', first['due'])
    assert len(host.runs('slow')) == 2 and list(host.get('ended').values()) == [first['id']]


def test_an_upgrade_runs_nothing_twice(at):
    """A function that works for longer than the upgrade ends its work in the old process, and the new one notes its end."""
    host = at(3, 59, 58)
    run = host.until_runs('slow', 1)[0]
    for _ in range(2):
        answer = host.upgrade()
        assert answer.status == 200, answer.text
    host.clock.advance(MINUTE)
    host.until_runs('eachMinute', 1)
    assert host.schedule('slow')['running'] and host.runs('slow') == [run]
    host.put('go', True)
    entry = host.until_settled('slow', run['due'])
    assert 'lastError' not in entry and 'lastEnd' in entry
    assert host.runs('slow') == [run] and list(host.get('ended').values()) == [run['id']]
    ids = [attempt['id'] for attempt in host.runs('eachMinute')]
    assert len(ids) == len(set(ids))


def test_a_failed_upgrade_runs_nothing_twice(at):
    host = at(3, 59, 58)
    run = host.until_runs('slow', 1)[0]
    host.install_pretender(after='die')
    assert host.upgrade().status != 200
    host.clock.advance(MINUTE)
    host.until_runs('eachMinute', 1)
    assert host.schedule('slow')['running'] and host.runs('slow') == [run]
    host.put('go', True)
    host.until_settled('slow', run['due'])
    assert host.runs('slow') == [run] and list(host.get('ended').values()) == [run['id']]


def test_the_end_of_the_old_process_repeats_its_run(at):
    host = at(3, 59, 58)
    run = host.until_runs('slow', 1)[0]
    old = host.pid
    assert host.upgrade().status == 200
    os.kill(old, signal.SIGKILL)
    again = host.until_runs('slow', 2, 30)
    assert [attempt['id'] for attempt in again] == [run['id']] * 2
    host.put('go', True)
    host.until_settled('slow', run['due'])
    host.kill()


# -- commands

def test_commands(at, tmp_path):
    host = at(10, 30, 5)
    commands = Commands(host, tmp_path / 'commands')
    listed = commands.succeeds('schedules:list').splitlines()
    assert listed[0].split() == ['FUNCTION', 'SCHEDULE', 'TIME', 'ZONE', 'STATE', 'NEXT', 'LAST', 'RESULT']
    assert [line.split()[0] for line in listed[1:]] == ['eachMinute', 'flaky', 'nightly', 'slow']
    assert 'every day 03:00' in listed[3] and 'Europe/Berlin' in listed[3] and 'active' in listed[3]
    assert commands.succeeds('schedules:run', 'nightly') == 'nightly has run\n'
    note = list(host.get('nightly').values())
    assert len(note) == 1 and note[0]['id'].startswith('by-hand-')
    assert commands.succeeds('schedules:pause', 'eachMinute') == 'eachMinute is paused\n'
    count = len(host.runs('eachMinute'))
    host.clock.advance(3 * MINUTE)
    host.stop()
    host.start()
    assert host.schedule('eachMinute')['state'] == 'paused' and 'next' not in host.schedule('eachMinute')
    assert commands.succeeds('schedules:run', 'eachMinute') == 'eachMinute has run\n'
    assert len(host.runs('eachMinute')) == count + 1
    assert commands.succeeds('schedules:resume', 'eachMinute') == 'eachMinute is active\n'
    assert len(host.runs('eachMinute')) == count + 1
    host.clock.advance(MINUTE)
    host.until_runs('eachMinute', count + 2)
    assert 'due times have passed' not in host.log.split('Hearth serves')[-1]
    assert commands.run('schedules:run', 'slow', '--no-wait').output == 'slow will run\n'
    host.until_runs('slow', 1)
    host.put('go', True)
    assert commands.run('schedules:run', 'other').sentence == 'there is no schedule other; `hearth schedules:list` lists all'
    assert commands.run('schedules:pause', 'other').sentence == 'there is no schedule other; `hearth schedules:list` lists all'
    assert json.loads(commands.succeeds('schedules:list', '--json'))['result']['schedules'][0]['name'] == 'eachMinute'


def test_failed_runs_are_repeated_and_kept(host, commands):
    host.put('failures', 2)
    assert commands.run('schedules:run', 'flaky').sentence == 'flaky failed: aborted: not yet'
    runs = host.until_runs('flaky', 3)
    assert [run['attempt'] for run in runs] == [1, 2, 3] and len({run['id'] for run in runs}) == 1
    until(lambda: 'lastError' not in host.schedule('flaky') and 'lastEnd' in host.schedule('flaky'), 'the last attempt has succeeded')
    assert host.letters() == []
    host.put('failures', 100)
    assert commands.run('schedules:run', 'flaky').status == 1
    letter = until(lambda: host.letters(), 'a dead letter')[0]
    assert letter['function'] == 'flaky' and letter['attempts'] == 3 and letter['error'] == 'aborted: not yet'
    assert host.schedule('flaky')['lastError'] == 'aborted: not yet'
    assert 'flaky' in commands.succeeds('events:list', '--schedules')
    assert 'google.cloud.scheduler.job.v1.executed' in commands.succeeds('events:show', letter['id'], '--schedules')
    host.put('failures', 0)
    assert commands.succeeds('events:replay', '--schedules', '--all') == '1 event will be delivered again\n'
    assert host.until_runs('flaky', 7)[-1]['id'] == letter['event']
    until(lambda: 'lastError' not in host.schedule('flaky'), 'the replayed run has succeeded')
    assert host.letters() == []


def test_functions_call_runs_a_schedule_once(host, commands):
    host.put('failures', 1)
    assert commands.run('functions:call', 'flaky').status == 1
    assert commands.succeeds('functions:call', 'flaky') == 'flaky succeeded\n'
    assert len(host.runs('flaky')) == 2
    assert 'runs at due times, without data' in commands.run('functions:call', 'flaky', '{}').sentence
    assert 'scheduled' in commands.succeeds('functions:list')


def test_the_api_refuses_nonsense(host):
    assert host.request('GET', '/_/api/schedules').status == 401
    assert host.request('DELETE', '/_/api/schedules', OWNER).status == 405
    assert host.request('GET', '/_/api/schedules/nightly:run', OWNER).status == 405
    assert post(host, 'nightly:start').status == 404 and post(host, 'other:run').status == 404
    answer = post(host, 'nightly:run', {'wait': 'yes'})
    assert answer.status == 400 and 'wait must be true or false' in answer.text
    assert post(host, 'dead-letters:run').status == 404


def test_state_is_backed_up_and_restored(host, commands, tmp_path):
    commands.succeeds('schedules:pause', 'nightly')
    commands.succeeds('backup', tmp_path / 'all.tar')
    commands.succeeds('schedules:resume', 'nightly')
    commands.succeeds('restore', tmp_path / 'all.tar', '--force')
    until(lambda: host.schedule('nightly')['state'] == 'paused', 'the schedule is paused as in the backup')


def test_the_page_is_right(host, commands):
    """The function of docs/schedules.md is compiled, and its commands print what it shows."""
    page = (ROOT / 'docs/schedules.md').read_text()
    source = (ROOT / 'Tests/Plugins/Timetable/Timetable.swift').read_text()
    function = re.search(r'^```swift\nlet functions = Functions {\n(.*?)^}\n', page, re.MULTILINE | re.DOTALL)[1]
    assert function in source
    block = re.search(r'^```text\n(\$ hearth.*?)^```', page, re.MULTILINE | re.DOTALL)[1]
    shown = re.findall(r'^\$ hearth (.*)\n((?:[^$].*\n)*)', block, re.MULTILINE)
    assert [command for command, _ in shown] == ['schedules:list', *(f'schedules:{verb} nightly' for verb in ('run', 'pause', 'resume'))]
    for command, expected in shown:
        lines = commands.succeeds(*command.split()).splitlines()
        if command == 'schedules:list':
            lines = [lines[0], next(line for line in lines if line.startswith('nightly'))]
        words = [[word for word in line.split() if not re.match(r'\d{4}-', word)] for line in lines]
        assert words == [[word for word in line.split() if not re.match(r'\d{4}-', word)] for line in expected.splitlines()]


# -- declarations

def test_schedules_that_cannot_be_understood_are_refused(make):
    host = make(plugins=()).start()
    host.stop()
    host.write_config(['bad_schedules'], {})
    host.start()
    line = host.until_logged('bad_schedules')
    for text in (
            'endpoints.hour.scheduleTrigger: the schedule \\"0 25 * * *\\": column 3: expected an hour from 0 to 23, found \\"25\\"',
            'endpoints.zone.scheduleTrigger: this machine has no time zone Europe/Atlantis; check its name, or install tzdata',
            'endpoints.never.scheduleTrigger: the schedule \\"0 0 30 2 *\\": the schedule is never due: no month has such a day'):
        assert text in line, line
    assert host.schedule('hour') is None
    host.stop()
