"""What the figures were measured on, and how busy it was with other things."""

import os
import platform
from pathlib import Path


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


def busy_shares(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> list[float]:
    """How much of the time each core worked between two readings, 0 to 1."""
    return [round((b - a) / max(1, whole_b - whole_a), 2) for (a, whole_a), (b, whole_b) in zip(before, after)]


def core_times() -> list[tuple[int, int]]:
    """For each core the ticks that it worked, and all its ticks."""
    found = []
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("cpu") and line[3].isdigit():
            ticks = [int(field) for field in line.split()[1:9]]
            found.append((sum(ticks) - ticks[3] - ticks[4], sum(ticks)))
    return found
