"""The service `http`: functions send requests to servers that answer well, wrongly, slowly, endlessly, with redirects and with bombs."""

import json
import re
import socket
import ssl

import pytest

from certificates import make_certificate
from local_server import LocalServer
from origin_server import Origin, base, fetch, forget, servers, started  # noqa: F401
from processes import until


def test_answers_with_their_headers(base, servers):
    answer = fetch(base, servers[0].url)
    assert (answer['status'], answer['body'], answer['url'], answer['attempts']) == (200, 'hello', servers[0].url + '/', 1)
    assert [value for name, value in answer['headers'] if name == 'x-twice'] == ['a', 'b']
    assert fetch(base, servers[0].url + '/status/404')['status'] == 404


def test_methods_bodies_and_headers_arrive(base, servers):
    fetch(base, servers[0].url, method='POST', body='{"a":1}', headers={'Content-Type': 'application/json', 'X-Key': 'k'})
    [request] = Origin.received
    assert (request['method'], request['body']) == ('POST', '{"a":1}')
    assert request['headers']['content-type'] == 'application/json' and request['headers']['x-key'] == 'k'
    assert fetch(base, servers[0].url, method='HEAD')['body'] == ''
    assert fetch(base, servers[0].url + '/announces', method='HEAD')['status'] == 200


def test_the_trace_of_the_call_is_passed_on(base, servers):
    trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    fetch_headers = [('traceparent', trace), ('tracestate', 'a=b')]
    base.callable('fetches', {'url': servers[0].url}, headers=fetch_headers)
    base.callable('fetches', {'url': servers[0].url, 'headers': {'traceparent': 'own'}}, headers=fetch_headers)
    first, second = Origin.received
    assert first['headers']['traceparent'].split('-')[1] == trace.split('-')[1]
    assert first['headers']['tracestate'] == 'a=b'
    assert second['headers']['traceparent'] == 'own'


def test_connections_are_kept(base, servers):
    for _ in range(5):
        fetch(base, servers[0].url)
    assert len(Origin.connections) == 1


@pytest.mark.parametrize('path, reason', [
    ('bomb', 'too-large'), ('endless', 'too-large'), ('announces', 'too-large'), ('head', 'too-large'), ('broken', 'interrupted'),
    ('nonsense', 'interrupted')])
def test_bad_answers(base, servers, path, reason):
    assert fetch(base, f'{servers[0].url}/{path}')['error'] == reason
    # The worker is as well as before.
    assert fetch(base, servers[0].url)['body'] == 'hello'


def test_the_limit_counts_what_was_decompressed(base, servers):
    answer = fetch(base, servers[0].url + '/zipped/200000')
    assert len(answer['body']) == 200_000
    names = [name for name, _ in answer['headers']]
    assert 'x-sent' in names and 'content-encoding' not in names and 'content-length' not in names
    assert fetch(base, servers[0].url + '/zipped/200001')['error'] == 'too-large'
    assert fetch(base, servers[0].url + '/zipped/500', responseBytesMax=499)['error'] == 'too-large'
    # A function that asks for a compressed answer itself gets it as it was sent.
    assert ['content-encoding', 'gzip'] in fetch(base, servers[0].url + '/zipped/100', headers={'Accept-Encoding': 'gzip'})['headers']


def test_timeouts(base, servers):
    # The library is open, so the time is that of the request.
    fetch(base, servers[0].url)
    assert fetch(base, servers[0].url + '/drips', timeoutSeconds=1.5)['error'] == 'timeout'
    assert Origin.gone.wait(10)


def test_the_deadline_of_the_call_ends_the_request(base, servers):
    answer = base.callable('fetchesBriefly', {'url': servers[0].url + '/drips', 'timeoutSeconds': 600})
    # The request and the call have the same deadline: either may be the first to notice.
    assert answer.status == 504 or answer.json['result']['error'] == 'timeout'
    assert Origin.gone.wait(10)


def test_a_client_that_leaves_ends_the_request(base, servers):
    with base.wire() as wire:
        wire.send(b'POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' % (
            base.path('fetches').encode(), len(body := json.dumps({'data': {'url': servers[0].url + '/drips'}}).encode()), body))
        until(lambda: Origin.received, 'the server has the request')
    assert Origin.gone.wait(10)


def test_a_cancelled_task_ends_the_request(base, servers):
    fetch(base, servers[0].url)
    assert fetch(base, servers[0].url + '/drips', cancelAfterSeconds=1)['error'] == 'cancelled'
    assert Origin.gone.wait(10)


def test_retries(base, servers):
    answer = fetch(base, servers[0].url + '/flaky/a/2', retries=3)
    assert (answer['body'], answer['attempts']) == ('at last', 3)
    assert fetch(base, servers[0].url + '/flaky/b/2', retries=1)['status'] == 503
    # A server that asks for a pause gets it.
    assert fetch(base, servers[0].url + '/flaky/c/1/1', retries=1)['body'] == 'at last'
    first, second = Origin.tries['c']
    assert second - first >= 1
    # A pause that is longer than the time that is left is not begun.
    assert fetch(base, servers[0].url + '/flaky/d/1/3600', retries=1)['status'] == 503
    assert len(Origin.tries['d']) == 1
    # POST may have had an effect.
    assert fetch(base, servers[0].url + '/flaky/e/1', method='POST', body='', retries=3)['status'] == 503
    assert len(Origin.tries['e']) == 1


