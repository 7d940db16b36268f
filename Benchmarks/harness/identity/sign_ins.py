"""Calls while many users sign in with their passwords, and the time of the loop that a sign-in takes. Host and load share both cores."""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

from harness import hearth
from harness.identity import host
from harness.load import Pace, at_rate, exactly, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.paths import BODY, BUILD
from harness.processes import thread_seconds
from harness.servers import Running
from harness.tools import say

PARALLEL = 50
CALLS_A_SECOND = 1000
SIGN_INS_ALONE = 30
AIM_LOOP_MILLISECONDS, AIM_P99_MILLISECONDS = 1, 10
SETTLE_SECONDS = 0.3


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    found = []
    for number in range(1, options.rounds + 1):
        with host.started(host.server(build, "hearth-sign-ins", loops=1), core=None) as running:
            found.append(_round(running, options))
        seen = found[-1]
        say(f"round {number}/{options.rounds}  {seen['signInsPerSecond']:.1f} sign-ins/s, {seen['loopMilliseconds']:.3f} ms of the loop each, "
            f"calls p99 {seen['p99Milliseconds']:.2f} ms ({seen['p99MillisecondsAlone']:.2f} ms before)")
    return {
        "parallel": PARALLEL, "callsPerSecond": CALLS_A_SECOND,
        **{name: round(median([seen[name] for seen in found]), 3) for name in found[0]},
        "loopMillisecondsMaximum": {"aim": AIM_LOOP_MILLISECONDS, "seen": round(median([seen["loopMilliseconds"] for seen in found]), 3)},
        "p99MillisecondsMaximum": {"aim": AIM_P99_MILLISECONDS, "seen": round(median([seen["p99Milliseconds"] for seen in found]), 2)},
    }


def _round(running: Running, options: argparse.Namespace) -> dict:
    host.ask(running, "accounts:signUp", {"email": "ada@example.org", "password": host.PASSWORD})
    sign_ins = write_requests(
        BUILD / "requests" / "sign-ins.txt",
        [raw_request("POST", f"{host.API}/accounts:signInWithPassword?key={host.KEY}", host.sign_in_body("ada@example.org"))])
    calls = write_requests(BUILD / "requests" / "sign-ins-calls.txt", [raw_request("POST", running.server.path, BODY)])

    def called() -> Pace:
        return at_rate(running, CALLS_A_SECOND, options.seconds, calls, is_pinned=False)

    wait_until_quiet(options.patience)
    start = thread_seconds(running.pid)
    alone = called()
    before = thread_seconds(running.pid)
    # The calls are answered on the thread of the only loop. A sign-in's hash and signature are made on other threads.
    loop = max(before, key=lambda thread: before[thread] - start.get(thread, 0))
    exactly(running, SIGN_INS_ALONE, 1, sign_ins)
    spent = thread_seconds(running.pid)[loop] - before[loop]
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        count = max(PARALLEL, int(PARALLEL * options.seconds / 2))
        signing = pool.submit(exactly, running, count, PARALLEL, sign_ins)
        time.sleep(SETTLE_SECONDS)
        beside = called()
        done = signing.result()
        seconds = time.monotonic() - began
    return {
        "loopMilliseconds": spent * 1000 / SIGN_INS_ALONE, "signInsPerSecond": (count - done["refused"] - done["broken"]) / seconds,
        "refusedSignIns": done["refused"] + done["broken"], "p50Milliseconds": beside.p50 / 1000, "p99Milliseconds": beside.p99 / 1000,
        "longestMilliseconds": beside.longest / 1000, "p99MillisecondsAlone": alone.p99 / 1000, "failedCalls": beside.failures,
    }
