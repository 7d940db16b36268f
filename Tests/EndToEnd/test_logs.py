"""The log: whose line it is, and what never stands in it."""

import json
import re
import threading

import pytest

from load import Load
from processes import until


@pytest.fixture
def host(launch):
    return launch(['probe'])


def entries(host):
    """The log's lines that are JSON, as they are when it goes to a file."""
    found = []
    for line in host.log.splitlines():
        if line.startswith('{'):
            found.append(json.loads(line))
    return found


def lines_with(host, text, count=1):
    """Waits for `count` lines with a text."""
    host.until_logged(re.escape(text))
    return until(lambda: (found := [entry for entry in entries(host) if text in json.dumps(entry)]) and len(found) >= count and found,
                 f'{count} lines with {text}')


def test_every_way_of_writing_is_put_down_to_its_function(host):
    host.result('says', {'text': 'hello-there'})
    found = lines_with(host, 'hello-there', 4)
    assert {entry['function'] for entry in found} == {'says'}
    assert len({entry['invocation'] for entry in found}) == 1


def test_calls_at_the_same_time_are_told_apart(host):
    threads = [threading.Thread(target=host.result, args=('saysLater', {'text': f'voice-{number}', 'milliseconds': 200}))
               for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = {lines_with(host, f'voice-{number}')[0]['invocation'] for number in range(5)}
    assert len(ids) == 5


def test_levels(host):
    host.result('says', {'text': 'levelled'})
    levels = {entry['severity'] for entry in lines_with(host, 'levelled', 4)}
    assert {'info', 'error'} <= levels


def test_trace_of_the_request(host):
    """On every line, also where the host reads the line after the answer."""
    trace = '0af7651916cd43dd8448eb211c80319c'
    with Load(host, 'pid', clients=4):
        for number in range(40):
            host.result('says', {'text': f'traced-{number}-'}, headers={'traceparent': f'00-{trace}-b7ad6b7169203331-01'})
    for number in range(40):
        assert all(trace in entry.get('trace', '') for entry in lines_with(host, f'traced-{number}-', 4))


@pytest.mark.parametrize('text', ['two\nlines', 'tab\tand "quotes"', '\x1b[31mred\x1b[0m', 'é😀', '{"level":"critical","forged":true}'])
def test_what_a_function_writes_cannot_forge_lines(text, host):
    host.result('says', {'text': text})
    host.result('says', {'text': 'the-end'})
    lines_with(host, 'the-end')
    assert not any(entry.get('forged') for entry in entries(host))
    assert '\x1b' not in host.log


def test_bytes_that_are_not_utf8(host):
    host.result('saysBytes')
    host.result('says', {'text': 'after-bytes'})
    assert lines_with(host, 'after-bytes')


def test_bodies_and_tokens_are_not_logged(conformance):
    conformance.result('echo', 'confidential-payload')
    conformance.callable('throwsError', {'code': 'internal', 'message': 'm', 'details': 'confidential-details'})
    conformance.request('POST', conformance.path('echo') + '?key=confidential-query', {'Content-Type': 'application/json'}, '{')
    conformance.result('echo', 1)
    for word in ('confidential-payload', 'confidential-query'):
        assert word not in conformance.log
