"""Metrics of a host, as Prometheus reads them."""

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from databases import OPEN_RULES, Database
from hearth import ROOT, Host
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'


@pytest.fixture(scope='module', params=[1, 3], ids=['one loop', 'three loops'])
def host(request, tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('metrics'), ['Conformance', 'Faults', 'probe'], mode='development',
                config={'server': {'loops': request.param}}).start()
    with Database(host, DEFAULT) as database:
        database.use_rules(OPEN_RULES)
    yield host
    host.stop()


def scraped(host, **options):
    """Every family by its name, as the real parser reads it."""
    answer = host.request('GET', '/_/metrics', **options)
    assert answer.status == 200
    assert answer.header('content-type') == 'text/plain; version=0.0.4; charset=utf-8'
    families = list(text_string_to_metric_families(answer.body.decode()))
    assert len({family.name for family in families}) == len(families)
    return {family.name: family for family in families}


def value(families, name, **labels):
    """The sum of the samples with these labels."""
    family = families.get(name.removesuffix('_total')) or families[re.sub(r'_(bucket|sum|count)$', '', name)]
    return sum(sample.value for sample in family.samples
               if sample.name == name and all(sample.labels.get(key) == wanted for key, wanted in labels.items()))


def grown(host, act, *names):
    """How much counters have grown by what was done: each is a name and labels."""
    before = scraped(host)
    act()
    after = scraped(host)
    return [value(after, name, **labels) - value(before, name, **labels) for name, labels in names]


def invocations(function, code):
    return 'hearth_function_invocations_total', {'function': function, 'code': code}


def test_it_is_what_prometheus_reads(host):
    families = scraped(host)
    for family in families.values():
        assert family.documentation and family.type in ('counter', 'gauge', 'histogram')
        if family.type == 'counter':
            assert all(sample.name.endswith('_total') for sample in family.samples)
    text = host.request('GET', '/_/metrics').body.decode()
    assert text.endswith('\n') and '# TYPE' in text


def test_histograms_are_whole(host):
    host.result('echo', 1)
    for family in scraped(host).values():
        if family.type != 'histogram':
            continue
        rows = {}
        for sample in family.samples:
            labels = tuple(sorted((key, text) for key, text in sample.labels.items() if key != 'le'))
            rows.setdefault(labels, []).append(sample)
        for samples in rows.values():
            buckets = [sample for sample in samples if sample.name.endswith('_bucket')]
            assert [float(sample.labels['le']) for sample in buckets] == sorted(float(sample.labels['le']) for sample in buckets)
            assert [sample.value for sample in buckets] == sorted(sample.value for sample in buckets)
            assert buckets[-1].labels['le'] == '+Inf'
            assert [sample.value for sample in samples if sample.name.endswith('_count')] == [buckets[-1].value]


def test_invocations_are_counted_by_their_code(host):
    def act():
        for _ in range(7):
            host.result('echo', 1)
        for code in ('not-found', 'not-found', 'internal'):
            host.callable('throwsError', {'code': code, 'message': 'm'})
        host.request('GET', host.path('httpEcho'))
        host.request('GET', host.path('httpThrows'))
    echoes, missing, broken, answered, failed, counted, errors = grown(
        host, act, invocations('echo', 'ok'), invocations('throwsError', 'not-found'), invocations('throwsError', 'internal'),
        invocations('httpEcho', '2xx'), invocations('httpThrows', 'internal'),
        ('hearth_function_duration_seconds_count', {'function': 'echo'}), ('hearth_http_requests_total', {'code': '4xx'}))
    assert (echoes, missing, broken, answered, failed, counted) == (7, 2, 1, 1, 1, 7)
    assert errors == 2


def test_a_function_is_told_of_by_version(host):
    host.result('echo', 1)
    versions = {sample.labels['version'] for sample in scraped(host)['hearth_function_invocations'].samples if sample.labels['function'] == 'echo'}
    assert versions == {'1'}


