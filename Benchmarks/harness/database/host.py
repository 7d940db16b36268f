"""Hearth's database as a server to measure: its rules, its users, and the tree that is asked for and written to."""

import base64
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import hearth
from harness.load import raw_request, write_requests
from harness.paths import BUILD
from harness.processes import processor_seconds
from harness.servers import Running, Server, json_request
from harness.tools import Missing

PROJECT = "demo-hearth"
OWNER = "Bearer owner"
USERS = 64
SCORES_EACH = 200
REQUESTS = 12_000
MARK = "##########"
LOADERS = 4
IDLE_SECONDS_MAX, IDLE_SHARE_MAX = 300, 0.1

# Three levels, as an app has them: whose it is, what it is, what it may be.
TYPICAL_RULES = {
    "rules": {
        "users": {
            "$uid": {
                ".read": "auth != null && auth.uid === $uid",
                ".write": "auth != null && auth.uid === $uid && auth.token.firebase.sign_in_provider !== 'anonymous'",
                "scores": {
                    "$game": {".validate": "newData.isNumber() && newData.val() >= 0 && $game.length <= 40"},
                },
                "$other": {".validate": False},
            },
        },
        "vault": {".validate": False},
        "items": {".read": "auth != null", ".indexOn": ["score"], "$item": {".write": "auth != null"}},
        "messages": {".read": "auth != null", ".write": "auth != null"},
    },
}


def server(
    build: hearth.Build, name: str = "hearth-database", rules: dict | None = None, data: Path | None = None, more: dict | None = None,
) -> Server:
    """Hearth with a database and rules. With `data` the tree stays from one start to the next."""

    def command(port: int, scratch: Path) -> list[str]:
        if not build.program.exists():
            raise Missing(f"{build.program} is not built: swift build -c release")
        (scratch / "rules.json").write_text(json.dumps(rules or TYPICAL_RULES))
        configuration = scratch / "functions.json"
        configuration.write_text(json.dumps({"project": PROJECT, "database": {"rules": "rules.json"}} | (more or {})))
        return [str(build.program), "serve", "--config", str(configuration), "--port", str(port), "--data", str(scratch / "data")]

    return Server(name, command, data=data)


def user(number: int) -> str:
    return f"user{number:02d}"


def authorization(number: int) -> str:
    """The unsigned token of a user, as the emulators make them. The host keeps what it has verified, signed or not."""
    now = int(time.time())
    uid = user(number)
    claims = {
        "iss": f"https://securetoken.google.com/{PROJECT}", "aud": PROJECT, "sub": uid, "user_id": uid, "iat": now - 10,
        "auth_time": now - 10, "exp": now + 24 * 3600, "email": f"{uid}@example.org", "email_verified": True,
        "firebase": {"sign_in_provider": "password", "identities": {"email": [f"{uid}@example.org"]}},
    }
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in ({"alg": "none", "typ": "JWT"}, claims)]
    return f"Bearer {parts[0]}.{parts[1]}."


def score_path(number: int, score: int) -> str:
    return f"/users/{user(number)}/scores/game{score:05d}"


def score_requests(method: str, name: str, is_owner: bool = False) -> Path:
    """PUT or GET of single scores, in an order by chance, each by the user whose it is."""
    chance = random.Random(1)
    shown = [OWNER if is_owner else authorization(number) for number in range(USERS)]
    requests = []
    for _ in range(REQUESTS):
        number, score = chance.randrange(USERS), chance.randrange(SCORES_EACH)
        body = MARK if method == "PUT" else ""
        requests.append(raw_request(method, f"{score_path(number, score)}.json", body, shown[number]))
    return write_requests(BUILD / "requests" / f"{name}.txt", requests)


def fill_scores(running: Running) -> None:
    value = {user(number): {"scores": {f"game{score:05d}": score for score in range(SCORES_EACH)}} for number in range(USERS)}
    put(running, "/users", value)


def put(running: Running, path: str, value: object, method: str = "PUT") -> None:
    """Writes as administrator, without running any functions."""
    status, answer = json_request(running.port, method, f"{path}.json?print=silent&disableTriggers=true", value, OWNER)
    if status not in (200, 204):
        raise Missing(f"{method} {path} was answered {status}: {answer[:200]!r}")


def put_all(running: Running, parts: list[tuple[str, object]] | object, method: str = "PUT") -> None:
    """Writes many parts, a few at a time; `parts` may be made as they are needed."""
    with ThreadPoolExecutor(LOADERS) as pool:
        waiting = []
        for path, value in parts:
            waiting.append(pool.submit(put, running, path, value, method))
            if len(waiting) > 2 * LOADERS:
                waiting.pop(0).result()
        for one in waiting:
            one.result()


def wait_until_idle(running: Running) -> None:
    """Until what is done after writes is done: indexes, the checkpoint, rows of deleted subtrees."""
    deadline = time.monotonic() + IDLE_SECONDS_MAX
    while time.monotonic() < deadline:
        before = processor_seconds(running.pid)
        time.sleep(1)
        if processor_seconds(running.pid) - before < IDLE_SHARE_MAX:
            return
    raise Missing(f"{running.server.name} was not at rest after {IDLE_SECONDS_MAX} s")


def started(server: Server, core: int | None) -> Running:
    running = server.start(core)
    try:
        hearth.wait_for_host(running)
    except Missing:
        running.started.stop()
        raise
    return running
