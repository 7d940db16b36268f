"""A server whose answers are good, wrong, slow, endless, redirects or bombs, by the path of the request."""

import gzip
import threading
import time
import zlib

import pytest

from hearth import Host
from local_server import Handler, LocalServer


class Origin(Handler):
    """Answers by path; keeps what it has received."""

    received = []
    connections = set()
    gone = threading.Event()
    tries = {}

    def answer(self, status=200, headers=(), body=b''):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def serve(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        Origin.connections.add(self.client_address)
        Origin.received.append({'method': self.command, 'path': self.path, 'headers': {k.lower(): v for k, v in self.headers.items()},
                                'body': body.decode()})
        name, _, rest = self.path[1:].partition('/')
        getattr(self, name.partition('?')[0] or 'hello')(rest)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = serve

    def hello(self, _):
        self.answer(headers=[('X-Twice', 'a'), ('X-Twice', 'b')], body=b'hello')

    def status(self, rest):
        self.answer(int(rest), body=b'status')

    def to(self, rest):
        status, _, target = rest.partition('/')
        self.answer(int(status), [('Location', target)])

    def flaky(self, rest):
        key, count = rest.split('/')[:2]
        after = rest.split('/')[2:]
        Origin.tries[key] = Origin.tries.get(key, []) + [time.monotonic()]
        if len(Origin.tries[key]) <= int(count):
            return self.answer(503, [('Retry-After', after[0])] if after else [])
        self.answer(body=b'at last')

    def zipped(self, rest):
        body = gzip.compress(b'x' * int(rest))
        self.answer(headers=[('Content-Encoding', 'gzip'), ('X-Sent', str(len(body)))], body=body)

    def bomb(self, _):
        """Compresses 1 GiB of zeros while it is read."""
        self.send_response(200)
        self.send_header('Content-Encoding', 'gzip')
        self.end_headers()
        pack = zlib.compressobj(9, zlib.DEFLATED, 31)
        try:
            for _ in range(1024):
                self.wfile.write(pack.compress(bytes(1 << 20)))
        except OSError:
            Origin.gone.set()
        self.close_connection = True

    def endless(self, _):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b'y' * 65536)
        except OSError:
            Origin.gone.set()
        self.close_connection = True

    def drips(self, _):
        """Never ends, and sends a byte now and then."""
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b'z')
                time.sleep(0.02)
        except OSError:
            Origin.gone.set()
        self.close_connection = True

    def announces(self, _):
        self.send_response(200)
        self.send_header('Content-Length', str(1 << 40))
        self.end_headers()
        self.close_connection = True

    def head(self, _):
        self.send_response(200)
        try:
            for number in range(20000):
                self.send_header(f'X-{number}', 'v' * 60)
            self.end_headers()
        except OSError:
            pass
        self.close_connection = True

    def broken(self, _):
        self.send_response(200)
        self.send_header('Content-Length', '100')
        self.end_headers()
        self.wfile.write(b'part')
        self.close_connection = True

    def nonsense(self, _):
        self.wfile.write(b'this is not HTTP\r\n\r\n')
        self.close_connection = True


@pytest.fixture(scope='module')
def servers():
    """Two servers on different ports, which are different origins."""
    with LocalServer(Origin) as first, LocalServer(Origin) as second:
        yield first, second


@pytest.fixture(autouse=True)
def forget():
    """Nothing that another test has sent."""
    Origin.received.clear()
    Origin.connections.clear()
    Origin.gone.clear()


@pytest.fixture(scope='module')
def base(tmp_path_factory):
    """A host whose functions may reach this machine."""
    host = Host(tmp_path_factory.mktemp('http'), ['Effects'], config={
        'functions': {name: {'allowedHosts': ['127.0.0.1', 'localhost']} for name in ('fetches', 'fetchesBriefly')},
        'http': {'responseBytesMax': 200_000}}).start()
    yield host
    host.stop()
    host.abandon()


def started(prepare, allowed=None, **more):
    """A host whose functions may reach the given hosts."""
    config = {'functions': {name: {'allowedHosts': allowed} for name in ('fetches', 'fetchesBriefly')}} if allowed is not None else {}
    return prepare(['Effects'], config={**config, **more}).start()


def fetch(host, url, function='fetches', **options):
    """The outcome of a request that a function sends."""
    return host.result(function, {'url': url, **options}, timeout=30)
