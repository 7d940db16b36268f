"""The distribution of a callable's time in the host and in the worker."""

import re
import subprocess
import sys
import threading
from pathlib import Path

from harness import hearth
from harness.callgrind import dump_of, instructions
from harness.load import burst, exactly
from harness.paths import BUILD, CONNECTIONS, LOAD_CORE
from harness.processes import stop_all, stop_all_at_exit
from harness.servers import Running
from harness.tools import Missing, program

ROWS = 45
CALLGRIND_REQUESTS = 2_000


def main(tool: str, seconds: int) -> int:
    stop_all_at_exit()
    try:
        (_perf if tool == "perf" else _callgrind)(seconds)
        return 0
    except Missing as reason:
        print(reason, file=sys.stderr)
        return 1
    finally:
        stop_all()


def _perf(seconds: int) -> None:
    build = hearth.Build()
    with hearth.server(build, "hearth-profile").start() as running:
        running.wait_until_ready()
        burst(running, 1)
        processes = _processes(running, build)
        loads: list = []
        load = threading.Thread(target=lambda: loads.append(burst(running, seconds + 1)))
        load.start()
        recorders = [_record(who, pid, seconds) for who, pid in processes.items()]
        for recorder in recorders:
            recorder.wait(seconds + 20)
        load.join()
        print(f"{loads[0].requests_a_second:,.0f} requests/s while sampled; "
              f"{1e6 / loads[0].requests_a_processor_second:.2f} us of processor time a request")
    for who in processes:
        report = subprocess.run(
            [program("perf"), "report", "-i", str(BUILD / f"perf-{who}.data"), "--no-children", "--stdio", "-g", "none",
             "--percent-limit", "0.4", "--sort", "dso,symbol"], capture_output=True, text=True, check=False).stdout
        rows = [line for line in report.splitlines() if line.strip() and not line.startswith("#")]
        print(f"\n## {who}\n" + "\n".join(_demangled(rows[:ROWS])))


def _record(who: str, pid: int, seconds: int) -> subprocess.Popen:
    return subprocess.Popen(
        ["taskset", "-c", str(LOAD_CORE), program("perf"), "record", "-q", "-F", "4000", "-e", "cpu-clock", "-g", "-p", str(pid),
         "-o", str(BUILD / f"perf-{who}.data"), "--", "sleep", str(seconds)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _demangled(rows: list[str]) -> list[str]:
    done = subprocess.run(["swift", "demangle", "--simplified"], input="\n".join(rows), capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else rows


def _callgrind(_: int) -> None:
    """Runs the host and its workers under valgrind, and divides what a fixed number of requests took."""
    build = hearth.Build()
    with instructions(build, lambda copies: hearth.server(copies, "hearth-callgrind", sandbox=False)) as (running, counted):
        running.wait_until_ready()
        exactly(running, 200, 1)
        counted(lambda: exactly(running, CALLGRIND_REQUESTS, CONNECTIONS))
        for who, pid in _processes(running, build).items():
            _print_callgrind(who, pid)


def _processes(running: Running, build: hearth.Build) -> dict[str, int]:
    return {"host": running.pid} | {"worker": pid for pid in hearth.workers(running, build)}


def _print_callgrind(who: str, pid: int) -> None:
    report = subprocess.run(["callgrind_annotate", "--threshold=92", str(dump_of(pid))], capture_output=True, text=True, check=False).stdout
    total = re.search(r"^\s*([\d,]+) .*PROGRAM TOTALS", report, re.MULTILINE)
    rows = []
    for line in report.splitlines():
        if row := re.match(r"\s*([\d,]+) \([^)]*\)\s+(\S.*)$", line):
            if "PROGRAM TOTALS" not in line:
                rows.append(f"{int(row[1].replace(',', '')) / CALLGRIND_REQUESTS:>9.1f}  {row[2]}")
    each = int(total[1].replace(",", "")) / CALLGRIND_REQUESTS if total else 0
    print(f"\n## {who}: {each:,.0f} instructions a request\n" + "\n".join(_demangled(rows[:ROWS])))
