"""The connection of the command line to a host, or to what stands before one."""

import json
import threading

import pytest

from commands import Commands
from local_server import Handler, LocalServer

FUNCTIONS = {'revision': 1, 'functions': [{'name': 'add', 'plugin': 'P', 'trigger': 'callable', 'version': 1}]}


class Proxy(LocalServer):
    """Answers one request on each connection, and holds the connection until it is closed."""

    def __init__(self, version, fields):
        self.is_over, self.requests = threading.Event(), []
        proxy = self

        class Exchange(Handler):
            protocol_version = version

            def do_GET(self):
                proxy.requests.append((self.path, self.client_address))
                self.rfile.read(int(self.headers.get('Content-Length') or 0))
                body = json.dumps(FUNCTIONS if self.path == '/_/api/functions' else {'result': 3}).encode()
                self.send_response(200)
                for name, value in {'Content-Length': len(body), **fields}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()
                self.close_connection = True
                proxy.is_over.wait(60)

            do_POST = do_GET

        super().__init__(Exchange)

    def close(self):
        self.is_over.set()
        super().close()


@pytest.mark.parametrize('version, fields', [('HTTP/1.0', {}), ('HTTP/1.1', {'Connection': 'x, Close'})])
def test_a_connection_that_ends_with_its_answer_is_not_used_again(version, fields, tmp_path):
    with Proxy(version, fields) as proxy:
        assert Commands(None, tmp_path / 'here', url=proxy.url).succeeds('functions:call', 'add', '[1, 2]', seconds=20) == '3\n'
        assert [path for path, _ in proxy.requests] == ['/_/api/functions', '/add']
        assert len({address for _, address in proxy.requests}) == 2
