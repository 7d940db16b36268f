"""The command line of Benchmarks/run."""

import argparse
import json
import resource
from pathlib import Path

from harness import coldstart, counts, hearth, machine, memory, throughput
from harness.paths import CEILINGS
from harness.processes import stop_all, stop_all_at_exit
from harness.servers import PEER_SERVERS
from harness.tools import Missing, say

PARTS = ["throughput", "coldstart", "memory", "counts"]
SECONDS_MAX, ROUNDS_MAX = 30, 20


def names(allowed: list[str]):
    def parse(text: str) -> list[str]:
        names = [name for name in text.split(",") if name]
        if unknown := [name for name in names if name not in allowed]:
            raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(allowed)}")
        return names
    return parse


def main(parser: argparse.ArgumentParser) -> int:
    peers = list(PEER_SERVERS)
    parser.add_argument("--peers", type=names(peers), default=peers, metavar="A,B", help=f"which of {','.join(peers)}; '' for none")
    parser.add_argument("--seconds", type=int, default=5, choices=range(1, SECONDS_MAX + 1), metavar="N", help="length of a burst")
    parser.add_argument("--rounds", type=int, default=5, choices=range(1, ROUNDS_MAX + 1), metavar="N", help="how often each server has its turn")
    parser.add_argument("--patience", type=int, default=5, metavar="N", help="seconds to wait for quiet cores before each burst")
    parser.add_argument("--only", type=names(PARTS), default=PARTS, metavar="A,B", help=f"which of {','.join(PARTS)}")
    parser.add_argument("--check", action="store_true", help="only count, and fail where a ceiling of ceilings.json is exceeded")
    parser.add_argument("--hearth", type=Path, help="the hearth to measure, instead of .build/release/hearth")
    parser.add_argument("--plugin", type=Path, help="its libArithmetic.so")
    parser.add_argument("--json", type=Path, help="also write everything into this file")
    options = parser.parse_args()
    stop_all_at_exit()
    # The server inherits it; nginx and Hearth are asked for thousands of connections.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        return _run(options)
    except KeyboardInterrupt:
        return 130
    finally:
        stop_all()


def _run(options: argparse.Namespace) -> int:
    default = hearth.Build()
    build = hearth.Build((options.hearth or default.program).resolve(), (options.plugin or default.plugin).resolve())
    results: dict = {"machine": machine.description()}
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
    print(f"\n{results['machine']['processor']}, {results['machine']['cores']} cores, kernel {results['machine']['kernel']}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 1 if failed else 0


def _throughput(options: argparse.Namespace, build: hearth.Build, results: dict) -> None:
    servers = [hearth.server(build, "hearth"), hearth.server(build, "hearth-inprocess", isolation="none")]
    order = [PEER_SERVERS[name] for name in PEER_SERVERS if name in options.peers]
    series = throughput.measure([*order[:1], *servers, *order[1:]], options.rounds, options.seconds, options.patience)
    print("\n".join(["", *throughput.table(series), "", *throughput.ratios(series)]))
    results["throughput"] = {name: seen.summary() if seen.bursts else {"absent": seen.absent} for name, seen in series.items()}
