"""Transactions of live connections: many clients on one node, large nodes, and the order of requests (spec database 3.7, 3.8, 10.2)."""

import base64
import hashlib
import struct
import threading

from databases import OWNER
from fixtures import own_database, shared_host
from live import Live, View


host = shared_host()
database = own_database({'rules': {'.read': True, **{name: {'.write': True} for name in ('count', 'large', 'other', 'elsewhere')}}})


def connect(database):
    return Live(database.host.port, database.namespace, timeout=60)


def sha(text):
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()


def hash_of(value):
    """The hash of a number or of nothing."""
    return '' if value is None else sha('number:' + struct.pack('>d', value).hex())


def hash_of_numbers(values):
    """The hash of an object whose members are numbers, and whose keys are texts."""
    return sha(''.join(f':{key}:{hash_of(values[key])}' for key in sorted(values)))


def add_one(live, view):
    """A transaction as client libraries run it. Returns the number of tries."""
    for count in range(1, 26):
        value = view.apply(live.taken())
        status, text = live.ask('p', p='/count', d=(value or 0) + 1, h=hash_of(value))
        if status == 'ok':
            return count
        assert (status, text) == ('datastale', 'Transaction hash does not match')
    raise AssertionError('25 tries were not enough')


def test_transactions_of_a_hundred_clients_succeed(database):
    """Clients whose transactions have failed some times get turns, so that each of them ends within the tries of client libraries."""
    clients, rounds, failures, tries = 100, 3, [], []
    lives = [connect(database) for _ in range(clients)]
    start = threading.Barrier(clients)

    def run(live):
        view = View('/count')
        try:
            live.do('q', p='/count', h='')
            start.wait()
            for _ in range(rounds):
                tries.append(add_one(live, view))
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)

    threads = [threading.Thread(target=run, args=[live]) for live in lives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for live in lives:
        live.cut()
    assert not failures, failures[:3]
    assert len(tries) == clients * rounds
    assert database.get('/count.json') == clients * rounds


def test_requests_keep_their_order_around_a_transaction(database):
    """A later write of a client does not overtake one with a hash, even where a large node must be read for it."""
    large = {f'k{number:05}': number for number in range(20_000)}
    database.put('/large.json', large)
    with connect(database) as live:
        for number in range(3):
            # The hash is not known to the host.
            database.put('/large/k00000.json', number)
            large['k00000'] = number
            numbers = [live.request('p', p='/large', d={**large, 'second': number}, h=hash_of_numbers(large)),
                       live.request('p', p='/large/third', d=number), live.request('g', p='/large/third', q={})]
            assert [live.answer(each) for each in numbers] == [('ok', ''), ('ok', ''), ('ok', number)]
            large |= {'second': number, 'third': number}
            assert database.get('/large.json') == large


def test_other_writes_go_on_while_a_large_node_is_compared(database):
    large = {f'k{number:06}': number for number in range(200_000)}
    database.put('/large.json', large)
    with connect(database) as first, connect(database) as second:
        # Not the known hash, which an answer with an etag has computed.
        database.put('/large/k000000.json', -1)
        number = first.request('p', p='/large', d={'small': 1}, h='wrong')
        done = 0
        while number not in first.answers and done < 50:
            second.do('p', p='/other', d=done)
            done += 1
            first.send({'t': 'c', 'd': {'t': 'p', 'd': {}}})
            first.control()
        assert first.answer(number) == ('datastale', 'Transaction hash does not match')
        assert done >= 3, 'the writes have waited for the comparison'
        assert database.get('/large/k000001.json') == 1


def test_the_hash_of_a_large_node_is_accepted(database):
    database.put('/large.json', {f'k{number:05}': number for number in range(5_000)})
    answer = database.ask('GET', '/large.json', headers={**OWNER, 'X-Firebase-ETag': 'true'})
    tag = answer.header('ETag')
    with connect(database) as live:
        database.put('/elsewhere.json', 1)
        assert live.ask('p', p='/large', d={'a': 1}, h='x' + tag[1:])[0] == 'datastale'
        live.do('p', p='/large', d={'a': 1}, h=tag)
        assert database.get('/large.json') == {'a': 1}
        assert live.ask('p', p='/large', d={'a': 2}, h=tag)[0] == 'datastale'


def test_conditional_writes_over_http_of_a_large_node(database):
    large = {f'k{number:05}': number for number in range(5_000)}
    database.put('/large.json', large)
    answer = database.ask('PUT', '/large.json', 1, headers={**OWNER, 'if-match': 'wrong'})
    assert answer.status == 412 and answer.json == large
    tag = answer.header('ETag')
    assert database.ask('PUT', '/large/k00000.json', 7).status == 200
    assert database.ask('PUT', '/large.json', 1, headers={**OWNER, 'if-match': tag}).status == 412
    assert database.ask('PUT', '/large/k00000.json', 0).status == 200
    assert database.ask('PUT', '/large.json', 1, headers={**OWNER, 'if-match': tag}).status == 200
    assert database.get('/large.json') == 1


def test_what_may_not_be_written_is_not_compared(database):
    database.put('/own.json', {f'k{number:05}': number for number in range(5_000)})
    with connect(database) as live:
        for tag in (hash_of_numbers({f'k{number:05}': number for number in range(5_000)}), 'wrong', ''):
            assert live.ask('p', p='/own', d=1, h=tag) == ('permission_denied', 'Permission denied')


def test_a_turn_ends(database):
    """A client that has the turn at a node, and does not use it, holds up others for half a second; one that always fails, not at all."""
    with connect(database) as idle, connect(database) as stubborn, connect(database) as other:
        other.do('q', p='/count', h='')
        for _ in range(3):
            assert idle.ask('p', p='/count', d=0, h='wrong')[0] == 'datastale'
        assert other.ask('p', p='/count', d=1, h='') == ('ok', '')
        numbers = [stubborn.request('p', p='/count', d=0, h='wrong') for _ in range(40)]
        for number in range(1, 20):
            assert other.ask('p', p='/count', d=number + 1, h=hash_of(number)) == ('ok', '')
        assert {stubborn.answer(number)[0] for number in numbers} == {'datastale'}


def test_hashes_of_clients_for_ios(database):
    """They cover children by key where each of them has a priority, others by priority (spec 10.1)."""
    children = {'a': (1, 2), 'b': (2, 1)}
    hashes = {key: sha(f'priority:number:{struct.pack(">d", priority).hex()}:number:{struct.pack(">d", value).hex()}')
              for key, (value, priority) in children.items()}
    with connect(database) as live:
        for order in ('ab', 'ba'):
            database.put('/count.json', {key: {'.value': value, '.priority': priority} for key, (value, priority) in children.items()})
            tag = sha(''.join(f':{key}:{hashes[key]}' for key in order))
            # Nothing of what the client has is sent again.
            live.do('q', p='/count', h=tag)
            assert live.taken() == []
            live.do('n', p='/count')
            assert live.ask('p', p='/count', d=1, h=tag) == ('ok', '')
            assert live.ask('p', p='/count', d=2, h=tag)[0] == 'datastale'