def test_what_takes_long_is_seen(host):
    def act():
        host.result('saysLater', {'text': 'late', 'milliseconds': 300})
    seconds, fast, all_of_them = grown(
        host, act, ('hearth_function_duration_seconds_sum', {'function': 'saysLater'}),
        ('hearth_function_duration_seconds_bucket', {'function': 'saysLater', 'le': '0.25'}),
        ('hearth_function_duration_seconds_count', {'function': 'saysLater'}))
    assert seconds >= 0.29 and (fast, all_of_them) == (0, 1)


def test_cold_starts(launch):
    host = launch(['probe'], config={'workers': {'prewarmed': 0}})
    host.result('says', {'text': 'cold'})
    host.result('says', {'text': 'warm'})
    families = scraped(host)
    assert value(families, 'hearth_function_cold_start_seconds_count', function='says') == 1
    assert value(families, 'hearth_function_queue_wait_seconds_count', function='says') == 2
    assert value(families, 'hearth_function_queue_wait_seconds_bucket', function='says', le='0.0001') == 1
    assert value(families, 'hearth_instance_start_seconds_count', plugin='probe') == 1
    assert value(families, 'hearth_instances', plugin='probe', state='idle') == 1


def test_what_is_under_way(launch):
    host = launch(['probe'], config={'functions': {'saysLater': {'concurrency': 1, 'maxInstances': 1}}, 'workers': {'drainSeconds': 0.5}})
    with host.wire() as first, host.wire() as second:
        for wire in (first, second):
            wire.send_request('POST', host.path('saysLater'), [('Content-Type', 'application/json')],
                              '{"data":{"text":"x","milliseconds":60000}}')
        families = until(lambda: value(found := scraped(host), 'hearth_function_invocations_in_flight', function='saysLater') == 2 and
                         value(found, 'hearth_instances', state='busy') == 1 and found, 'two calls under way')
        assert value(families, 'hearth_queue_length') == 1
        assert value(families, 'hearth_http_connections_open') >= 3
    until(lambda: value(scraped(host), *[invocations('saysLater', 'cancelled')[0]], function='saysLater', code='cancelled') == 2,
          'both were given up by their clients')
    assert value(scraped(host), 'hearth_function_invocations_in_flight') == 0


def test_crashes(launch):
    host = launch(['probe'], config={'workers': {'prewarmed': 0}})
    assert host.callable('abort').status == 500
    families = until(lambda: value(found := scraped(host), 'hearth_instance_ends_total', reason='crashed') == 1 and found, 'the crash')
    assert value(families, invocations('abort', 'internal')[0], **invocations('abort', 'internal')[1]) == 1


def test_the_database(host):
    def act():
        with Database(host, DEFAULT) as database:
            for number in range(3):
                database.put(f'/figures/{number}.json', number)
            database.ask('PATCH', '/figures.json', {'a': 1})
            assert database.get('/figures.json')
            database.ask('GET', '/figures.json', query={'shallow': 'true'})
            assert database.ask('PUT', '/figures/0.json', 1, headers={'Authorization': 'Bearer owner', 'if-match': 'other'}).status == 412
    sets, updates, conflicts, values, shallow, commits, size = grown(
        host, act, ('hearth_database_writes_total', {'operation': 'set', 'outcome': 'committed'}),
        ('hearth_database_writes_total', {'operation': 'update', 'outcome': 'committed'}),
        ('hearth_database_writes_total', {'operation': 'set', 'outcome': 'conflict'}),
        ('hearth_database_reads_total', {'operation': 'value', 'outcome': 'answered'}),
        ('hearth_database_reads_total', {'operation': 'shallow', 'outcome': 'answered'}),
        ('hearth_database_commit_seconds_count', {}), ('hearth_database_read_bytes_total', {}))
    assert (sets, updates, conflicts, values, shallow) == (3, 1, 1, 1, 1)
    assert commits >= 4 and size > 20
    families = scraped(host)
    assert value(families, 'hearth_database_namespaces_open') >= 1 and value(families, 'hearth_database_stored_bytes') > 0


