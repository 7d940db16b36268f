"""A proxy between a command and a host, which stops the exchange before or after a chosen request."""

import contextlib
import http.client
import threading

from local_server import Handler, LocalServer


class StepProxy(LocalServer):
    """Forwards requests, one at a time, until the chosen one."""

    def __init__(self, port, hold=None, after=False):
        self.upstream, self.hold, self.after = port, hold, after
        self.passed, self.lock = [], threading.Lock()
        self.held, self.go = threading.Event(), threading.Event()
        super().__init__(type('Bound', (Step,), {'proxy': self}))

    def close(self):
        self.go.set()
        super().close()

    def stop_here(self, number, after):
        if number == self.hold and after == self.after:
            self.held.set()
            self.go.wait(60)
            return True
        return False

    def forward(self, method, path, headers, body):
        upstream = http.client.HTTPConnection('127.0.0.1', self.upstream, timeout=60)
        with contextlib.closing(upstream):
            upstream.request(method, path, body, headers)
            answer = upstream.getresponse()
            return answer.status, answer.read()


class Step(Handler):
    """A connection of the command."""

    proxy = None

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        with self.proxy.lock:
            number = len(self.proxy.passed)
            self.proxy.passed.append(f'{self.command} {self.path.split("?")[0]}')
        if self.proxy.stop_here(number, after=False):
            return self.cut()
        headers = {name: self.headers[name] for name in ('Authorization', 'Content-Type') if name in self.headers}
        status, answer = self.proxy.forward(self.command, self.path, headers, body)
        if self.proxy.stop_here(number, after=True):
            return self.cut()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        return None

    do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def cut(self):
        self.close_connection = True
