"""Hearth as a server to measure: its functions.json, its host process and its workers."""

import http.client
import json
import time
from dataclasses import dataclass
from pathlib import Path

from harness.paths import PROJECT
from harness.processes import tree
from harness.servers import Running, Server, connection_to
from harness.tools import Missing

FUNCTION_PATH = "/demo-hearth/us-central1/addNumbers"
SETTLE_SECONDS_MAX = 15


@dataclass(frozen=True)
class Build:
    """The release build that is measured."""

    program: Path = PROJECT / ".build/release/hearth"
    plugin: Path = PROJECT / ".build/release/libArithmetic.so"

    def check(self) -> None:
        for path in (self.program, self.plugin):
            if not path.exists():
                raise Missing(f"{path} is not built: swift build -c release")


def server(
    build: Build, name: str = "hearth", isolation: str = "process", instances_min: int = 1, prewarmed: int | None = None,
    sandbox: bool = True, loops: int | None = None,
) -> Server:
    """Hearth with the Arithmetic plugin, in a worker process or, with isolation "none", in the host's process.

    Under valgrind no worker can enter its sandbox: it does not pass the system calls on."""

    def command(port: int, scratch: Path) -> list[str]:
        build.check()
        configuration = scratch / "functions.json"
        plugin = {"library": str(build.plugin)}
        if isolation != "process":
            plugin["isolation"] = isolation
        settings = {
            "project": "demo-hearth", "region": "us-central1", "plugins": {"Arithmetic": plugin},
            "functions": {"addNumbers": {"minInstances": instances_min, "maxInstances": 1}},
        }
        workers = ({} if prewarmed is None else {"prewarmed": prewarmed}) | ({} if sandbox else {"sandbox": False})
        if workers:
            settings["workers"] = workers
        if loops is not None:
            settings["server"] = {"loops": loops}
        configuration.write_text(json.dumps(settings))
        return [str(build.program), "serve", "--config", str(configuration), "--port", str(port), "--data", str(scratch / "data")]

    return Server(name, command, path=FUNCTION_PATH)


def workers(running: Running, build: Build) -> list[int]:
    """The process ids of the workers that have loaded the plugin; one that is kept waiting without a plugin is none."""
    return [pid for pid in tree(running.pid)[1:] if _has_loaded(pid, build)]


def _has_loaded(pid: int, build: Build) -> bool:
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return any("/artifacts/" in line or line.endswith(f"/{build.plugin.name}") for line in maps.splitlines())


def wait_for_host(running: Running) -> None:
    """Until the host says that it is ready, without calling the function."""
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while time.monotonic() < deadline:
        if not running.started.is_running:
            raise Missing(f"hearth ended at once: {running.started.last_words()}")
        try:
            connection = connection_to(running.port, 2, running.server.is_tls)
            connection.request("GET", "/_/ready")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.005)
    raise Missing(f"hearth was not ready within {SETTLE_SECONDS_MAX} s: {running.started.last_words()}")
