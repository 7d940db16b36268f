"""HTTP servers for tests."""

import http.server
import threading


class LocalServer:
    """An HTTP/1.1 server on a free port until it is closed."""

    def __init__(self, handler):
        self.server = Server(('127.0.0.1', 0), handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()

    @property
    def url(self):
        return f'http://127.0.0.1:{self.port}'

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


class Handler(http.server.BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        """Logs nothing."""
