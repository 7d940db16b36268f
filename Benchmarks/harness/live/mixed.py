"""Many connections write while others listen, half of them to queries with a limit: the capacity, and the times at half of it."""

import argparse
from pathlib import Path

from harness import hearth
from harness.database import host
from harness.live.clients import opening, request, server, upgrade
from harness.load import Watch, median, raw_request, report, write_requests
from harness.machine import wait_until_quiet
from harness.paths import BUILD
from harness.servers import Running
from harness.tools import Missing, compiled, say

WRITERS = 200
LIMITS = (10, 25, 50, 75, 100)
# Messages of a room at the beginning, so that each query is full.
MESSAGES = 200
TEXT = "x" * 60
FIRST_WRITE = 1_000_000_000
WARM_UP_SECONDS = 2
AIM_WRITES_A_SECOND, AIM_P50_MILLISECONDS, AIM_P99_MILLISECONDS = 10_000, 2, 15
RULES = {"rules": {"rooms": {"$room": {".indexOn": ["n"]}}}}


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Each write adds a message to one of the rooms, each of which has as many followers as queries."""
    pairs = max(1, options.room // 2)
    rooms = max(1, options.listeners // 20 // pairs)
    listeners = 2 * pairs * rooms
    load = Load(rooms, pairs, options.writers)
    found: dict[str, list[dict]] = {"capacity": [], "half": []}
    for number in range(1, options.rounds + 1):
        with host.started(server(build, listeners + WRITERS, rules=RULES), None) as running:
            host.put_all(running, ((f"/rooms/{_room(room)}", _messages()) for room in range(rooms)))
            load.first = FIRST_WRITE
            load.run(running, 0, WARM_UP_SECONDS)
            wait_until_quiet(options.patience)
            found["capacity"].append(load.run(running, 0, options.seconds))
            wait_until_quiet(options.patience)
            found["half"].append(load.run(running, found["capacity"][-1]["writesPerSecond"] / 2, options.seconds))
        for name, seen in found.items():
            say(f"round {number}/{options.rounds}  {name:<9} {seen[-1]['writesPerSecond']:,.0f} writes/s, "
                f"{seen[-1]['eventsPerSecond']:,.0f} events/s, event p50 {seen[-1]['events']['p50']} us, p99 {seen[-1]['events']['p99']} us, "
                f"disturbed {seen[-1]['disturbed']:.0%}")
    half = {part: {name: median([seen[part][name] for seen in found["half"]]) / 1000 for name in ("p50", "p99", "longest")}
            for part in ("events", "followers", "queries", "acknowledgements")}
    return {
        "listeners": listeners, "rooms": rooms, "writers": f"{WRITERS} by {options.writers}",
        "capacityWritesPerSecond": round(median([seen["writesPerSecond"] for seen in found["capacity"]])),
        "capacityEventsPerSecond": round(median([seen["eventsPerSecond"] for seen in found["capacity"]])),
        "aimWritesPerSecond": AIM_WRITES_A_SECOND, "halfWritesPerSecond": round(median([seen["writesPerSecond"] for seen in found["half"]])),
        "halfMilliseconds": {part: {name: round(time, 2) for name, time in times.items()} for part, times in half.items()},
        "aimP50Milliseconds": AIM_P50_MILLISECONDS, "aimP99Milliseconds": AIM_P99_MILLISECONDS,
        "eventsOfAWrite": {
            name: {kind: round(median([seen[kind]["count"] / seen["sent"] for seen in runs]), 2) for kind in ("followers", "queries")}
            for name, runs in found.items()},
        "processorMicrosecondsOfAWrite": {name: round(median([seen["processorMicroseconds"] for seen in runs])) for name, runs in found.items()},
        "disturbed": {name: [seen["disturbed"] for seen in runs] for name, runs in found.items()}}


class Load:
    """The files of the load program, and the number of the next write."""

    def __init__(self, rooms: int, pairs: int, writers: str):
        self.first = FIRST_WRITE
        self.acknowledgement = '"s":"ok"' if writers == "websocket" else "HTTP/1.1 200"
        is_live = writers == "websocket"
        parts = {
            "listeners": [kind(room, place) for place in range(pairs) for room in range(rooms) for kind in KINDS],
            "writer": [upgrade() + request(1, "gauth", cred="owner") if is_live else raw_request("GET", "/.settings/rules.json", "", host.OWNER)],
            "writes": [(_live_write if is_live else _rest_write)(room) for room in range(rooms)]}
        self.files: dict[str, Path] = {
            name: write_requests(BUILD / "requests" / f"mixed-{name}.txt", requests) for name, requests in parts.items()}

    def run(self, running: Running, rate: float, seconds: float) -> dict:
        """Writes for a time, and reads the times of the program."""
        files = {name: str(path) for name, path in self.files.items()}
        watch = Watch(running)
        seen = report(
            [str(compiled("mixed.c")), str(running.port), files["listeners"], files["writer"], str(WRITERS), files["writes"],
             self.acknowledgement, f"{rate:.1f}", str(seconds), str(self.first)], seconds + 60)
        spent, seen["disturbed"] = watch.end()
        seen["processorMicroseconds"] = spent / max(1, seen["sent"]) * 1e6
        self.first += seen["sent"]
        if seen["answered"] < seen["sent"]:
            raise Missing(f"{seen['sent'] - seen['answered']} of {seen['sent']} writes were not acknowledged")
        return seen


def _room(number: int) -> str:
    return f"room{number:03}"


def _messages() -> dict:
    return {f"m{number:010}": {"n": number, "text": TEXT} for number in range(MESSAGES)}


def _follower(room: int, place: int) -> bytes:
    return opening({"p": f"/rooms/{_room(room)}"})


def _query(room: int, place: int) -> bytes:
    """The last messages by key or by number. The limits go round, so that each order has all of them."""
    index = ".key" if (room + place) % 2 else "n"
    return opening({"p": f"/rooms/{_room(room)}", "q": {"i": index, "l": LIMITS[(room + place) % len(LIMITS)], "vf": "r"}, "t": 1})


KINDS = (_follower, _query)


def _live_write(room: int) -> bytes:
    return request(host.MARK, "p", p=f"/rooms/{_room(room)}/m{host.MARK}", d={"n": host.MARK, "text": TEXT})


def _rest_write(room: int) -> bytes:
    return raw_request("PUT", f"/rooms/{_room(room)}/m{host.MARK}.json", f'{{"n":{host.MARK},"text":"{TEXT}"}}', host.OWNER)
