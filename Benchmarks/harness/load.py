"""The two loads: wrk for how much a server can do, and pace for how long a request takes at a given rate."""

import json
import os
import resource
import statistics
import subprocess
import time
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


@dataclass(frozen=True)
class Pace:
    """What a constant rate showed. Latencies are in microseconds."""

    p50: int
    p99: int
    failures: int
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
    report, spent, disturbed = _watched(
        running,
        [program("wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{whole_seconds}s", "-s", str(LOAD / "addNumbers.lua"),
         f"http://127.0.0.1:{running.port}{running.server.path}"], whole_seconds + 20)
    return Burst(
        requests_a_second=report["requests"] / (report["microseconds"] / 1e6),
        requests_a_processor_second=report["requests"] / max(spent, 0.01),
        p50=report["p50"], p99=report["p99"], failures=report["refused"] + report["broken"], disturbed=disturbed)


def at_rate(running: Running, rate: float, seconds: float) -> Pace:
    """A constant rate; latencies count from when each request was due."""
    count = max(1, min(int(rate * seconds), PACE_COUNT_MAX))
    report, _, disturbed = _watched(
        running, [pace(), str(running.port), running.server.path, BODY, str(CONNECTIONS), f"{rate:.1f}", str(count)], seconds * 4 + 20)
    return Pace(p50=report["p50"], p99=report["p99"], failures=report["refused"] + report["broken"], disturbed=disturbed)


def _watched(running: Running, command: list[str], seconds_max: float) -> tuple[dict, float, float]:
    """The report of a load, the processor time that the server spent on it, and how much of a core went elsewhere meanwhile."""
    server, cores, load, began = processor_seconds(running.pid), core_seconds(), _children_seconds(), time.monotonic()
    report = _report(command, seconds_max)
    spent, load_spent = processor_seconds(running.pid) - server, _children_seconds() - load
    elapsed = time.monotonic() - began
    busy = [after - before for before, after in zip(cores, core_seconds())]
    others = [busy[SERVER_CORE] - spent, busy[LOAD_CORE] - load_spent] if len(busy) > LOAD_CORE else [0]
    return report, spent, max(0, round(max(others) / elapsed, 3))


def _children_seconds() -> float:
    """Processor time of the programs that the harness has run to their end: of wrk, between two readings."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def exactly(running: Running, count: int, connections: int) -> dict:
    """So many requests, each connection sending its next when the last is answered."""
    return _report([pace(), str(running.port), running.server.path, BODY, str(connections), "0", str(count)], 90)


def median(values: list[float]) -> float:
    return statistics.median(values) if values else 0.0
