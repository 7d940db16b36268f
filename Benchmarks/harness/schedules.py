"""The cost of ten thousand schedules at rest, the time from a due time to the start of its function, and ten thousand that are due together."""

import argparse
import json
import struct
import subprocess
import time
from pathlib import Path

from harness import hearth, machine
from harness.database.host import OWNER, PROJECT
from harness.load import median
from harness.paths import BUILD, LOAD
from harness.paths import PROJECT as SOURCES
from harness.processes import exact_processor_seconds, memory_bytes, stop_all, stop_all_at_exit
from harness.servers import Running, Server, json_request
from harness.session import SECONDS_MAX
from harness.tools import Missing, program, say

SCHEDULES = 10_000
STARTS = 30
START_MILLISECONDS_MAX = 50
SETTLE_SECONDS = 8
BURST_SECONDS_MAX = 300
MINUTE = 60


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("--seconds", type=int, default=60, choices=range(1, SECONDS_MAX + 1), metavar="N", help="length of a rest")
    parser.add_argument("--only", choices=["rest", "starts", "burst"], help="only one of the parts")
    parser.add_argument("--hearth", type=Path, help="the hearth to measure, instead of .build/release/hearth")
    parser.add_argument("--json", type=Path, help="also write everything into this file")
    options = parser.parse_args()
    stop_all_at_exit()
    parts = {"rest": _rest, "starts": _starts, "burst": _burst}
    try:
        results = {"machine": machine.description()}
        for name, part in parts.items():
            if options.only in (None, name):
                results[name] = part(options)
    except Missing as reason:
        say(f"not measured. {reason}")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        stop_all()
    print(json.dumps(results, indent=2))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


# -- the host and its clock

