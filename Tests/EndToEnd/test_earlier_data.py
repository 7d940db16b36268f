"""Data folders of earlier versions, each as a kill left it: a host opens them, answers from them, and goes on with what was under way."""

import contextlib
import json
import pathlib
import sqlite3
import tarfile
import time

import pytest

from databases import OWNER, Database
from hearth import Host
from messaging import OWN, Messaging, Receiver
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'
ARCHIVES = sorted(pathlib.Path(__file__).with_name('earlier').glob('data-*.tar.xz'))


@pytest.fixture(scope='module', params=ARCHIVES, ids=lambda path: path.name.split('.')[0])
def opened(request, tmp_path_factory):
    """A host on the data of an archive, and what was noted when it was made."""
    folder = tmp_path_factory.mktemp('earlier')
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter='data')
    expected = json.loads((folder / 'expected.json').read_text())
    rejuvenate(folder / 'data/messaging/messaging.sqlite', int(time.time() * 1000) - expected['made'])
    host = Host(folder, ['events'], mode='development', config={'workers': {'drainSeconds': 1}}).start()
    try:
        yield host, expected
        host.stop()
    finally:
        host.abandon()


def rejuvenate(path, milliseconds):
    """Messages and devices expire: the times of all rows are moved, as if they had been stored now."""
    with contextlib.closing(sqlite3.connect(path)) as store:
        for column in ('device.created', 'device.seen', 'message.sent', 'pending.expires', 'outcome.at', 'subscription.created', 'idempotency.at'):
            table, name = column.split('.')
            store.execute(f'UPDATE {table} SET {name} = {name} + ? WHERE {name} > 0', (milliseconds,))
        store.commit()


@pytest.fixture
def host(opened):
    return opened[0]


@pytest.fixture
def expected(opened):
    return opened[1]


@pytest.fixture
def database(host):
    with Database(host, DEFAULT) as database:
        yield database


@pytest.fixture
def messages(host):
    messages = Messaging(host, PROJECT)
    yield messages
    messages.close()


def test_values_and_priorities(host, database, expected):
    assert database.get('/scores.json', query={'format': 'export'}) == expected['scores']
    assert database.get('/closed.json') == {'deep': {'er': [True, 1.5, 'text']}}
    assert database.get('/gone.json') is None
    with Database(host, 'second') as second:
        assert second.get('/large.json') == expected['large']


def test_indexes_and_orders(database):
    query = {'orderBy': '"points"', 'startAt': 15, 'limitToFirst': 1}
    assert database.get('/scores.json', query=query, headers={}).keys() == {'cyd'}
    assert database.get('/scores.json', query={'orderBy': '"$priority"', 'limitToFirst': 2}, headers={}).keys() == {'ada', 'cyd'}


def test_rules(host, database, expected):
    assert database.get('/.settings/rules.json') == expected['rules']
    assert database.send('GET', '/closed.json').status == 401
    assert database.send('GET', '/scores.json').status == 200
    with Database(host, 'second') as second:
        assert second.send('GET', '/large.json').status == 200


def test_dead_letters(host, expected):
    answer = host.request('GET', '/_/api/databases/-/dead-letters', OWNER).json
    [letter] = answer['deadLetters']
    assert {key: letter[key] for key in expected['letter']} == expected['letter']


def test_events_that_waited(host, expected):
    def noted():
        found = host.noted()
        return len(found) >= 2 and [(note['context']['event']['id'], note['payload']) for note in found]

    first, second = until(noted, 'the events')
    assert first == (expected['waiting'], {'before': None, 'after': 'hangOnce'})
    assert second[1] == {'before': 'hangOnce', 'after': 'next'}


def test_writing_goes_on(host, database):
    database.put('/scores/dee.json', {'points': 15})
    assert database.get('/scores.json', query={'orderBy': '"points"', 'equalTo': 15}).keys() == {'dee'}
    assert database.ask('DELETE', '/scores/dee.json').status == 200


def test_devices_and_topics(messages, expected):
    devices = messages.do('GET', f'{OWN}/projects/{PROJECT}/devices')['devices']
    assert {device['token']: (device['platform'], device['name']) for device in devices} == {
        expected['phone']['token']: ('android', 'phone'), expected['browser']['token']: ('web', '')}
    assert messages.subscribers('news') == {expected['phone']['fid'], expected['browser']['fid']}


def test_messages_that_waited(host, messages, expected):
    with Receiver(host, expected['phone']['token'], acknowledges=True) as phone:
        assert phone.ready['pending'] == 3
        assert [phone.next()['data'] for _ in range(3)] == [{'k': 'kept'}, {'k': 'new'}, {'k': 'topic'}]
    assert [row['outcome'] for row in messages.message(expected['old'])['outcomes']] == ['collapsed_by']
    until(lambda: messages.message(expected['kept'])['outcomes'][0]['outcome'] == 'delivered', 'the acknowledgement is stored')
    with Receiver(host, expected['browser']['token']) as browser:
        assert browser.next()['data'] == {'k': 'topic'}


def test_service_accounts(messages, expected):
    token = messages.access_token({**expected['account'], 'token_uri': f'http://127.0.0.1:{messages.host.port}/token'})
    body = {'message': {'token': expected['phone']['token'], 'data': {'k': 'later'}}}
    answer = messages.ask('POST', f'/v1/projects/{PROJECT}/messages:send', body, token=token)
    assert answer.status == 200, answer.body


def test_nothing_is_wrong_with_it(host):
    assert not [line for line in host.log.splitlines() if ' error ' in line.lower()]
