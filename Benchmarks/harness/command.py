"""The command line of Benchmarks/run."""

import argparse
import json
from pathlib import Path

from harness import coldstart, counts, hearth, memory, throughput
from harness.paths import CEILINGS
from harness.servers import PEER_SERVERS
from harness.session import names, run
from harness.tools import Missing, say

PARTS = ["throughput", "coldstart", "memory", "counts"]


def main(parser: argparse.ArgumentParser) -> int:
    peers = list(PEER_SERVERS)
    parser.add_argument("--peers", type=names(peers), default=peers, metavar="A,B", help=f"which of {','.join(peers)}; '' for none")
    parser.add_argument("--check", action="store_true", help="only count, and fail where a ceiling of ceilings.json is exceeded")
    parser.add_argument("--plugin", type=Path, help="its libArithmetic.so")
    return run(parser, PARTS, 5, _measure)


def _measure(options: argparse.Namespace, build: hearth.Build, results: dict) -> bool:
    build = hearth.Build(build.program, (options.plugin or build.plugin).resolve())
    parts = ["counts"] if options.check else options.only
    if "throughput" in parts:
        _throughput(options, build, results)
    failed = False
    for name, measure in {
        "coldstart": lambda: coldstart.measure(build, repeats=4 * options.rounds),
        "memory": lambda: memory.measure(build),
        "counts": lambda: counts.measure(build),
    }.items():
        if name not in parts:
            continue
        try:
            results[name] = measure()
            print(f"\n{name}\n{json.dumps(results[name], indent=2)}")
        except Missing as reason:
            say(f"{name}: not measured. {reason}")
            failed = failed or options.check
    if "counts" in results:
        over = counts.excesses(results["counts"])
        for sentence in over:
            say(sentence)
        print(f"\n{CEILINGS.name}: {'exceeded' if over else 'held'}")
        failed = failed or bool(over)
    return not failed


def _throughput(options: argparse.Namespace, build: hearth.Build, results: dict) -> None:
    servers = [hearth.server(build, "hearth"), hearth.server(build, "hearth-inprocess", isolation="none")]
    order = [PEER_SERVERS[name] for name in PEER_SERVERS if name in options.peers]
    series = throughput.measure([*order[:1], *servers, *order[1:]], options.rounds, options.seconds, options.patience)
    print("\n".join(["", *throughput.table(series), "", *throughput.ratios(series)]))
    results["throughput"] = {name: seen.summary() if seen.bursts else {"absent": seen.absent} for name, seen in series.items()}
