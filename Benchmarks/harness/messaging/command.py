"""The command line of Benchmarks/messaging."""

import argparse

from harness import parts
from harness.messaging import fan_out, google, sends

PARTS = {"sends": sends.measure, "fanOut": fan_out.measure, "google": google.measure}


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("--devices", type=int, default=100_000, metavar="N", help="how many devices are registered, made once and kept")
    parser.add_argument("--parallelism", type=int, default=100, metavar="N", help="requests that may be under way to Google's service")
    return parts.main(parser, PARTS)
