"""Calls with an ID token and an enforced App Check token, beside calls without, plain and over TLS. Server and load have a core each."""

import argparse
from collections.abc import Callable

from harness import hearth
from harness.database.rounds import measure as measure_rounds, ratio
from harness.identity import host
from harness.load import Burst, burst, raw_request, write_requests
from harness.paths import BODY, BUILD, SERVER_CORE
from harness.throughput import WARM_UP_SECONDS, least_disturbed

AIM = 0.9


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    def calls(name: str, is_tls: bool, has_tokens: bool) -> Callable[[], Burst]:
        def run() -> Burst:
            server = host.server(build, f"hearth-{name}", is_tls=is_tls, enforces=has_tokens)
            with host.started(server, SERVER_CORE) as running:
                headers = {}
                if has_tokens:
                    headers = {"Authorization": f"Bearer {host.id_token(running)}", "X-Firebase-AppCheck": host.app_token(running)}
                requests = write_requests(
                    BUILD / "requests" / f"{name}.txt", [raw_request("POST", server.path, BODY, headers=headers)])
                burst(running, WARM_UP_SECONDS, requests)
                return least_disturbed(lambda: burst(running, options.seconds, requests), options.patience)
        return run

    seen = measure_rounds({
        "without tokens": calls("calls", is_tls=False, has_tokens=False), "with tokens": calls("calls-tokens", is_tls=False, has_tokens=True),
        "TLS, without": calls("calls-tls", is_tls=True, has_tokens=False), "TLS, with": calls("calls-tls-tokens", is_tls=True, has_tokens=True),
    }, options.rounds)
    return {name: one.summary() for name, one in seen.items()} | {
        "ratio": {"aim": AIM, "seen": ratio(seen, "with tokens", "without tokens")},
        "ratioOverTLS": {"aim": AIM, "seen": ratio(seen, "TLS, with", "TLS, without")},
    }
