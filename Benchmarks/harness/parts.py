"""The command line of a benchmark that has parts, of which some may be left out."""

import argparse
import json
from collections.abc import Callable

from harness import hearth
from harness.session import run
from harness.tools import Missing, say

Part = Callable[[hearth.Build, argparse.Namespace], dict]


def main(parser: argparse.ArgumentParser, parts: dict[str, Part]) -> int:
    """Measures the parts that are asked for. The parser has what is special to them."""
    def measure(options: argparse.Namespace, build: hearth.Build, results: dict) -> bool:
        for name in options.only:
            say(f"-- {name}")
            try:
                results[name] = parts[name](build, options)
            except Missing as reason:
                results[name] = {"absent": str(reason)}
                say(f"{name}: not measured. {reason}")
            print(f"\n{name}\n{json.dumps(results[name], indent=2)}", flush=True)
        return True

    return run(parser, list(parts), 3, measure)
