"""Functions that are tested with HearthTesting: the same tests pass in memory and on a host (`Tests/Projects/Parity`)."""

import os
import re
import subprocess

import pytest

from built_packages import FOLDER, alone
from hearth import BINARY, ROOT

PROJECT = ROOT / 'Tests/Projects/Parity'


def run_tests(*arguments, **variables):
    """Runs the project's tests."""
    with alone('parity'):
        return subprocess.run(['swift', 'test', '--scratch-path', FOLDER / 'parity', *arguments], cwd=PROJECT, capture_output=True, text=True,
                              timeout=1200, check=False, env={**os.environ, **variables})


@pytest.mark.timeout(1500)
def test_one_body_passes_in_memory_and_on_a_host():
    done = run_tests(HEARTH=str(BINARY))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    passed = re.findall(r'Test (\w+)\(_:\) with 2 test cases passed', done.stdout)
    written = re.findall(r'func (\w+)\(_ transport', ''.join(path.read_text() for path in PROJECT.rglob('*Tests.swift')))
    assert len(written) > 10
    assert sorted(passed) == sorted(written)


@pytest.mark.timeout(1500)
def test_nothing_is_left_of_hosts(tmp_path):
    """The host and its files are gone when a test ends."""
    done = run_tests('--filter', 'callables', HEARTH=str(BINARY), TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith('hearth-')] == []
