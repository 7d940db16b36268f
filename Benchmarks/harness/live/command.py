"""The command line of Benchmarks/live."""

import argparse

from harness import parts
from harness.live import cost, delivery, idle, mixed, reconnect

PARTS = {
    "elsewhere": cost.elsewhere, "queryView": cost.query_view, "fanOut": delivery.fan_out, "delivered": delivery.delivered,
    "mixed": mixed.measure, "idle": idle.measure, "reconnect": reconnect.measure,
}


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument(
        "--listeners", type=int, default=10_000, metavar="N",
        help="size of everything: N clients in fanOut and reconnect, a tenth in delivered and mixed, ten times as many listens on a tenth of "
             "the connections in elsewhere, five times in idle")
    parser.add_argument("--children", type=int, default=1_000_000, metavar="N", help="children of the large collection of queryView, made once")
    parser.add_argument("--transport", choices=["websocket", "stream"], default="websocket", help="connections of fanOut and delivered")
    parser.add_argument("--writers", choices=["websocket", "rest"], default="websocket", help="connections that write in mixed")
    parser.add_argument("--room", type=int, default=2, metavar="N", help="listeners of a room in mixed, half of them queries: events of each write")
    parser.add_argument(
        "--spread", type=int, default=0, metavar="MS", help="time within which the clients of reconnect begin to connect; 0: all at once")
    return parts.main(parser, PARTS)
