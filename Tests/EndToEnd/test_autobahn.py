"""The WebSocket server against all cases of the Autobahn test suite.

The cases about compression send 1,000 messages each, which takes half an hour; here they send fewer. `HEARTH_AUTOBAHN_MESSAGES=1000` sends all.
"""

import json
import os

import pytest

from autobahn_suite import all_cases, echo_server, run_cases

MESSAGES = int(os.environ.get('HEARTH_AUTOBAHN_MESSAGES', '20'))
# Groups that take about the same time.
GROUPS = [
    ['1.*', '2.*', '3.*', '4.*', '5.*', '7.*', '10.*'], ['6.*'], ['9.1.*', '9.2.*', '9.3.*', '9.4.*', '9.5.*', '9.6.*', '9.7.*', '9.8.*'],
    ['12.1.*', '12.2.*', '12.3.*', '12.4.*', '12.5.*'], ['13.1.*', '13.2.*', '13.3.*'], ['13.4.*', '13.5.*', '13.6.*', '13.7.*'],
]
# Cases of which the suite says that their result says nothing: what follows a close frame, and codes from 5000 on.
INFORMATIONAL = {'7.1.6', '7.13.1', '7.13.2'}


def belongs(case, group):
    return any(case.startswith(pattern.rstrip('*')) for pattern in group)


def test_every_case_belongs_to_one_group():
    cases = all_cases()
    assert len(cases) == len(set(cases)) == 517
    assert [case for case in cases if sum(belongs(case, group) for group in GROUPS) != 1] == []


@pytest.mark.timeout(0 if MESSAGES > 100 else 600)
@pytest.mark.parametrize('group', GROUPS, ids=['basics', 'utf8', 'limits', 'compression', 'windows', 'more-windows'])
def test_autobahn(group, tmp_path):
    with echo_server() as url:
        results = run_cases(url, tmp_path, MESSAGES, group, timeout=None if MESSAGES > 100 else 580)
    assert set(results) == {case for case in all_cases() if belongs(case, group)}
    wanted = {case: 'INFORMATIONAL' if case in INFORMATIONAL else 'OK' for case in results}
    failed = [case for case, result in results.items() if {result['behavior'], result['behaviorClose']} != {wanted[case]}]
    assert not failed, '\n'.join(reason(case, results[case], tmp_path) for case in failed)


def reason(case, result, folder):
    report = json.loads((folder / result['reportfile']).read_text())
    return f'{case}: {result["behavior"]}, {result["behaviorClose"]}: {report["description"]} {report["result"]} {report["resultClose"]}'
