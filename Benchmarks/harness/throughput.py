"""Throughput and latency, round by round: each round starts every server once, in turn, so that what else the machine does
falls on all of them alike."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from harness.load import Burst, Pace, at_rate, burst, median
from harness.machine import wait_until_quiet
from harness.servers import Server
from harness.tools import Missing, say

WARM_UP_SECONDS = 1
# A burst that shared a core with something else is tried again, and the least disturbed one counts.
DISTURBED_MAX = 0.05
ATTEMPTS_MAX = 3

Measured = TypeVar("Measured", Burst, Pace)


@dataclass
class Series:
    """The measurements of one server over all rounds."""

    bursts: list[Burst] = field(default_factory=list)
    paces: list[Pace] = field(default_factory=list)
    absent: str | None = None

    def middle(self, name: str) -> float:
        return median([getattr(seen, name) for seen in calm(self.bursts)])

    def pace_middle(self, name: str) -> float:
        return median([getattr(seen, name) for seen in calm(self.paces)])

    def summary(self) -> dict:
        return {
            "requestsPerSecond": round(self.middle("requests_a_second")),
            "requestsPerProcessorSecond": round(self.middle("requests_a_processor_second")),
            "p50Microseconds": round(self.middle("p50")),
            "p99Microseconds": round(self.middle("p99")),
            "halfRateP50Microseconds": round(self.pace_middle("p50")),
            "halfRateP99Microseconds": round(self.pace_middle("p99")),
            "disturbed": round(max(self.middle("disturbed"), self.pace_middle("disturbed")), 3),
            "failures": sum(seen.failures for seen in [*self.bursts, *self.paces]),
            "rounds": [round(seen.requests_a_second) for seen in self.bursts],
        }


def calm(seen: list[Measured]) -> list[Measured]:
    """The runs without other load on their cores; if there are none, the run with the least."""
    return [one for one in seen if one.disturbed <= DISTURBED_MAX] or sorted(seen, key=lambda one: one.disturbed)[:1]


def measure(servers: list[Server], rounds: int, seconds: float, patience: float) -> dict[str, Series]:
    """All servers, interleaved. One that is absent is named once and left out."""
    series = {server.name: Series() for server in servers}
    for number in range(1, rounds + 1):
        for server in servers:
            seen = series[server.name]
            if seen.absent:
                continue
            try:
                _round(server, seen, seconds, patience)
            except Missing as reason:
                seen.absent = str(reason)
                say(f"{server.name}: left out. {reason}")
                continue
            last = seen.bursts[-1]
            say(f"round {number}/{rounds}  {server.name:<18} {last.requests_a_second:>9,.0f} requests/s, disturbed {last.disturbed:.0%}")
    return series


def _round(server: Server, seen: Series, seconds: float, patience: float) -> None:
    with server.start() as running:
        running.wait_until_ready()
        burst(running, WARM_UP_SECONDS)
        highest = least_disturbed(lambda: burst(running, seconds), patience)
        seen.bursts.append(highest)
        seen.paces.append(least_disturbed(lambda: at_rate(running, highest.requests_a_second / 2, seconds), patience))


def least_disturbed(measurement: Callable[[], Measured], patience: float) -> Measured:
    tries = []
    while len(tries) < ATTEMPTS_MAX and not any(one.disturbed <= DISTURBED_MAX for one in tries):
        wait_until_quiet(patience)
        tries.append(measurement())
    return min(tries, key=lambda one: one.disturbed)


def table(series: dict[str, Series]) -> list[str]:
    """The rows that are printed, and pasted into docs/benchmarks.md."""
    present = {name: seen for name, seen in series.items() if seen.bursts}
    if not present:
        return ["nothing was measured"]
    reference = "nginx" if "nginx" in present else next(iter(present))
    ceiling = present[reference].middle("requests_a_second")
    ceiling_processor = present[reference].middle("requests_a_processor_second")
    rows = [
        f"| server | requests/s | of {reference} | a second of processor time | of {reference} "
        "| p50 | p99 | at half: p50 | p99 | failures | disturbed |",
        "| --- |" + " ---: |" * 10,
    ]
    for name, seen in present.items():
        one = seen.summary()
        rows.append(
            f"| {name} | {one['requestsPerSecond']:,} | {one['requestsPerSecond'] / ceiling:.2f} "
            f"| {one['requestsPerProcessorSecond']:,} | {one['requestsPerProcessorSecond'] / ceiling_processor:.2f} "
            f"| {milliseconds(one['p50Microseconds'])} | {milliseconds(one['p99Microseconds'])} "
            f"| {milliseconds(one['halfRateP50Microseconds'])} | {milliseconds(one['halfRateP99Microseconds'])} "
            f"| {one['failures']} | {one['disturbed']:.0%} |")
    return rows


def ratios(series: dict[str, Series]) -> list[str]:
    """Hearth against each peer."""
    present = {name: seen.middle("requests_a_second") for name, seen in series.items() if seen.bursts}
    rows = []
    for name in (name for name in present if name.startswith("hearth")):
        others = [f"{present[name] / rate:.2f} of {peer}" for peer, rate in present.items() if not peer.startswith("hearth")]
        if others:
            rows.append(f"{name}: " + ", ".join(others))
    return rows


def milliseconds(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f} ms"
