"""One trace from a request to everything that it sets off, as W3C Trace Context says."""

import json
import re

import pytest

from databases import OPEN_RULES, Database
from hearth import Host
from processes import until
from tokens import PROJECT

DEFAULT = f'{PROJECT}-default-rtdb'
TRACE, SPAN = '0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'
PARENT = re.compile(r'00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-(0[01])')


@pytest.fixture(scope='module', params=[1, 3], ids=['one loop', 'three loops'])
def host(request, tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('trace'), ['Conformance'], mode='development',
                config={'server': {'loops': request.param}}).start()
    with Database(host, DEFAULT) as database:
        database.use_rules(OPEN_RULES)
    yield host
    host.stop()


def parts(parent):
    match = PARENT.fullmatch(parent)
    assert match, parent
    return match.groups()


def answered(host, *headers):
    return host.request('GET', host.path('tracedRequest'), headers).body.decode()


def lines(host, text, count):
    """The log's lines with a text, once there are so many."""
    def found():
        entries = [json.loads(line) for line in host.log.splitlines() if line.startswith('{')]
        entries = [entry for entry in entries if text in entry['message']]
        return entries if len(entries) >= count else None
    return until(found, f'{count} lines with {text}')


def test_a_request_goes_on_with_its_trace(host):
    trace, span, flags = parts(answered(host, ('traceparent', f'00-{TRACE}-{SPAN}-01')))
    assert (trace, flags) == (TRACE, '01')
    assert span != SPAN, 'the function is a piece of work of its own'


@pytest.mark.parametrize('parent', [
    f'01-{TRACE}-{SPAN}-01', f'cc-{TRACE}-{SPAN}-03-what-the-future-brings', f'00-{TRACE}-{SPAN}-ff',
], ids=['later version', 'later version with more', 'unknown flags'])
def test_what_a_later_version_adds_is_not_looked_at(parent, host):
    trace, _, flags = parts(answered(host, ('traceparent', parent)))
    assert (trace, flags) == (TRACE, '01')


@pytest.mark.parametrize('parent', [
    '', 'nonsense', f'00-{TRACE}-{SPAN}', f'00-{TRACE}-{SPAN}-1', f'00-{TRACE}-{SPAN}-01-', f'00-{TRACE}-{SPAN}-01-more', f'0-{TRACE}-{SPAN}-01',
    f'ff-{TRACE}-{SPAN}-01', f'00-{TRACE.upper()}-{SPAN}-01', f'00-{TRACE}-{SPAN.upper()}-01', f'00-{"0" * 32}-{SPAN}-01',
    f'00-{TRACE}-{"0" * 16}-01', f'00-{TRACE[:-1]}g-{SPAN}-01', f'00-{TRACE}{SPAN}-01', f'00_{TRACE}_{SPAN}_01', f'01-{TRACE}-{SPAN}-01x',
    f'00-{TRACE}-{SPAN}-0A', f'000-{TRACE}-{SPAN}-01',
])
def test_what_is_no_parent_begins_a_new_trace(parent, host):
    first, second = (parts(answered(host, ('traceparent', parent), ('tracestate', 'vendor=1'))) for _ in range(2))
    assert first[0] != second[0] and TRACE not in (first[0], second[0])
    assert first[2] == '00'


def test_two_parents_are_none(host):
    trace, *_ = parts(answered(host, ('traceparent', f'00-{TRACE}-{SPAN}-01'), ('traceparent', f'00-{TRACE}-{SPAN}-01')))
    assert trace != TRACE


def test_traces_and_spans_differ(host):
    found = [parts(answered(host)) for _ in range(50)]
    assert len({trace for trace, *_ in found}) == len({span for _, span, _ in found}) == 50


