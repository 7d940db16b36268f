"""The service `cache`: values that the workers of a plugin share."""

import re
import threading

import pytest

from hearth import Host
from processes import until


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('cache'), ['Effects'], config={
        'cache': {'bytes': 20_000, 'valueBytes': 5_000}, 'functions': {'caches': {'concurrency': 1, 'maxInstances': 3}}}).start()
    yield host
    host.stop()
    host.abandon()


def call(host, method, **payload):
    return host.result('caches', {'method': method, 'payload': payload})


def test_values(host):
    assert call(host, 'get', key='a') == {}
    assert call(host, 'set', key='a', value={'x': [1, None]}) is None
    assert call(host, 'get', key='a') == {'value': {'x': [1, None]}}
    assert call(host, 'set', key='a', value=None) is None
    assert call(host, 'get', key='a') == {'value': None}
    assert call(host, 'delete', key='a') == {'deleted': True}
    assert call(host, 'delete', key='a') == {'deleted': False}
    assert call(host, 'get', key='a') == {}


def test_the_typed_functions(host):
    assert host.result('cachesTyped') == [1, False, 5, True, True]


def test_if_absent_and_increment(host):
    assert call(host, 'setIfAbsent', key='b', value=1) == {'stored': True}
    assert call(host, 'setIfAbsent', key='b', value=2) == {'stored': False}
    assert call(host, 'increment', key='b') == {'value': 2}
    assert call(host, 'increment', key='b', by=-5) == {'value': -3}
    assert call(host, 'increment', key='new', by=7) == {'value': 7}
    call(host, 'set', key='text', value='t')
    assert call(host, 'increment', key='text') == {'error': 'not-a-number'}
    call(host, 'set', key='most', value=2**63 - 1)
    assert call(host, 'increment', key='most') == {'error': 'not-a-number'}
    assert call(host, 'get', key='most')['value']['value'] == str(2**63 - 1)


def test_expiry(host):
    call(host, 'set', key='short', value=1, ttlSeconds=0.2)
    call(host, 'set', key='long', value=1, ttlSeconds=1000)
    until(lambda: call(host, 'get', key='short') == {}, 'the value has ended')
    assert call(host, 'get', key='long') == {'value': 1}
    assert call(host, 'setIfAbsent', key='short', value=2) == {'stored': True}
    # A number keeps its time when it is incremented.
    call(host, 'increment', key='count', ttlSeconds=0.3)
    until(lambda: call(host, 'increment', key='count', ttlSeconds=1000) == {'value': 1}, 'the number has begun anew')


@pytest.mark.parametrize('method, payload, reason', [
    ('get', {}, 'invalid-argument'), ('get', {'key': ''}, 'invalid-argument'), ('get', {'key': 'k' * 513}, 'invalid-argument'),
    ('get', {'key': 7}, 'invalid-argument'), ('set', {'key': 'k'}, 'invalid-argument'),
    ('set', {'key': 'k', 'value': 1, 'ttl': 1}, 'invalid-argument'),
    ('set', {'key': 'k', 'value': 1, 'ttlSeconds': 0}, 'invalid-argument'), ('set', {'key': 'k', 'value': 1, 'ttlSeconds': 1e9}, 'invalid-argument'),
    ('set', {'key': 'k', 'value': 'v' * 4999}, 'too-large'), ('increment', {'key': 'k', 'by': 1.5}, 'invalid-argument'),
    ('list', {'key': 'k'}, 'unknown-method')])
def test_refusals(host, method, payload, reason):
    assert call(host, method, **payload) == {'error': reason}


def test_workers_share_the_values(host):
    results = []

    def increments():
        results.extend(call(host, 'increment', key='shared')['value'] for _ in range(20))
    threads = [threading.Thread(target=increments) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: len(host.loaded_workers()) > 1, 'a second worker')
    assert sorted(results) == list(range(1, 121))


def test_the_least_recently_used_goes_first(host):
    for number in range(4):
        call(host, 'set', key=f'big{number}', value='v' * 4000)
    call(host, 'get', key='big0')
    call(host, 'set', key='big4', value='v' * 4000)
    assert [call(host, 'get', key=f'big{number}') != {} for number in range(5)] == [True, False, True, True, True]


def metric(host, name, **labels):
    text = host.request('GET', '/_/metrics').text
    for line in text.splitlines():
        if line.startswith(name + '{') and all(f'{key}="{value}"' in line for key, value in labels.items()):
            return float(line.split()[-1])
    return None


def test_figures(host):
    before = metric(host, 'hearth_cache_reads_total', outcome='hit') or 0
    call(host, 'set', key='f', value=1)
    call(host, 'get', key='f')
    assert metric(host, 'hearth_cache_reads_total', plugin='Effects', outcome='hit') == before + 1
    assert 0 < metric(host, 'hearth_cache_bytes', plugin='Effects') <= 20_000
    assert metric(host, 'hearth_cache_entries', plugin='Effects') > 0
    assert metric(host, 'hearth_cache_removals_total', plugin='Effects', reason='evicted') is not None


def test_it_is_empty_after_a_restart(prepare):
    host = prepare(['Effects']).start()
    call(host, 'set', key='a', value=1)
    host.stop()
    host.start()
    assert call(host, 'get', key='a') == {}


def test_ended_values_are_removed(prepare):
    host = prepare(['Effects']).start()
    for number in range(10):
        call(host, 'set', key=f'k{number}', value=1, ttlSeconds=0.1)
    until(lambda: metric(host, 'hearth_cache_entries', plugin='Effects') == 0, 'nothing is left')
    assert metric(host, 'hearth_cache_removals_total', plugin='Effects', reason='expired') == 10
    assert not re.search('k5', host.log)
