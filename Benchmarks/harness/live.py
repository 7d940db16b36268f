"""Live data: the cost of listeners for writes elsewhere, one write to many listeners beside Redis's publish, and the events that are delivered in
a second."""

import argparse
import contextlib
import json
import socket
import subprocess
import time
from pathlib import Path

from harness import hearth, parts
from harness.database import host
from harness.load import burst, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.paths import BUILD, LOAD_CORE, SERVER_CORE
from harness.servers import Running, Server, json_request
from harness.tools import Missing, compiled, program, say

AIM_ELSEWHERE, AIM_OF_REDIS, AIM_MILLISECONDS, AIM_EVENTS_A_SECOND = 1.1, 0.5, 150, 100_000
VALUE = "x" * 100
FEW = 10
WARM_UP_WRITES, WRITES = 5, 30
READY_SECONDS_MAX = 120


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("--listeners", type=int, default=10_000, metavar="N", help="the number of many listeners")
    return parts.main(parser, {"elsewhere": elsewhere, "fanOut": fan_out, "delivered": delivered})


class Listeners:
    """Connections that listen, on the core of the load."""

    def __init__(self, port: int, count: int, request: bytes, ready: str, event: str, core: int | None = LOAD_CORE):
        path = write_bytes(BUILD / "requests" / "listeners.txt", request)
        pinned = [] if core is None else ["taskset", "-c", str(core)]
        self.process = subprocess.Popen(
            [*pinned, str(compiled("listeners.c")), str(port), str(count), str(path), ready, event], stdin=subprocess.PIPE,
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

    def count(self) -> int:
        self._say("count")
        return json.loads(self._line())["events"]

    def __enter__(self) -> "Listeners":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()


def write_bytes(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def streams(running: Running, count: int, path: str, core: int | None = LOAD_CORE) -> Listeners:
    """Event streams at a path, in which ten # are the number of the stream."""
    lines = [f"GET {path}.json HTTP/1.1", "Host: 127.0.0.1", "Accept: text/event-stream", f"Authorization: {host.OWNER}"]
    return Listeners(running.port, count, "\r\n".join([*lines, "", ""]).encode(), "event: put", "event: p", core)


def server(build: hearth.Build, count: int, loops: int = 1) -> Server:
    limits = {"streams": max(count, 1000), "streamsPerNamespace": max(count, 1000)}
    return host.server(build, "hearth-live", more={
        "database": {"rules": "rules.json", "limits": limits}, "server": {"loops": loops, "connectionsMax": count + 1000}})


def elsewhere(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Writes while nobody, few and many listen elsewhere in the tree."""
    requests = host.score_requests("PUT", "live-elsewhere", is_owner=True)
    seen: dict[int, list] = {0: [], FEW: [], options.listeners: []}
    for number in range(1, options.rounds + 1):
        for count, bursts in seen.items():
            with host.started(server(build, count), SERVER_CORE) as running:
                host.fill_scores(running)
                with streams(running, count, "/elsewhere/##########/here") if count else contextlib.nullcontext():
                    burst(running, 1, requests)
                    wait_until_quiet(options.patience)
                    bursts.append(burst(running, options.seconds, requests))
            say(f"round {number}/{options.rounds}  {count:>6} listeners  {bursts[-1].requests_a_second:,.0f} writes/s, "
                f"{1e6 / bursts[-1].requests_a_processor_second:.1f} us each")
    costs = {count: median([1e6 / one.requests_a_processor_second for one in bursts]) for count, bursts in seen.items()}
    return {
        "listeners": options.listeners, "microsecondsWithNone": round(costs[0], 1), "microsecondsWithFew": round(costs[FEW], 1),
        "microsecondsWithMany": round(costs[options.listeners], 1),
        "ratio": round(costs[options.listeners] / costs[FEW], 2), "aim": AIM_ELSEWHERE,
        "failures": sum(one.failures for bursts in seen.values() for one in bursts)}


def fan_out(build: hearth.Build, options: argparse.Namespace) -> dict:
    """One write to many listeners of its path, and the same bytes published by Redis. Each shares both cores with its listeners."""
    ours, theirs, size = [], [], 0
    for number in range(1, options.rounds + 1):
        with host.started(server(build, options.listeners), None) as running, streams(running, options.listeners, "/room", None) as listeners:
            times = []
            for write in range(WARM_UP_WRITES + WRITES):
                listeners.expect(options.listeners)
                status, answer = json_request(running.port, "PUT", "/room/message.json", f"{write:03}{VALUE}", host.OWNER)
                if status != 200:
                    raise Missing(f"a write was answered {status}: {answer[:200]!r}")
                heard = listeners.heard()
                size = heard["bytes"] // options.listeners
                times.append(heard["microseconds"] / 1000)
            ours.append(median(times[WARM_UP_WRITES:]))
        theirs.append(published(options.listeners, size))
        say(f"round {number}/{options.rounds}  all have it after {ours[-1]:.1f} ms, of Redis after {theirs[-1]:.1f} ms")
    return {
        "listeners": options.listeners, "bytes": size, "milliseconds": round(median(ours), 1), "aimMilliseconds": AIM_MILLISECONDS,
        "redisMilliseconds": round(median(theirs), 1), "ofRedis": round(median(theirs) / median(ours), 2), "aimOfRedis": AIM_OF_REDIS}


def published(count: int, size: int) -> float:
    """Milliseconds until `count` subscribers of Redis have a message with which each receives `size` bytes."""
    framing = len(b"*3\r\n$7\r\nmessage\r\n$4\r\nroom\r\n$100\r\n\r\n")
    message = "x" * max(1, size - framing)

    def command(port: int, scratch: Path) -> list[str]:
        return [program("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(scratch),
                "--maxclients", str(count + 100)]

    redis = Server("redis", command)
    with redis.start(None) as running:
        running.wait_until(is_redis_ready)
        with (
            Listeners(running.port, count, b"SUBSCRIBE room\r\n", "subscribe", "message", None) as listeners,
            contextlib.closing(socket.create_connection(("127.0.0.1", running.port))) as publisher,
        ):
            times = []
            for _ in range(WARM_UP_WRITES + WRITES):
                listeners.expect(count)
                publisher.sendall(f"PUBLISH room {message}\r\n".encode())
                times.append(listeners.heard()["microseconds"] / 1000)
                publisher.recv(100)
            return median(times[WARM_UP_WRITES:])


def is_redis_ready(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(100).startswith(b"+PONG")


def delivered(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Events that a thousand listeners of one path get in a second, with the host on one core."""
    count, rates = 1000, []
    write = raw_request("PUT", "/room/message.json", f'"{host.MARK}{VALUE}"', host.OWNER)
    requests = write_requests(BUILD / "requests" / "live-delivered.txt", [write])
    for number in range(1, options.rounds + 1):
        with host.started(server(build, count), SERVER_CORE) as running, streams(running, count, "/room") as listeners:
            wait_until_quiet(options.patience)
            before, began = listeners.count(), time.monotonic()
            burst(running, options.seconds, requests, connections=8)
            rates.append((listeners.count() - before) / (time.monotonic() - began))
        say(f"round {number}/{options.rounds}  {rates[-1]:,.0f} events/s")
    return {"listeners": count, "eventsPerSecond": round(median(rates)), "aim": AIM_EVENTS_A_SECOND}
