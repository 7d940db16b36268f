"""The machine of the measurements, and its other load."""

import os
import platform
import time
from pathlib import Path

QUIET_SECONDS = 0.5
QUIET_SHARE_MAX = 0.05


def description() -> dict:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    release = "Linux"
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            release = line.partition("=")[2].strip('"')
    return {"processor": model, "cores": os.cpu_count(), "kernel": platform.release(), "system": release}


def core_seconds() -> list[float]:
    """How long each core has worked since the machine started."""
    found = []
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("cpu") and line[3].isdigit():
            ticks = [int(field) for field in line.split()[1:9]]
            found.append((sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"))
    return found


def wait_until_quiet(seconds_max: float) -> None:
    """Until the cores had next to nothing to do for half a second, or the patience is at its end."""
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        before = core_seconds()
        time.sleep(QUIET_SECONDS)
        if all(after - earlier <= QUIET_SECONDS * QUIET_SHARE_MAX for earlier, after in zip(before, core_seconds())):
            return
