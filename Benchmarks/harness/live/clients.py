"""Clients of live data: their requests, the program that plays them, and the host for so many."""

import json
import resource
import struct
import subprocess
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.load import write_requests
from harness.paths import BUILD, LOAD_CORE
from harness.servers import Running, Server
from harness.tools import Missing, compiled, say

NAMESPACE = f"{host.PROJECT}-default-rtdb"
MEMORY_BYTES = 4 << 30
CONNECTIONS_MORE = 1000
# The host keeps a third of its descriptors, at most so many, for other things than connections (docs/running.md), and has some open.
KEPT_DESCRIPTORS_MAX, OTHER_DESCRIPTORS = 4096, 200
# The texts that connections wait for. The first request of a live connection is the credential.
GREETED, PUSHED, SUCCEEDED = '"t":"h"', '{"a":"', '"b":{"s":"ok"'


def answered(request: int) -> str:
    """The beginning of the answer of a live connection to a request that has succeeded."""
    return f'"r":{request},{SUCCEEDED}'


def possible(wanted: int, connections_each: int = 1) -> int:
    """As many clients as wanted, or as the limit of open files allows."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    count = min(wanted, (limit - min(limit // 3, KEPT_DESCRIPTORS_MAX) - OTHER_DESCRIPTORS) // connections_each)
    if count < wanted:
        say(f"only {count} of {wanted} clients: the limit of open files is {limit}")
    return count


def server(build: hearth.Build, count: int, rules: dict | None = None, data: Path | None = None, more: dict | None = None) -> Server:
    """A host for many connections with much in memory."""
    limits = {"streams": max(count, 1000), "streamsPerNamespace": max(count, 1000)}
    return host.server(build, "hearth-live", rules=rules, data=data, more={
        "database": {"rules": "rules.json", "limits": limits},
        "server": {"loops": 1, "connectionsMax": count + CONNECTIONS_MORE, "memoryBytes": MEMORY_BYTES}} | (more or {}))


def frame(message: dict) -> bytes:
    """A text frame of a client. With a mask of zeros its payload is plain text."""
    payload = json.dumps(message, separators=(",", ":")).encode()
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
    return b"\x81" + size + bytes(4) + payload


def request(number: object, action: str, **body: object) -> bytes:
    """A request of a live connection. The text ########## as its number becomes a number when it is sent."""
    whole = frame({"t": "d", "d": {"r": number, "a": action, "b": body}})
    # The quotes around a mark become a part of the padding, which JSON allows, so that the length stays the same.
    return whole.replace(f'"{host.MARK}"'.encode(), f" {host.MARK} ".encode())


def upgrade() -> bytes:
    lines = [f"GET /.ws?v=5&ns={NAMESPACE} HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade",
             "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: aGVhcnRoLWJlbmNobWFyaw=="]
    return "\r\n".join([*lines, "", ""]).encode()


def opening(*listens: dict) -> bytes:
    """All that a client sends at first: the upgrade, the credential of an administrator, and its listens, which are the requests from 2 on."""
    requests = [request(number, "q", **({"h": ""} | listen)) for number, listen in enumerate(listens, 2)]
    return b"".join([upgrade(), request(1, "gauth", cred="owner"), *requests])


class Listeners:
    """Connections that listen, on the core of the load."""

    def __init__(self, port: int, count: int, request: bytes, ready: str, event: str, core: int | None = LOAD_CORE):
        path = write_requests(BUILD / "requests" / "listeners.txt", [request])
        pinned = [] if core is None else ["taskset", "-c", str(core)]
        self.process = subprocess.Popen(
            [*pinned, str(compiled("listeners.c")), str(port), str(count), str(path), ready, event, SUCCEEDED], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        if self._line() != "ready":
            raise Missing(f"{count} listeners did not get ready")

    def _line(self) -> str:
        line = self.process.stdout.readline().strip() if self.process.stdout else ""
        if not line:
            raise Missing("a listener lost its connection")
        return line

    def _say(self, text: str) -> None:
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def expect(self, events: int) -> None:
        self._say(f"expect {events}")
        # The command must have been read before the write that it waits for.
        self.count()

    def heard(self) -> dict:
        return json.loads(self._line())

    def count(self, of: str = "events") -> int:
        self._say("count")
        return json.loads(self._line())[of]

    def reconnect(self, request: bytes, spread_milliseconds: int) -> dict:
        """Cuts all connections and opens them again: the time until all are ready, and the events and successes meanwhile."""
        self._say(f"reconnect {spread_milliseconds} {write_requests(BUILD / 'requests' / 'again.txt', [request])}")
        return json.loads(self._line())

    def __enter__(self) -> "Listeners":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()


def live(running: Running, count: int, *listens: dict, core: int | None = LOAD_CORE) -> Listeners:
    """Live connections with the same listens, in which ten # are the number of the connection. They count messages with a change.

    A connection is ready when its last request has been answered, also by a refusal. Refused requests fail here."""
    requests = 1 + len(listens)
    listeners = Listeners(running.port, count, opening(*listens), f'"r":{requests},"b":', PUSHED, core)
    if (answers := listeners.count("answers")) != count * requests:
        listeners.__exit__()
        raise Missing(f"{count * requests - answers} of {count * requests} requests of live connections were refused")
    return listeners


def streams(running: Running, count: int, path: str, core: int | None = LOAD_CORE) -> Listeners:
    """Event streams at a path."""
    lines = [f"GET {path}.json HTTP/1.1", "Host: 127.0.0.1", "Accept: text/event-stream", f"Authorization: {host.OWNER}"]
    return Listeners(running.port, count, "\r\n".join([*lines, "", ""]).encode(), "event: put", "event: p", core)
