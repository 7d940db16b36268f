"""The command line of a benchmark that has parts, of which some may be left out."""

import argparse
import json
import resource
from collections.abc import Callable
from pathlib import Path

from harness import hearth, machine
from harness.command import ROUNDS_MAX, SECONDS_MAX, names
from harness.processes import stop_all, stop_all_at_exit
from harness.tools import Missing, say

Part = Callable[[hearth.Build, argparse.Namespace], dict]


def main(parser: argparse.ArgumentParser, parts: dict[str, Part]) -> int:
    """Measures the parts that are asked for. The parser has what is special to them."""
    parser.add_argument("--seconds", type=int, default=5, choices=range(1, SECONDS_MAX + 1), metavar="N", help="length of a burst")
    parser.add_argument("--rounds", type=int, default=3, choices=range(1, ROUNDS_MAX + 1), metavar="N", help="how often each has its turn")
    parser.add_argument("--patience", type=int, default=5, metavar="N", help="seconds to wait for quiet cores before each burst")
    parser.add_argument("--only", type=names(list(parts)), default=list(parts), metavar="A,B", help=f"which of {','.join(parts)}")
    parser.add_argument("--hearth", type=Path, help="the hearth to measure, instead of .build/release/hearth")
    parser.add_argument("--json", type=Path, help="also write everything into this file")
    options = parser.parse_args()
    stop_all_at_exit()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        return _run(parts, options)
    except KeyboardInterrupt:
        return 130
    finally:
        stop_all()


def _run(parts: dict[str, Part], options: argparse.Namespace) -> int:
    default = hearth.Build()
    build = hearth.Build((options.hearth or default.program).resolve(), default.plugin)
    results: dict = {"machine": machine.description()}
    for name in options.only:
        say(f"-- {name}")
        try:
            results[name] = parts[name](build, options)
        except Missing as reason:
            results[name] = {"absent": str(reason)}
            say(f"{name}: not measured. {reason}")
        print(f"\n{name}\n{json.dumps(results[name], indent=2)}", flush=True)
    print(f"\n{results['machine']['processor']}, {results['machine']['cores']} cores, kernel {results['machine']['kernel']}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0
