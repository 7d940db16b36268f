"""The command line of Benchmarks/identity."""

import argparse

from harness import parts
from harness.identity import callables, sign_ins, sign_ups, size, verification

PARTS = {
    "verification": verification.measure, "callables": callables.measure, "signIns": sign_ins.measure, "signUps": sign_ups.measure,
    "size": size.measure,
}


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("--users", type=int, default=1_000_000, metavar="N", help="users of the large store of size, made once and kept")
    return parts.main(parser, PARTS)
