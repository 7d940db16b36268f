"""System calls, allocations and instructions of one call, one read and one write. They hardly depend on what else the machine does, so they have
ceilings."""

import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from harness import hearth
from harness.callgrind import instructions
from harness.database import host as database
from harness.load import exactly
from harness.paths import BUILD, CEILINGS, CONNECTIONS, LOGS
from harness.servers import Running, Server
from harness.tools import Missing, mallocs, program

WARM_UP_REQUESTS = 2_000
REQUESTS = 4_000
ATTACH_SECONDS_MAX = 10

# One after the other shows the whole path of a request; 64 at once shows what is gathered into one write.
LOADS = {"oneAtATime": 1, "together": CONNECTIONS}


# The database's figures are of requests by users under rules, 64 at once.
METHODS = {"read": "GET", "write": "PUT"}
INSTRUCTION_REQUESTS = 2_000
INSTRUCTION_TRIES = 3
ALLOCATION_TRIES = 3
FIRST_REQUESTS = 200
PAUSE_SECONDS = 8


def measure(build: hearth.Build) -> dict:
    """For each load, for host and worker: what one request takes."""
    return _calls(build) | _database(build)


def _calls(build: hearth.Build) -> dict:
    found: dict = {name: {"host": {}, "worker": {}} for name in LOADS}
    with _counted(hearth.server(build, "hearth-allocations")) as running:
        running.wait_until_ready()
        for name, connections in LOADS.items():
            exactly(running, WARM_UP_REQUESTS, connections)
            for who, each in _fewest_allocations(running, build, connections).items():
                found[name][who]["allocations"] = each
    with hearth.server(build, "hearth-systemcalls").start() as running:
        running.wait_until_ready()
        for name, connections in LOADS.items():
            exactly(running, WARM_UP_REQUESTS, connections)
            for who, pid in _processes(running, build).items():
                found[name][who] |= _system_calls(running, pid, connections)
    return found


def _fewest_allocations(running: Running, build: hearth.Build, connections: int) -> dict[str, float]:
    """The allocations of a request. Counted several times: on a busy machine fewer requests share a turn of a loop, and what a turn takes."""
    fewest: dict[str, float] = {}
    for _ in range(ALLOCATION_TRIES):
        before = _allocations(running, _processes(running, build))
        exactly(running, REQUESTS, connections)
        after = _allocations(running, _processes(running, build))
        for who in after:
            fewest[who] = min(fewest.get(who, float("inf")), round((after[who] - before[who]) / REQUESTS, 2))
    return fewest


def _database(build: hearth.Build) -> dict:
    requests = {name: database.score_requests(method, f"counts-{name}") for name, method in METHODS.items()}
    found: dict = {name: {"host": {}} for name in METHODS}
    server = database.server(build, "hearth-database-counts")
    with _counted(server) as running:
        _fill(running, requests)
        for name, file in requests.items():
            before = _allocations(running, {"host": running.pid})
            exactly(running, REQUESTS, CONNECTIONS, file)
            after = _allocations(running, {"host": running.pid})
            found[name]["host"]["allocations"] = round((after["host"] - before["host"]) / REQUESTS, 2)
    with server.start() as running:
        _fill(running, requests)
        for name, file in requests.items():
            found[name]["host"] |= _system_calls(running, running.pid, CONNECTIONS, file)
    with instructions(build, lambda copies: database.server(copies, "hearth-database-instructions")) as (running, counted):
        _fill(running, requests)
        for name, file in requests.items():
            ceiling = json.loads(CEILINGS.read_text())[name]["host"]["instructions"]
            found[name]["host"]["instructions"] = round(_fewest(running, counted, file, ceiling * INSTRUCTION_REQUESTS) / INSTRUCTION_REQUESTS)
    return found


def _fewest(running: Running, counted: Callable, file: Path, ceiling: float) -> float:
    """The instructions of the requests. Counted again if there are too many: on a busy machine slow reads pause those on the loop, and the others
    take more."""
    total = float("inf")
    for _ in range(INSTRUCTION_TRIES):
        total = min(total, counted(lambda: exactly(running, INSTRUCTION_REQUESTS, CONNECTIONS, file), first=lambda: _translate(running, file)))
        if total <= ceiling:
            break
    return total


def _translate(running: Running, file: Path) -> None:
    """Runs everything once. Valgrind translates it then, which makes reads on the loop so slow that a pause of such reads follows."""
    exactly(running, FIRST_REQUESTS, CONNECTIONS, file)
    time.sleep(PAUSE_SECONDS)
    exactly(running, FIRST_REQUESTS, CONNECTIONS, file)


def _fill(running: Running, requests: dict[str, Path]) -> None:
    hearth.wait_for_host(running)
    database.fill_scores(running)
    for file in requests.values():
        exactly(running, WARM_UP_REQUESTS // 4, CONNECTIONS, file)


def _counted(server: Server) -> Running:
    """Started with the counter of allocations."""
    directory = BUILD / "allocations"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return server.start(extra_environment={"LD_PRELOAD": mallocs(), "ALLOCATIONS_DIRECTORY": str(directory)})


def excesses(found: dict) -> list[str]:
    """One sentence for each figure that is over its ceiling in ceilings.json, or that was not found."""
    ceilings = json.loads(CEILINGS.read_text())
    over = []
    for load, processes in ceilings.items():
        for who, limits in processes.items():
            for what, ceiling in limits.items():
                seen = found.get(load, {}).get(who, {}).get(what)
                if seen is None:
                    over.append(f"{what} of the {who} ({load}) could not be counted")
                elif seen > ceiling:
                    over.append(f"{what} of the {who} ({load}): {seen} a request, the ceiling is {ceiling}")
    return over


def _processes(running: Running, build: hearth.Build) -> dict[str, int]:
    found = hearth.workers(running, build)
    if len(found) != 1:
        raise Missing(f"one worker was expected, and there are {len(found)}")
    return {"host": running.pid, "worker": found[0]}


def _allocations(running: Running, processes: dict[str, int]) -> dict[str, int]:
    counts = {}
    for who, pid in processes.items():
        path = BUILD / "allocations" / str(pid)
        if not path.exists():
            raise Missing(f"the {who} was started without the allocation counter")
        counts[who] = int.from_bytes(path.read_bytes()[:8], "little")
    return counts


def _system_calls(running: Running, pid: int, connections: int, requests: Path | None = None) -> dict:
    """Attaches strace for the time of the requests, and divides."""
    report = LOGS / f"strace-{pid}.txt"
    tracer = subprocess.Popen(
        [program("strace"), "-c", "-f", "-p", str(pid), "-o", str(report)], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + ATTACH_SECONDS_MAX
        while not re.search(rf"^TracerPid:\s*{tracer.pid}$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE):
            if time.monotonic() > deadline or tracer.poll() is not None:
                raise Missing("strace could not attach: it needs to be run as root or as the host's user")
            time.sleep(0.02)
        exactly(running, REQUESTS, connections, requests)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait(ATTACH_SECONDS_MAX)
    calls: dict[str, float] = {}
    for line in report.read_text().splitlines():
        if row := re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?([a-z_0-9]+)$", line):
            calls[row[2]] = int(row[1]) / REQUESTS
    calls.pop("total", None)
    shown = {name: round(each, 2) for name, each in sorted(calls.items(), key=lambda item: -item[1]) if each >= 0.01}
    # A thread that waits for another one by asking again and again is seen here.
    spins = round(calls.get("sched_yield", 0), 2)
    return {"systemCalls": round(sum(calls.values()), 2), "spins": spins, "systemCallsByName": shown}
