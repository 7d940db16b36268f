"""Cold start: from a request that finds no worker to its answer, beside the start of a whole Deno process."""

import socket
import time

from harness import hearth
from harness.load import median
from harness.paths import BODY
from harness.servers import EXPECTED, PEER_SERVERS, Running
from harness.tools import Missing, say


def measure(build: hearth.Build, repeats: int) -> dict:
    """Medians in milliseconds, one fresh host or Deno process a repeat, in turn.

    As configured by default a process without a plugin is kept waiting, and the plugin has to be loaded; without it the
    process has to be started too.
    """
    seen: dict[str, list[float]] = {"hearth": [], "hearthNothingPrewarmed": [], "deno": []}
    has_deno = True
    for _ in range(repeats):
        seen["hearth"].append(_first_answer(build, prewarmed=1))
        seen["hearthNothingPrewarmed"].append(_first_answer(build, prewarmed=0))
        if has_deno:
            try:
                with PEER_SERVERS["deno"].start() as running:
                    seen["deno"].append(running.wait_until_ready(pause_seconds=0.0005) * 1000)
            except Missing as reason:
                has_deno = False
                say(f"deno: left out. {reason}")
    return {"repeats": repeats} | {
        name: {"medianMilliseconds": round(median(times), 2), "worstMilliseconds": round(max(times), 2)}
        for name, times in seen.items() if times
    }


def _first_answer(build: hearth.Build, prewarmed: int) -> float:
    """Milliseconds from the first byte of a request to the last of its answer, with no worker there before."""
    with hearth.server(build, "hearth-cold", instances_min=0, prewarmed=prewarmed).start() as running:
        hearth.wait_for_host(running)
        _wait_until_no_plugin_is_loaded(running, build)
        with socket.create_connection(("127.0.0.1", running.port), timeout=10) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            request = (
                f"POST {hearth.FUNCTION_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(BODY)}\r\n\r\n{BODY}").encode()
            began = time.perf_counter()
            connection.sendall(request)
            answer = b""
            while EXPECTED not in answer:
                part = connection.recv(65536)
                if not part:
                    raise Missing(f"the first call was answered {answer[:200]!r}")
                answer += part
            return (time.perf_counter() - began) * 1000


SETTLED_SECONDS = 0.5


def _wait_until_no_plugin_is_loaded(running: Running, build: hearth.Build) -> None:
    """A worker that was started to read the manifest may still be ending. A generic one without a plugin stays, and may still be starting:
    the host is ready before it is."""
    deadline = time.monotonic() + hearth.SETTLE_SECONDS_MAX
    while hearth.workers(running, build):
        if time.monotonic() > deadline:
            raise Missing("a worker with the plugin stays although minInstances is 0")
        time.sleep(0.01)
    time.sleep(SETTLED_SECONDS)
