"""A message to a topic with many subscribers: the time until it is accepted, and the delay of other requests during the distribution."""

import argparse
import threading
import time

from harness import hearth
from harness.load import Pace, at_rate, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.messaging import population
from harness.paths import BUILD
from harness.servers import Running
from harness.tools import Missing, say

AIM_ACCEPTED_MILLISECONDS, AIM_HELD_MILLISECONDS = 50, 5
PROBES_A_SECOND, PROBE_CONNECTIONS = 1000, 4
SECONDS_MAX = 300


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    health = write_requests(BUILD / "requests" / "health.txt", [raw_request("GET", "/_/health")])
    rounds = []
    for number in range(1, options.rounds + 1):
        with population.populated(build, "hearth-fan-out", options.devices) as running:
            def probe() -> Pace:
                return at_rate(running, PROBES_A_SECOND, options.seconds, health, PROBE_CONNECTIONS, is_pinned=False)

            probe()
            wait_until_quiet(options.patience)
            undisturbed = probe()
            during = _During(running, probe)
            rounds.append(during.result(undisturbed, options.devices))
        say(f"round {number}/{options.rounds}  {rounds[-1]}")
    held = median([one["heldMilliseconds"] for one in rounds])
    return {
        "devices": options.devices, "rounds": rounds,
        "accepted": {"aimMilliseconds": AIM_ACCEPTED_MILLISECONDS, "seen": median([one["acceptedMilliseconds"] for one in rounds])},
        "held": {"aimMilliseconds": AIM_HELD_MILLISECONDS, "seen": round(held, 2)},
    }


class _During:
    """A send while a stream of requests probes how long the loop takes to answer."""

    def __init__(self, running: Running, probe):
        self.running, self.began = running, time.monotonic()
        self.seconds, self.problem = 0.0, None
        sender = threading.Thread(target=self._run)
        sender.start()
        self.pace = probe()
        sender.join()
        if self.problem:
            raise self.problem

    def _run(self) -> None:
        try:
            self._send()
            self._wait()
        except (Missing, OSError) as problem:
            self.problem = Missing(str(problem))

    def _send(self) -> None:
        # The probes are to be under way.
        time.sleep(0.3)
        message = {"topic": population.TOPIC, "data": {"score": "3"}}
        self.began = time.monotonic()
        self.name = population.ask(self.running, "POST", population.SEND_PATH, {"message": message})["name"]
        self.accepted = time.monotonic() - self.began

    def _wait(self) -> None:
        """Until all receivers are known: that is asked seldom, since it takes the store's thread."""
        while time.monotonic() - self.began < SECONDS_MAX:
            self.message = population.ask(self.running, "GET", f"/_messaging/v1/{self.name.replace('%', '%25')}")
            if not self.message["fanning_out"]:
                self.seconds = time.monotonic() - self.began
                return
            time.sleep(0.2)
        raise Missing(f"the message was not handed round within {SECONDS_MAX} s")

    def result(self, undisturbed: Pace, devices: int) -> dict:
        if self.message["pending_count"] != devices:
            raise Missing(f"it waits for {self.message['pending_count']} of {devices} devices, which must never be")
        return {
            "acceptedMilliseconds": round(self.accepted * 1000, 2), "handedRoundSeconds": round(self.seconds, 1),
            "undisturbedLongestMilliseconds": undisturbed.longest / 1000, "longestMilliseconds": self.pace.longest / 1000,
            "heldMilliseconds": max(0, self.pace.longest - undisturbed.longest) / 1000,
            "undisturbedP99Milliseconds": undisturbed.p99 / 1000, "p99Milliseconds": self.pace.p99 / 1000,
            "disturbed": self.pace.disturbed, "failures": undisturbed.failures + self.pace.failures,
        }
