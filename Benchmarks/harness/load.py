"""The two loads: wrk for how much a server can do, and pace for how long a request takes at a given rate."""

import json
import os
import resource
import statistics
import subprocess
from dataclasses import dataclass

from harness.machine import core_seconds
from harness.paths import BODY, CONNECTIONS, LOAD, LOAD_CORE, SERVER_CORE
from harness.processes import processor_seconds
from harness.servers import Running
from harness.tools import Missing, pace, program

PACE_COUNT_MAX = 2_000_000


@dataclass(frozen=True)
class Burst:
    """What one burst of wrk showed. Latencies are in microseconds."""

    requests_a_second: float
    requests_a_processor_second: float
    p50: int
    p99: int
    failures: int
    # The share of the server's or the load's core, whichever is larger, that went to anything else.
    disturbed: float


def _pinned(command: list[str]) -> list[str]:
    return ["taskset", "-c", str(LOAD_CORE), *command] if (os.cpu_count() or 1) > LOAD_CORE else command


def _report(command: list[str], seconds_max: float) -> dict:
    done = subprocess.run(_pinned(command), capture_output=True, text=True, timeout=seconds_max, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise Missing(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return json.loads(lines[-1])


def burst(running: Running, seconds: float) -> Burst:
    """As many requests as the server answers, on 64 connections of one thread."""
    whole_seconds = max(1, round(seconds))
    before, cores_before, load_before = processor_seconds(running.pid), core_seconds(), _children_seconds()
    report = _report(
        [program("wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{whole_seconds}s", "-s", str(LOAD / "addNumbers.lua"),
         f"http://127.0.0.1:{running.port}{running.server.path}"], whole_seconds + 20)
    spent, load_spent = processor_seconds(running.pid) - before, _children_seconds() - load_before
    busy = [after - earlier for earlier, after in zip(cores_before, core_seconds())]
    elapsed = report["microseconds"] / 1e6
    others = [busy[SERVER_CORE] - spent, busy[LOAD_CORE] - load_spent] if len(busy) > LOAD_CORE else [0]
    return Burst(
        requests_a_second=report["requests"] / elapsed,
        requests_a_processor_second=report["requests"] / max(spent, 0.01),
        p50=report["p50"], p99=report["p99"], failures=report["refused"] + report["broken"],
        disturbed=max(0, round(max(others) / elapsed, 3)))


def _children_seconds() -> float:
    """Processor time of the programs that the harness has run to their end: of wrk, between two readings."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def at_rate(running: Running, rate: float, seconds: float) -> dict:
    """A constant rate; latencies count from when each request was due."""
    count = max(1, min(int(rate * seconds), PACE_COUNT_MAX))
    return _report([pace(), str(running.port), running.server.path, BODY, str(CONNECTIONS), f"{rate:.1f}", str(count)], seconds * 4 + 20)


def exactly(running: Running, count: int, connections: int) -> dict:
    """So many requests, each connection sending its next when the last is answered."""
    return _report([pace(), str(running.port), running.server.path, BODY, str(connections), "0", str(count)], 90)


def median(values: list[float]) -> float:
    return statistics.median(values) if values else 0.0
