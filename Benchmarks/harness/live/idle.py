"""The memory of idle live connections."""

import argparse
import time
from collections.abc import Callable

from harness import hearth
from harness.database import host
from harness.live.clients import GREETED, PUSHED, Listeners, live, possible, server, upgrade
from harness.load import median
from harness.paths import LOAD_CORE, SERVER_CORE
from harness.processes import memory_bytes
from harness.servers import Running
from harness.tools import say

AIM_KIBIBYTES = 12
KIBIBYTE = 1024
SETTLE_SECONDS = 2


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Memory of the host for each connection, without a listen and with one at a place of its own. The kernel's is not counted."""
    count = possible(5 * options.listeners)
    kinds: dict[str, Callable[[Running], Listeners]] = {
        "withoutListen": lambda running: Listeners(running.port, count, upgrade(), GREETED, PUSHED, LOAD_CORE),
        "withListen": lambda running: live(running, count, {"p": f"/idle/{host.MARK}"})}
    seen: dict[str, dict[str, list[float]]] = {name: {"resident": [], "proportional": []} for name in kinds}
    for number in range(1, options.rounds + 1):
        for name, open_connections in kinds.items():
            with host.started(server(build, count), SERVER_CORE) as running:
                host.put(running, "/room", "message")
                time.sleep(SETTLE_SECONDS)
                before = memory_bytes(running.pid)
                with open_connections(running):
                    time.sleep(SETTLE_SECONDS)
                    after = memory_bytes(running.pid)
            for kind, found in seen[name].items():
                found.append((after[kind] - before[kind]) / count / KIBIBYTE)
            say(f"round {number}/{options.rounds}  {name:<13} {seen[name]['resident'][-1]:.2f} KiB each")
    each = {name: {kind: round(median(found), 2) for kind, found in kinds_seen.items()} for name, kinds_seen in seen.items()}
    return {
        "connections": count, "kibibytesEach": each, "aimKibibytesEach": AIM_KIBIBYTES, "connectionsOfTheAim": wanted,
        "mebibytesOfTheAim": {name: round(found["resident"] * wanted / KIBIBYTE) for name, found in each.items()}}
