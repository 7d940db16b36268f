"""Rounds in which each of several things is measured once, in turn."""

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.load import Burst, median
from harness.tools import Missing, say


@dataclass(frozen=True)
class Rate:
    """How much a second, and what it cost; of a load that tells no latencies."""

    requests_a_second: float
    requests_a_processor_second: float
    failures: int
    disturbed: float


@dataclass
class Seen:
    """The measurements of one subject over all rounds."""

    rates: list[Rate | Burst] = field(default_factory=list)
    absent: str | None = None

    def middle(self, name: str) -> float:
        return median([getattr(one, name) for one in self.rates])

    def summary(self) -> dict:
        if not self.rates:
            return {"absent": self.absent}
        known = {"requestsPerSecond": round(self.middle("requests_a_second")),
                 "requestsPerProcessorSecond": round(self.middle("requests_a_processor_second"))}
        if isinstance(self.rates[0], Burst):
            known |= {"p50Microseconds": round(self.middle("p50")), "p99Microseconds": round(self.middle("p99"))}
        return known | {
            "failures": sum(one.failures for one in self.rates), "disturbed": round(self.middle("disturbed"), 3),
            "rounds": [round(one.requests_a_second) for one in self.rates],
        }


def measure(things: dict[str, Callable[[], Rate | Burst]], rounds: int) -> dict[str, Seen]:
    """Each thing once a round. One that is missing is named, once, and left out."""
    seen = {name: Seen() for name in things}
    for number in range(1, rounds + 1):
        for name, thing in things.items():
            if seen[name].absent:
                continue
            try:
                rate = thing()
            except Missing as reason:
                seen[name].absent = str(reason)
                say(f"{name}: left out. {reason}")
                continue
            seen[name].rates.append(rate)
            say(f"round {number}/{rounds}  {name:<22} {rate.requests_a_second:>9,.0f}/s, "
                f"{rate.requests_a_processor_second:>9,.0f} a processor second, disturbed {rate.disturbed:.0%}")
    return seen


def ratio(seen: dict[str, Seen], name: str, other: str) -> float | None:
    """The median of what the rounds show: each compares what was measured within a minute. None where either is absent."""
    pairs = zip(seen[name].rates, seen[other].rates)
    ratios = [one.requests_a_second / peer.requests_a_second for one, peer in pairs if peer.requests_a_second]
    return round(median(ratios), 2) if ratios else None
