"""Events on the way from a write to a function: their order, failures and crashes, and the limits of a write."""

import collections
import contextlib
import itertools
import json
import random
import re
import threading

import pytest

from commands import Commands
from databases import OWNER, Database
from hearth import Host
from processes import until
from tokens import PROJECT
from wire import Ended

DEFAULT = f'{PROJECT}-default-rtdb'
TRIGGERS = {'retryMinSeconds': 0.05, 'retryMaxSeconds': 0.2, 'retryAgeSeconds': 2}


class EventHost(Host):
    """A host with the plugin that notes its events in its worker's folder."""

    def __init__(self, folder, more=None):
        super().__init__(folder, ['events'], mode='development', config={
            'database': {'triggers': TRIGGERS}, 'workers': {'drainSeconds': 1}, **(more or {})})

    def notes(self, ref=None, function=None):
        """The events that the functions were called with, in order."""
        return [{**note['context']['event'], 'payload': note['payload'], 'function': note['function']} for note in self.noted()
                if ref in (None, note['context']['event']['ref']) and function in (None, note['function'])]

    def until_noted(self, ref, count=1, seconds=20):
        return until(lambda: len(found := self.notes(ref)) >= count and found, f'{count} events of {ref}', seconds)

    def letters(self, ref=None):
        answer = self.request('GET', '/_/api/databases/-/dead-letters?limit=1000', OWNER)
        assert answer.status == 200, answer.body
        return [letter for letter in answer.json['deadLetters'] if ref in (None, letter['path'].strip('/'))]

    def until_dead(self, ref, seconds=20):
        try:
            return until(lambda: self.letters(ref), f'a dead letter of {ref}', seconds)[0]
        except AssertionError as late:
            attempts = [(note['id'], note['attempt']) for note in self.notes(ref)]
            raise AssertionError(f'{late}; attempts {attempts}; log: {self.log[-3000:]}') from None

    def letter(self, name):
        answer = self.request('GET', f'/_/api/databases/-/dead-letters/{name}', OWNER)
        return answer.json if answer.status == 200 else None


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    """The tests share this host; each uses its own path."""
    host = EventHost(tmp_path_factory.mktemp('triggers')).start()
    try:
        yield host
        host.stop()
    finally:
        host.abandon()


@pytest.fixture
def own(tmp_path):
    """Makes a host for one test."""
    hosts = []

    def make(**more):
        hosts.append(EventHost(tmp_path / f'host{len(hosts)}', more))
        return hosts[-1].start()
    yield make
    for host in hosts:
        host.abandon()


@pytest.fixture
def database(host):
    with Database(host, DEFAULT) as database:
        yield database


# -- what they are given

def test_context_and_payload(host, database):
    database.put('/noted/told.json', {'a': [1, 2]})
    [event] = host.until_noted('noted/told')
    assert event['payload'] == {'before': None, 'after': {'a': [1, 2]}}
    assert event['type'] == 'google.firebase.database.ref.v1.written'
    assert event['source'] == f'//firebasedatabase.googleapis.com/projects/_/locations/us-central1/instances/{DEFAULT}'
    assert event['subject'] == 'refs/noted/told' and event['instance'] == DEFAULT and event['location'] == 'us-central1'
    assert event['params'] == {'id': 'told'} and event['authType'] == 'admin' and 'authId' not in event
    assert event['attempt'] == 1 and event['chainDepth'] == 0


def test_first_generation(host, database):
    database.put('/first/f1.json', True)
    [event] = host.until_noted('first/f1')
    assert event['type'] == 'providers/google.firebase.database/eventTypes/ref.create' and event['params'] == {'id': 'f1'}
    with Database(host, 'other') as other:
        other.put('/first/f2.json', True)
        other.put('/noted/f2.json', True)
    host.until_noted('noted/f2')
    assert host.notes('first/f2') == []


def test_writes_that_change_nothing_run_nothing(host, database):
    database.put('/noted/same.json', {'a': 1})
    host.until_noted('noted/same')
    database.put('/noted/same.json', {'a': 1})
    database.put('/noted/same/.priority.json', 5)
    database.ask('PATCH', '/noted.json', {'same/a': 1, 'sameAfter': 1})
    database.ask('PUT', '/noted/sameOff.json', 1, query={'disableTriggers': 'true'})
    host.until_noted('noted/sameAfter')
    database.ask('DELETE', '/noted/same.json')
    assert [event['payload']['after'] for event in host.until_noted('noted/same', 2)] == [{'a': 1}, None]
    assert host.notes('noted/sameOff') == []


def test_an_update_of_several_paths_is_one_event_for_each_place(host, database):
    database.put('/noted/multi.json', {'a': 1, 'b': 2})
    database.ask('PATCH', '/.json', {'noted/multi/a': 10, 'noted/multi/b': None, 'noted/multi/c/d': 3, 'elsewhere/e/mark': 1})
    events = host.until_noted('noted/multi', 2)
    assert events[1]['payload'] == {'before': {'a': 1, 'b': 2}, 'after': {'a': 10, 'c': {'d': 3}}}
    assert host.until_noted('elsewhere/e/mark')[0]['params'] == {'rest': 'elsewhere/e'}
    assert len(host.notes('noted/multi')) == 2


