"""Sign-ups a second beside PocketBase's, with hashes that cost the same, and with the defaults of both. Host and load share both cores."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from harness import hearth
from harness.database import pocketbase
from harness.database.host import MARK
from harness.database.rounds import measure as measure_rounds, ratio
from harness.identity import host
from harness.load import Burst, burst, raw_request, write_requests
from harness.paths import BUILD
from harness.servers import Running, json_request
from harness.throughput import WARM_UP_SECONDS, least_disturbed
from harness.tools import Missing

AIM = 2
CONNECTIONS = 32
# bcrypt with 2^5 rounds costs what scrypt with N = 2^10 does, about 2 ms of a core. 10 is PocketBase's default.
CHEAP_ROUNDS, DEFAULT_ROUNDS = 5, 10


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    def sign_ups(name: str, hashes: dict) -> Callable[[], Burst]:
        def run() -> Burst:
            with host.started(host.server(build, f"hearth-{name}", hashes=hashes), core=None) as running:
                return _warm_and_measure(running, _requests(name, f"{host.API}/accounts:signUp?key={host.KEY}", {"returnSecureToken": True}), options)
        return run

    def records(name: str, rounds: int) -> Callable[[], Burst]:
        def run() -> Burst:
            with pocketbase.server().start(core=None) as running:
                _prepare(running, rounds)
                more = {"passwordConfirm": host.PASSWORD}
                return _warm_and_measure(running, _requests(name, "/api/collections/people/records", more), options)
        return run

    seen = measure_rounds({
        "hearth": sign_ups("sign-ups", host.CHEAP_HASH), "pocketbase": records("pocketbase-sign-ups", CHEAP_ROUNDS),
        "hearth, default hash": sign_ups("sign-ups-default", {}), "pocketbase, default hash": records("pocketbase-sign-ups-default", DEFAULT_ROUNDS),
    }, options.rounds)
    return {name: one.summary() for name, one in seen.items()} | {
        "ofPocketBase": {"aim": AIM, "seen": ratio(seen, "hearth", "pocketbase")},
        "ofPocketBaseWithDefaults": ratio(seen, "hearth, default hash", "pocketbase, default hash"),
    }


def _requests(name: str, path: str, more: dict) -> Path:
    body = json.dumps({"email": f"user{MARK}@example.org", "password": host.PASSWORD, **more})
    return write_requests(BUILD / "requests" / f"{name}.txt", [raw_request("POST", path, body)])


def _warm_and_measure(running: Running, requests: Path, options: argparse.Namespace) -> Burst:
    def load(seconds: float) -> Burst:
        return burst(running, seconds, requests, is_pinned=False, connections=CONNECTIONS)

    load(WARM_UP_SECONDS)
    return least_disturbed(lambda: load(options.seconds), options.patience)


def _prepare(running: Running, rounds: int) -> None:
    """A collection of users to which everybody may add themselves."""
    token = pocketbase.administrator(running)
    fields = [{"name": "password", "type": "password", "required": True, "hidden": True, "system": True, "min": 8, "cost": rounds}]
    status, body = json_request(
        running.port, "POST", "/api/collections", {"name": "people", "type": "auth", "createRule": "", "fields": fields}, token)
    if status != 200:
        raise Missing(f"PocketBase did not make a collection of users: {body[:200]!r}")
