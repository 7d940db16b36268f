"""The peers: how each is started, and how it is known to answer."""

import http.client
import json
import shutil
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.paths import BODY, BUILD, LOGS, PEERS, SERVER_CORE
from harness.processes import Started
from harness.tools import Missing, hummingbird, program, python_tool

READY_SECONDS_MAX = 40
EXPECTED = b'"operationResult":7'


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def connection_to(port: int, timeout: float, is_tls: bool = False) -> http.client.HTTPConnection:
    """A connection to a server of this run. Its certificate was made by the run itself, and is not checked."""
    if not is_tls:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)


def json_request(
    port: int, method: str, path: str, value: object = None, authorization: str | None = None, timeout: float = 60, is_tls: bool = False,
) -> tuple[int, bytes]:
    """One request with a JSON body on a separate connection, to set a server up."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": authorization} if authorization else {})
    connection = connection_to(port, timeout, is_tls)
    try:
        connection.request(method, path, None if value is None else json.dumps(value), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def call(port: int, path: str, timeout: float = 5) -> tuple[int, bytes]:
    """One request of the benchmark on a separate connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", path, BODY, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@dataclass(frozen=True)
class Server:
    """A program to measure. `command` is given a port and an empty directory; it raises Missing where the program is absent."""

    name: str
    command: Callable[[int, Path], list[str]]
    path: str = "/addNumbers"
    environment: tuple[tuple[str, str], ...] = ()
    directory: Path | None = None
    # An unprivileged user for a program that will not run as root.
    user: str | None = None
    # The data folder for all starts; without it, each start begins with an empty directory.
    data: Path | None = None
    is_tls: bool = False

    def start(self, core: int | None = SERVER_CORE, extra_environment: dict | None = None, wrapper: tuple[str, ...] = ()) -> "Running":
        scratch = self.data or BUILD / "scratch" / self.name
        if not self.data:
            shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True, exist_ok=True)
        port = free_port()
        command = self.command(port, scratch)
        began = time.monotonic()
        started = Started(
            [*wrapper, *command], core, LOGS / f"{self.name}.log", self.directory, {**dict(self.environment), **(extra_environment or {})},
            self.user)
        return Running(self, started, port, began)


class Running:
    """A started server."""

    def __init__(self, server: Server, started: Started, port: int, began: float):
        self.server, self.started, self.port, self.began = server, started, port, began
        self.pid = started.pid

    def wait_until_ready(self, pause_seconds: float = 0.02) -> float:
        """Waits for the first right answer; returns the seconds from the process's start to it."""
        deadline = time.monotonic() + READY_SECONDS_MAX
        last = "no connection"
        while time.monotonic() < deadline:
            if not self.started.is_running:
                raise Missing(f"{self.server.name} ended at once: {self.started.last_words()}")
            try:
                status, body = call(self.port, self.server.path)
                if status == 200 and EXPECTED in body:
                    return time.monotonic() - self.began
                last = f"status {status}, {body[:200]!r}"
            except (OSError, http.client.HTTPException) as error:
                last = str(error)
            time.sleep(pause_seconds)
        raise Missing(f"{self.server.name} did not answer within {READY_SECONDS_MAX} s: {last}")

    def wait_until(self, is_ready: Callable[[int], bool]) -> None:
        """Waits until a question to its port is answered with yes."""
        deadline = time.monotonic() + READY_SECONDS_MAX
        while time.monotonic() < deadline:
            if not self.started.is_running:
                raise Missing(f"{self.server.name} ended at once: {self.started.last_words()}")
            try:
                if is_ready(self.port):
                    return
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.02)
        raise Missing(f"{self.server.name} was not ready within {READY_SECONDS_MAX} s: {self.started.last_words()}")

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.started.stop()


def nginx_command(port: int, scratch: Path) -> list[str]:
    text = (PEERS / "nginx.conf").read_text().replace("@PORT@", str(port)).replace("@DIRECTORY@", str(scratch))
    configuration = scratch / "nginx.conf"
    configuration.write_text(text)
    return [program("nginx"), "-p", str(scratch), "-e", str(scratch / "error.log"), "-c", str(configuration)]


def deno_command(port: int, scratch: Path) -> list[str]:
    return [python_tool("deno", "deno"), "run", "--no-check", "--allow-net=127.0.0.1", str(PEERS / "adder.ts"), str(port)]


def python_command(port: int, scratch: Path) -> list[str]:
    return [python_tool("python", "functions-framework"), "--target", "addNumbers", "--host", "127.0.0.1", "--port", str(port)]


def pocketbase_command(port: int, scratch: Path) -> list[str]:
    return [
        python_tool("pocketbase", "pocketbase"), "serve", "--http", f"127.0.0.1:{port}", "--dir", str(scratch / "data"),
        "--hooksDir", str(PEERS / "pocketbase"), "--hooksWatch=false",
    ]


# One loop and one thread of the pool: with a thread for each core of the machine on the one core, it would be slower.
HUMMINGBIRD_ENVIRONMENT = (("NIO_SINGLETON_GROUP_LOOP_COUNT", "1"), ("LIBDISPATCH_COOPERATIVE_POOL_STRICT", "1"))

PEER_SERVERS = {
    server.name: server
    for server in [
        Server("nginx", nginx_command),
        Server("deno", deno_command, environment=(("NO_COLOR", "1"), ("DENO_NO_UPDATE_CHECK", "1"))),
        Server("node", lambda port, _: [program("node"), str(PEERS / "adder.mjs"), str(port)]),
        Server("hummingbird", lambda port, _: [hummingbird(), str(port)], environment=HUMMINGBIRD_ENVIRONMENT),
        Server("pocketbase", pocketbase_command),
        Server("python", python_command, directory=PEERS / "python"),
    ]
}
