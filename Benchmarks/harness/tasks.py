"""Durable enqueues beside durable writes of the database, and the time from the slot of a queue's rate to the start of its function."""

import argparse
import base64
import json
import subprocess
import time
from pathlib import Path

from harness import hearth, parts
from harness.database.host import OWNER, PROJECT
from harness.load import burst, median, raw_request, write_requests
from harness.paths import BUILD, LOAD
from harness.paths import PROJECT as SOURCES
from harness.servers import Running, Server, json_request
from harness.tools import Missing, program, say

ENQUEUES_MIN = 10_000
SLOT_MILLISECONDS_MAX = 5
CONNECTIONS = 128
SLOTS = 1000
RATE = 100
# A bucket holds the tokens of a fifth of a second.
BURST = RATE // 5
QUEUES = f"/v2/projects/{PROJECT}/locations/us-central1/queues"


def main(parser: argparse.ArgumentParser) -> int:
    return parts.main(parser, {"enqueues": _enqueues, "slots": _slots})


def _library() -> Path:
    """A plugin with two queues, which notes when its functions are started."""
    BUILD.mkdir(exist_ok=True)
    endpoints = {"held": {"taskQueueTrigger": {}}, "steady": {"taskQueueTrigger": {"rateLimits": {"maxDispatchesPerSecond": RATE}}}}
    manifest = BUILD / "queues.inc"
    manifest.write_text(json.dumps(json.dumps({"specVersion": "v1alpha1", "endpoints": endpoints})))
    made = BUILD / "libqueues.so"
    flags = ["-O2", "-shared", "-fPIC", f'-DMANIFEST_FILE="{manifest}"', "-I", str(SOURCES / "SDK/Sources/CHearth/include")]
    subprocess.run([program("cc"), *flags, "-o", str(made), str(LOAD / "timetable.c")], check=True)
    return made


def _server(build: hearth.Build, name: str) -> Server:
    library = _library()

    def command(port: int, scratch: Path) -> list[str]:
        if not build.program.exists():
            raise Missing(f"{build.program} is not built: swift build -c release")
        configuration = scratch / "functions.json"
        more = {"functions": {"steady": {"minInstances": 1}}, "tasks": {"maxTasks": 100_000_000, "maxBytes": 1 << 36}}
        configuration.write_text(json.dumps({"project": PROJECT, "plugins": {"Queues": {"library": str(library)}}, **more}))
        return [str(build.program), "serve", "--config", str(configuration), "--port", str(port), "--data", str(scratch / "data")]

    return Server(name, command)


def _post(running: Running, path: str, body: dict | None = None) -> None:
    status, answer = json_request(running.port, "POST", path, body or {}, OWNER)
    if status != 200:
        raise Missing(f"{path} was answered {status}: {answer[:300]!r}")


def _request(queue: str) -> bytes:
    body = base64.b64encode(json.dumps({"data": {"to": "ada@example.com", "subject": "Hello", "number": 12345}}).encode()).decode()
    task = {"task": {"httpRequest": {"url": "", "body": body, "headers": {"Content-Type": "application/json"}}}}
    return raw_request("POST", f"{QUEUES}/{queue}/tasks", json.dumps(task), "Bearer owner")


def _enqueues(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Bursts of enqueues into a queue that is paused, and of writes of values of the same size, in turn."""
    value = json.dumps({"to": "ada@example.com", "subject": "Hello", "number": 12345})
    files = {
        "enqueues": write_requests(BUILD / "requests" / "enqueues.txt", [_request("held")]),
        "writes": write_requests(
            BUILD / "requests" / "task-writes.txt", [raw_request("PUT", "/held/n##########.json?print=silent", value, "Bearer owner")]),
    }
    found: dict[str, list[float]] = {name: [] for name in files}
    with _server(build, "hearth-enqueues").start(None) as running:
        running.wait_until(lambda port: json_request(port, "GET", "/_/ready")[0] == 200)
        _post(running, "/_/api/tasks/held:pause")
        for _ in range(options.rounds):
            for name, requests in files.items():
                seen = burst(running, options.seconds, requests, is_pinned=False, connections=CONNECTIONS)
                if seen.failures:
                    raise Missing(f"{seen.failures} {name} failed")
                found[name].append(seen.requests_a_second)
    enqueues, writes = median(found["enqueues"]), median(found["writes"])
    result = {"enqueuesPerSecond": round(enqueues), "aimPerSecond": ENQUEUES_MIN, "writesPerSecond": round(writes),
              "ratioToWrites": round(enqueues / writes, 2), "connections": CONNECTIONS}
    say(f"enqueues: {result}")
    return result


def _starts(running: Running) -> list[int]:
    folder = BUILD / "scratch" / running.server.name / "data" / "workers"
    lines = [line for path in folder.glob("*/started") for line in path.read_text().splitlines() if line.count(" ") == 1]
    return sorted(int(line.split()[1]) for line in lines if line.startswith("steady "))


def _slots(build: hearth.Build, _: argparse.Namespace) -> dict:
    """The starts of tasks of a full queue, beside the slots of its rate."""
    with _server(build, "hearth-slots").start(None) as running:
        running.wait_until(lambda port: json_request(port, "GET", "/_/ready")[0] == 200)
        _post(running, "/_/api/tasks/steady:pause")
        for _ in range(SLOTS):
            _post(running, "/_/api/tasks/steady:enqueue", {"data": 1})
        _post(running, "/_/api/tasks/steady:resume")
        deadline = time.monotonic() + SLOTS / RATE + 60
        while len(_starts(running)) < SLOTS:
            if time.monotonic() > deadline:
                raise Missing(f"only {len(_starts(running))} of {SLOTS} tasks were started")
            time.sleep(0.2)
        starts = _starts(running)[BURST:]
    slots = [start - number * 1_000_000_000 // RATE for number, start in enumerate(starts)]
    # The earliest start tells where the slots are.
    delays = sorted((start - min(slots)) / 1e6 for start in slots)
    found = {"tasks": SLOTS, "perSecond": RATE, "aimMilliseconds": SLOT_MILLISECONDS_MAX, "medianMilliseconds": round(median(delays), 2),
             "p95Milliseconds": round(delays[int(len(delays) * 0.95)], 2), "longestMilliseconds": round(delays[-1], 2)}
    say(f"slots: {found}")
    return found
