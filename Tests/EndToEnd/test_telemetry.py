"""Traces and metrics for a collector of OpenTelemetry."""

import json
import re
import socket
import subprocess
import time

import pytest

from collector import Collector, attributes
from databases import OPEN_RULES, OWNER, Database
from hearth import ROOT, Host
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'
TRACE, PARENT = '0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'


@pytest.fixture
def collector():
    with Collector() as collector:
        yield collector


@pytest.fixture
def start(tmp_path, collector):
    hosts = []

    def run(*, loops=1, url=None, **settings):
        host = Host(tmp_path, ['Conformance', 'Faults'], mode='development', config={
            'server': {'loops': loops}, 'telemetry': {'endpoint': url or collector.url, 'metricsIntervalSeconds': 0.3, **settings}})
        hosts.append(host)
        host.start()
        with Database(host, DEFAULT) as database:
            database.use_rules(OPEN_RULES)
        return host
    yield run
    for host in hosts:
        host.stop()


def metric(host, name, **labels):
    lines = [line for line in host.request('GET', '/_/metrics', OWNER).text.splitlines() if re.match(rf'{name}[ {{]', line)]
    return sum(float(line.split()[-1]) for line in lines if all(f'{key}="{value}"' in line for key, value in labels.items()))


def one(spans, name, **wanted):
    found = [span for span in spans if span['name'] == name and all(span['attributes'].get(key) == value for key, value in wanted.items())]
    assert len(found) == 1, f'{name}: {[(span["name"], span["attributes"]) for span in spans]}'
    return found[0]


@pytest.mark.parametrize('loops', [1, 3])
def test_a_trace_holds_everything_that_a_request_sets_off(start, collector, loops):
    host = start(loops=loops)
    before = time.time_ns()
    answer = host.callable('traced', 'a', headers=[('traceparent', f'00-{TRACE}-{PARENT}-01'), ('tracestate', 'vendor=1')])
    assert answer.json['result']['traceparent'].split('-')[1] == TRACE
    spans = collector.until_spans(lambda found: sum(span['name'] == 'passOn' and span['traceId'] == TRACE for span in found) == 4, 'four events')
    spans = [span for span in spans if span['traceId'] == TRACE]
    call = one(spans, 'traced')
    assert call['parentSpanId'] == PARENT and call['spanId'] == answer.json['result']['traceparent'].split('-')[2]
    assert call['kind'] == 2 and call['flags'] == 1 and call['traceState'] == 'vendor=1' and 'status' not in call
    facts = call['attributes']
    assert facts['faas.name'] == 'traced' and facts['faas.trigger'] == 'http' and facts['hearth.code'] == 'ok' and facts['faas.coldstart'] is True
    assert facts['hearth.plugin'] == 'Conformance' and facts['faas.version'] == '1' and facts['hearth.wait'] > 0
    for span in spans:
        assert before <= int(span['startTimeUnixNano']) <= int(span['endTimeUnixNano']) <= time.time_ns()
    # The function's write is a call of a service, whose span is the parent of the event that it sets off, and so on.
    parents = {span['spanId']: span for span in spans}
    assert len(parents) == len(spans) == 9 and sorted(span['name'] for span in spans) == ['database.set'] * 4 + ['passOn'] * 4 + ['traced']
    chain, place = [], next(span for span in spans if span['spanId'] not in {other.get('parentSpanId') for other in spans})
    while place is not None:
        chain.append((place['name'], place['kind']))
        place = parents.get(place['parentSpanId'])
    assert chain == [('passOn', 5), ('database.set', 3)] * 4 + [('traced', 2)]


def test_writes_over_rest_and_failures(start, collector):
    host = start()
    host.request('PUT', '/relay/b/step3.json', OWNER, '1')
    host.callable('throwsError', {'code': 'internal', 'message': 'm'})
    host.callable('throwsError', {'code': 'not-found', 'message': 'm'})
    host.request('GET', host.path('httpThrows'))
    names = {'passOn', 'PUT database', 'throwsError', 'httpThrows'}
    spans = collector.until_spans(lambda found: names <= {span['name'] for span in found} and len(found) >= 6, 'all spans')
    write = next(span for span in spans if span['name'] == 'PUT database' and span['attributes']['db.namespace'] == DEFAULT
                 and any(other.get('parentSpanId') == span['spanId'] for other in spans))
    assert write['attributes']['http.response.status_code'] == '200' and write['kind'] == 2 and 'parentSpanId' not in write
    event = next(span for span in spans if span['name'] == 'passOn' and span['parentSpanId'] == write['spanId'])
    assert event['traceId'] == write['traceId'] and event['attributes']['faas.trigger'] == 'datasource'
    # A failure of the function is one of the span. An error that the caller has made is not.
    assert one(spans, 'throwsError', **{'hearth.code': 'internal'})['status'] == {'code': 2, 'message': 'internal'}
    assert 'status' not in one(spans, 'throwsError', **{'hearth.code': 'not-found'})
    assert one(spans, 'httpThrows')['status']['code'] == 2


