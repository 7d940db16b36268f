"""PostgreSQL for comparison: a separate cluster, and pgbench that upserts one row a transaction."""

import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path

from harness.database.rounds import Rate
from harness.load import Watch
from harness.paths import CONNECTIONS, LOAD
from harness.servers import Running, Server
from harness.tools import Missing

USERS = ("postgres", "nobody")
ROWS = 12_800
PGBENCH_THREADS = 2


def _program(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parent.parent.name))
    if not found:
        raise Missing(f"{name} is not installed: apt-get install postgresql postgresql-contrib")
    return str(found[-1])


def _user() -> str | None:
    """PostgreSQL does not run as root; the benchmark runs it as an unprivileged user."""
    if os.geteuid() != 0:
        return None
    for name in USERS:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise Missing("there is no unprivileged user to run PostgreSQL as")


def server() -> Server:
    user = _user()

    def command(port: int, scratch: Path) -> list[str]:
        if user:
            shutil.chown(scratch, user)
        done = subprocess.run(
            [_program("initdb"), "-D", str(scratch / "data"), "-A", "trust", "-U", "bench", "--no-sync"], user=user, cwd="/",
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"initdb failed: {done.stderr.strip()[-300:]}")
        settings = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "listen_addresses=127.0.0.1", f"unix_socket_directories={scratch}")
        return [_program("postgres"), "-D", str(scratch / "data"), "-p", str(port), *(part for one in settings for part in ("-c", one))]

    return Server("postgresql", command, user=user, directory=Path("/"))


def _psql(running: Running, text: str) -> str:
    done = subprocess.run(
        [_program("psql"), "-h", "127.0.0.1", "-p", str(running.port), "-U", "bench", "-d", "postgres", "-tAc", text], capture_output=True,
        text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"psql failed: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


def prepare(running: Running) -> None:
    """Waits for the cluster, and makes as many rows as Hearth has leaves."""
    ready = [_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(running.port)]
    running.wait_until(lambda _: subprocess.run(ready, check=False).returncode == 0)
    _psql(running, "CREATE TABLE leaves (place int PRIMARY KEY, value bigint NOT NULL)")
    _psql(running, f"INSERT INTO leaves SELECT place, 0 FROM generate_series(1, {ROWS}) AS place")
    _psql(running, "VACUUM ANALYZE leaves")
    if (setting := _psql(running, "SHOW synchronous_commit")) != "on":
        raise Missing(f"synchronous_commit of PostgreSQL is {setting}")


def burst(running: Running, seconds: float) -> Rate:
    """Upserts of one row each from 64 clients, with prepared statements."""
    watch = Watch(running, is_pinned=False)
    done = subprocess.run(
        [_program("pgbench"), "-h", "127.0.0.1", "-p", str(running.port), "-U", "bench", "-n", "-f", str(LOAD / "upsert.sql"), "-D", f"rows={ROWS}",
         "-c", str(CONNECTIONS), "-j", str(PGBENCH_THREADS), "--protocol=prepared", "-T", str(max(1, round(seconds))), "postgres"],
        capture_output=True, text=True, timeout=seconds + 30, check=False)
    spent, disturbed = watch.end()
    rate = re.search(r"^tps = ([\d.]+)", done.stdout, re.MULTILINE)
    count = re.search(r"actually processed: (\d+)", done.stdout)
    if done.returncode != 0 or not rate or not count:
        raise Missing(f"pgbench failed: {done.stderr.strip()[-300:]}")
    return Rate(float(rate[1]), int(count[1]) / max(spent, 0.01), 0, disturbed)
