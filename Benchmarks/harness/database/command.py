"""The command line of Benchmarks/database."""

import argparse

from harness import parts
from harness.database import deleting, reads, rules, size, triggers, writes

PARTS = {
    "writes": writes.measure, "reads": reads.measure, "size": size.measure, "deleting": deleting.measure,
    "triggers": triggers.measure, "rules": rules.measure,
}


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("--leaves", type=int, default=10_000_000, metavar="N", help="size of the large tree, made once and kept")
    return parts.main(parser, PARTS)
