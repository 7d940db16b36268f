"""The hosts that functions may send requests to: what is denied by default, lists, redirects, names, the proxy of the environment."""

import socket

import pytest

from origin_server import Origin, base, fetch, forget, servers, started  # noqa: F401


@pytest.mark.parametrize('target', ['http://[::1]:9/', 'http://169.254.169.254/latest', 'http://10.0.0.1/', 'http://0.0.0.0/', 'http://2130706434/',
                                    'http://0x7f.2/', 'http://[::ffff:127.0.0.2]/'])
def test_redirects_to_other_places_are_denied(base, servers, target):
    answer = fetch(base, f'{servers[0].url}/to/302/{target}')
    assert answer['error'] == 'denied', answer


def test_private_addresses_are_denied_by_default(prepare, servers):
    host = started(prepare)
    port = servers[0].port
    for url in (servers[0].url, f'http://localhost:{port}/', f'http://[::1]:{port}/', f'http://[::ffff:127.0.0.1]:{port}/', 'http://0/',
                f'http://127.1:{port}/', f'http://0177.0.0.1:{port}/',
                'http://169.254.169.254/latest/meta-data', 'http://168.63.129.16/',
                'http://100.64.0.1/', 'http://192.168.0.1/', 'http://172.16.0.1/'):
        assert fetch(host, url)['error'] == 'denied', url
    assert Origin.received == []


def test_names_do_not_open_private_addresses(prepare, servers):
    """localhost.localdomain and the like resolve to this machine: a name alone admits public addresses only."""
    port = servers[0].port
    name = socket.gethostname()
    (host := started(prepare, [name, f'*.{name}', '*']))
    assert fetch(host, f'http://{name}:{port}/')['error'] in ('denied', 'unreachable')
    assert fetch(host, f'http://localhost:{port}/')['error'] == 'denied'
    assert Origin.received == []


def test_lists_of_hosts(prepare, servers):
    first, second = servers
    host = started(prepare, [f'127.0.0.1:{first.port}'])
    assert fetch(host, first.url)['status'] == 200
    assert fetch(host, second.url)['error'] == 'denied'
    assert fetch(host, f'http://localhost:{first.port}/')['status'] == 200
    assert fetch(host, 'http://example.com/')['error'] == 'denied'
    assert fetch(host, f'{first.url}/to/302/{second.url}/')['error'] == 'denied'


def test_no_host_is_allowed(prepare, servers):
    host = started(prepare, [])
    assert fetch(host, servers[0].url)['error'] == 'denied'
    assert fetch(host, 'http://example.com/')['error'] == 'denied'


def test_the_list_for_all_functions_is_the_limit(prepare, servers):
    first, second = servers
    host = started(prepare, ['127.0.0.0/8'], http={'allowedHosts': [f'127.0.0.1:{second.port}']})
    assert fetch(host, first.url)['error'] == 'denied'
    assert fetch(host, second.url)['status'] == 200


def test_the_option_in_code(prepare, servers):
    """`fetchesHere` names localhost in its options; functions.json goes first."""
    host = started(prepare)
    assert fetch(host, servers[0].url.replace('127.0.0.1', 'localhost'), 'fetchesHere')['status'] == 200
    assert fetch(host, servers[0].url, 'fetchesHere')['error'] == 'denied'


def test_the_proxy_of_the_environment_is_not_used(prepare, servers):
    first, second = servers
    host = started(prepare, ['127.0.0.1'])
    host.stop()
    (host.folder / '.env').write_text(f'http_proxy={second.url}\nHTTP_PROXY={second.url}\nall_proxy={second.url}\n')
    host.start()
    assert fetch(host, first.url)['body'] == 'hello'
    assert [request['path'] for request in Origin.received] == ['/']


def test_a_plugin_inside_the_host(prepare, servers):
    host = started(prepare, ['127.0.0.1'], plugins={'Effects': {'isolation': 'none'}})
    assert fetch(host, servers[0].url)['body'] == 'hello'
    assert fetch(host, 'http://10.0.0.1/')['error'] == 'denied'
