"""Hearth in production mode with sign-in and App Check, and the tokens of its users and apps."""

import json
import shutil
import subprocess
from pathlib import Path

from harness import hearth
from harness.database.host import started
from harness.paths import BODY, BUILD
from harness.servers import Running, Server, json_request
from harness.tools import Missing, program

PROJECT, KEY = "demo-hearth", "key-of-the-benchmark"
APP, DEBUG_TOKEN = "1:12345:web:0123456789abcdef", "11111111-2222-4333-8444-555555555555"
API = "/identitytoolkit.googleapis.com/v1"
PASSWORD = "only-for-this-run"
# The cheapest hash that the configuration allows, about 2 ms, so that the rest of a request is seen beside it.
CHEAP_HASH = {"costLog2": 10}


def server(
    build: hearth.Build, name: str, is_tls: bool = False, enforces: bool = False, hashes: dict | None = None, data: Path | None = None,
    loops: int | None = None,
) -> Server:
    """Hearth with the Arithmetic plugin.

    `enforces`: the function wants an App Check token. `hashes`: the cost of password hashes."""

    def command(port: int, scratch: Path) -> list[str]:
        build.check()
        # All requests come from one address.
        auth = {
            "apiKeys": [KEY], "signIn": {"password": True, "anonymous": True},
            "rateLimit": {"perAddressFailures": 1_000_000, "perAccountFailures": 1000}, "passwordHash": hashes or {},
            "limits": {"signUpsPerAddress": 1_000_000},
        }
        settings = {
            "project": PROJECT, "region": "us-central1", "auth": auth,
            "appCheck": {"projectNumber": "12345", "apps": [APP], "debugTokens": [DEBUG_TOKEN]},
            "plugins": {"Arithmetic": {"library": str(build.plugin)}},
            "functions": {"addNumbers": {"minInstances": 1, "maxInstances": 1, "enforceAppCheck": enforces}},
        }
        web_server = {} if loops is None else {"loops": loops}
        if is_tls:
            web_server["tls"] = certificate()
        if web_server:
            settings["server"] = web_server
        configuration = scratch / "functions.json"
        configuration.write_text(json.dumps(settings))
        return [str(build.program), "serve", "--mode", "production", "--config", str(configuration), "--port", str(port),
                "--data", str(scratch / "data")]

    return Server(name, command, path=hearth.FUNCTION_PATH, is_tls=is_tls, data=data)


def certificate() -> dict[str, str]:
    """A certificate for this machine, made once."""
    folder = BUILD / "certificate"
    paths = {"certificate": str(folder / "cert.pem"), "key": str(folder / "key.pem")}
    if not (folder / "cert.pem").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=localhost",
             "-keyout", paths["key"], "-out", paths["certificate"]], check=True, capture_output=True)
    return paths


def ask(running: Running, action: str, body: dict, is_admin: bool = False, method: str = "POST") -> dict:
    """A request of an app, or of the administrator; it must succeed."""
    authorization, path = None, f"{API}/{action}{'&' if '?' in action else '?'}key={KEY}"
    if is_admin:
        authorization, path = admin(running), f"{API}/projects/{PROJECT}/{action}"
    status, answer = json_request(running.port, method, path, body if method == "POST" else None, authorization, is_tls=running.server.is_tls)
    if status != 200:
        raise Missing(f"{action} was answered {status}: {answer[:200]!r}")
    return json.loads(answer)


def admin(running: Running) -> str:
    scratch = running.server.data or BUILD / "scratch" / running.server.name
    return f"Bearer {(scratch / 'data' / 'admin-token').read_text().strip()}"


def id_token(running: Running) -> str:
    return ask(running, "accounts:signUp", {"email": "ada@example.org", "password": PASSWORD, "returnSecureToken": True})["idToken"]


def app_token(running: Running) -> str:
    status, answer = json_request(
        running.port, "POST", f"/firebaseappcheck.googleapis.com/v1/projects/{PROJECT}/apps/{APP}:exchangeDebugToken?key={KEY}",
        {"debugToken": DEBUG_TOKEN}, is_tls=running.server.is_tls)
    if status != 200:
        raise Missing(f"the debug token was answered {status}: {answer[:200]!r}")
    return json.loads(answer)["token"]


def sign_in_body(email: str) -> str:
    return json.dumps({"email": email, "password": PASSWORD, "returnSecureToken": True})


def copied(folder: Path, name: str) -> Path:
    """A copy of a host's data for one round."""
    made = BUILD / "scratch" / name
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(folder, made)
    return made