def test_listeners(host):
    before = value(scraped(host), 'hearth_database_listeners')
    with host.wire() as wire:
        wire.send_request('GET', f'/listened.json?ns={DEFAULT}', [('Accept', 'text/event-stream'), ('Authorization', 'Bearer owner')])
        until(lambda: value(scraped(host), 'hearth_database_listeners') == before + 1, 'one listener more')
    until(lambda: value(scraped(host), 'hearth_database_listeners') == before, 'it has gone')


def test_events(launch):
    host = launch(['events'], mode='development',
                  config={'database': {'triggers': {'retryMinSeconds': 0.05, 'retryMaxSeconds': 0.1}}, 'workers': {'drainSeconds': 0.5}})
    with Database(host, DEFAULT) as database:
        database.put('/noted/good.json', 'x')
        database.put('/noted/bad.json', 'fail')
        database.put('/retried/again.json', 'failOnce')

        def settled():
            families = scraped(host)
            return value(families, 'hearth_outbox_deliveries_total', outcome='succeeded') == 2 and families
        families = until(settled, 'what succeeds has succeeded')
        assert value(families, 'hearth_outbox_deliveries_total', outcome='failed') == 2
        assert value(families, 'hearth_outbox_retries_total') == 1
        assert value(families, 'hearth_outbox_dead_letters_total', reason='failed') == 1
        until(lambda: value(scraped(host), 'hearth_outbox_events_waiting') == 0, 'nothing waits')
        assert value(scraped(host), 'hearth_outbox_dead_letters_kept') == 1
        database.put('/retried/hangs.json', 'hang')
        until(lambda: value(scraped(host), 'hearth_outbox_events_waiting') == 1, 'one event waits')
    host.kill()
    host.start()
    until(lambda: value(scraped(host), 'hearth_outbox_events_waiting') == 1, 'it waits after a crash, too')
    assert value(scraped(host), 'hearth_outbox_dead_letters_kept') == 1


def test_the_process(host):
    families = scraped(host)
    assert value(families, 'process_resident_memory_bytes') > 1 << 20
    assert value(families, 'process_cpu_seconds_total') > 0
    assert 5 < value(families, 'process_open_fds') < value(families, 'process_max_fds')
    assert value(families, 'process_start_time_seconds') > 1_600_000_000
    loops = [sample for sample in families['hearth_loop_lag_seconds'].samples]
    assert len(loops) == host.config['server']['loops'] and all(0 <= sample.value < 60 for sample in loops)
    assert value(families, 'hearth_scrape_missing_parts') == 0


def test_strangers_show_the_token(host):
    """A proxy on this machine brings requests from elsewhere."""
    token = (host.data / 'admin-token').read_text().strip()
    forwarded = ('X-Forwarded-For', '203.0.113.1')
    assert host.request('GET', '/_/metrics', [forwarded]).status == 401
    assert host.request('GET', '/_/metrics', [forwarded, ('Authorization', 'Bearer wrong')]).status == 401
    assert host.request('GET', '/_/metrics', [forwarded, ('Authorization', f'Bearer {token}')]).status == 200
    assert host.request('POST', '/_/metrics').status == 405


def test_cardinality_does_not_grow_with_what_clients_send(host):
    host.result('echo', 1)
    before = host.request('GET', '/_/metrics').body.count(b'\n')
    for number in range(50):
        host.request('GET', f'/unknown-{number}')
        host.callable(f'missing{number}', 1)
        host.callable('echo', 1, headers={'X-Forwarded-For': f'203.0.113.{number}'})
    assert host.request('GET', '/_/metrics').body.count(b'\n') == before


def test_the_page_names_every_figure(host):
    documented = dict(re.findall(r'^\| `(\w+)`[^|]*\| (counter|gauge|histogram) \|', (ROOT / 'docs/metrics.md').read_text(), re.MULTILINE))
    told = dict(re.findall(r'^# TYPE (\w+) (\w+)$', host.request('GET', '/_/metrics').body.decode(), re.MULTILINE))
    assert documented == told
