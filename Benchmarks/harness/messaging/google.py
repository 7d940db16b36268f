"""Sends through Google's service, of which this machine has a fake that takes its time: how near to what the parallelism allows."""

import argparse
import asyncio
import json
import math
import subprocess
import threading
from collections.abc import Coroutine
from pathlib import Path

from harness import hearth
from harness.database.host import MARK, OWNER, PROJECT, started
from harness.load import exactly, median, raw_request, write_requests
from harness.machine import wait_until_quiet
from harness.messaging import population
from harness.paths import BUILD
from harness.tools import program, say

SENDS, LATENCY_SECONDS, AIM_OF_IDEAL = 1000, 0.05, 3
# More than may be under way, so that each place is taken as soon as it is free.
CONNECTIONS_OF_PARALLELISM = 2


def measure(build: hearth.Build, options: argparse.Namespace) -> dict:
    ideal = math.ceil(SENDS / options.parallelism) * LATENCY_SECONDS
    message = {"topic": "news", "data": {"number": MARK}}
    requests = write_requests(BUILD / "requests" / "google.txt", [
        raw_request("POST", population.SEND_PATH, json.dumps({"message": message}), OWNER)])
    rounds = []
    with FakeGoogle() as google:
        settings = {"backend": "google", "google": {
            "serviceAccount": str(google.key_file()), "sendUrl": google.url, "topicUrl": google.url, "parallelism": options.parallelism}}
        for number in range(1, options.rounds + 1):
            with started(population.server(build, "hearth-google", messaging=settings), core=None) as running:
                connections = options.parallelism * CONNECTIONS_OF_PARALLELISM
                exactly(running, connections, connections, requests)
                wait_until_quiet(options.patience)
                google.most_under_way = 0
                seen = exactly(running, SENDS, connections, requests)
            rounds.append({"seconds": seen["seconds"], "ofIdeal": round(seen["seconds"] / ideal, 2), "mostUnderWay": google.most_under_way,
                           "failures": seen["refused"] + seen["broken"]})
            say(f"round {number}/{options.rounds}  {rounds[-1]}")
    return {
        "sends": SENDS, "parallelism": options.parallelism, "latencyMilliseconds": LATENCY_SECONDS * 1000, "idealSeconds": ideal,
        "rounds": rounds, "ofIdeal": {"aim": AIM_OF_IDEAL, "seen": median([one["ofIdeal"] for one in rounds])},
    }


class FakeGoogle:
    """The token endpoint and the send API, on a separate thread."""

    def __init__(self):
        self.under_way = self.most_under_way = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self) -> "FakeGoogle":
        self.thread.start()
        self.server = self._run(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024))
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def _run(self, work: Coroutine) -> object:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def key_file(self) -> Path:
        """The key file of a service account that this service has."""
        key = subprocess.run([program("openssl"), "genrsa", "2048"], capture_output=True, text=True, check=True).stdout
        path = BUILD / "service-account.json"
        path.write_text(json.dumps({
            "type": "service_account", "project_id": PROJECT, "private_key_id": "k1", "private_key": key,
            "client_email": f"sender@{PROJECT}.iam.gserviceaccount.com", "client_id": "1", "token_uri": f"{self.url}/token"}))
        return path

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
                writer.write(await self._answer(head.split(b" ")[1]))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, path: bytes) -> bytes:
        if path == b"/token":
            body = b'{"access_token":"ya29.benchmark","expires_in":3599,"token_type":"Bearer"}'
        else:
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            await asyncio.sleep(LATENCY_SECONDS)
            self.under_way -= 1
            body = f'{{"name":"projects/{PROJECT}/messages/1"}}'.encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
