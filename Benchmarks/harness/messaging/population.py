"""A host with many registered devices, all of them off, which all have subscribed to one topic."""

import json
import random
import shutil
from pathlib import Path

from harness import hearth
from harness.database.host import MARK, OWNER, PROJECT, started, wait_until_idle
from harness.load import exactly, raw_request, write_requests
from harness.paths import BUILD, CONNECTIONS
from harness.servers import Running, Server, json_request
from harness.tools import Missing, say

TOPIC = "everybody"
SEND_PATH = f"/v1/projects/{PROJECT}/messages:send"
REQUESTS_MAX = 50_000
TOKENS_A_CALL = 1000
DEVICES_A_STEP = 10_000


def token(number: int) -> str:
    return f"{fid(number)}:APA91bDeviceDeviceDeviceDeviceDevice"


def fid(number: int) -> str:
    return f"cDevice{number:015d}"


def server(build: hearth.Build, name: str, data: Path | None = None, messaging: dict | None = None) -> Server:
    def command(port: int, scratch: Path) -> list[str]:
        if not build.program.exists():
            raise Missing(f"{build.program} is not built: swift build -c release")
        configuration = scratch / "functions.json"
        configuration.write_text(json.dumps({"project": PROJECT, "messaging": messaging or {}}))
        return [str(build.program), "serve", "--config", str(configuration), "--port", str(port), "--data", str(scratch / "data")]

    return Server(name, command, data=data)


def populated(build: hearth.Build, name: str, devices: int) -> Running:
    """A separate host for one round, with a copy of the devices that were registered once."""
    folder = BUILD / "scratch" / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_population(build, devices), folder)
    return started(server(build, name, data=folder), core=None)


def _population(build: hearth.Build, devices: int) -> Path:
    """The folder of a host with the devices, made through its interface where it is not there."""
    folder = BUILD / f"devices-{devices}"
    if (folder / "complete").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    say(f"registering {devices:,} devices in {folder}")
    with started(server(build, folder.name, data=folder), core=None) as running:
        for first in range(0, devices, DEVICES_A_STEP):
            numbers = range(first, min(first + DEVICES_A_STEP, devices))
            seen = exactly(running, len(numbers), CONNECTIONS, _registrations(numbers))
            if seen["refused"] or seen["broken"]:
                raise Missing(f"{seen['refused'] + seen['broken']} devices could not be registered")
        for first in range(0, devices, TOKENS_A_CALL):
            tokens = [token(number) for number in range(first, min(first + TOKENS_A_CALL, devices))]
            ask(running, "POST", "/iid/v1:batchAdd", {"to": f"/topics/{TOPIC}", "registration_tokens": tokens})
        wait_until_idle(running)
    (folder / "complete").touch()
    return folder


def _registrations(numbers: range) -> Path:
    path = f"/_messaging/v1/projects/{PROJECT}/devices"
    return write_requests(BUILD / "requests" / "registrations.txt", [
        raw_request("POST", path, json.dumps({"platform": "android", "fid": fid(number), "token": token(number)}), OWNER) for number in numbers])


def sends(devices: int, name: str, notification: bool = False) -> Path:
    """Messages to single devices, in an order by chance."""
    chance = random.Random(1)
    requests = []
    for number in chance.sample(range(devices), min(devices, REQUESTS_MAX)):
        message = {"token": token(number), "data": {"score": "3", "number": MARK}}
        if notification:
            message["notification"] = {"title": "Goal", "body": "1:0"}
        requests.append(raw_request("POST", SEND_PATH, json.dumps({"message": message}), OWNER))
    return write_requests(BUILD / "requests" / f"{name}.txt", requests)


def ask(running: Running, method: str, path: str, value: object = None) -> dict:
    status, answer = json_request(running.port, method, path, value, OWNER)
    if status != 200:
        raise Missing(f"{method} {path} was answered {status}: {answer[:300]!r}")
    return json.loads(answer)