def test_sampling(start, collector):
    host = start(sampleRatio=0, metrics=False)
    for _ in range(20):
        host.result('echo', 1)
    host.callable('echo', 1, headers=[('traceparent', f'00-{TRACE}-{PARENT}-00')])
    host.callable('echo', 1, headers=[('traceparent', f'00-{TRACE}-{PARENT}-01')])
    spans = collector.until_spans(bool, 'the span of the caller that records its trace')
    assert [(span['name'], span['parentSpanId']) for span in spans] == [('echo', PARENT)]
    host.stop()
    assert len(collector.spans()) == 1 and collector.bodies('/v1/metrics') == []


def test_metrics_are_those_of_the_page(start, collector):
    host = start(traces=False)
    for _ in range(7):
        host.result('echo', 1)

    def counted():
        points = collector.metrics().get('hearth_function_invocations_total', {}).get('sum', {}).get('dataPoints', [])
        return any(attributes(point) == {'function': 'echo', 'version': '1', 'code': 'ok'} and point['asInt'] == '7' for point in points)
    until(counted, 'the invocations in a report')
    families = {}
    for line in host.request('GET', '/_/metrics', OWNER).text.splitlines():
        if line.startswith('# TYPE'):
            _, _, name, kind = line.split()
            families[name] = kind
    kinds = {name: 'counter' if 'sum' in entry else 'histogram' if 'histogram' in entry else 'gauge' for name, entry in collector.metrics().items()}
    assert kinds == families
    point = collector.metrics()['hearth_function_duration_seconds']['histogram']['dataPoints'][0]
    assert sum(int(count) for count in point['bucketCounts']) == int(point['count'])
    assert len(point['bucketCounts']) == len(point['explicitBounds']) + 1
    assert int(point['startTimeUnixNano']) < int(point['timeUnixNano']) <= time.time_ns()
    resource = attributes(collector.bodies('/v1/metrics')[-1]['resourceMetrics'][0]['resource'])
    assert resource['service.name'] == 'hearth' and resource['service.namespace'] == PROJECT and resource['service.version'] == '0.1.0'
    assert resource['service.instance.id'].endswith(f':{host.pid}') and collector.spans() == []
    assert metric(host, 'hearth_telemetry_requests_total', signal='metrics', outcome='sent') >= 1


def test_what_waits_is_sent_at_the_end(start, collector):
    host = start(metricsIntervalSeconds=3600)
    host.result('echo', 1)
    host.stop()
    assert [span['name'] for span in collector.spans() if span['name'] == 'echo'] == ['echo']
    assert 'hearth_function_invocations_total' in collector.metrics()


def test_headers_are_sent_and_kept_secret(start, collector, tmp_path):
    secret = tmp_path / 'headers'
    secret.write_text('X-Key: top-secret: 1\n\nAuthorization:Basic abc\r\n')
    secret.chmod(0o600)
    host = start(headersFile=str(secret))
    host.result('echo', 1)
    collector.until_spans(bool, 'a span')
    headers = collector.requests[0][1]
    assert headers['X-Key'] == 'top-secret: 1' and headers['Authorization'] == 'Basic abc' and headers['Content-Type'] == 'application/json'
    assert 'top-secret' not in host.log


def test_a_file_that_is_no_list_of_headers(tmp_path, collector):
    (tmp_path / 'bad').write_text('X-Key: 1\nnonsense\n')
    (tmp_path / 'bad').chmod(0o600)
    host = Host(tmp_path, ['Conformance'], mode='development', config={'telemetry': {'endpoint': collector.url, 'headersFile': 'bad'}})
    ended = subprocess.run(host.command(), capture_output=True, text=True, timeout=30, cwd=host.folder)
    assert ended.returncode == 1
    assert 'telemetry.headersFile: line 2 of' in ended.stderr and 'expected "Name: value"' in ended.stderr


# -- collectors that do not work

