"""The cost of a write: with listens elsewhere in the tree, and into a followed query of a small and of a large collection."""

import argparse
import contextlib
import shutil
import time

from harness import hearth
from harness.database import host, size
from harness.live.clients import Listeners, live, server
from harness.load import burst, exactly, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.paths import BUILD, SERVER_CORE
from harness.processes import exact_processor_seconds
from harness.tools import Missing, say

AIM_ELSEWHERE, AIM_QUERY_VIEW = 1.1, 1.5
FEW, LISTENS_EACH = 10, 100
SMALL_COLLECTION, LIMIT = 1000, 100
# The small collection grows by these meanwhile, so they are few.
PUSHES, WARM_UP_PUSHES, PUSH_CONNECTIONS = 2000, 500, 8
EVENTS_SECONDS_MAX = 10


def elsewhere(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Writes while nobody, a few and many listen elsewhere in the tree."""
    requests = host.score_requests("PUT", "live-elsewhere", is_owner=True)
    # The number of listens, with the connections that have them and the listens of each.
    many = max(1, options.listeners // 10)
    shapes = {0: (0, 0), FEW: (1, FEW), many * LISTENS_EACH: (many, LISTENS_EACH)}
    seen: dict[int, list] = {count: [] for count in shapes}
    for number in range(1, options.rounds + 1):
        for count, (connections, each) in shapes.items():
            listens = [{"p": f"/elsewhere/{host.MARK}/here{place:02}"} for place in range(each)]
            with host.started(server(build, connections), SERVER_CORE) as running:
                host.fill_scores(running)
                with live(running, connections, *listens) if count else contextlib.nullcontext():
                    burst(running, 1, requests)
                    wait_until_quiet(options.patience)
                    seen[count].append(burst(running, options.seconds, requests))
            say(f"round {number}/{options.rounds}  {count:>6} listens  {seen[count][-1].requests_a_second:,.0f} writes/s, "
                f"{1e6 / seen[count][-1].requests_a_processor_second:.1f} us each")
    costs = [median([1e6 / one.requests_a_processor_second for one in bursts]) for bursts in seen.values()]
    return {
        "listens": list(seen), "microsecondsWithNone": round(costs[0], 1), "microsecondsWithFew": round(costs[1], 1),
        "microsecondsWithMany": round(costs[2], 1), "ratio": round(costs[2] / costs[1], 2), "aim": AIM_ELSEWHERE,
        "failures": sum(one.failures for bursts in seen.values() for one in bursts)}


def query_view(build: hearth.Build, options: argparse.Namespace) -> dict:
    """New children of a collection whose last hundred by an indexed child are followed, so that each enters the view and another leaves it."""
    sizes = {"small": SMALL_COLLECTION, "large": options.children}
    seen: dict[str, list[dict]] = {name: [] for name in sizes}
    for number in range(1, options.rounds + 1):
        for name, children in sizes.items():
            seen[name].append(_pushes(build, name, children, options))
            say(f"round {number}/{options.rounds}  {children:>9,} children  {seen[name][-1]['followed']:.1f} us each, "
                f"{seen[name][-1]['notFollowed']:.1f} us if nobody follows, {seen[name][-1]['messages']:.2f} messages each")
    middle = {name: {kind: median([one[kind] for one in found]) for kind in found[0]} for name, found in seen.items()}
    return {
        "children": sizes, "limit": LIMIT, "writes": PUSHES,
        "microseconds": {name: round(found["followed"], 1) for name, found in middle.items()},
        "microsecondsIfNobodyFollows": {name: round(found["notFollowed"], 1) for name, found in middle.items()},
        "messagesOfAWrite": {name: round(found["messages"], 2) for name, found in middle.items()},
        "ratio": round(middle["large"]["followed"] / middle["small"]["followed"], 2), "aim": AIM_QUERY_VIEW}


def _pushes(build: hearth.Build, name: str, children: int, options: argparse.Namespace) -> dict[str, float]:
    """Microseconds of the host's processor time for a write, and the messages to the listener, in a copy of the collection."""
    leaves = children * size.LEAVES_EACH
    kept = size.loaded(build, f"view-{name}", leaves)
    data = BUILD / "scratch" / "hearth-view"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(kept, data)
    push = raw_request("PUT", f"/items/push{host.MARK}.json", f'{{"count":0,"score":{host.MARK}}}', host.OWNER)
    requests = write_requests(BUILD / "requests" / "live-push.txt", [push])

    def cost() -> float:
        wait_until_quiet(options.patience)
        spent = exact_processor_seconds(running.pid)
        exactly(running, PUSHES, PUSH_CONNECTIONS, requests)
        return (exact_processor_seconds(running.pid) - spent) / PUSHES * 1e6

    with host.started(server(build, 1, data=data), SERVER_CORE) as running:
        size.check(running, kept, leaves)
        with live(running, 1, {"p": "/items", "q": {"i": "score", "l": LIMIT, "vf": "r"}, "t": 1}) as listener:
            exactly(running, WARM_UP_PUSHES, PUSH_CONNECTIONS, requests)
            heard = _rest(listener)
            followed = cost()
            heard = _rest(listener) - heard
        if heard == 0:
            raise Missing("the listener of a query did not hear of the writes")
        return {"followed": followed, "notFollowed": cost(), "messages": heard / PUSHES}


def _rest(listener: Listeners) -> int:
    """The number of events when no more arrive."""
    deadline, before = time.monotonic() + EVENTS_SECONDS_MAX, -1
    while (count := listener.count()) != before and time.monotonic() < deadline:
        before = count
        time.sleep(0.1)
    return count
