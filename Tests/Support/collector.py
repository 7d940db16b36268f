"""A collector of OpenTelemetry for tests, which keeps what it is sent."""

import json
import threading

from local_server import Handler, LocalServer
from processes import until


class Collector(LocalServer):
    """Takes spans and metrics until it is closed. `answers` holds the answers of the next requests: a status, headers and a body."""

    def __init__(self):
        self.requests, self.answers = [], []
        self.lock = threading.Lock()
        collector = self

        class Receiver(Handler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                with collector.lock:
                    collector.requests.append((self.path, dict(self.headers), json.loads(body)))
                    status, headers, text = collector.answers.pop(0) if collector.answers else (200, {}, '{}')
                self.send_response(status)
                for name, value in {**headers, 'Content-Type': 'application/json', 'Content-Length': str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

        super().__init__(Receiver)

    def bodies(self, path):
        with self.lock:
            return [body for sent, _, body in self.requests if sent == path]

    def spans(self):
        """All spans, each with its attributes as a dictionary."""
        found = []
        for body in self.bodies('/v1/traces'):
            for resource in body['resourceSpans']:
                for scope in resource['scopeSpans']:
                    for span in scope['spans']:
                        found.append({**span, 'attributes': attributes(span)})
        return found

    def until_spans(self, accepts, what):
        return until(lambda: accepts(found := self.spans()) and found, what)

    def metrics(self):
        """The families of the last report, by name."""
        bodies = self.bodies('/v1/metrics')
        return {metric['name']: metric for metric in bodies[-1]['resourceMetrics'][0]['scopeMetrics'][0]['metrics']} if bodies else {}


def attributes(entry):
    return {pair['key']: next(iter(pair['value'].values())) for pair in entry['attributes']}
