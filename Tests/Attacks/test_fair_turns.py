"""Requests that are expensive for a database: other clients get their turns meanwhile, and abandoned work is not done."""

import json
import select

import pytest

from databases import OWNER, Database
from processes import until

RULES = {'rules': {'.read': True, 'open': {'.write': True}, 'large': {'.write': True}}}
# Each request below looks at all of these.
LARGE = {f'k{number:06}': {'v': number % 1000, 's': 'q' * 20} for number in range(60_000)}
ETAG = {'X-Firebase-ETag': 'true'}
COUNT = 40


@pytest.fixture
def database(launch):
    # One reader of each kind, so that the order of the answers is that of the turns.
    host = launch([], mode='development', config={'server': {'loops': 2, 'trustedProxies': ['127.0.0.1']}, 'database': {'readers': 1}})
    with Database(host, 'turns') as database:
        database.use_rules(RULES)
        database.put('/large.json', LARGE)
        yield database


def begin(database, method='GET', query=(), headers=(), body='', client='203.0.113.1'):
    """Sends a request for the large node and does not read the answer."""
    wire = database.host.wire()
    wire.send_request(method, database.target('/large.json', query), {'X-Forwarded-For': client, **dict(headers)}, body)
    return wire


def is_answered(wire):
    return bool(select.select([wire.socket], [], [], 0)[0])


SHALLOW = {'shallow': 'true'}
COSTLY = {
    'etag': ({}, ETAG),
    'shallow': (SHALLOW, {}),
    'query': ({'orderBy': '"$key"', 'limitToLast': '59000'}, {}),
}


@pytest.mark.parametrize('name', COSTLY)
def test_reads_that_cost_nothing_do_not_wait(database, name):
    database.put('/open/a.json', 1)
    query, headers = COSTLY[name]
    wires = [begin(database, query=query, headers=headers) for _ in range(COUNT)]
    # A hash that is known is not made again: the last ones cost much in any case.
    wires += [begin(database, query=SHALLOW) for _ in range(COUNT // 2)]
    assert database.get('/open/a.json') == 1
    assert not is_answered(wires[-1])
    assert database.put('/open/a.json', 2) == 2
    for wire in wires:
        wire.close()


def test_clients_have_their_turns_one_after_the_other(database):
    greedy = [begin(database, query=SHALLOW) for _ in range(COUNT)]
    modest = begin(database, query=SHALLOW, client='203.0.113.2')
    assert len(modest.response().json) == len(LARGE)
    assert not is_answered(greedy[-1])
    for wire in [*greedy, modest]:
        wire.close()


def test_what_a_client_that_has_gone_asked_for_is_not_done(database):
    """Nor does an upgrade wait for what is asked for still, nor a stop."""
    for _ in range(COUNT):
        begin(database, query=SHALLOW).close()
        begin(database, 'PUT', headers={'if-match': 'wrong'}, body='1').close()
    last = begin(database, query=SHALLOW)
    assert len(last.response().json) == len(LARGE)
    assert database.put('/open/a.json', 1) == 1
    wires = [begin(database, query=SHALLOW) for _ in range(COUNT)]
    token = (database.host.data / 'admin-token').read_text()
    answer = database.host.request(
        'POST', '/_/api/host:upgrade', {'Authorization': f'Bearer {token}', 'Content-Type': 'application/json'}, '{}', timeout=60)
    assert answer.status == 200, answer.body
    until(lambda: database.host.log.count('took over from the previous host') == 1, 'the new host serves')
    for wire in [*wires, last]:
        wire.close()
    database.close()
    assert database.get('/open/a.json') == 1


def test_writes_do_not_wait_for_conditions(database):
    """The etag of a large node is compared when it is the client's turn."""
    wires = [begin(database, 'PUT', headers={'if-match': f'wrong{number}'}, body='1') for number in range(COUNT)]
    assert database.put('/open/a.json', 1) == 1
    assert not is_answered(wires[-1])
    for wire in wires[:3]:
        answer = wire.response()
        assert (answer.status, answer.json['k000001']) == (412, LARGE['k000001'])
    for wire in wires:
        wire.close()


def test_so_many_of_one_client_may_wait(database):
    """A further one is refused at once; other clients are served."""
    wires = [begin(database, query=SHALLOW) for _ in range(200)]
    refused = until(lambda: [wire for wire in wires if is_answered(wire)][1:], 'some are refused')[-1].response()
    assert (refused.status, refused.header('Retry-After')) == (503, '1')
    assert 'wait for this database' in refused.json['error']
    assert len(begin(database, query=SHALLOW, client='203.0.113.2').response().json) == len(LARGE)
    for wire in wires:
        wire.close()


def test_an_etag_is_right_after_each_write(database):
    """The cached hash of a large node is valid for one state of the node only."""
    def etag():
        return database.send('GET', '/large.json', headers={**OWNER, **ETAG}).header('ETag')

    def put(expected):
        return database.send('PUT', '/large.json', json.dumps({'only': 1}), headers={**OWNER, 'if-match': expected}).status

    first = etag()
    assert first == etag()
    assert put('wrong') == 412
    database.put('/large/k000001/v.json', 'changed')
    second = etag()
    assert second != first
    assert [put(first), put(first), put(second)] == [412, 412, 200]
    assert database.get('/large.json') == {'only': 1}
