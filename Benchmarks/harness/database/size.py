"""The same operations on a small and on a large tree: what they cost must not grow with the tree."""

import argparse
import json
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.database.rounds import Seen
from harness.load import Burst, at_rate, burst, raw_request, write_requests
from harness.paths import BUILD, SERVER_CORE
from harness.processes import memory_bytes
from harness.servers import Running, json_request
from harness.throughput import WARM_UP_SECONDS, least_disturbed
from harness.tools import Missing, say

SMALL_LEAVES = 10_000
LEAVES_EACH = 2
PART_ITEMS = 5_000
REQUESTS = 40_000
QUERY_LIMIT = 20
# One connection, far below the host's capacity: the time of a single request.
ALONE_A_SECOND, ALONE_SECONDS = 200, 2
AIM_TIMES = 1.5
AIM_RESIDENT_MEBIBYTES = 300
MEBIBYTE = 1024 * 1024


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Alternates between both trees, so that other load of the machine affects both."""
    sizes = {"small": SMALL_LEAVES, "large": options.leaves}
    files = {name: _requests(name, leaves // LEAVES_EACH) for name, leaves in sizes.items()}
    seen = {name: {operation: Seen() for operation in files[name]} for name in sizes}
    alone: dict[str, dict[str, list[int]]] = {name: {operation: [] for operation in files[name]} for name in sizes}
    resident, found = 0, {}
    for number in range(1, options.rounds + 1):
        for name, leaves in sizes.items():
            with _tree(build, name, leaves) as running:
                for operation, requests in files[name].items():
                    burst(running, WARM_UP_SECONDS, requests)
                    rate = least_disturbed(lambda: _burst(running, leaves, options.seconds, requests), options.patience)
                    seen[name][operation].rates.append(rate)
                    pace = least_disturbed(
                        lambda: at_rate(running, ALONE_A_SECOND, ALONE_SECONDS, requests, connections=1), options.patience)
                    alone[name][operation].append(pace.p50)
                    say(f"round {number}/{options.rounds}  {name} {operation:<6} {rate.requests_a_second:>9,.0f}/s, "
                        f"alone {pace.p50} us, disturbed {rate.disturbed:.0%}")
                if name == "large":
                    resident = max(resident, memory_bytes(running.pid)["resident"])
    for operation in files["small"]:
        few, many = seen["small"][operation], seen["large"][operation]
        found[operation] = {
            "small": few.summary(), "large": many.summary(),
            "aloneMicroseconds": {name: sorted(alone[name][operation])[len(alone[name][operation]) // 2] for name in sizes},
            "timesAsLong": round(few.middle("requests_a_second") / many.middle("requests_a_second"), 2), "aim": AIM_TIMES,
        }
        found[operation]["timesAsLongAlone"] = round(
            found[operation]["aloneMicroseconds"]["large"] / max(1, found[operation]["aloneMicroseconds"]["small"]), 2)
    return {"leaves": sizes} | found | {"residentMebibytes": round(resident / MEBIBYTE), "aimMebibytes": AIM_RESIDENT_MEBIBYTES}


def _burst(running: Running, leaves: int, seconds: float, requests: Path) -> Burst:
    """With the file in the kernel's memory, as the small one is anyway: the tree is measured, not the disk's reads.

    Some machines give such pages up within a minute.
    """
    for file in _data(leaves).glob("**/*.sqlite"):
        with file.open("rb") as contents:
            while contents.read(MEBIBYTE):
                pass
    return burst(running, seconds, requests)


def _data(leaves: int) -> Path:
    return BUILD / "trees" / f"{leaves}"


def _item(number: int) -> str:
    return f"item{number:08d}"


def _requests(name: str, items: int) -> dict[str, Path]:
    """Reads and writes of single leaves all over the tree, and queries of twenty children by their index."""
    chance = random.Random(2)
    shown = host.authorization(1)
    made: dict[str, list[bytes]] = {"read": [], "write": [], "query": []}
    for _ in range(REQUESTS):
        item = _item(chance.randrange(items))
        made["read"].append(raw_request("GET", f"/items/{item}/score.json", authorization=shown))
        made["write"].append(raw_request("PUT", f"/items/{item}/count.json", host.MARK, shown))
    for _ in range(REQUESTS // 4):
        first = chance.randrange(items - QUERY_LIMIT)
        query = f"orderBy=%22score%22&startAt={first}&limitToFirst={QUERY_LIMIT}"
        made["query"].append(raw_request("GET", f"/items.json?{query}", authorization=shown))
    return {operation: write_requests(BUILD / "requests" / f"{name}-{operation}.txt", lines) for operation, lines in made.items()}


def loaded(build: hearth.Build, name: str, leaves: int) -> Path:
    """The data folder with a tree of so many leaves. It is loaded once and kept: the large one takes some minutes."""
    data = _data(leaves)
    stamp = data / "loaded.json"
    expected = {"leaves": leaves, "version": 1}
    if not stamp.exists() or json.loads(stamp.read_text()) != expected:
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
        began = time.monotonic()
        with host.started(host.server(build, f"hearth-{name}", data=data), core=None) as running:
            host.put_all(running, _parts(leaves // LEAVES_EACH), method="PATCH")
            host.wait_until_idle(running)
        say(f"loaded {leaves:,} leaves in {time.monotonic() - began:.0f} s")
        stamp.write_text(json.dumps(expected))
    return data


def check(running: Running, data: Path, leaves: int) -> None:
    """Stops the host if its tree is not the one that was loaded into this folder."""
    last = leaves // LEAVES_EACH - 1
    status, body = json_request(running.port, "GET", f"/items/{_item(last)}/score.json", authorization=host.OWNER)
    if (status, body) != (200, str(last).encode()):
        running.started.stop()
        (data / "loaded.json").unlink()
        raise Missing(f"the tree of {leaves:,} leaves is not what was loaded: {status}, {body[:100]!r}. It is loaded anew the next time")


def _tree(build: hearth.Build, name: str, leaves: int) -> Running:
    """A host with a tree of so many leaves."""
    data = loaded(build, name, leaves)
    running = host.started(host.server(build, f"hearth-{name}", data=data), SERVER_CORE)
    check(running, data, leaves)
    return running


def _parts(items: int) -> Iterator[tuple[str, object]]:
    for first in range(0, items, PART_ITEMS):
        yield "/items", {_item(number): {"score": number, "count": 0} for number in range(first, min(items, first + PART_ITEMS))}
