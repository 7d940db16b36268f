"""The two loads: wrk for how much a server can do, and pace for how long a request takes at a given rate."""

import json
import os
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from harness.machine import core_seconds
from harness.paths import BODY, BUILD, CONNECTIONS, LOAD, LOAD_CORE, SERVER_CORE
from harness.processes import kernel_seconds, processor_seconds
from harness.servers import Running
from harness.tools import Missing, pace, program

PACE_COUNT_MAX = 2_000_000


@dataclass(frozen=True)
class Burst:
    """The results of one burst of wrk. Latencies are in microseconds."""

    requests_a_second: float
    requests_a_processor_second: float
    p50: int
    p99: int
    failures: int
    # The share of the server's or the load's core, whichever is larger, that went to anything else.
    disturbed: float


@dataclass(frozen=True)
class Pace:
    """The results at a constant rate. Latencies are in microseconds."""

    p50: int
    p99: int
    longest: int
    failures: int
    disturbed: float


def write_requests(path: Path, requests: list[bytes]) -> Path:
    """The file that wrk and pace take their requests from."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for request in requests:
            file.write(b"%d\n%s" % (len(request), request))
    return path


def raw_request(method: str, path: str, body: str = "", authorization: str | None = None, headers: dict[str, str] | None = None) -> bytes:
    """The bytes of a request. Ten # in the body are another number each time that it is sent."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    if authorization:
        lines.append(f"Authorization: {authorization}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", body]).encode()


def _addition(running: Running) -> Path:
    return write_requests(BUILD / "requests" / f"{running.server.name}.txt", [raw_request("POST", running.server.path, BODY)])


def report(command: list[str], seconds_max: float, core: int | None = LOAD_CORE) -> dict:
    """Runs a load to its end, on a core where one is named, and reads its line of JSON."""
    pinned = ["taskset", "-c", str(core)] if core is not None and (os.cpu_count() or 1) > core else []
    try:
        done = subprocess.run([*pinned, *command], capture_output=True, text=True, timeout=seconds_max, check=False)
    except subprocess.TimeoutExpired as late:
        raise Missing(f"{Path(command[0]).name} was not done after {seconds_max:.0f} s") from late
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise Missing(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return json.loads(lines[-1])


def burst(running: Running, seconds: float, requests: Path | None = None, is_pinned: bool = True, connections: int = CONNECTIONS) -> Burst:
    """The maximum rate of answers on the connections of one thread. Without a file, the requests are additions."""
    whole_seconds = max(1, round(seconds))
    scheme = "https" if running.server.is_tls else "http"
    command = [program("wrk"), "-t1", f"-c{connections}", f"-d{whole_seconds}s"]
    if requests:
        numbers_from = str(1_000_000_000 + int(time.time()) % 1_000_000_000)
        command += ["-s", str(LOAD / "requests.lua"), f"{scheme}://127.0.0.1:{running.port}/", "--", str(requests), numbers_from]
    else:
        command += ["-s", str(LOAD / "addNumbers.lua"), f"{scheme}://127.0.0.1:{running.port}{running.server.path}"]
    watch = Watch(running, is_pinned)
    seen = report(command, whole_seconds + 20, LOAD_CORE if is_pinned else None)
    spent, disturbed = watch.end()
    return Burst(
        requests_a_second=seen["requests"] / (seen["microseconds"] / 1e6),
        requests_a_processor_second=seen["requests"] / max(spent, 0.01),
        p50=seen["p50"], p99=seen["p99"], failures=seen["refused"] + seen["broken"], disturbed=disturbed)


def at_rate(
    running: Running, rate: float, seconds: float, requests: Path | None = None, connections: int = CONNECTIONS, is_pinned: bool = True,
) -> Pace:
    """A constant rate; latencies count from when each request was due. A rate of 0: each connection sends when it was answered."""
    count = max(1, min(int(rate * seconds), PACE_COUNT_MAX))
    command = [pace(), str(running.port), str(requests or _addition(running)), str(connections), f"{rate:.1f}", str(count)]
    watch = Watch(running, is_pinned)
    seen = report(command, seconds * 4 + 20, LOAD_CORE if is_pinned else None)
    _, disturbed = watch.end()
    return Pace(
        p50=seen["p50"], p99=seen["p99"], longest=seen["longest"], failures=seen["refused"] + seen["broken"], disturbed=disturbed)


class Watch:
    """The processor time of a server while a load runs, and the share of a core that other processes use meanwhile.

    If server and load share the cores, the kernel's threads count as the server's: they write the data that it has synced.
    """

    def __init__(self, running: Running, is_pinned: bool = True):
        self.running, self.is_pinned = running, is_pinned
        self.before, self.began = self._now(), time.monotonic()

    def _now(self) -> tuple[float, float, list[float], float]:
        kernel = 0 if self.is_pinned else kernel_seconds()
        return processor_seconds(self.running.pid), _children_seconds(), core_seconds(), kernel

    def end(self) -> tuple[float, float]:
        """Processor seconds of the server, and the disturbed share of a core."""
        elapsed, now = time.monotonic() - self.began, self._now()
        spent, load = now[0] - self.before[0], now[1] - self.before[1]
        busy = [after - before for before, after in zip(self.before[2], now[2])]
        if not self.is_pinned:
            others = [sum(busy) - spent - load - (now[3] - self.before[3])]
        elif len(busy) > LOAD_CORE:
            others = [busy[SERVER_CORE] - spent, busy[LOAD_CORE] - load]
        else:
            others = [0]
        return spent, max(0, round(max(others) / elapsed, 3))


def _children_seconds() -> float:
    """Processor time of the programs that the harness has run to their end: of wrk, between two readings."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def exactly(running: Running, count: int, connections: int, requests: Path | None = None) -> dict:
    """Sends this number of requests; each connection sends its next one when the last is answered."""
    return report([pace(), str(running.port), str(requests or _addition(running)), str(connections), "0", str(count)], 90)


def median(values: list[float]) -> float:
    return statistics.median(values) if values else 0.0
