"""Calls over HTTP/2 beside calls over HTTP/1.1, on Hearth and on nginx, with one load for both protocols: h2load. The protocols take turns in each
round, so that other load on the machine affects all of them alike."""

import argparse
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness import hearth
from harness.load import Watch, median
from harness.machine import wait_until_quiet
from harness.paths import BODY, BUILD, LOAD_CORE
from harness.servers import PEER_SERVERS, Running, Server, free_port, nginx_command
from harness.session import run
from harness.tools import Missing, program, say

# HTTP/2 has at least this share of the calls that HTTP/1.1 has.
SHARE_MIN = 0.8
WARM_UP_SECONDS = 1
# Requests under way are a hundred in each: by connections, or by streams of few connections.
WAYS = {"HTTP/1.1, 100 connections": ("--h1", "-c100", "-m1"), "HTTP/2, 4 connections": ("-c4", "-m25"), "HTTP/2, 1 connection": ("-c1", "-m100")}


@dataclass(frozen=True)
class Load:
    """The results of one run of h2load. The cost of a request is in microseconds."""

    requests_a_second: float
    cost: float
    mean_milliseconds: float
    failures: int


def main(parser: argparse.ArgumentParser) -> int:
    return run(parser, ["hearth", "nginx"], 3, measure)


def nginx_with_http2(port: int, scratch: Path) -> list[str]:
    """nginx speaks one protocol on a port without TLS, so HTTP/2 has another port."""
    command = nginx_command(port, scratch)
    configuration = scratch / "nginx.conf"
    other = free_port()
    (scratch / "http2-port").write_text(str(other))
    text = configuration.read_text().replace("    server {\n", f"    server {{\n        listen 127.0.0.1:{other} http2 backlog=4096;\n")
    configuration.write_text(text.replace("keepalive_requests", "http2_max_concurrent_streams 128;\n    keepalive_requests"))
    return command


def measure(options: argparse.Namespace, build: hearth.Build, results: dict) -> bool:
    servers: dict[str, Callable[[], Server]] = {
        "hearth": lambda: hearth.server(build, "hearth-http2"),
        "nginx": lambda: Server("nginx-http2", nginx_with_http2, path=PEER_SERVERS["nginx"].path),
    }
    seen: dict[str, dict[str, list[Load]]] = {name: {way: [] for way in WAYS} for name in options.only}
    for number in range(1, options.rounds + 1):
        for name in list(seen):
            try:
                with servers[name]().start() as running:
                    running.wait_until_ready()
                    for way in WAYS:
                        loaded(running, way, WARM_UP_SECONDS)
                        wait_until_quiet(options.patience)
                        seen[name][way].append(loaded(running, way, options.seconds))
                        say(f"round {number}/{options.rounds}  {name:>8}  {way:>26}  {seen[name][way][-1].requests_a_second:>9,.0f} requests/s")
            except Missing as missing:
                say(f"{name} is left out: {missing}")
                seen.pop(name)
    return told(seen, results)


def told(seen: dict[str, dict[str, list[Load]]], results: dict) -> bool:
    print("\n| server | protocol | requests/s | of HTTP/1.1 | processor time | mean latency | failures |")
    print("| --- | --- |" + " ---: |" * 5)
    is_well = True
    for name, ways in seen.items():
        first = 0.0
        for way, loads in ways.items():
            rate, cost, mean = (median([getattr(one, figure) for one in loads]) for figure in ("requests_a_second", "cost", "mean_milliseconds"))
            failures = sum(one.failures for one in loads)
            first = first or rate
            results[f"{name}, {way}"] = {
                "requestsPerSecond": round(rate), "share": round(rate / first, 3), "microseconds": round(cost, 2), "failures": failures}
            print(f"| {name} | {way} | {rate:,.0f} | {rate / first:.2f} | {cost:.1f} us | {mean:.2f} ms | {failures} |")
            is_well = is_well and failures == 0 and (name != "hearth" or rate >= SHARE_MIN * first)
    return is_well


def loaded(running: Running, way: str, seconds: int) -> Load:
    """As many calls as possible for some seconds."""
    other = BUILD / "scratch" / running.server.name / "http2-port"
    port = int(other.read_text()) if other.exists() and "--h1" not in WAYS[way] else running.port
    body = BUILD / "http2-body.json"
    body.write_text(BODY)
    pinned = ["taskset", "-c", str(LOAD_CORE)] if (os.cpu_count() or 1) > LOAD_CORE else []
    command = [
        *pinned, program("h2load"), "-t1", *WAYS[way], "-D", str(seconds), "-d", str(body), "-H", "content-type: application/json",
        f"http://127.0.0.1:{port}{running.server.path}"]
    watch = Watch(running)
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 20, check=False)
    spent, _ = watch.end()
    rate = re.search(r"finished in .*?, ([\d.]+) req/s", done.stdout)
    counts = re.search(r"requests: .*?(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", done.stdout)
    mean = re.search(r"time for request: +\S+ +\S+ +([\d.]+)(us|ms|s)", done.stdout)
    statuses = re.search(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", done.stdout)
    if not (rate and counts and mean and statuses) or done.returncode != 0:
        raise Missing(f"h2load failed: {(done.stderr or done.stdout).strip()[-300:]}")
    succeeded, *failures = (int(number) for number in counts.groups())
    failures += [int(number) for number in statuses.groups()[1:]]
    milliseconds = float(mean[1]) * {"us": 0.001, "ms": 1, "s": 1000}[mean[2]]
    return Load(float(rate[1]), 1e6 * spent / max(succeeded, 1), milliseconds, sum(failures))
