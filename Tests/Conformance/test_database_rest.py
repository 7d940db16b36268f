"""Every scenario of cases/database-rest.json, over a socket, each in its own namespace."""

import itertools
import json
import pathlib
import re

import pytest

from databases import OPEN_RULES, Database
from expectations import same
from fixtures import shared_host

CASES = json.loads((pathlib.Path(__file__).parent / 'cases/database-rest.json').read_text())
SCENARIOS = CASES['scenarios']
names = (f'rest-{number}' for number in itertools.count())


host = shared_host()


@pytest.mark.parametrize('scenario', SCENARIOS, ids=[scenario['id'] for scenario in SCENARIOS])
def test_scenario(scenario, host):
    with Database(host, next(names)) as database:
        rules = scenario.get('rules', OPEN_RULES)
        database.use_rules(rules)
        for other in {step['query']['ns'] for step in scenario['steps'] if 'ns' in step.get('query', {})}:
            with Database(host, other) as named:
                named.use_rules(rules)
        saved = {}
        for step in scenario['steps']:
            answer = send(database, step, saved)
            check(step['expect'], answer, saved)
            for name, source in step.get('save', {}).items():
                kind, _, key = source.partition(':')
                saved[name] = answer.header(key) if kind == 'header' else answer.json[source.removeprefix('$.')]


def send(database, step, saved):
    body = step['rawBody'] if 'rawBody' in step else json.dumps(step['body']) if 'body' in step else ''
    headers = {name: fill(value, saved) for name, value in step.get('headers', {}).items()}
    return database.send(step['method'], fill(step['path'], saved), body, step.get('query', {}), headers)


def fill(text, saved):
    return re.sub(r'\$\{(\w+)\}', lambda match: saved[match[1]], text)


def check(expect, answer, saved):
    assert answer.status == expect['status'], f'{answer.status} {answer.body!r}'
    if 'body' in expect:
        if expect['body'] == '' and answer.body == b'':
            pass
        else:
            assert same(answer.json, expect['body']), answer.body
    assert expect.get('bodyContains', '') in answer.text
    for name, wanted in expect.get('headers', {}).items():
        value = answer.header(name)
        wanted = fill(wanted, saved)
        if wanted == '*':
            assert value, name
        elif wanted.startswith('~'):
            assert wanted[1:] in (value or ''), f'{name}: {value!r}'
        else:
            assert value == wanted, f'{name}: {value!r}'
    for name in expect.get('headersAbsent', []):
        assert answer.header(name) is None, name
    if answer.status >= 400 and answer.status not in (404, 412):
        assert re.fullmatch(rb'\{\n  "error" : ".+"\n\}\n', answer.body), answer.body


def test_there_are_all_of_them():
    assert len(SCENARIOS) == 124
    assert {*CASES['unverified']} <= {scenario['id'] for scenario in SCENARIOS}
