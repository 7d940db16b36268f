"""The cost of a call and the number of calls a second, by the number of event loops of the host. Server and load share all cores; the loop
counts take turns in each round, so that other load on the machine affects all of them alike."""

import argparse
import os

from harness import hearth
from harness.load import Burst, burst, median
from harness.machine import wait_until_quiet
from harness.session import run
from harness.tools import say

# A call at four loops costs at most so many times what it costs at one.
RATIO_MAX = 1.1
# Each loop gets some of the connections.
CONNECTIONS = 128
WARM_UP_SECONDS = 1


def main(parser: argparse.ArgumentParser) -> int:
    return run(parser, ["1", "2", "4", *([str(os.cpu_count())] if (os.cpu_count() or 1) > 4 else [])], 5, measure)


def measure(options: argparse.Namespace, build: hearth.Build, results: dict) -> bool:
    seen: dict[int, list[Burst]] = {int(loops): [] for loops in options.only}
    for number in range(1, options.rounds + 1):
        for loops, bursts in seen.items():
            bursts.append(once(build, loops, options))
            say(f"round {number}/{options.rounds}  {loops} loops  {bursts[-1].requests_a_second:>9,.0f} requests/s, "
                f"{cost(bursts[-1]):.1f} us each")
    least = min(seen)
    first = median([cost(one) for one in seen[least]])
    print(f"\n| loops | requests/s | processor time of a call | of that at {least} | p50 | p99 | failures |")
    print("| ---: |" + " ---: |" * 6)
    for loops, bursts in seen.items():
        middle = median([cost(one) for one in bursts])
        rate, p50, p99 = (median([getattr(one, name) for one in bursts]) for name in ("requests_a_second", "p50", "p99"))
        failures = sum(one.failures for one in bursts)
        results[f"{loops} loops"] = {
            "requestsPerSecond": round(rate), "microseconds": round(middle, 2), "ratio": round(middle / first, 3), "failures": failures}
        print(f"| {loops} | {rate:,.0f} | {middle:.1f} us | {middle / first:.2f} | {p50 / 1000:.2f} ms | {p99 / 1000:.2f} ms | {failures} |")
    return all(results[f"{loops} loops"]["ratio"] <= RATIO_MAX and results[f"{loops} loops"]["failures"] == 0 for loops in seen)


def once(build: hearth.Build, loops: int, options: argparse.Namespace) -> Burst:
    with hearth.server(build, f"hearth-{loops}", loops=loops).start(core=None) as running:
        running.wait_until_ready()
        burst(running, WARM_UP_SECONDS, is_pinned=False, connections=CONNECTIONS)
        wait_until_quiet(options.patience)
        return burst(running, options.seconds, is_pinned=False, connections=CONNECTIONS)


def cost(one: Burst) -> float:
    """Microseconds of processor time for one call, in the host and its workers."""
    return 1e6 / one.requests_a_processor_second