def test_events_of_a_path_come_in_order(host, database):
    for value in range(40):
        database.put(f'/noted/order{value % 4}.json', 'slow' if value == 1 else value)
    for path in range(4):
        seen = [event['payload']['after'] for event in host.until_noted(f'noted/order{path}', 10)]
        assert seen == ['slow' if value == 1 else value for value in range(path, 40, 4)]


# -- failures

def test_a_failure_without_retries_is_a_dead_letter(host, database):
    database.put('/noted/failing.json', 'fail')
    letter = host.until_dead('noted/failing')
    assert letter['function'] == 'noted' and letter['attempts'] == 1 and 'it was told to fail' in letter['error']
    [event] = host.notes('noted/failing')
    assert letter['event'] == event['id']
    database.put('/noted/failing.json', 'well')
    assert host.until_noted('noted/failing', 2)[1]['payload'] == {'before': 'fail', 'after': 'well'}


def test_a_dead_letter_is_replayed_under_its_id_and_deleted(host, database):
    database.put('/noted/replayed.json', 'fail')
    letter = host.until_dead('noted/replayed')
    # Named twice, it is one all the same.
    body = json.dumps({'ids': [letter['id']] * 2})
    assert host.request('POST', '/_/api/databases/-/dead-letters:replay', OWNER, body).json == {'count': 1}
    first, second = host.until_noted('noted/replayed', 2)
    assert first['id'] == second['id'] and second['attempt'] == 1
    again = until(lambda: [found for found in host.letters('noted/replayed') if found['id'] != letter['id']], 'the dead letter again')[0]
    assert host.letter(letter['id']) is None
    assert host.request('DELETE', f'/_/api/databases/-/dead-letters/{again["id"]}', OWNER).json == {'count': 1}
    assert host.letters('noted/replayed') == []


def test_old_dead_letters_make_room(own, tmp_path):
    host = own(database={'triggers': {**TRIGGERS, 'deadLetters': 5}})

    def dropped():
        found = re.search(rb'^hearth_outbox_dead_letters_dropped_total (\d+)$', host.request('GET', '/_/metrics', OWNER).body, re.MULTILINE)
        return int(found[1])

    def give_up(names):
        before = dropped()
        for name in names:
            database.put(f'/noted/{name}.json', 'fail')
            until(lambda name=name: host.letters(f'noted/{name}'), f'{name} is given up')
        return dropped() - before
    with Database(host, DEFAULT) as database:
        assert give_up(range(5)) == 0
        assert give_up(range(5, 12)) == 7
    kept = [f'/noted/{name}' for name in range(7, 12)]
    assert [letter['path'] for letter in host.letters()] == kept
    assert host.log.count('the oldest are dropped') == 1
    # The number of kept ones is the same after a crash, and dropped ones are not forgotten.
    host.kill()
    host.start()
    commands = Commands(host, tmp_path / 'commands')
    listed = commands.result('events:list')
    assert [letter['path'] for letter in listed['deadLetters']] == kept and listed['dropped'] == 7
    assert '7 older ones dropped' in commands.succeeds('events:list')
    # Fewer are kept from the next one on.
    host.stop()
    host.write_config(['events'], {**host.config, 'database': {'triggers': {**TRIGGERS, 'deadLetters': 2}}})
    host.start()
    with Database(host, DEFAULT) as database:
        assert give_up(['last']) == 4
    assert [letter['path'] for letter in host.letters()] == ['/noted/11', '/noted/last']


def test_retries(host, database):
    database.put('/retried/once.json', 'failOnce')
    first, second = host.until_noted('retried/once', 2)
    assert first['id'] == second['id'] and (first['attempt'], second['attempt']) == (1, 2)
    assert host.letters('retried/once') == []


def test_retries_end_with_the_events_age(host, database):
    database.put('/retried/always.json', 'fail')
    letter = host.until_dead('retried/always')
    assert letter['attempts'] >= 5 and 'too old' in letter['reason']
    assert len({event['id'] for event in host.notes('retried/always')}) == 1


def test_a_failing_path_does_not_hold_up_others(host, database):
    database.put('/retried/stuck.json', 'fail')
    for value in range(20):
        database.put(f'/retried/free{value}.json', value)
        host.until_noted(f'retried/free{value}')


def test_a_worker_that_ends_is_no_failure_of_the_event(host, database):
    database.put('/noted/crashing.json', 'crashOnce')
    first, second = host.until_noted('noted/crashing', 2)
    assert first['id'] == second['id'] and second['attempt'] == 2
    assert host.letters('noted/crashing') == []


def test_an_event_that_ends_every_worker_is_given_up(own):
    host = own()
    with Database(host, DEFAULT) as database:
        database.put('/noted/fatal.json', 'crash')
        letter = host.until_dead('noted/fatal', 60)
        assert letter['interruptions'] == 5 == len(host.notes('noted/fatal'))
        database.put('/noted/afterwards.json', 1)
        host.until_noted('noted/afterwards', seconds=60)
    host.stop()


