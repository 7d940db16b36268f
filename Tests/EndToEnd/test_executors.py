"""An `async` function stays on its worker's loop, whatever it waits for."""

import os

import pytest


def threads(host):
    """The worker's process, and how many threads it has."""
    process = host.result('whoAmI', None)['pid']
    return process, len(os.listdir(f'/proc/{process}/task'))


@pytest.mark.parametrize('function', ['sleep', 'returnLate'])
def test_waiting_needs_no_other_thread(function, launch):
    """`sleep` waits in the function's own task, `returnLate` in a detached one."""
    host = launch(['Faults'])
    before = threads(host)
    host.result(function, {'ms': 20})
    assert threads(host) == before
