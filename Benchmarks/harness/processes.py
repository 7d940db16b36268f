"""Processes that the harness starts, what they use, and how all of them end.

Everything started here is remembered and stopped by its process id: when its measurement is over, and at the latest when
the harness exits, on Ctrl-C too.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
STOP_SECONDS_MAX = 8
KERNEL_THREADS_PARENT = 2
# The last bits of the id of a process's clock (CPUCLOCK_SCHED of Linux).
PROCESSOR_CLOCK = 2

_running: list["Started"] = []


def status_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on, or None when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def start_time(pid: int) -> str | None:
    """When the process began: with its id this names one process for ever. None once it is gone or only waits to be reaped."""
    fields = status_fields(pid)
    return fields[19] if fields and fields[0] not in "ZX" else None


def tree(root: int) -> list[int]:
    """The process and all that descend from it, parents first."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := status_fields(int(name))):
            children.setdefault(int(fields[1]), []).append(int(name))
    found = [root]
    for pid in found:
        found.extend(sorted(children.get(pid, [])))
    return found


def processor_seconds(root: int) -> float:
    """Time that the process and its descendants have spent on a core, reaped children included."""
    ticks = 0
    for pid in tree(root):
        if fields := status_fields(pid):
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS_A_SECOND


def exact_processor_seconds(pid: int) -> float:
    """Time that one process without its descendants has spent on a core, to the nanosecond: the clock of its processor time."""
    return time.clock_gettime_ns((~pid << 3) | PROCESSOR_CLOCK) / 1e9


def thread_seconds(pid: int) -> dict[int, float]:
    """Time that each thread of a process has spent on a core, to the nanosecond."""
    found = {}
    for path in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found[int(path.name)] = int((path / "schedstat").read_text().split()[0]) / 1e9
    return found


def kernel_seconds() -> float:
    """Time that the kernel's own threads have spent: what writes to the disk on behalf of others."""
    ticks = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := status_fields(int(name))) and int(fields[1]) == KERNEL_THREADS_PARENT:
            ticks += sum(int(field) for field in fields[11:13])
    return ticks / TICKS_A_SECOND


def memory_bytes(pid: int) -> dict[str, int]:
    """Resident, proportional and private bytes. Private is what would be given back if this process alone ended."""
    found = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        key, amount, *_ = line.split()
        found[key.rstrip(":")] = int(amount) * 1024
    return {"resident": found["Rss"], "proportional": found["Pss"], "private": found["Private_Clean"] + found["Private_Dirty"]}


class Started:
    """One child process, pinned to a core where one is named and the machine has more than one."""

    def __init__(
        self, command: list[str], core: int | None, log: Path, directory: Path | None = None, environment: dict | None = None,
        user: str | None = None,
    ):
        pinned = ["taskset", "-c", str(core)] if core is not None and (os.cpu_count() or 1) > core else []
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [*pinned, *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=directory,
                env={**os.environ, **(environment or {})}, start_new_session=True, user=user)
        self.pid = self.process.pid
        _running.append(self)

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def last_words(self) -> str:
        """The end of what the process has printed, for a message that says why it is gone."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return " / ".join(lines[-3:]) if lines else "it printed nothing"

    def stop(self) -> None:
        """Asks it to end, waits, then ends it and whatever it left behind."""
        if self not in _running:
            return
        _running.remove(self)
        family = {pid: start_time(pid) for pid in tree(self.pid)}
        if self.is_running:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        deadline = time.monotonic() + 1
        while left := [pid for pid, began in family.items() if began and start_time(pid) == began]:
            if time.monotonic() > deadline:
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                return
            time.sleep(0.02)


def stop_all() -> None:
    for started in reversed(list(_running)):
        started.stop()


def stop_all_at_exit() -> None:
    """Called once: whatever ends the harness, ends what it started."""
    atexit.register(stop_all)
    signal.signal(signal.SIGTERM, lambda *_: exit(143))
    signal.signal(signal.SIGHUP, lambda *_: exit(129))