def test_a_function_that_does_not_answer(host, database):
    database.put('/noted/hanging.json', 'hang')
    letter = host.until_dead('noted/hanging')
    assert 'timeoutSeconds of 3' in letter['error']


# -- ends of the host

def test_what_was_under_way_comes_again_after_a_stop(own):
    host = own(workers={'drainSeconds': 0.3})
    with Database(host, DEFAULT) as database:
        database.put('/noted/interrupted.json', 'hangOnce')
        database.put('/noted/interrupted.json', 'next')
        host.until_noted('noted/interrupted')
    host.stop()
    host.start()
    # The host's end is no attempt, so that the same happens again; then its deadline passes.
    events = host.until_noted('noted/interrupted', 3)
    assert events[0]['id'] == events[1]['id'] != events[2]['id'] and events[2]['payload']['after'] == 'next'
    assert [event['attempt'] for event in events] == [1, 1, 1]
    host.stop()


def write_until_killed(host, acknowledged):
    """Writes rising numbers to a few places until the host is gone; notes those that were acknowledged."""
    chance = random.Random()
    with contextlib.suppress(Ended, OSError), Database(host, DEFAULT) as database:
        for value in itertools.count(sum(map(len, acknowledged.values())) * 10):
            path = f'killed{chance.randrange(4)}'
            database.put(f'/noted/{path}.json', value)
            acknowledged[path].append(value)


def test_no_event_of_an_acknowledged_write_is_lost_by_kills(own):
    host, acknowledged = own(), collections.defaultdict(list)
    for _ in range(8):
        writer = threading.Thread(target=write_until_killed, args=(host, acknowledged))
        writer.start()
        writer.join(random.uniform(0.05, 0.8))
        host.kill()
        writer.join()
        host.start()
    assert sum(map(len, acknowledged.values())) > 50
    for path, values in acknowledged.items():
        until(lambda: {event['payload']['after'] for event in host.notes(f'noted/{path}')} >= set(values), f'every event of {path}')
        events = host.notes(f'noted/{path}')
        # Again and again perhaps, but each for the first time in order, and always under its own id.
        seen = list(dict.fromkeys(event['payload']['after'] for event in events))
        assert seen == sorted(seen)
        assert len({event['id'] for event in events}) == len(seen)
    host.stop()


def test_functions_that_are_gone_and_functions_that_could_not_be_loaded(own):
    host = own()
    with Database(host, DEFAULT) as database:
        database.put('/noted/orphan.json', 'hangOnce')
        host.until_noted('noted/orphan')
    host.kill()
    whole = host.config
    host.config_path.write_text(json.dumps({**whole, 'plugins': {'events': {'library': str(host.config_path)}}}))
    host.start()
    assert host.letters() == []
    host.stop()
    host.config_path.write_text(json.dumps(whole))
    host.start()
    host.until_noted('noted/orphan', 2)
    host.kill()
    host.config_path.write_text(json.dumps({**whole, 'plugins': {}}))
    host.start()
    letter = host.until_dead('noted/orphan')
    assert 'no function' in letter['reason']
    host.stop()


# -- what one write may set off

def test_limits_of_a_write(own):
    limits = {**TRIGGERS, 'functionsPerWrite': 5, 'eventBytes': 1024}
    host = own(database={'triggers': limits})
    with Database(host, DEFAULT) as database:
        children = {f'limit{number}': number for number in range(6)}
        answer = database.ask('PUT', '/noted.json', children)
        assert (answer.status, answer.json) == (400, {'error': 'This request would cause too many functions to be triggered.'})
        assert database.get('/noted.json') is None
        answer = database.ask('PUT', '/noted/large.json', 'x' * 2000)
        assert (answer.status, answer.json) == (
            400, {'error': 'Data to write exceeds the maximum size that can be modified with a single request.'})
        database.put('/noted/fits.json', 'x' * 1000)
        host.until_noted('noted/fits')
        database.put('/.settings/strictTriggerValidation.json', False)
        database.put('/noted.json', children)
        for name in children:
            host.until_noted(f'noted/{name}')
        database.put('/noted/large.json', 'x' * 2000)
        assert host.until_noted('noted/large')[0]['payload'] == {'truncated': True}
        assert host.notes('noted/fits')[-1]['payload']['after'] is None
    host.stop()


def test_a_write_of_many_paths(own):
    host = own(database={'triggers': {**TRIGGERS, 'strict': False}})
    with Database(host, DEFAULT) as database:
        count = 20_000
        database.put('/noted.json', {f'many{number}': number for number in range(count)}, query={'disableTriggers': 'true'})
        before = host.peak_bytes()
        database.ask('DELETE', '/noted.json')
        until(lambda: len({event['id'] for event in host.notes(function='noted')}) == count, 'every event', 120)
        assert host.peak_bytes() - before < 64 << 20
        assert host.letters() == []
    host.stop()
