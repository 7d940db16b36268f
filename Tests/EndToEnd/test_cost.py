"""The cost of a call: counted, so that it does not depend on how fast or how busy the machine is."""

import os
import pathlib
import re
import subprocess

import pytest

from hearth import ROOT, callable_headers
from processes import resident_kib
from wire import request_bytes

GROWTH_KIB_MAX = 4096


@pytest.mark.timeout(180)
def test_system_calls_and_allocations_stay_below_their_ceilings():
    outcome = subprocess.run([ROOT / 'Benchmarks/run', '--check'], capture_output=True, text=True, timeout=170,
                             env={'PATH': os.environ['PATH'], 'HOME': os.environ.get('HOME', '/root')})
    assert outcome.returncode == 0, outcome.stdout[-3000:] + outcome.stderr[-3000:]


def test_a_host_at_rest_lets_go_of_the_code_that_only_its_start_needed(launch):
    host = launch()
    areas = re.split(r'(?m)^(?=[0-9a-f]+-[0-9a-f]+ )', pathlib.Path(f'/proc/{host.pid}/smaps').read_text())
    code = [area for area in areas if re.match(r'\S+ r-xp .*/hearth\n', area)]
    size, resident = (sum(int(re.search(rf'^{name}:\s+(\d+)', area, re.MULTILINE)[1]) for area in code) for name in ('Size', 'Rss'))
    # With what its start needs it is more than half.
    assert 0 < resident < 0.4 * size, (resident, size)


@pytest.mark.parametrize('name, body, ending', [
    ('echo', '{"data":{"a":[1,"x",{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"9007199254740993"}]}}', b'}'),
    ('throwsError', '{"data":{"code":"not-found","message":"m","details":[1]}}', b'}'),
    ('throwsPlain', '{"data":null}', b'}'),
    ('echo', '{"data":', b'}'),
], ids=['result', 'error', 'plain error', 'bad request'])
def test_memory_does_not_grow_with_requests(name, body, ending, launch):
    host = launch(config={'logging': {'level': 'critical'}, 'workers': {'prewarmed': 0, 'logBytesPerSecond': 1024}})
    batch = request_bytes('POST', host.path(name), callable_headers(), body) * 500

    def call(times):
        with host.wire() as wire:
            for _ in range(times):
                wire.send(batch)
                for _ in range(500):
                    assert wire.response().body.endswith(ending)

    call(4)
    workers = host.loaded_workers()
    before = [resident_kib(pid) for pid in (host.pid, *(worker.pid for worker in workers))]
    call(20)
    after = [resident_kib(pid) for pid in (host.pid, *(worker.pid for worker in workers))]
    grown = [late - early for early, late in zip(before, after, strict=True)]
    assert max(grown) < GROWTH_KIB_MAX, grown
