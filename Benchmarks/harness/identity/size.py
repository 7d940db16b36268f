"""Listing, lookups and sign-ins with a thousand users and with a million. Server and load have a core each."""

import argparse
import base64
import hashlib
import os
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import hearth
from harness.database.host import wait_until_idle
from harness.identity import host
from harness.load import burst, exactly, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.paths import BUILD, SERVER_CORE
from harness.servers import Running
from harness.throughput import WARM_UP_SECONDS
from harness.tools import say

SMALL = 1000
USERS_A_REQUEST = 1000
IMPORTERS = 2
REQUESTS_MAX = 20_000
# They sign in once before, which replaces their imported hashes.
SIGN_IN_USERS = 400
SIGN_IN_CONNECTIONS = 16
AIM = 1.1


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    sizes = {"small": SMALL, "large": options.users}
    folders = {name: _population(build, count) for name, count in sizes.items()}
    found: dict[str, list[dict]] = {name: [] for name in sizes}
    for number in range(1, options.rounds + 1):
        for name, count in sizes.items():
            found[name].append(_round(build, folders[name], count, options))
            say(f"round {number}/{options.rounds}  {count:>9,} users  "
                + ", ".join(f"{kind} {value:,.0f} us" for kind, value in found[name][-1].items()))
    kinds = list(found["small"][0])
    return {
        "users": sizes,
        "microsecondsEach": {name: {kind: round(median([one[kind] for one in rounds]), 1) for kind in kinds} for name, rounds in found.items()},
        "ratios": {
            kind: {"aim": AIM, "seen": round(median([many[kind] / few[kind] for few, many in zip(found["small"], found["large"])]), 2)}
            for kind in kinds},
    }


def _round(build: hearth.Build, folder: Path, count: int, options: argparse.Namespace) -> dict[str, float]:
    """Processor time of the host for one request of each kind, in microseconds: the inverse of the rate is disturbed by waiting."""
    copy = host.copied(folder, "hearth-users")
    with host.started(host.server(build, "hearth-users", hashes=host.CHEAP_HASH, data=copy), SERVER_CORE) as running:
        loads = _loads(running, count)
        seen = {}
        exactly(running, SIGN_IN_USERS, SIGN_IN_CONNECTIONS, loads["signIn"])
        for kind, requests in loads.items():
            burst(running, WARM_UP_SECONDS, requests)
            wait_until_quiet(options.patience)
            seen[kind] = 1e6 / burst(running, options.seconds, requests).requests_a_processor_second
        return seen


def _loads(running: Running, count: int) -> dict[str, Path]:
    chance, admin = random.Random(1), host.admin(running)
    chosen = [chance.randrange(count) for _ in range(min(REQUESTS_MAX, 4 * count))]
    project = f"{host.API}/projects/{host.PROJECT}"
    requests = {
        "lookup": [raw_request("POST", f"{project}/accounts:lookup", f'{{"localId":["{uid(number)}"]}}', admin) for number in chosen],
        "lookupByEmail": [raw_request("POST", f"{project}/accounts:lookup", f'{{"email":["{email(number)}"]}}', admin) for number in chosen],
        "list": [
            raw_request("GET", f"{project}/accounts:batchGet?maxResults=20&nextPageToken={uid(number)}", authorization=admin)
            for number in chosen if number < count - 20],
        "signIn": [
            raw_request("POST", f"{host.API}/accounts:signInWithPassword?key={host.KEY}", host.sign_in_body(email(number)))
            for number in range(0, count, count // SIGN_IN_USERS)][:SIGN_IN_USERS],
    }
    return {kind: write_requests(BUILD / "requests" / f"users-{kind}.txt", made) for kind, made in requests.items()}


def uid(number: int) -> str:
    return f"user{number:08d}"


def email(number: int) -> str:
    return f"user{number:08d}@example.org"


def _population(build: hearth.Build, count: int) -> Path:
    """The folder of a host with so many users, imported where it is not there. All have one password, whose hash is the host's own kind."""
    folder = BUILD / f"users-{count}"
    if (folder / "complete").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    say(f"importing {count:,} users into {folder}")
    salt = os.urandom(16)
    made = hashlib.scrypt(host.PASSWORD.encode(), salt=salt, n=1024, r=8, p=1, dklen=64)
    hashed = {"passwordHash": base64.urlsafe_b64encode(made).decode(), "salt": base64.urlsafe_b64encode(salt).decode()}
    options = {"hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1024, "blockSize": 8, "parallelization": 1, "dkLen": 64}

    def imported(start: int) -> None:
        users = [
            {"localId": uid(number), "email": email(number), "displayName": f"User {number}", **hashed}
            for number in range(start, min(start + USERS_A_REQUEST, count))]
        host.ask(running, "accounts:batchCreate", {"users": users, **options}, is_admin=True)

    with host.started(host.server(build, folder.name, hashes=host.CHEAP_HASH, data=folder), core=None) as running:
        with ThreadPoolExecutor(IMPORTERS) as pool:
            list(pool.map(imported, range(0, count, USERS_A_REQUEST)))
        wait_until_idle(running)
    (folder / "complete").touch()
    return folder