@pytest.mark.parametrize('sent, received', [
    (['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'], 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'),
    (['a=1 , b=2', 'c=3'], 'a=1,b=2,c=3'),
    (['a=1,,b=2'], 'a=1,b=2'),
    (['1tenant@sys=v'], '1tenant@sys=v'),
    (['A=1'], ''), (['a'], ''), (['a='], ''), (['a=1,a=2'], ''), (['a=b=c'], ''), ([','.join(f'k{n}=1' for n in range(33))], ''),
    ([','.join(f'k{n}=1' for n in range(32))], ','.join(f'k{n}=1' for n in range(32))),
    ([f'long={"x" * 200},{",".join(f"key{n}={chr(97 + n) * 100}" for n in range(4))}'], ','.join(f'key{n}={chr(97 + n) * 100}' for n in range(4))),
    ([','.join(f'key{n}={"y" * 100}' for n in range(6))], ','.join(f'key{n}={"y" * 100}' for n in range(4))),
])
def test_the_state_of_other_systems_is_handed_on(sent, received, host):
    headers = [('traceparent', f'00-{TRACE}-{SPAN}-01'), *(('tracestate', text) for text in sent)]
    assert host.result('traced', 'state', headers=headers)['tracestate'] == received


def test_a_state_without_a_parent_says_nothing(host):
    assert host.result('traced', 'alone', headers=[('tracestate', 'a=1')])['tracestate'] == ''


def test_one_trace_from_a_call_to_the_third_trigger(host):
    """A function writes, a function runs because of that and writes, and so on: four invocations, one trace."""
    trace = f'{"1" * 31}{host.config["server"]["loops"]}'
    place = f'chain{trace[-1]}'
    parent = host.result('traced', place, headers=[('traceparent', f'00-{trace}-{SPAN}-01'), ('tracestate', 'vendor=kept')])['traceparent']
    entries = [*lines(host, f'called {place}', 1), *lines(host, f'passed {place}', 4)]
    assert [entry['function'] for entry in entries] == ['traced'] + ['passOn'] * 4
    assert {entry['trace'] for entry in entries} == {trace}
    assert len({entry['invocation'] for entry in entries}) == 5
    with Database(host, DEFAULT) as database:
        written = until(lambda: (found := database.get(f'/relay/{place}.json')) and 'end' in found and found, 'the end of the chain')
    spans = [parts(written[step]) for step in ('step1', 'step2', 'step3', 'end')]
    assert written['step1'] == parent
    assert {span[0] for span in spans} == {trace} and {span[2] for span in spans} == {'01'}
    assert len({span[1] for span in spans}) == 4, 'each invocation is a span of its own'


@pytest.mark.parametrize('method, path, value', [
    ('PUT', '/relay/rest-put/step3.json', 1), ('PATCH', '/relay/rest-patch.json', {'step3': 1}), ('PUT', '/relay/rest-set.json', {'step3': 1}),
])
def test_a_write_over_http_goes_on_with_its_trace(method, path, value, host):
    with Database(host, DEFAULT) as database:
        answer = database.ask(method, path, value, headers={'Authorization': 'Bearer owner', 'traceparent': f'00-{TRACE}-{SPAN}-01'})
    assert answer.status == 200
    place = path.split('/')[2].removesuffix('.json')
    for entry in lines(host, f'passed {place}', 2):
        assert entry['trace'] == TRACE


def test_a_write_without_a_trace_begins_one(host):
    with Database(host, DEFAULT) as database:
        database.put('/relay/untraced/step2.json', 1)
    traces = {entry['trace'] for entry in lines(host, 'passed untraced', 3)}
    assert len(traces) == 1 and TRACE not in traces


def test_the_trace_outlives_the_host(launch):
    """It is a part of the event in the outbox."""
    triggers = {'retryMinSeconds': 1, 'retryMaxSeconds': 1}
    host = launch(['events'], mode='development', config={'database': {'triggers': triggers}})
    with Database(host, DEFAULT) as database:
        database.ask('PUT', '/retried/x.json', 'failOnce', headers={'Authorization': 'Bearer owner', 'traceparent': f'00-{TRACE}-{SPAN}-01'})
    host.until_logged('the function failed; the event will be delivered again')
    host.kill()
    host.start()

    def contexts():
        found = [note['context'] for note in host.noted('events-*')]
        return found if len(found) >= 2 else None
    found = until(contexts, 'two attempts')
    assert {parts(context['trace'])[0] for context in found} == {TRACE}
    assert len({parts(context['trace'])[1] for context in found}) == len(found), 'each attempt is a span of its own'
