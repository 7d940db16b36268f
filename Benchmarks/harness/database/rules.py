"""The cost of rules: requests of many paths of which only the last is refused, compared with requests of which the first is."""

import argparse
import json

from harness import hearth
from harness.database import host
from harness.database.rounds import Seen
from harness.load import burst, raw_request, write_requests
from harness.paths import BUILD, SERVER_CORE
from harness.throughput import WARM_UP_SECONDS, least_disturbed
from harness.tools import say

USER, PATHS = 3, 200
AIM_MICROSECONDS = 5


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    """Microseconds of the host's processor time for a check: all rules on the way to a path, and what the value must be.

    Each request has 200 paths that their user may write and one at the end that nobody may: it is judged to its end and
    nothing is written. Shown by another user it is refused at the first path, which is what the rest costs.
    """
    body = json.dumps({host.score_path(USER, score)[1:]: score + 1 for score in range(PATHS)} | {"vault": 1})
    requests = {
        name: write_requests(BUILD / "requests" / f"rules-{name}.txt", [raw_request("PATCH", "/.json", body, host.authorization(user))])
        for name, user in (("judged", USER), ("refusedAtOnce", USER + 1))}
    seen = {name: Seen() for name in requests}
    for number in range(1, options.rounds + 1):
        with host.started(host.server(build, "hearth-rules"), SERVER_CORE) as running:
            host.fill_scores(running)
            for name, file in requests.items():
                burst(running, WARM_UP_SECONDS, file)
                rate = least_disturbed(lambda: burst(running, options.seconds, file), options.patience)
                seen[name].rates.append(rate)
                say(f"round {number}/{options.rounds}  {name:<14} {rate.requests_a_second:>9,.0f} requests of {PATHS} paths/s, "
                    f"disturbed {rate.disturbed:.0%}")
    each = {name: 1e6 / one.middle("requests_a_processor_second") for name, one in seen.items()}
    return {
        "pathsOfARequest": PATHS, "microsecondsOfARequest": {name: round(one, 1) for name, one in each.items()},
        "microsecondsOfACheck": round((each["judged"] - each["refusedAtOnce"]) / PATHS, 2), "aim": AIM_MICROSECONDS,
        "disturbed": round(max(one.middle("disturbed") for one in seen.values()), 3),
    }
