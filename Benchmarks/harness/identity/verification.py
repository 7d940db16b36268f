"""The cost of verifying an ID token, known and unknown, beside the crypto library's own verification of its signature."""

import argparse
import json
import subprocess

from harness import hearth
from harness.paths import LOAD_CORE, PROJECT
from harness.load import median
from harness.tools import Missing, say

AIM_CACHED_NANOSECONDS, AIM_OF_LIBRARY = 1000, 1.3
SECONDS_MAX = 60


def measure(_: hearth.Build, options: argparse.Namespace) -> dict:
    program = PROJECT / ".build/release/TokenVerification"
    if not program.exists():
        raise Missing(f"{program} is not built: swift build -c release")
    rounds = []
    for number in range(1, options.rounds + 1):
        done = subprocess.run(
            ["taskset", "-c", str(LOAD_CORE), str(program)], capture_output=True, text=True, timeout=SECONDS_MAX, check=True)
        rounds.append(json.loads(done.stdout))
        say(f"round {number}/{options.rounds}  " + ", ".join(f"{name} {value:,.0f}" for name, value in rounds[-1].items()))
    middle = {name: median([one[name] for one in rounds]) for name in rounds[0]}
    ratios = [one["uncachedNanoseconds"] / one["libraryNanoseconds"] for one in rounds]
    return {name: round(value) for name, value in middle.items()} | {
        "cachedMaximum": {"aim": AIM_CACHED_NANOSECONDS, "seen": round(middle["cachedNanoseconds"])},
        "ofLibrary": {"aim": AIM_OF_LIBRARY, "seen": round(median(ratios), 2)},
    }
