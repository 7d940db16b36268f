"""Durable writes of one leaf: Hearth over HTTP, PostgreSQL by pgbench, PocketBase over HTTP. All share both cores with their load."""

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from harness import hearth
from harness.database import host, pocketbase, postgres
from harness.database.rounds import Rate, Seen, measure as measure_rounds, ratio
from harness.load import Burst, burst
from harness.servers import Running
from harness.throughput import WARM_UP_SECONDS, least_disturbed

AIM_A_SECOND, AIM_OF_POSTGRESQL, AIM_OF_POCKETBASE = 30_000, 1.2, 6


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    def hearth_burst(requests: Path, rules: dict | None = None) -> Callable[[], Burst]:
        def run() -> Burst:
            with host.started(host.server(build, rules=rules), core=None) as running:
                host.fill_scores(running)
                return _warm_and_measure(running, lambda seconds: burst(running, seconds, requests, is_pinned=False), options)
        return run

    def postgres_burst() -> Rate:
        with _prepared(postgres.server().start(core=None), postgres.prepare) as running:
            return _warm_and_measure(running, lambda seconds: postgres.burst(running, seconds), options)

    def pocketbase_burst() -> Burst:
        with _prepared(pocketbase.server().start(core=None), pocketbase.prepare) as running:
            requests = pocketbase.requests()
            return _warm_and_measure(running, lambda seconds: burst(running, seconds, requests, is_pinned=False), options)

    by_users, by_owner = host.score_requests("PUT", "writes"), host.score_requests("PUT", "writes-owner", is_owner=True)
    seen = measure_rounds({
        "hearth": hearth_burst(by_users), "postgresql": postgres_burst, "pocketbase": pocketbase_burst,
        "hearth, administrator": hearth_burst(by_owner),
    }, options.rounds)
    return {name: one.summary() for name, one in seen.items()} | {"aims": _aims(seen)}


def _prepared(running: Running, prepare: Callable[[Running], None]) -> AbstractContextManager[Running]:
    try:
        prepare(running)
    except BaseException:
        running.started.stop()
        raise
    return running


def _warm_and_measure(running: Running, load: Callable[[float], Rate | Burst], options: argparse.Namespace) -> Rate | Burst:
    load(WARM_UP_SECONDS)
    return least_disturbed(lambda: load(options.seconds), options.patience)


def _aims(seen: dict[str, Seen]) -> dict:
    return {
        "aSecond": {"aim": AIM_A_SECOND, "seen": round(seen["hearth"].middle("requests_a_second"))},
        "ofPostgreSQL": {"aim": AIM_OF_POSTGRESQL, "seen": ratio(seen, "hearth", "postgresql")},
        "ofPocketBase": {"aim": AIM_OF_POCKETBASE, "seen": ratio(seen, "hearth", "pocketbase")},
    }
