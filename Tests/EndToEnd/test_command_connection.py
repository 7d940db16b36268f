"""The connection of the command line to a host, or to what stands before one."""

import json
import threading

import pytest

from commands import Commands
from local_server import Handler, LocalServer
from secure_host import TLS, Secure

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


def test_a_host_of_another_folder_on_this_machine(launch, tmp_path):
    """The token of the folder is another host's. One in development mode needs none."""
    host = launch({}, mode='development')
    here = tmp_path / 'here'
    hearth = Commands(None, here, url=f'http://127.0.0.1:{host.port}')
    (here / '.hearth').mkdir()
    (here / '.hearth/admin-token').write_text('of-another-host\n')
    assert hearth.result('functions:list')['functions'] == []
    # A body that comes from a pipe cannot be sent twice.
    hearth.succeeds('database:set', '/a', '--force', given='{"b": 1}')
    assert hearth.succeeds('database:get', '/a') == '{"b":1}\n'
    for given in ({'HEARTH_TOKEN': 'of-another-host'}, {'HEARTH_DATA': str(here / '.hearth')}):
        assert 'the token is not this host' in hearth.run('functions:list', **given).sentence


def test_a_missing_token_is_said_to_be_missing(launch, tmp_path):
    host = launch({})
    hearth = Commands(None, tmp_path / 'here', url=f'http://127.0.0.1:{host.port}')
    for said in (hearth.run('functions:list').sentence, hearth.run('auth:list').sentence):
        assert "no administrator's token was given, and none is in .hearth" in said and 'HEARTH_TOKEN' in said
    assert 'the token is not this host' in hearth.run('functions:list', '--token', 'wrong').sentence


def test_a_host_in_production_takes_no_other_token(launch, tmp_path):
    host = launch({})
    here = tmp_path / 'here'
    hearth = Commands(None, here, url=f'http://127.0.0.1:{host.port}')
    (here / '.hearth').mkdir()
    (here / '.hearth/admin-token').write_text('of-another-host\n')
    assert 'the token is not this host' in hearth.run('functions:list').sentence
    (here / '.hearth/admin-token').write_text((host.data / 'admin-token').read_text())
    assert hearth.result('functions:list')['functions'] == []


def test_http_to_a_port_with_tls(prepare, tmp_path):
    host = Secure(prepare(config=TLS)).start().host
    hearth = Commands(host, tmp_path / 'here')
    sentence = hearth.run('functions:list').sentence
    assert sentence == (f'the host at http://127.0.0.1:{host.port} answered with status 400: '
                        'this port speaks TLS only; use https:// in the address')


def test_a_file_of_authorities_that_is_not_there(prepare, tmp_path):
    host = Secure(prepare(config=TLS)).start().host
    hearth = Commands(host, tmp_path / 'here', url=f'https://127.0.0.1:{host.port}')
    assert 'none.pem cannot be read: no such file or directory' in hearth.run('functions:list', '--ca-file', 'none.pem').sentence
    (hearth.folder / 'empty.pem').write_text('')
    assert 'empty.pem cannot be read as certificates in PEM' in hearth.run('functions:list', '--ca-file', 'empty.pem').sentence
