"""One write to many listeners beside Redis's publish, and the events that are delivered in a second."""

import argparse
import contextlib
import socket
import time
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.live.clients import Listeners, live, server, streams
from harness.load import burst, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.paths import BUILD, LOAD_CORE, SERVER_CORE
from harness.processes import exact_processor_seconds
from harness.servers import Running, Server, json_request
from harness.tools import Missing, program, say

AIM_OF_REDIS, AIM_MILLISECONDS, AIM_EVENTS_A_SECOND = 0.5, 150, 100_000
VALUE = "x" * 100
WARM_UP_WRITES, WRITES = 5, 30


def room_listeners(running: Running, count: int, options: argparse.Namespace, core: int | None = LOAD_CORE) -> Listeners:
    """Listeners of one path, by the transport of the command line. Something is there before."""
    host.put(running, "/room/message", VALUE)
    if options.transport == "stream":
        return streams(running, count, "/room", core)
    return live(running, count, {"p": "/room"}, core=core)


def fan_out(build: hearth.Build, options: argparse.Namespace) -> dict:
    """One write to many listeners of its path, and the same bytes published by Redis. Each shares both cores with its listeners."""
    ours, theirs, size = [], [], 0
    for number in range(1, options.rounds + 1):
        with (
            host.started(server(build, options.listeners), None) as running,
            room_listeners(running, options.listeners, options, None) as listeners,
        ):
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
        "transport": options.transport, "listeners": options.listeners, "bytes": size, "milliseconds": round(median(ours), 1),
        "aimMilliseconds": AIM_MILLISECONDS, "redisMilliseconds": round(median(theirs), 1),
        "ofRedis": round(median(theirs) / median(ours), 2), "aimOfRedis": AIM_OF_REDIS}


def published(count: int, size: int) -> float:
    """Milliseconds until `count` subscribers of Redis have a message with which each receives `size` bytes."""
    framing = len(b"*3\r\n$7\r\nmessage\r\n$4\r\nroom\r\n$100\r\n\r\n")
    message = "x" * max(1, size - framing)

    def command(port: int, scratch: Path) -> list[str]:
        return [program("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(scratch),
                "--protected-mode", "no", "--maxclients", str(count + 100)]

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
    """Events that many listeners of one path get in a second, with the host on one core."""
    count, rates, of_processor = max(1, options.listeners // 10), [], []
    write = raw_request("PUT", "/room/message.json", f'"{host.MARK}{VALUE}"', host.OWNER)
    requests = write_requests(BUILD / "requests" / "live-delivered.txt", [write])
    for number in range(1, options.rounds + 1):
        with host.started(server(build, count), SERVER_CORE) as running, room_listeners(running, count, options) as listeners:
            wait_until_quiet(options.patience)
            before, began, spent = listeners.count(), time.monotonic(), exact_processor_seconds(running.pid)
            burst(running, options.seconds, requests, connections=8)
            events = listeners.count() - before
            rates.append(events / (time.monotonic() - began))
            of_processor.append(events / (exact_processor_seconds(running.pid) - spent))
        say(f"round {number}/{options.rounds}  {rates[-1]:,.0f} events/s, {of_processor[-1]:,.0f} in a second of processor time")
    return {
        "transport": options.transport, "listeners": count, "eventsPerSecond": round(median(rates)), "aim": AIM_EVENTS_A_SECOND,
        "eventsPerProcessorSecond": round(median(of_processor)), "rounds": [round(rate) for rate in rates]}
