"""Reads of one leaf compared with nginx, which answers the same requests with a constant; each on a separate core."""

import argparse
from collections.abc import Callable
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.database.rounds import measure as measure_rounds, ratio
from harness.load import Burst, burst
from harness.paths import SERVER_CORE
from harness.servers import PEER_SERVERS
from harness.throughput import WARM_UP_SECONDS, least_disturbed

AIM_OF_NGINX = 0.6


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    by_users, by_owner = host.score_requests("GET", "reads"), host.score_requests("GET", "reads-owner", is_owner=True)

    def hearth_burst(requests: Path) -> Callable[[], Burst]:
        def run() -> Burst:
            with host.started(host.server(build), SERVER_CORE) as running:
                host.fill_scores(running)
                burst(running, WARM_UP_SECONDS, requests)
                return least_disturbed(lambda: burst(running, options.seconds, requests), options.patience)
        return run

    def nginx_burst(requests: Path) -> Callable[[], Burst]:
        def run() -> Burst:
            with PEER_SERVERS["nginx"].start() as running:
                running.wait_until_ready()
                burst(running, WARM_UP_SECONDS, requests)
                return least_disturbed(lambda: burst(running, options.seconds, requests), options.patience)
        return run

    seen = measure_rounds({
        "nginx": nginx_burst(by_users), "hearth": hearth_burst(by_users),
        "nginx, short requests": nginx_burst(by_owner), "hearth, administrator": hearth_burst(by_owner),
    }, options.rounds)
    return {name: one.summary() for name, one in seen.items()} | {"aims": {
        "ofNginx": {"aim": AIM_OF_NGINX, "seen": ratio(seen, "hearth", "nginx")},
        "ofNginxAsAdministrator": {"aim": AIM_OF_NGINX, "seen": ratio(seen, "hearth, administrator", "nginx, short requests")},
    }}
