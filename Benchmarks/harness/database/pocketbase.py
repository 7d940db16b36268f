"""PocketBase beside Hearth: creating records over HTTP."""

import json
import random
import subprocess
from pathlib import Path

from harness.database.host import MARK, REQUESTS, USERS, score_path
from harness.load import raw_request, write_requests
from harness.paths import BUILD
from harness.servers import Running, Server, json_request
from harness.tools import Missing, python_tool

IDENTITY, PASSWORD = "bench@example.org", "only-for-this-run"


def server() -> Server:
    def command(port: int, scratch: Path) -> list[str]:
        pocketbase = python_tool("pocketbase", "pocketbase")
        data = str(scratch / "data")
        subprocess.run([pocketbase, "superuser", "upsert", IDENTITY, PASSWORD, "--dir", data], capture_output=True, check=False)
        return [pocketbase, "serve", "--http", f"127.0.0.1:{port}", "--dir", data]

    return Server("pocketbase-records", command)


def administrator(running: Running) -> str:
    """Waits until it answers. Returns the token of its administrator."""
    running.wait_until(lambda port: json_request(port, "GET", "/api/health", timeout=2)[0] == 200)
    status, body = json_request(
        running.port, "POST", "/api/collections/_superusers/auth-with-password", {"identity": IDENTITY, "password": PASSWORD})
    if status != 200:
        raise Missing(f"PocketBase did not let its administrator in: {body[:200]!r}")
    return json.loads(body)["token"]


def prepare(running: Running) -> None:
    """A collection of places and values that everybody may add to: no tokens to check, one rule to evaluate."""
    token = administrator(running)
    fields = [{"name": "place", "type": "text"}, {"name": "value", "type": "number"}]
    status, body = json_request(
        running.port, "POST", "/api/collections", {"name": "leaves", "type": "base", "createRule": "@request.body.value >= 0", "fields": fields},
        token)
    if status != 200:
        raise Missing(f"PocketBase did not make a collection: {body[:200]!r}")


def requests() -> Path:
    chance = random.Random(1)
    bodies = (f'{{"place":"{score_path(chance.randrange(USERS), chance.randrange(200))}","value":{MARK}}}' for _ in range(REQUESTS))
    return write_requests(
        BUILD / "requests" / "pocketbase-records.txt", [raw_request("POST", "/api/collections/leaves/records", body) for body in bodies])