def test_a_collector_that_is_busy_is_asked_again(start, collector):
    collector.answers = [(503, {'Retry-After': '0'}, ''), (429, {'Retry-After': '0'}, 'later')]
    host = start(metrics=False)
    host.result('echo', 1)
    until(lambda: len(collector.bodies('/v1/traces')) >= 3, 'a third attempt')
    bodies = collector.bodies('/v1/traces')
    assert bodies[0] == bodies[1] == bodies[2]
    until(lambda: 'telemetry is sent again' in host.log, 'the line that it works again')
    assert host.log.count('telemetry cannot be sent') == 1 and metric(host, 'hearth_telemetry_requests_total', signal='traces', outcome='failed') == 0


def test_a_collector_that_refuses(start, collector):
    collector.answers = [(400, {}, 'no')]
    host = start(metrics=False)
    host.result('echo', 1)
    until(lambda: metric(host, 'hearth_telemetry_requests_total', signal='traces', outcome='failed') == 1, 'a failed request')
    lines = [json.loads(line) for line in host.log.splitlines() if 'telemetry cannot be sent' in line]
    assert len(lines) == 1 and lines[0]['reason'] == 'the collector has answered with status 400'
    host.result('echo', 2)
    until(lambda: metric(host, 'hearth_telemetry_requests_total', signal='traces', outcome='sent') >= 1, 'the next request')


def test_a_collector_that_takes_a_part(start, collector):
    collector.answers = [(200, {}, '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}')]
    host = start(metrics=False)
    host.result('echo', 1)
    until(lambda: metric(host, 'hearth_telemetry_rejected_total', signal='traces') == 2, 'two refused spans')
    assert 'too old' in host.log


def test_numbers_of_a_hostile_collector(start, collector):
    most = str((1 << 63) - 1)
    collector.answers = [(503, {'Retry-After': str((1 << 64) - 1)}, ''), *[(200, {}, json.dumps({'partialSuccess': {'rejectedSpans': most}}))] * 3]
    host = start(metrics=False)
    host.result('echo', 1)
    until(lambda: 'telemetry cannot be sent' in host.log, 'the first answer')
    host.stop()
    host.start()
    for number in range(3):
        host.result('echo', number)
        until(lambda number=number: len(collector.bodies('/v1/traces')) > number + 1, 'another request')
    assert host.result('echo', 2) == 2


def test_a_collector_that_never_answers_does_not_hold_up_the_end(start):
    with socket.create_server(('127.0.0.1', 0)) as silent:
        host = start(url=f'http://127.0.0.1:{silent.getsockname()[1]}')
        host.result('echo', 1)
        silent.accept()
        host.stop(seconds=20)


@pytest.mark.parametrize('answer', ['not json', '[]', '{"partialSuccess":7}', '{"partialSuccess":{"rejectedSpans":{}}}', 'x' * 100_000])
def test_answers_that_are_nonsense(start, collector, answer):
    collector.answers = [(200, {}, answer)]
    host = start(metrics=False)
    host.result('echo', 1)
    until(lambda: collector.spans(), 'a span')
    assert host.result('echo', 2) == 2


def test_nothing_waits_for_a_collector_that_is_gone(start):
    host = start(url='http://127.0.0.1:9')
    until(lambda: 'telemetry cannot be sent' in host.log, 'the line about it')
    for number in range(50):
        assert host.result('echo', number) == number
    started = time.monotonic()
    host.stop()
    assert time.monotonic() - started < 30


# -- processes

def test_the_version_and_the_use_of_instances(start):
    host = start()
    assert metric(host, 'hearth_build_info', version='0.1.0') == 1
    host.result('echo', 1)
    resident = until(lambda: metric(host, 'hearth_instance_resident_bytes', plugin='Conformance'), 'the memory of an instance')
    assert 1 << 20 < resident < 1 << 30
    before = metric(host, 'hearth_instance_cpu_seconds_total', plugin='Conformance')

    def grown():
        for number in range(200):
            host.result('echo', number)
        return metric(host, 'hearth_instance_cpu_seconds_total', plugin='Conformance') > before
    until(grown, 'more processor time')
    assert metric(host, 'hearth_instance_cpu_seconds_total', plugin='Faults') == 0


def test_the_page():
    text = (ROOT / 'docs/telemetry.md').read_text()
    example = json.loads(re.search(r'```json\n(.*?)```', text, re.DOTALL).group(1))
    assert set(example['telemetry']) <= {'endpoint', 'headersFile', 'sampleRatio', 'serviceName', 'metricsIntervalSeconds'}