def test_a_server_that_is_not_there(base):
    # A port on which nobody listens, and which no other program gets meanwhile.
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        answer = fetch(base, f'http://127.0.0.1:{taken.getsockname()[1]}/', retries=2)
    assert answer['error'] == 'unreachable'


def test_redirects(base, servers):
    first, _ = servers
    headers = {'Authorization': 'Bearer s', 'Cookie': 'c=1', 'X-Api-Key': 'k', 'Accept': 'text/plain'}
    assert fetch(base, first.url + '/to/302//hello', headers=headers)['url'] == first.url + '/hello'
    sent = Origin.received[-1]['headers']
    assert (sent['authorization'], sent['cookie'], sent['x-api-key']) == ('Bearer s', 'c=1', 'k')


def test_redirects_to_another_origin_drop_secrets(base, servers):
    first, second = servers
    headers = {'Authorization': 'Bearer s', 'Cookie': 'c=1', 'X-Api-Key': 'k', 'Accept': 'text/plain'}
    answer = fetch(base, f'{first.url}/to/302/{second.url}/hello', headers=headers)
    assert (answer['body'], answer['url']) == ('hello', second.url + '/hello')
    assert Origin.received[0]['headers']['x-api-key'] == 'k'
    sent = Origin.received[1]['headers']
    assert not {'authorization', 'cookie', 'x-api-key'} & set(sent) and sent['accept'] == 'text/plain'


@pytest.mark.parametrize('status, method, then', [
    (301, 'POST', 'GET'), (302, 'POST', 'GET'), (303, 'PUT', 'GET'), (307, 'POST', 'POST'), (308, 'PUT', 'PUT'), (303, 'HEAD', 'HEAD')])
def test_methods_after_redirects(base, servers, status, method, then):
    fetch(base, f'{servers[0].url}/to/{status}//hello', method=method, body=None if method == 'HEAD' else 'data')
    assert [request['method'] for request in Origin.received] == [method, then]
    assert Origin.received[1]['body'] == ('data' if then in ('POST', 'PUT') else '')


def test_redirects_are_limited(base, servers):
    assert fetch(base, servers[0].url + '/to/302//to/302//hello', redirects=1)['error'] == 'redirect'
    assert fetch(base, servers[0].url + '/to/302//hello', redirects=0)['status'] == 302
    for target in ('file:///etc/passwd', 'gopher://127.0.0.1/', 'http://user:pw@127.0.0.1/'):
        assert fetch(base, f'{servers[0].url}/to/302/{target}')['error'] == 'redirect'


@pytest.mark.parametrize('url', ['ftp://127.0.0.1/', 'file:///etc/passwd', '//127.0.0.1/', 'hello', 'http://', 'http://a b/', 'http://u:p@127.0.0.1/',
                                 'http://127.0.0.1:99999/'])
def test_invalid_addresses(base, url):
    assert fetch(base, url)['error'] == 'invalid-request'


@pytest.mark.parametrize('options', [
    {'headers': {'Host': 'other'}}, {'headers': {'Content-Length': '5'}}, {'headers': {'Transfer-Encoding': 'chunked'}},
    {'headers': {'X-A': 'a\r\nX-B: b'}}, {'headers': {'X A': 'a'}}, {'method': 'GET /'}, {'retries': 11}, {'redirects': 21}, {'retries': -1}])
def test_invalid_requests(base, servers, options):
    assert fetch(base, servers[0].url, **options)['error'] == 'invalid-request'
    assert Origin.received == []


def test_calls_wait_for_their_turn(prepare, servers):
    host = started(prepare, ['127.0.0.1'], http={'concurrentCalls': 2})
    assert fetch(host, servers[0].url, times=20)['statuses'] == [200] * 20
    assert len(Origin.connections) <= 2
    # More than may wait.
    answer = fetch(host, servers[0].url + '/drips', times=300, timeoutSeconds=1)
    assert answer['errors'].count('busy') == 300 - 258 and answer['errors'].count('timeout') == 258


def test_certificates_are_verified(prepare, tmp_path):
    make_certificate(tmp_path)
    with LocalServer(Origin) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / 'cert.pem', tmp_path / 'key.pem')
        server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
        url = f'https://localhost:{server.port}'
        host = started(prepare, ['localhost'])
        assert fetch(host, url)['error'] == 'tls'
        host.stop()
        host.write_config(['Effects'], {'functions': {'fetches': {'allowedHosts': ['localhost']}},
                                            'http': {'certificateAuthority': str(tmp_path / 'cert.pem')}})
        host.start()
        assert fetch(host, url)['body'] == 'hello'
        # Nothing leads from https: to http:.
        assert fetch(host, f'{url}/to/302/http://localhost:{server.port}/')['error'] == 'redirect'


def test_secrets_are_not_logged(base, servers):
    fetch(base, servers[0].url + '/broken?key=SECRET1', headers={'Authorization': 'Bearer SECRET2'}, body='SECRET3', method='POST')
    fetch(base, 'http://10.0.0.1/?key=SECRET1', headers={'X-Key': 'SECRET2'})
    assert not re.search('SECRET', base.log)
