"""Counts the instructions of a host and its workers with valgrind: the same figures each time, whatever else the machine does."""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import hearth
from harness.paths import BUILD
from harness.processes import tree
from harness.servers import Running, Server
from harness.tools import Missing, program

DIRECTORY = BUILD / "callgrind"


@contextmanager
def instructions(
    build: hearth.Build, server: Callable[[hearth.Build], Server],
) -> Iterator[tuple[Running, Callable[..., int]]]:
    """A running server, and a function that says how many instructions its host takes while it runs what it is given, after what runs first."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for old in DIRECTORY.glob("callgrind.out.*"):
        old.unlink()
    wrapper = (program("valgrind"), "--tool=callgrind", "--trace-children=yes", "--instr-atstart=no", "--separate-threads=no",
               f"--callgrind-out-file={DIRECTORY}/callgrind.out.%p")
    with server(_without_debug_information(build)).start(wrapper=wrapper) as running:

        def counted(load: Callable[[], object], first: Callable[[], object] = lambda: None) -> int:
            processes = tree(running.pid)
            for pid in processes:
                _control("--instr=on", pid)
            first()
            for pid in processes:
                _control("--zero", pid)
            load()
            for pid in processes:
                _control("--dump", pid)
                _control("--instr=off", pid)
            totals = re.search(r"^(?:summary|totals): (\d+)", dump_of(running.pid).read_text(errors="replace"), re.MULTILINE)
            if not totals:
                raise Missing("callgrind wrote no total for the host")
            return int(totals[1])

        yield running, counted


def dump_of(pid: int) -> Path:
    """The newest figures of a process."""
    dumps = sorted(DIRECTORY.glob(f"callgrind.out.{pid}*"), key=lambda path: path.stat().st_mtime_ns)
    if not dumps:
        raise Missing(f"callgrind wrote nothing for process {pid}")
    return dumps[-1]


def _control(action: str, pid: int) -> None:
    subprocess.run(["callgrind_control", action, str(pid)], stdout=subprocess.DEVNULL, check=False, timeout=60)


def _without_debug_information(build: hearth.Build) -> hearth.Build:
    """Copies that keep their symbols: valgrind gives up at the debug information that newer compilers write."""
    build.check()
    copies = hearth.Build(DIRECTORY / build.program.name, DIRECTORY / build.plugin.name)
    for original, copy in ((build.program, copies.program), (build.plugin, copies.plugin)):
        subprocess.run([program("objcopy"), "--strip-debug", str(original.resolve()), str(copy)], check=True)
    return copies
