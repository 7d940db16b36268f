"""Bodies of more than 128 KiB: they are parsed beside the loop, and answered like others."""

import json
import pathlib

import pytest

from databases import OPEN_RULES, OWNER, Database
from fixtures import shared_host
from processes import cpu_ticks, until

SILENT = {'print': 'silent'}


host = shared_host(config={'server': {'loops': 1}})


@pytest.fixture
def database(host):
    with Database(host, 'large') as database:
        database.use_rules(OPEN_RULES)
        yield database
        database.ask('DELETE', '/.json')


def large(count=40_000):
    """An object of more than 128 KiB."""
    return {f'k{number:06}': number + 0.5 for number in range(count)}


def test_every_kind_of_write(database):
    value = large()
    assert len(json.dumps(value)) > 256 * 1024
    assert database.put('/put.json', value) == value
    assert database.get('/put.json') == value
    name = database.ask('POST', '/post.json', value).json['name']
    assert database.get(f'/post/{name}.json') == value
    assert database.ask('PATCH', '/patch.json', value).json == value
    assert database.get('/patch.json') == value
    pretty = database.ask('PUT', '/pretty.json', value, query={'print': 'pretty'})
    assert pretty.json == value and pretty.body.startswith(b'{\n')
    # The server's own values are in the answer.
    answer = database.ask('PUT', '/time.json', value | {'at': {'.sv': 'timestamp'}}).json
    assert answer == value | {'at': answer['at']} and isinstance(answer['at'], int)


def test_conditions(database):
    value = large()
    tag = database.ask('PUT', '/conditional.json', value, headers=OWNER | {'X-Firebase-ETag': 'true'}).header('ETag')
    assert database.ask('PUT', '/conditional.json', value, headers=OWNER | {'If-Match': 'other'}).status == 412
    assert database.ask('PUT', '/conditional.json', large(30_000), headers=OWNER | {'If-Match': tag}).status == 200


def test_what_is_wrong_with_one(database):
    text = json.dumps(large())
    for method in ('PUT', 'POST', 'PATCH'):
        answer = database.send(method, '/wrong.json', text[:-1], headers=OWNER)
        assert (answer.status, list(answer.json)) == (400, ['error'])
        # Other requests on the connection are not affected.
        assert database.get('/wrong.json') is None
    assert database.send('PATCH', '/wrong.json', json.dumps([1.5] * 40_000), headers=OWNER).status == 400
    assert database.send('PUT', '/wrong/.priority.json', text, headers=OWNER).status == 400


def test_rules(database):
    rules = {'rules': {f'k{number}': {'.read': f'auth.uid == "{number}"'} for number in range(6000)}}
    assert len(json.dumps(rules)) > 128 * 1024
    database.use_rules(rules)
    assert database.ask('GET', '/.settings/rules.json').json == rules
    answer = database.ask('PUT', '/.settings/rules.json', {'rules': rules['rules'] | {'.read': 'nonsense'}})
    assert answer.status == 400
    assert database.ask('GET', '/.settings/rules.json').json == rules


def test_requests_of_a_connection_stay_in_their_order(database):
    value = json.dumps(large())
    with database.host.wire() as wire:
        for number in range(3):
            wire.send_request('PUT', database.target('/order.json', SILENT), OWNER, value)
            wire.send_request('PUT', database.target('/order.json', SILENT), OWNER, str(number))
            wire.send_request('GET', database.target('/order.json'), OWNER)
        for number in range(3):
            assert [wire.response().status for _ in range(2)] == [204, 204]
            assert wire.response().json == number


def test_the_loop_does_not_parse(database):
    """Compares the processor time of the loop's thread with that of all other threads."""
    text = '[' + ','.join(['1234567.5'] * 2_000_000)
    loop, others = thread_ticks(database.host)
    assert database.send('PUT', '/endless.json', text, headers=OWNER).status == 400
    loop_after, others_after = thread_ticks(database.host)
    assert others_after - others > loop_after - loop


def thread_ticks(host):
    """Processor time of the thread that runs the loop, and of the others."""
    fields = pathlib.Path(f'/proc/{host.pid}/task/{host.pid}/stat').read_text().rsplit(')', 1)[1].split()
    loop = int(fields[11]) + int(fields[12])
    return loop, cpu_ticks(host.pid) - loop


def test_a_client_that_leaves_meanwhile(database):
    text = json.dumps(large(200_000))
    for _ in range(3):
        with database.host.wire() as wire:
            wire.send_request('PUT', database.target('/left.json', SILENT), OWNER, text)
            wire.reset()
    assert database.put('/after.json', 1) == 1
    until(lambda: database.get('/left.json') is None or len(database.get('/left.json')) == 200_000, 'all of a body or nothing is written')