class _Clock:
    """The clocks of a host, which run ahead of those of the machine: so a due time comes as soon as it is wanted."""

    def __init__(self) -> None:
        self.path = BUILD / "schedules.clock"
        self.ahead = 0
        BUILD.mkdir(exist_ok=True)
        self.set(0)
        library = BUILD / "libmoved_clock.so"
        source = SOURCES / "Tests/Support/moved_clock.c"
        subprocess.run([program("cc"), "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        self.environment = (("LD_PRELOAD", str(library)), ("CLOCK_FILE", str(self.path)))

    def set(self, ahead: int) -> None:
        self.ahead = ahead
        if not self.path.exists():
            self.path.write_bytes(bytes(8))
        with self.path.open("r+b", buffering=0) as file:
            file.write(struct.pack("q", ahead))

    def now(self) -> float:
        return time.time() + self.ahead

    def move_before(self, period: int, seconds: float) -> int:
        """Moves the clocks to some seconds before the next multiple of the period, and returns that moment."""
        due = (int(self.now() + seconds) // period + 1) * period
        self.set(self.ahead + int(due - seconds - self.now()))
        return due


def _library(name: str, schedules: dict[str, str]) -> Path:
    """A plugin with these schedules."""
    BUILD.mkdir(exist_ok=True)
    endpoints = {key: {"scheduleTrigger": {"schedule": text, "timeZone": "Europe/Berlin"}} for key, text in schedules.items()}
    text = json.dumps({"specVersion": "v1alpha1", "endpoints": endpoints})
    manifest = BUILD / f"{name}.inc"
    manifest.write_text("\n".join(json.dumps(text[start:start + 4000]) for start in range(0, len(text), 4000)))
    made = BUILD / f"lib{name}.so"
    flags = ["-O2", "-shared", "-fPIC", f'-DMANIFEST_FILE="{manifest}"', "-I", str(SOURCES / "SDK/Sources/CHearth/include")]
    subprocess.run([program("cc"), *flags, "-o", str(made), str(LOAD / "timetable.c")], check=True)
    return made


def _server(options: argparse.Namespace, name: str, library: Path | None, more: dict | None = None, environment: tuple = ()) -> Server:
    def command(port: int, scratch: Path) -> list[str]:
        binary = (options.hearth or hearth.Build().program).resolve()
        if not binary.exists():
            raise Missing(f"{binary} is not built: swift build -c release")
        configuration = scratch / "functions.json"
        plugins = {"Timetable": {"library": str(library)}} if library else {}
        configuration.write_text(json.dumps({"project": PROJECT, "plugins": plugins, **(more or {})}))
        return [str(binary), "serve", "--config", str(configuration), "--port", str(port), "--data", str(scratch / "data")]

    return Server(name, command, environment=environment)


def _started(server: Server) -> Running:
    """A host that is ready. Ten thousand functions take a while to be loaded."""
    running = server.start(None)
    try:
        running.wait_until(lambda port: json_request(port, "GET", "/_/ready")[0] == 200)
    except Missing:
        running.started.stop()
        raise
    return running


def _listed(running: Running) -> list[dict]:
    status, answer = json_request(running.port, "GET", "/_/api/schedules", None, OWNER)
    if status != 200:
        raise Missing(f"the list of schedules was answered {status}: {answer[:300]!r}")
    return json.loads(answer)["schedules"]


def _wait_for_plan(running: Running, count: int) -> None:
    deadline = time.monotonic() + 60
    while sum("next" in entry for entry in _listed(running)) < count:
        if time.monotonic() > deadline:
            raise Missing("the schedules were not planned")
        time.sleep(0.2)


# -- parts

def _rest(options: argparse.Namespace) -> dict:
    """Processor time of hosts without requests: one with no plugin, one with ten thousand schedules, of which none is due."""
    hour = (time.gmtime().tm_hour + 12) % 24
    library = _library("rest", {f"f{number}": f"{number % 60} {hour} * * *" for number in range(SCHEDULES)})
    found = {}
    for name, plugin in (("none", None), ("schedules", library)):
        with _started(_server(options, f"hearth-schedules-{name}", plugin)) as running:
            if plugin:
                _wait_for_plan(running, SCHEDULES)
            time.sleep(SETTLE_SECONDS)
            before = exact_processor_seconds(running.pid)
            time.sleep(options.seconds)
            spent = exact_processor_seconds(running.pid) - before
            found[name] = {"processorMillisecondsPerMinute": round(spent * 1000 * MINUTE / options.seconds, 1),
                           "residentMebibytes": round(memory_bytes(running.pid)["resident"] / (1 << 20), 1)}
            say(f"at rest, {name}: {found[name]}")
    return {"schedules": SCHEDULES, "seconds": options.seconds, **found}


def _noted(running: Running) -> dict[str, float]:
    """The last start of each function, in seconds since 1970."""
    folder = BUILD / "scratch" / running.server.name / "data" / "workers"
    lines = [line for path in folder.glob("*/started") for line in path.read_text().splitlines() if line.count(" ") == 1]
    return {name: int(nanoseconds) / 1e9 for name, nanoseconds in (line.split() for line in lines)}


def _starts(options: argparse.Namespace) -> dict:
    """From the due time of one among ten thousand schedules to the start of its function: with a worker that is ready, and without one."""
    clock = _Clock()
    hour = (time.gmtime().tm_hour + 12) % 24
    schedules = {f"f{number}": f"{number % 60} {hour} 1 1 *" for number in range(SCHEDULES - 1)} | {"due": "* * * * *"}
    library = _library("starts", schedules)
    found = {}
    for name, ready, idle in (("ready", 1, 300), ("cold", 0, 0)):
        more = {"functions": {"due": {"minInstances": ready}}, "workers": {"idleSeconds": idle}}
        with _started(_server(options, f"hearth-starts-{name}", library, more, clock.environment)) as running:
            _wait_for_plan(running, SCHEDULES)
            delays = []
            for _ in range(STARTS):
                due = clock.move_before(MINUTE, 1.5)
                # A request shows the host that its clocks were moved.
                _listed(running)
                deadline = time.monotonic() + 20
                while _noted(running).get("due", 0) + clock.ahead < due:
                    if time.monotonic() > deadline:
                        raise Missing("a due function was not started")
                    time.sleep(0.05)
                delays.append((_noted(running)["due"] + clock.ahead - due) * 1000)
        delays.sort()
        found[name] = {"medianMilliseconds": round(median(delays), 2), "p95Milliseconds": round(delays[int(len(delays) * 0.95)], 2),
                       "longestMilliseconds": round(delays[-1], 2)}
        say(f"starts, {name}: {found[name]}")
    return {"starts": STARTS, "aimMilliseconds": START_MILLISECONDS_MAX, **found}


def _burst(options: argparse.Namespace) -> dict:
    """Ten thousand schedules that are due in the same second."""
    clock = _Clock()
    library = _library("burst", {f"f{number}": "0 * * * *" for number in range(SCHEDULES)})
    with _started(_server(options, "hearth-burst", library, environment=clock.environment)) as running:
        _wait_for_plan(running, SCHEDULES)
        due = clock.move_before(60 * MINUTE, 2.5)
        _listed(running)
        deadline = time.monotonic() + BURST_SECONDS_MAX
        while len(_noted(running)) < SCHEDULES:
            if time.monotonic() > deadline:
                raise Missing(f"only {len(_noted(running))} of {SCHEDULES} functions were started")
            time.sleep(0.2)
        delays = sorted(at + clock.ahead - due for at in _noted(running).values())
    found = {"schedules": SCHEDULES, "medianSeconds": round(median(delays), 2), "lastSeconds": round(delays[-1], 2)}
    say(f"due together: {found}")
    return found
