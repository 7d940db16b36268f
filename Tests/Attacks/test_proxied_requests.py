"""A proxy on the host's machine makes every client look local. The host does not take forwarded requests for local ones, and a client cannot
claim an address in a header."""

import contextlib

import pytest

from processes import until

NAME = 'echo'
FORWARDED = [{'X-Forwarded-For': '203.0.113.9'}, {'X-Forwarded-For': '127.0.0.1'}, {'Via': '1.1 proxy'}, {'Forwarded': 'for=127.0.0.1'},
             {'X-Real-IP': '10.0.0.1'}, {'X-Forwarded-Proto': 'https'}]


def internal(launch, **server):
    return launch(['Faults'], config={'functions': {'httpEcho': {'ingressSettings': 'ALLOW_INTERNAL_ONLY'}}, 'server': server})


def status(host, headers):
    return host.request('GET', host.path('httpEcho'), headers).status


def metrics(host, headers):
    return host.request('GET', '/_/metrics', headers).status


def test_what_a_proxy_sends_on_is_not_local(launch):
    host = internal(launch)
    assert (status(host, {}), metrics(host, {})) == (200, 200)
    for headers in FORWARDED:
        assert (status(host, headers), metrics(host, headers)) == (403, 401), headers


def test_a_trusted_proxy_names_the_client(launch):
    host = internal(launch, trustedProxies=['127.0.0.1', '10.9.0.0/16'])

    def found(*values):
        return status(host, [('X-Forwarded-For', value) for value in values])
    assert status(host, {}) == 403, 'it names no client'
    assert metrics(host, {}) == 401
    assert found('192.168.1.5') == 200
    assert found('203.0.113.9') == 403
    assert found('192.168.1.5, 203.0.113.9') == 403, 'what the client wrote itself does not count'
    assert found('203.0.113.9, 192.168.1.5') == 200
    assert found('192.168.1.5', '203.0.113.9') == 403
    assert found('203.0.113.9', '192.168.1.5, 10.9.1.1') == 200, 'proxies one behind the other'
    assert found('203.0.113.9, 10.9.1.1:4711') == 403
    for nonsense in ('', 'unknown', '192.168.1.5, ', '192.168.1.5.', 'localhost', '[::1'):
        assert found(nonsense) == 403, nonsense
    assert metrics(host, {'X-Forwarded-For': '127.0.0.1'}) == 200
    assert metrics(host, {'X-Forwarded-For': '192.168.1.5'}) == 401


FOREIGN = [{'Origin': 'http://evil.example'}, {'Origin': 'null'}, {'Origin': 'https://203.0.113.9'}, {'Sec-Fetch-Site': 'cross-site'}]
OWN = [{}, {'Origin': 'http://localhost:3000'}, {'Origin': 'http://192.168.1.9'}, {'Sec-Fetch-Site': 'same-origin'}]


def test_pages_of_other_sites_are_not_local(launch):
    """A browser of this machine, or of its network, shows pages of everybody."""
    host = internal(launch)
    for headers in OWN:
        assert (status(host, headers), metrics(host, headers)) == (200, 200), headers
    for headers in FOREIGN:
        assert (status(host, headers), metrics(host, headers)) == (403, 401), headers

    def rebound(path):
        with host.wire() as wire:
            return wire.request('GET', path, host='evil.example:5001').status
    assert (rebound(host.path('httpEcho')), rebound('/_/metrics')) == (403, 401)


def test_pages_that_a_function_names_reach_it(launch):
    """An origin that its `cors` lists is none of strangers; one that it echoes is."""
    settings = {'ingressSettings': 'ALLOW_INTERNAL_ONLY', 'cors': ['https://app.example', 'https://other.example']}
    host = launch(['Faults'], config={'functions': {'httpEcho': settings}})
    assert status(host, {'Origin': 'https://app.example'}) == 200
    assert status(host, {'Origin': 'https://evil.example'}) == 403


def test_a_client_behind_a_proxy_has_a_share_of_its_own(launch):
    """Unfinished bodies of one client leave memory for the bodies of the others."""
    config = {'server': {'trustedProxies': ['127.0.0.1'], 'memoryBytes': 64 << 20}}
    host = launch(['Conformance'], mode='development', config=config)

    def echo(client):
        return host.callable('echo', 'x' * 200_000, headers={'X-Forwarded-For': client}).status
    wires = []
    for _ in range(6):
        wires.append(host.wire())
        head = f'POST {host.path("echo")} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.5\r\nContent-Type: application/json\r\n'
        wires[-1].send(f'{head}Content-Length: 9000000\r\n\r\n'.encode())
        with contextlib.suppress(OSError):
            wires[-1].send(b'{"data":"' + b'x' * 4_500_000)
    until(lambda: echo('203.0.113.5') == 429, 'it has all that it may have')
    assert echo('198.51.100.7') == 200
    for wire in wires:
        wire.close()


@pytest.mark.parametrize('network', ['10.0.0.0/33', '1.2.3', '::/129', 'fd00::::/8'])
def test_a_network_that_is_none_stops_the_start(prepare, network):
    host = prepare([], config={'server': {'trustedProxies': [network]}}).spawn()
    assert host.process.wait(30) == 1
    assert f'server.trustedProxies: {network} is no address' in host.log
    host.process = None
