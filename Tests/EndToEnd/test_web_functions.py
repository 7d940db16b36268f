"""Plain HTTP functions with routes, middlewares and forms, called as browsers and curl do."""

import json
import subprocess

import pytest

from hearth import Host


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('web'), ['Conformance']).start()
    yield host
    host.stop()


def curl(host, path, *arguments):
    """Status and body of an answer."""
    url = f'http://127.0.0.1:{host.port}{host.path("web")}{path}'
    output = subprocess.run(['curl', '-sS', '--max-time', '20', '-w', '\n%{http_code}', *arguments, url], capture_output=True, check=True).stdout
    body, _, status = output.rpartition(b'\n')
    return int(status), body


def test_parameters(host):
    assert curl(host, '/rooms/a%2Fb') == (200, b'{"room":"a/b"}')
    assert curl(host, '/files/a/b.txt') == (200, b'a/b.txt')


def test_what_no_route_answers(host):
    status, body = curl(host, '/nowhere')
    assert status == 404 and 'There is no route for /nowhere' in body.decode()
    answer = host.request('PUT', host.path('web') + '/rooms/a')
    assert answer.status == 405 and answer.header('allow') == 'GET, HEAD, OPTIONS'
    assert answer.header('x-content-type-options') == 'nosniff'
    head = host.request('HEAD', host.path('web') + '/rooms/a')
    assert (head.status, head.body) == (200, b'')
    assert curl(host, '/files/%2e%2e/x')[0] == 400


def test_a_form_with_a_large_file(host, tmp_path):
    content = bytes(range(256)) * 4000
    file = tmp_path / 'cat.png'
    file.write_bytes(content)
    status, body = curl(host, '/rooms/blue/photos', '-F', 'title=Grüße', '-F', f'photo=@{file};type=image/png')
    assert status == 201
    assert json.loads(body) == {'room': 'blue', 'title': 'Grüße', 'file': 'cat.png', 'bytes': len(content), 'sum': sum(content)}


def test_forms_that_are_refused(host):
    assert curl(host, '/rooms/blue/photos', '-F', 'title=x')[0] == 400
    status, body = curl(host, '/rooms/blue/photos', '-H', 'Content-Type: multipart/form-data; boundary=b', '--data-binary', '--b\r\n\r\nx')
    assert status == 400 and 'ends within part 1' in body.decode()
    status, body = curl(host, '/rooms/blue/photos', '-H', 'Content-Type: text/plain', '--data-binary', 'x')
    assert status == 400 and 'The body is text/plain' in body.decode()


def test_tokens(host):
    assert curl(host, '/admin/rooms/blue', '-X', 'DELETE')[0] == 401
    assert curl(host, '/admin/rooms/blue', '-X', 'DELETE', '-H', 'Authorization: Bearer open sesame')[0] == 204


def test_the_log_has_a_line_for_each_request(host):
    curl(host, '/rooms/logged')
    host.until_logged('GET /rooms/logged')
