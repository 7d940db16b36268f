"""From a write to the start of a function that runs on it, in a worker that is warm."""

import argparse
import socket
import time
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.load import Watch, median, raw_request
from harness.servers import Running
from harness.tools import Missing, say, started_plugin

TIMES = Path("/tmp/hearth-bench-started")
WARM_UP_WRITES, WRITES, WRITES_A_SECOND = 50, 500, 200
WAIT_SECONDS_MAX = 10
AIM_MILLISECONDS = 2


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Milliseconds from the first byte of a write's request, and from its answer, to the first line of the function."""
    from_request, from_answer, disturbed = [], [], []
    plugin = started_plugin(TIMES)
    # In the sandbox, the function could not write the file.
    server = host.server(build, "hearth-triggers", more={"plugins": {"Started": {"library": plugin}}, "workers": {"sandbox": False}})
    try:
        for number in range(1, options.rounds + 1):
            TIMES.unlink(missing_ok=True)
            with host.started(server, core=None) as running:
                _write(running, range(WARM_UP_WRITES))
                watch = Watch(running, is_pinned=False)
                written = _write(running, range(WARM_UP_WRITES, WARM_UP_WRITES + WRITES))
                disturbed.append(watch.end()[1])
                began = _starts(set(written))
            from_request.append([(began[write] - sent) / 1e6 for write, (sent, _) in written.items()])
            from_answer.append([(began[write] - answered) / 1e6 for write, (_, answered) in written.items()])
            say(f"round {number}/{options.rounds}  median {median(from_request[-1]):.2f} ms, disturbed {disturbed[-1]:.0%}")
    finally:
        TIMES.unlink(missing_ok=True)
    all_from_request, all_from_answer = sorted(sum(from_request, [])), sum(from_answer, [])
    return {
        "writes": WRITES, "aimMilliseconds": AIM_MILLISECONDS, "disturbed": disturbed,
        "fromRequestMedianMilliseconds": round(median(all_from_request), 2),
        "fromRequestP99Milliseconds": round(all_from_request[len(all_from_request) * 99 // 100], 2),
        "fromAnswerMedianMilliseconds": round(median(all_from_answer), 2),
        "rounds": [round(median(times), 2) for times in from_request],
    }


def _write(running: Running, values: range) -> dict[int, tuple[int, int]]:
    """When each write was sent and answered, by its value."""
    times = {}
    shown = host.authorization(1)
    with socket.create_connection(("127.0.0.1", running.port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for value in values:
            request = raw_request("PUT", f"/messages/message{value}.json", str(value), shown)
            sent = time.monotonic_ns()
            connection.sendall(request)
            answer = connection.recv(65536)
            times[value] = (sent, time.monotonic_ns())
            if not answer.startswith(b"HTTP/1.1 200"):
                raise Missing(f"a write was answered {answer[:200]!r}")
            time.sleep(1 / WRITES_A_SECOND)
    return times


def _starts(wanted: set[int]) -> dict[int, int]:
    """When the function was started for each value."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while time.monotonic() < deadline:
        lines = TIMES.read_text().splitlines() if TIMES.exists() else []
        found = {int(value): int(moment) for value, moment in (line.split() for line in reversed(lines))}
        if wanted <= found.keys():
            return found
        time.sleep(0.1)
    raise Missing(f"the function was started for {len(wanted & found.keys())} of {len(wanted)} writes")
