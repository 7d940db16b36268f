"""The effect on callers while one function out of twenty is deployed repeatedly, and the duration of a rollback."""

import argparse
import hashlib
import http.client
import json
import os
import subprocess
import threading
import time
from pathlib import Path

from harness import hearth, machine
from harness.database.host import OWNER, PROJECT, started
from harness.load import at_rate, median, raw_request, write_requests
from harness.paths import BUILD, LOAD
from harness.paths import PROJECT as SOURCES
from harness.processes import stop_all, stop_all_at_exit
from harness.servers import Running, Server, json_request
from harness.session import ROUNDS_MAX, SECONDS_MAX
from harness.tools import Missing, program, say

FUNCTIONS, CONNECTIONS = 20, 16
SLOWER_MAX, ROLLBACK_MILLISECONDS_MAX = 2, 100
ROLLBACKS = 40


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("--seconds", type=int, default=10, choices=range(1, SECONDS_MAX + 1), metavar="N", help="length of a load")
    parser.add_argument("--rounds", type=int, default=5, choices=range(1, ROUNDS_MAX + 1), metavar="N", help="how often each has its turn")
    parser.add_argument("--rate", type=int, default=2000, metavar="N", help="requests a second")
    parser.add_argument("--every", type=float, default=0.5, metavar="SECONDS", help="time between the starts of two deployments")
    parser.add_argument("--hearth", type=Path, help="the hearth to measure, instead of .build/release/hearth")
    parser.add_argument("--json", type=Path, help="also write everything into this file")
    options = parser.parse_args()
    stop_all_at_exit()
    try:
        results = {"machine": machine.description(), **_measure(options)}
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


def _measure(options: argparse.Namespace) -> dict:
    server = Server("hearth-deploys", lambda port, scratch: _command(options, port, scratch))
    libraries = [_library(version) for version in (1, 2)]
    requests = write_requests(BUILD / "requests" / "twenty.txt", [
        raw_request("POST", f"/{PROJECT}/us-central1/f{number}", '{"data":1}') for number in range(FUNCTIONS)])
    paces: dict[str, list] = {"undisturbed": [], "deploying": []}
    deployments: list[float] = []
    rollbacks: list[float] = []
    for number in range(1, options.rounds + 1):
        for name, found in paces.items():
            with started(server, core=None) as running:
                _deploy(running, libraries[0])
                at_rate(running, options.rate, 1, requests, CONNECTIONS, is_pinned=False)
                with _Repeated(running, libraries, options.every if name == "deploying" else None) as repeated:
                    found.append(at_rate(running, options.rate, options.seconds, requests, CONNECTIONS, is_pinned=False))
                deployments += repeated.milliseconds
                if name == "deploying":
                    rollbacks += _rollbacks(running)
            seen = found[-1]
            if seen.failures:
                raise Missing(f"{seen.failures} requests failed while {name}, which must never be")
            say(f"round {number}/{options.rounds}  {name:<12} p50 {seen.p50} us, p99 {seen.p99} us, longest {seen.longest} us, "
                f"disturbed {seen.disturbed:.0%}")
    return _summary(options, paces, deployments, rollbacks)


def _summary(options: argparse.Namespace, paces: dict, deployments: list[float], rollbacks: list[float]) -> dict:
    p99 = {name: median([pace.p99 for pace in found]) for name, found in paces.items()}
    return {
        "requestsPerSecond": options.rate, "functions": FUNCTIONS,
        **{name: {"p50Microseconds": median([pace.p50 for pace in found]), "p99Microseconds": p99[name],
                  "longestMicroseconds": max(pace.longest for pace in found), "rounds": [pace.p99 for pace in found],
                  "disturbed": [pace.disturbed for pace in found]} for name, found in paces.items()},
        "p99Ratio": round(p99["deploying"] / p99["undisturbed"], 2), "aimRatio": SLOWER_MAX,
        "deployments": len(deployments), "deploymentMedianMilliseconds": round(median(deployments), 1),
        "deploymentLongestMilliseconds": round(max(deployments, default=0), 1),
        "rollbacks": len(rollbacks), "rollbackMedianMilliseconds": round(median(rollbacks), 1),
        "rollbackLongestMilliseconds": round(max(rollbacks, default=0), 1), "aimRollbackMilliseconds": ROLLBACK_MILLISECONDS_MAX,
    }


def _command(options: argparse.Namespace, port: int, scratch: Path) -> list[str]:
    default = hearth.Build().program
    binary = (options.hearth or default).resolve()
    if not binary.exists():
        raise Missing(f"{binary} is not built: swift build -c release")
    configuration = scratch / "functions.json"
    configuration.write_text(json.dumps({"project": PROJECT, "defaults": {"minInstances": 1}}))
    return [str(binary), "serve", "--config", str(configuration), "--port", str(port), "--data", str(scratch / "data")]


def _library(version: int) -> Path:
    made = BUILD / f"libTwenty{version}.so"
    BUILD.mkdir(exist_ok=True)
    flags = ["-O2", "-Wall", "-Wextra", "-shared", "-fPIC", f"-DVERSION={version}", "-I", str(SOURCES / "SDK/Sources/CHearth/include")]
    subprocess.run([program("cc"), *flags, "-o", str(made), str(LOAD / "twenty.c")], check=True)
    return made


# -- acts

def _ask(running: Running, method: str, path: str, value: object = None) -> dict:
    status, answer = json_request(running.port, method, f"/_/api/{path}", value, OWNER)
    if status != 200:
        raise Missing(f"{method} {path} was answered {status}: {answer[:300]!r}")
    return json.loads(answer)


def _upload(running: Running, library: Path) -> str:
    content = library.read_bytes()
    name = hashlib.sha256(content).hexdigest()
    if _ask(running, "GET", f"artifacts/{name}")["state"] != "complete":
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
        connection.request("PUT", f"/_/api/artifacts/{name}?offset=0", content, {"Authorization": OWNER})
        connection.getresponse().read()
        connection.close()
        _ask(running, "POST", f"artifacts/{name}:complete", {"sizeBytes": len(content)})
    return name


def _deploy(running: Running, library: Path, **more: object) -> float:
    """Deploys; returns how many milliseconds it took, the upload included."""
    began = time.monotonic()
    _ask(running, "POST", "deployments", {"plugins": {"Twenty": {"artifact": _upload(running, library), "file": library.name}}, **more})
    return (time.monotonic() - began) * 1000


def _rollbacks(running: Running) -> list[float]:
    found = []
    for _ in range(ROLLBACKS):
        began = time.monotonic()
        _ask(running, "POST", "functions/f0:rollback", {})
        found.append((time.monotonic() - began) * 1000)
    return found


class _Repeated:
    """Deploys one function again and again beside a load; without a time between them it does nothing."""

    def __init__(self, running: Running, libraries: list[Path], every: float | None):
        self.running, self.libraries, self.every = running, libraries, every
        self.milliseconds: list[float] = []
        self.problem: Missing | None = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def __enter__(self) -> "_Repeated":
        if self.every:
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        if self.every:
            self.thread.join()
        if self.problem:
            raise self.problem

    def _run(self) -> None:
        number = 0
        # The deploying client normally runs on another machine: its processor time must not count as the host's.
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        while not self.stopping.wait(self.every):
            number += 1
            try:
                self.milliseconds.append(_deploy(self.running, self.libraries[number % 2], names=["f0"]))
            except (Missing, OSError) as problem:
                self.problem = Missing(str(problem))
                return
