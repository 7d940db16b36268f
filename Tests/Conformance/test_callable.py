"""Every case of cases/callable.json, over a socket, against the reference functions of the Conformance plugin."""

import json
import pathlib

import pytest

from expectations import check_case, fill_tokens

CASES = json.loads((pathlib.Path(__file__).parent / 'cases/callable.json').read_text())['cases']


@pytest.mark.parametrize('case', CASES, ids=[case['id'] for case in CASES])
def test_case(case, conformance, keys):
    request = case['request']
    issued = {}
    headers = {name: fill_tokens(value, keys, issued) for name, value in request['headers'].items()}
    target = conformance.path(case['function'])
    answers = [conformance.request(request['method'], target, headers, request['body']) for _ in range(case.get('repeat', 1))]
    check_case(case['expect'], answers)
