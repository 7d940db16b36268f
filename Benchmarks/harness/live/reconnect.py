"""Many clients reconnect at once while functions are called."""

import argparse
import base64
import hashlib
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.live.clients import live, opening, possible, server
from harness.load import Pace, at_rate, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.paths import BODY, BUILD, SERVER_CORE
from harness.processes import exact_processor_seconds
from harness.servers import Running, Server
from harness.tools import Missing, say

AIM_SECONDS, AIM_P99_MILLISECONDS = 10, 50
PART = 500
CALLS_A_SECOND = 1000
CALL_SECONDS_MIN, CALL_SECONDS_MAX = 1, 30
# The connections of the calls are there before those of the clients wait for the host.
CALLS_BEFORE_SECONDS = 0.3
PROFILE = {"name": "x" * 20, "score": 12.0, "settings": {"sound": True, "theme": "dark"}}
MESSAGES = {f"m{number:03}": {"from": "x" * 10, "text": "x" * 60} for number in range(20)}
# Unchanged are two nodes of the client's own and a common one; changed are a common one and one of its own.
UNCHANGED = {f"/profiles/{host.MARK}": PROFILE, f"/devices/{host.MARK}": "phone", "/rooms/quiet": MESSAGES}
CHANGED = {f"/inboxes/{host.MARK}": 3.0, "/rooms/busy": MESSAGES}
OUTDATED = "x"


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    """The clients are cut by the load program, all at once, and connect again at once with the hashes of what they have."""
    # The host may have a client's new connection beside the old one, whose end it has not seen yet.
    count, found = possible(options.listeners, connections_each=2), []
    calls = write_requests(BUILD / "requests" / "live-calls.txt", [raw_request("POST", hearth.FUNCTION_PATH, BODY)])
    again = opening(
        *({"p": path, "h": hash_of(value)} for path, value in UNCHANGED.items()), *({"p": path, "h": hash_of(OUTDATED)} for path in CHANGED))
    for number in range(1, options.rounds + 1):
        with host.started(_server(build, count), SERVER_CORE) as running:
            _fill(running, count)
            found.append(_round(running, count, again, calls, options))
        seen = found[-1]
        say(f"round {number}/{options.rounds}  all served after {seen['seconds']:.2f} s ({seen['secondsAlone']:.2f} s without calls), "
            f"calls p99 {seen['p99Milliseconds']:.2f} ms ({seen['p99MillisecondsAlone']:.2f} ms before), "
            f"{seen['refusedListens']} listens refused")
    return {
        "clients": count, "spreadMilliseconds": options.spread, "callsPerSecond": CALLS_A_SECOND,
        "listensEach": {"unchanged": len(UNCHANGED), "changed": len(CHANGED)},
        **{name: round(median([seen[name] for seen in found]), 2) for name in found[0]}, "aimSeconds": AIM_SECONDS,
        "aimP99Milliseconds": AIM_P99_MILLISECONDS}


def _round(running: Running, count: int, again: bytes, calls: Path, options: argparse.Namespace) -> dict:
    def called(seconds: float) -> Pace:
        return at_rate(running, CALLS_A_SECOND, seconds, calls)

    with live(running, count, *({"p": path} for path in [*UNCHANGED, *CHANGED])) as clients, ThreadPoolExecutor(1) as pool:
        wait_until_quiet(options.patience)
        alone = called(CALL_SECONDS_MIN)
        wait_until_quiet(options.patience)
        quiet = clients.reconnect(again, options.spread)
        wait_until_quiet(options.patience)
        # The calls take as long as the first reconnection took, so that the percentile is that of the time of a reconnection.
        pace = pool.submit(called, min(CALL_SECONDS_MAX, CALLS_BEFORE_SECONDS + max(CALL_SECONDS_MIN, quiet["microseconds"] / 1e6)))
        time.sleep(CALLS_BEFORE_SECONDS)
        spent = exact_processor_seconds(running.pid)
        crowded = clients.reconnect(again, options.spread)
        spent = exact_processor_seconds(running.pid) - spent
        beside = pace.result()
    if beside.failures:
        raise Missing(f"{beside.failures} calls failed while clients reconnected")
    return {
        "seconds": crowded["microseconds"] / 1e6, "secondsAlone": quiet["microseconds"] / 1e6, "processorSeconds": spent,
        "refusedListens": _refused(crowded, count), "refusedListensAlone": _refused(quiet, count),
        "retries": crowded["retries"], "p50Milliseconds": beside.p50 / 1000, "p99Milliseconds": beside.p99 / 1000,
        "longestMilliseconds": beside.longest / 1000, "p99MillisecondsAlone": alone.p99 / 1000}


def _refused(seen: dict, count: int) -> int:
    """The listens that were not served. If none was refused, each client must have got what has changed, and nothing else."""
    refused = count * (1 + len(UNCHANGED) + len(CHANGED)) - seen["answers"]
    if refused == 0 and seen["events"] != count * len(CHANGED):
        raise Missing(f"{count} clients got {seen['events']} values, not {len(CHANGED)} each: the hashes are not those of the host")
    return refused


def _server(build: hearth.Build, count: int) -> Server:
    build.check()
    # The host may accept a client's new connection before it has seen the end of the old one.
    return server(build, 2 * count, more={
        "region": "us-central1", "plugins": {"Arithmetic": {"library": str(build.plugin)}},
        "functions": {"addNumbers": {"minInstances": 1, "maxInstances": 1}}})


def _fill(running: Running, count: int) -> None:
    common = {path: value for path, value in (UNCHANGED | CHANGED).items() if host.MARK not in path}
    own = {path: value for path, value in (UNCHANGED | CHANGED).items() if host.MARK in path}
    host.put_all(running, common.items())
    host.put_all(running, (
        ("/", {path.replace(host.MARK, f"{client:010}")[1:]: value
               for path, value in own.items() for client in range(start, min(count, start + PART))})
        for start in range(0, count, PART)), method="PATCH")
    host.wait_until_idle(running)


def hash_of(value: object) -> str:
    """The hash of a value without priorities, as clients compute it (spec database 3.8)."""
    if isinstance(value, dict):
        text = "".join(f":{key}:{hash_of(value[key])}" for key in sorted(value))
    elif isinstance(value, bool):
        text = f"boolean:{str(value).lower()}"
    elif isinstance(value, str):
        text = f"string:{value}"
    else:
        text = f"number:{struct.pack('>d', value).hex()}"
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()
