"""Deleting a subtree of a million leaves while others read and write: how long do they wait?"""

import argparse
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from harness import hearth
from harness.database import host
from harness.load import Pace, at_rate
from harness.servers import Running, json_request
from harness.throughput import DISTURBED_MAX
from harness.tools import Missing, say

LEAVES = 1_000_000
PART_LEAVES = 20_000
OTHERS_A_SECOND, OTHERS_CONNECTIONS = 500, 4
# The rows of what was deleted are removed a few at a time: the others are watched for this long.
SECONDS, SECONDS_BEFORE = 12, 2
AIM_MILLISECONDS = 50


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    """The longest waits of the other clients, with and without a delete in progress: the machine itself has pauses, too."""
    found: dict = {"leaves": LEAVES, "aimMilliseconds": AIM_MILLISECONDS, "rounds": []}
    with host.started(host.server(build, "hearth-deleting"), core=None) as running:
        host.fill_scores(running)
        for number in range(1, options.rounds + 1):
            host.put_all(running, (
                (f"/big/part{first // PART_LEAVES:03d}", {f"leaf{leaf:07d}": leaf for leaf in range(first, first + PART_LEAVES)})
                for first in range(0, LEAVES, PART_LEAVES)))
            time.sleep(1)
            quiet, _ = _others(running, None)
            beside, deleting = _others(running, lambda: _delete(running))
            seen = {"deleteMilliseconds": deleting} | {
                f"{who}{when}": {"longestMilliseconds": round(pace.longest / 1000, 1), "p99Milliseconds": round(pace.p99 / 1000, 2),
                                 "failures": pace.failures, "disturbed": pace.disturbed}
                for when, paces in (("Alone", quiet), ("BesideDelete", beside)) for who, pace in paces.items()}
            found["rounds"].append(seen)
            say(f"round {number}/{options.rounds}  delete {deleting} ms; longest wait "
                + ", ".join(f"{name} {one['longestMilliseconds']} ms" for name, one in seen.items() if isinstance(one, dict)))
    # The worst of the calm rounds; where none was calm, the calmest.
    for who in ("writers", "readers"):
        waits = [one[f"{who}BesideDelete"] for one in found["rounds"]]
        counted = [one for one in waits if one["disturbed"] <= DISTURBED_MAX] or [min(waits, key=lambda one: one["disturbed"])]
        found[f"{who}LongestMilliseconds"] = max(one["longestMilliseconds"] for one in counted)
    return found


def _others(running: Running, action: Callable[[], float] | None) -> tuple[dict[str, Pace], float | None]:
    """Writers and readers at a constant rate, and after a while the action beside them."""
    files = {"writers": host.score_requests("PUT", "beside-writes"), "readers": host.score_requests("GET", "beside-reads")}
    result: list[float] = []

    def act() -> None:
        time.sleep(SECONDS_BEFORE)
        result.append(action())

    with ThreadPoolExecutor(len(files)) as pool:
        paces = {who: pool.submit(at_rate, running, OTHERS_A_SECOND, SECONDS, requests, OTHERS_CONNECTIONS, False)
                 for who, requests in files.items()}
        if action:
            worker = threading.Thread(target=act)
            worker.start()
            worker.join()
        return {who: pace.result() for who, pace in paces.items()}, result[0] if result else None


def _delete(running: Running) -> float:
    """Milliseconds until the delete was durable."""
    began = time.monotonic()
    status, body = json_request(running.port, "DELETE", "/big.json", authorization=host.OWNER)
    took = (time.monotonic() - began) * 1000
    if status != 200:
        raise Missing(f"the delete was answered {status}: {body[:200]!r}")
    return round(took, 2)
