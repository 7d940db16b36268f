"""`once`: an update that is performed one time, however often its event is delivered, and across kills of the host."""

import json
import sqlite3
import threading

import pytest

from processes import until


def database(host, method, path, value=None):
    answer = host.request(method, f'/{path}.json', [('Authorization', 'Bearer owner')] if host.mode == 'development' else [],
                          '' if value is None else json.dumps(value))
    assert answer.status == 200, answer
    return answer.json


@pytest.fixture
def host(launch):
    return launch(['Effects'], mode='development', config={'database': {'triggers': {'retryMinSeconds': 0.05}}})


def once(host, key, update=None, **more):
    return host.result('updatesOnce', {'id': key, 'update': update or {}, **more})


COUNT = {'a/count': {'.sv': {'increment': 1}}, 'b/at': 1}


def test_a_second_update_is_not_performed(host):
    assert once(host, 'k', COUNT) is True
    assert once(host, 'k', COUNT) is False
    assert once(host, 'k', {'c': 1}) is False
    assert once(host, 'other', COUNT) is True
    assert database(host, 'GET', '') == {'a': {'count': 2}, 'b': {'at': 1}}


def test_an_event_that_is_delivered_twice(host):
    database(host, 'PUT', 'failures', 2)
    database(host, 'PUT', 'posts/p1', {'text': 'hello'})
    until(lambda: len(database(host, 'GET', 'deliveries') or {}) == 3, 'the event was delivered three times', 60)
    assert list(database(host, 'GET', 'deliveries').values()) == [True, False, False]
    assert database(host, 'GET', 'counted') == 1
    database(host, 'PUT', 'posts/p2', {'text': 'hello'})
    until(lambda: database(host, 'GET', 'counted') == 2, 'the second event is another one')


def test_the_same_key_at_the_same_time(host):
    results = []
    threads = [threading.Thread(target=lambda: results.append(once(host, 'k', COUNT))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False] * 15 + [True]
    assert database(host, 'GET', 'a/count') == 1


def test_keys_survive_a_kill(host):
    for number in range(20):
        assert once(host, f'k{number}', COUNT) is True
    host.kill()
    host.start()
    assert [once(host, f'k{number}', COUNT) for number in range(21)] == [False] * 20 + [True]
    assert database(host, 'GET', 'a/count') == 21


def test_update_and_key_are_one_at_a_kill_in_between(host):
    """Kills the host while calls run: for each call that is repeated afterwards, the effect has happened once."""
    for round_ in range(3):
        keys = [f'{round_}-{number}' for number in range(40)]
        stop = threading.Event()

        def work(keys=keys):
            for key in keys:
                if stop.is_set():
                    return
                try:
                    host.callable('updatesOnce', {'id': key, 'update': COUNT}, timeout=5)
                except (OSError, AssertionError, Exception):
                    return
        thread = threading.Thread(target=work)
        thread.start()
        until(lambda r=round_: (database(host, 'GET', 'a/count') or 0) > r * 40 + 5, 'some calls have been made')
        host.kill()
        stop.set()
        thread.join()
        host.start()
        for key in keys:
            once(host, key, COUNT)
        assert database(host, 'GET', 'a/count') == (round_ + 1) * 40


def test_keys_are_no_part_of_the_tree(host):
    once(host, 'secret-key')
    assert database(host, 'GET', '') is None
    answer = host.request('GET', '/.json?print=pretty&format=export', [('Authorization', 'Bearer owner')])
    assert 'secret-key' not in answer.text
    for path in ('engine.once', '.once', '.hearth'):
        assert 'secret-key' not in host.request('GET', f'/{path}.json').text


def test_databases_have_keys_of_their_own(host):
    assert once(host, 'k', instance='one') is True
    assert once(host, 'k', instance='two') is True
    assert once(host, 'k', instance='one') is False


def test_refused_updates_do_not_keep_the_key(host):
    assert once(host, 'k', {'a': 1, 'a/b': 2}) == 'invalid-argument'
    assert once(host, 'k', {'a': 1}) is True


@pytest.mark.parametrize('key', ['', 'k' * 513])
def test_invalid_keys(host, key):
    assert once(host, key) == 'invalid-argument'


def test_keys_are_forgotten(launch):
    host = launch(['Effects'], mode='development', config={'database': {'onceSeconds': 1}})
    assert once(host, 'k') is True
    until(lambda: once(host, 'k'), 'the key is forgotten')
    for number in range(10):
        once(host, f'k{number}')
    until(lambda: once(host, 'k9'), 'these are forgotten too')
    for number in range(20):
        once(host, f'later{number}')
    host.stop()
    [file] = [path for path in host.data.glob('**/*.sqlite') if 'default-rtdb' in path.name]
    with sqlite3.connect(file) as connection:
        tables = [name for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in connection.execute(f'SELECT * FROM "{table}"')]
    text = repr(rows)
    assert 'engine.once.key.' in text and 'k5' not in text
