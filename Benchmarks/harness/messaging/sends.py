"""Durable sends over HTTP, beside durable writes of one leaf to the database, by the same load. Host and load share both cores."""

import argparse
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.database.rounds import measure as measure_rounds, ratio
from harness.load import Burst, burst
from harness.messaging import population
from harness.throughput import WARM_UP_SECONDS, least_disturbed

AIM_A_SECOND = 20_000


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    def warm_and_measure(running: host.Running, requests: Path) -> Burst:
        burst(running, WARM_UP_SECONDS, requests, is_pinned=False)
        return least_disturbed(lambda: burst(running, options.seconds, requests, is_pinned=False), options.patience)

    def send(requests: Path) -> Burst:
        with population.populated(build, "hearth-sends", options.devices) as running:
            return warm_and_measure(running, requests)

    def write() -> Burst:
        with host.started(host.server(build), core=None) as running:
            host.fill_scores(running)
            return warm_and_measure(running, leaves)

    leaves = host.score_requests("PUT", "messaging-writes", is_owner=True)
    data = population.sends(options.devices, "sends")
    notifications = population.sends(options.devices, "sends-notifications", notification=True)
    seen = measure_rounds({
        "database writes": write, "sends": lambda: send(data), "sends that replace": lambda: send(notifications),
    }, options.rounds)
    return {name: one.summary() for name, one in seen.items()} | {
        "devices": options.devices, "aSecond": {"aim": AIM_A_SECOND, "seen": round(seen["sends"].middle("requests_a_second"))},
        "ofDatabaseWrites": ratio(seen, "sends", "database writes"),
    }
