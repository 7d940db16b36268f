"""Memory: the host at rest, a worker's own, and what ten thousand idle connections add."""

import os
import resource
import socket
import time

from harness import hearth
from harness.load import exactly
from harness.paths import BODY
from harness.processes import memory_bytes
from harness.servers import EXPECTED, Running
from harness.tools import Missing, say

IDLE_CONNECTIONS = 10_000
REQUESTS_BEFORE = 5_000
MEBIBYTE = 1024 * 1024


def measure(build: hearth.Build) -> dict:
    """Everything in MiB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with hearth.server(build, "hearth-memory").start() as running:
            hearth.wait_for_host(running)
            running.wait_until_ready()
            found = {"hostAtRest": _mebibytes(memory_bytes(running.pid)["resident"]), "workerPrivate": _worker_private(running, build)}
            exactly(running, REQUESTS_BEFORE, 64)
            found["hostAfterLoad"] = _mebibytes(memory_bytes(running.pid)["resident"])
            found["workerPrivateAfterLoad"] = _worker_private(running, build)
            wanted = min(IDLE_CONNECTIONS, hard - 200)
            if wanted < IDLE_CONNECTIONS:
                say(f"only {wanted} idle connections: the limit of open files is {hard}")
            found["idleConnections"] = wanted
            found["idleConnectionsExtra"] = _extra_for_idle(running, wanted)
            return found
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _mebibytes(amount: int) -> float:
    return round(amount / MEBIBYTE, 2)


def _worker_private(running: Running, build: hearth.Build) -> float | None:
    sizes = [memory_bytes(pid)["private"] for pid in hearth.workers(running, build)]
    return _mebibytes(max(sizes)) if sizes else None


def _extra_for_idle(running: Running, wanted: int) -> float:
    """Each connection has had one answer, and is then left open: what a browser or a proxy does."""
    request = (
        f"POST {running.server.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(BODY)}\r\n\r\n{BODY}").encode()
    before = memory_bytes(running.pid)["resident"]
    open_before = len(os.listdir(f"/proc/{running.pid}/fd"))
    connections: list[socket.socket] = []
    try:
        for _ in range(wanted):
            connection = socket.create_connection(("127.0.0.1", running.port), timeout=10)
            connections.append(connection)
            connection.sendall(request)
            answer = b""
            while EXPECTED not in answer:
                part = connection.recv(4096)
                if not part:
                    raise Missing(f"the host closed connection {len(connections)}: {answer[:200]!r}")
                answer += part
        time.sleep(0.5)
        held = len(os.listdir(f"/proc/{running.pid}/fd")) - open_before
        if held < wanted:
            raise Missing(f"the host holds {held} of {wanted} idle connections")
        return _mebibytes(memory_bytes(running.pid)["resident"] - before)
    finally:
        for connection in connections:
            connection.close()
