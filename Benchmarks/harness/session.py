"""One run of a benchmark: the options that each has, the limits it needs, what it prints at its end and what it leaves behind."""

import argparse
import json
import resource
from collections.abc import Callable
from pathlib import Path

from harness import hearth, machine
from harness.processes import stop_all, stop_all_at_exit

SECONDS_MAX, ROUNDS_MAX = 30, 20

# Puts what it finds into the last, and says whether all is well.
Measure = Callable[[argparse.Namespace, hearth.Build, dict], bool]


def names(allowed: list[str]):
    def parse(text: str) -> list[str]:
        names = [name for name in text.split(",") if name]
        if unknown := [name for name in names if name not in allowed]:
            raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(allowed)}")
        return names
    return parse


def run(parser: argparse.ArgumentParser, parts: list[str], rounds: int, measure: Measure) -> int:
    """Runs a benchmark of some parts; `rounds` unless the command line says otherwise. The parser has what is special to it."""
    parser.add_argument("--seconds", type=int, default=5, choices=range(1, SECONDS_MAX + 1), metavar="N", help="length of a burst")
    parser.add_argument("--rounds", type=int, default=rounds, choices=range(1, ROUNDS_MAX + 1), metavar="N", help="how often each has its turn")
    parser.add_argument("--patience", type=int, default=5, metavar="N", help="seconds to wait for quiet cores before each burst")
    parser.add_argument("--only", type=names(parts), default=parts, metavar="A,B", help=f"which of {','.join(parts)}")
    parser.add_argument("--hearth", type=Path, help="the hearth to measure, instead of .build/release/hearth")
    parser.add_argument("--json", type=Path, help="also write everything into this file")
    options = parser.parse_args()
    stop_all_at_exit()
    # The server inherits it; servers are asked for thousands of connections.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        return _run(options, measure)
    except KeyboardInterrupt:
        return 130
    finally:
        stop_all()


def _run(options: argparse.Namespace, measure: Measure) -> int:
    default = hearth.Build()
    build = hearth.Build((options.hearth or default.program).resolve(), default.plugin)
    results: dict = {"machine": machine.description()}
    is_well = measure(options, build, results)
    print(f"\n{results['machine']['processor']}, {results['machine']['cores']} cores, kernel {results['machine']['kernel']}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0 if is_well else 1
