"""HTTP/2 for every kind of request, with curl as a client that others have written, and frame by frame."""

import asyncio
import gzip
import json
import subprocess

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from certificates import trusting
from databases import OPEN_RULES, OWNER, Database
from hearth import Host, callable_headers
from http2 import DATA, END_HEADERS, END_STREAM, GOAWAY, NO_ERROR, REFUSED_STREAM, Frames
from processes import until
from secure_host import TLS, Secure
from tokens import PROJECT
from upgrading import Upgradable
from wire import event_values

PRIOR = '--http2-prior-knowledge'


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('http2'), ['Conformance', 'Faults', 'probe'], mode='development').start()
    host.result('pid')
    yield host
    host.stop()


@pytest.fixture
def client(host):
    with Frames(host.port) as client:
        yield client


@pytest.fixture
def database(host):
    with Database(host, 'http2') as database:
        database.use_rules(OPEN_RULES)
        yield database


def curl(host, path, *options, scheme='http'):
    """The body of an answer, and the version, status and connections that curl tells."""
    done = subprocess.run(['curl', '-sS', '-m', '30', '-w', '\n%{http_version} %{http_code} %{num_connects}', *options,
                           f'{scheme}://127.0.0.1:{host.port}{path}'], capture_output=True, timeout=40, check=False)
    assert done.returncode == 0, done.stderr
    body, _, told = done.stdout.rpartition(b'\n')
    version, status, _ = told.decode().split()
    return version, int(status), body


JSON = ['-H', 'Content-Type: application/json']


# -- curl

def test_a_call_with_prior_knowledge(host):
    assert curl(host, host.path('echo'), PRIOR, *JSON, '-d', '{"data":"x"}') == ('2', 200, b'{"result":"x"}')


def test_http1_on_the_same_port(host):
    assert curl(host, host.path('echo'), *JSON, '-d', '{"data":"x"}') == ('1.1', 200, b'{"result":"x"}')


def test_an_offer_to_upgrade_is_left_alone(host):
    """The upgrade from HTTP/1.1 is gone from RFC 9113."""
    assert curl(host, host.path('echo'), '--http2', *JSON, '-d', '{"data":"x"}') == ('1.1', 200, b'{"result":"x"}')


def test_tls(prepare):
    secure = Secure(prepare(config=TLS)).start()
    call = [*JSON, '-k', '-d', '{"data":"x"}']
    assert curl(secure.host, secure.host.path('echo'), '--http2', *call, scheme='https') == ('2', 200, b'{"result":"x"}')
    assert curl(secure.host, secure.host.path('echo'), '--http1.1', *call, scheme='https') == ('1.1', 200, b'{"result":"x"}')
    text = 'x' * 3_000_000
    (secure.folder / 'body').write_text(json.dumps({'data': text}))
    version, _, body = curl(secure.host, secure.host.path('echo'), '--http2', *JSON, '-k', '-d', f'@{secure.folder}/body', scheme='https')
    assert (version, json.loads(body)) == ('2', {'result': text})
    # The agreement of the handshake holds.
    with Frames(secure.host.port, tls=trusting(secure.folder, ['http/1.1'])) as client:
        assert client.socket.recv(100).startswith(b'HTTP/1.1 505')
    with Frames(secure.host.port, tls=trusting(secure.folder, ['h2']), preface=b'') as client:
        client.raw(b'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
        assert client.ending() == 1


def test_a_client_of_python(prepare):
    """httpx, with the frames of h2: another implementation on the other side."""
    secure = Secure(prepare(config=TLS)).start()

    async def answers_of_many():
        async with httpx.AsyncClient(http2=True, verify=trusting(secure.folder), timeout=30) as client:
            address = f'https://localhost:{secure.host.port}{secure.host.path("echo")}'
            return await asyncio.gather(*(client.post(address, json={'data': number}) for number in range(200)))

    answers = asyncio.run(answers_of_many())
    assert {answer.http_version for answer in answers} == {'HTTP/2'}
    assert [answer.json() for answer in answers] == [{'result': number} for number in range(200)]


def test_it_can_be_turned_off(prepare):
    secure = Secure(prepare(config={**TLS, 'server': {**TLS['server'], 'http2': {'enabled': False}}})).start()
    assert curl(secure.host, '/_/health', '--http2', '-k', scheme='https')[:2] == ('1.1', 200)


def test_without_it_the_preface_is_refused(launch):
    host = launch(config={'server': {'http2': {'enabled': False}}})
    with Frames(host.port) as client:
        assert client.socket.recv(100).startswith(b'HTTP/1.1 505')


def test_limits_of_the_configuration_are_announced(launch):
    host = launch(config={'server': {'http2': {'streamsMax': 7, 'windowBytes': 70000}}})
    with Frames(host.port) as client:
        client.until(lambda: client.remote_settings is not None)
        assert (client.remote_settings[3], client.remote_settings[4]) == (7, 70000)


# -- each kind of request

def test_many_calls_on_one_connection(host, client):
    streams = [client.call(host, 'echo', number) for number in range(100)]
    assert [client.answer(stream).json for stream in streams] == [{'result': number} for number in range(100)]


def test_a_slow_call_does_not_hold_up_others(host, client):
    slow = client.call(host, 'late', {'milliseconds': 2000})
    assert client.result(host, 'echo', 1) == 1
    assert slow not in client.answers or not client.answers[slow].headers
    assert client.answer(slow).status == 200


def test_errors_are_those_of_the_protocol(host, client):
    answer = client.answer(client.call(host, 'throwsError', {'code': 'not-found', 'message': 'gone'}))
    assert answer.status == 404
    assert answer.json['error']['status'] == 'NOT_FOUND'
    assert client.request('GET', host.path('missing')).status == 404


def test_headers_are_in_lower_case(host, client):
    answer = client.answer(client.call(host, 'echo', 1, headers=[('origin', 'https://a.example')]))
    assert all(name == name.lower() for name, _ in answer.headers)
    assert answer.header('access-control-allow-origin') == 'https://a.example'
    assert answer.header('content-length') == str(len(answer.body))
    assert answer.header('date')
    assert not {name for name, _ in answer.headers} & {'connection', 'transfer-encoding', 'keep-alive'}


def test_a_preflight(host, client):
    answer = client.request('OPTIONS', host.path('echo'), [('origin', 'https://a.example'), ('access-control-request-method', 'POST')])
    assert (answer.status, answer.body) == (204, b'')
    assert answer.header('access-control-allow-origin') == 'https://a.example'


def test_http_functions(host, client):
    answer = client.request('PUT', host.path('httpEcho') + '/a/b?x=1', [('x-extra', 'y'), ('content-type', 'text/plain')], b'hello')
    seen = answer.json
    assert (seen['method'], seen['path'], seen['query']) == ('PUT', '/a/b', 'x=1')
    head = client.request('HEAD', host.path('httpEcho'))
    assert (head.status, head.body, head.is_ended) == (200, b'', True)


def test_streaming_callables(host, client):
    stream = client.call(host, 'streamsCountdown', {'from': 300}, headers=[('accept', 'text/event-stream')])
    answer = client.answer(stream)
    assert answer.header('content-type') == 'text/event-stream; charset=utf-8'
    assert event_values(answer.body) == [*({'message': {'n': n}} for n in range(300, 0, -1)), {'result': 'liftoff'}]


def test_chunks_come_when_they_are_sent(host, client):
    stream = client.call(host, 'stream', {'count': 3, 'bytes': 10, 'milliseconds': 600}, headers=[('accept', 'text/event-stream')])
    answer = client.head(stream)
    client.until(lambda: answer.body.count(b'\n\n') >= 1)
    assert not answer.is_ended
    assert answer.body.count(b'\n\n') < 3
    assert len(event_values(client.answer(stream).body)) == 4


def test_a_client_that_leaves_cancels_its_call(host, client):
    stream = client.call(host, 'waits')
    until(lambda: host.result('open') == 2, 'the call runs')
    client.send(3, 0, stream, bytes([0, 0, 0, 8]))
    host.until_logged('saw cancellation')
    until(lambda: host.result('open') == 1, 'the call was cancelled')
    assert client.result(host, 'echo', 1) == 1


def test_rest_and_event_streams(host, database, client):
    assert client.request('PUT', database.target('/a.json'), OWNER, b'{"b":1}').json == {'b': 1}
    stream = client.start('GET', database.target('/a.json'), [*dict(OWNER).items(), ('accept', 'text/event-stream')])
    answer = client.head(stream)
    assert (answer.status, answer.header('content-type')) == (200, 'text/event-stream; charset=utf-8')
    client.until(lambda: b'"b":1' in answer.body)
    assert client.request('PUT', database.target('/a/c.json'), OWNER, b'2').json == 2
    client.until(lambda: b'"path":"/c","data":2' in answer.body)
    assert not answer.is_ended
    client.send(3, 0, stream, bytes([0, 0, 0, 8]))
    assert client.request('GET', database.target('/a.json'), OWNER).json == {'b': 1, 'c': 2}


def test_large_bodies_in_both_directions(host, database, client):
    value = {f'k{number:04}': 'x' * 1000 for number in range(3000)}
    stream = client.open(client.fields('PUT', database.target('/large.json', [('print', 'silent')]), OWNER), END_HEADERS)
    client.upload(stream, json.dumps(value).encode())
    assert client.answer(stream).status == 204
    assert client.request('GET', database.target('/large.json'), OWNER).json == value


def test_compressed_bodies(host, client):
    body = gzip.compress(b'{"data":"%s"}' % (b'x' * 100_000))
    answer = client.request('POST', host.path('echo'), [*callable_headers(), ('content-encoding', 'gzip')], body)
    assert answer.status == 200
    assert client.request('POST', host.path('echo'), [*callable_headers(), ('content-encoding', 'br')], body).status == 415
    assert client.request('POST', host.path('echo'), [*callable_headers(), ('content-encoding', 'gzip')], b'nonsense').status == 400


def test_sends_in_a_batch(host, client):
    """The Admin SDK for Node sends each message of a batch on a stream of one connection."""
    streams = [client.start('POST', f'/v1/projects/{PROJECT}/messages:send', [('authorization', 'Bearer owner')],
                            json.dumps({'message': {'topic': f't{number}', 'data': {'a': 'b'}}}).encode()) for number in range(50)]
    names = {client.answer(stream).json['name'] for stream in streams}
    assert len(names) == 50


def test_live_connections_stay_with_http1(host, client):
    answer = client.request('GET', '/.ws?v=5&ns=http2', [('sec-websocket-version', '13'), ('sec-websocket-key', 'AAAAAAAAAAAAAAAAAAAAAA==')])
    assert answer.status == 426


def test_pages_of_the_host(host, client):
    assert client.request('GET', '/_/health').json == {'status': 'ok'}
    assert client.request('GET', '/_/metrics').status == 200
    assert client.request('GET', '/_/api/functions').status in (200, 401)


# -- limits

def test_the_rest_of_an_answered_request_is_read(launch):
    """A small one, so that a client which does not read while it sends gets its answer; then the stream ends without a fault."""
    host = launch(config={'server': {'limits': {'bodyBytes': 1000}}})
    with Frames(host.port) as client:
        stream = client.open(client.fields('POST', host.path('echo'), callable_headers()), END_HEADERS)
        client.send(DATA, 0, stream, b'x' * 2000)
        answer = client.answer(stream)
        assert answer.status == 413 and answer.reset is None
        client.send(DATA, END_STREAM, stream, b'x' * 3000)
        assert client.result(host, 'echo', 1) == 1
        assert answer.reset is None
        # More than 64 KiB is too much.
        stream = client.open(client.fields('POST', host.path('echo'), callable_headers()), END_HEADERS)
        for _ in range(6):
            client.send(DATA, 0, stream, b'x' * 16_000)
        answer = client.answer(stream)
        client.until(lambda: answer.reset is not None)
        assert answer.status == 413 and answer.reset == NO_ERROR
        assert client.result(host, 'echo', 2) == 2



def test_limits_are_those_of_http1(launch):
    host = launch(config={'server': {'limits': {'headerBytes': 2048, 'bodyBytes': 1000}}})
    with Frames(host.port) as client:
        assert client.request('GET', '/_/health', [('x-long', 'x' * 3000)]).status == 431
        assert client.request('GET', '/' + 'x' * 1900).status == 404
        assert client.request('GET', '/_/health', [(f'x-{number}', '') for number in range(101)]).status == 431
        assert client.request('POST', host.path('echo'), callable_headers(), b'x' * 2000).status == 413
        # Its length is unknown: it is refused while it arrives, and the rest is not awaited.
        stream = client.open(client.fields('POST', host.path('echo'), callable_headers()), END_HEADERS)
        client.send(DATA, 0, stream, b'x' * 2000)
        answer = client.answer(stream)
        assert answer.status == 413
        client.until(lambda: answer.reset is not None)
        assert answer.reset == NO_ERROR
        assert client.result(host, 'echo', 1) == 1
    with Frames(launch().port) as client:
        assert client.request('GET', '/' + 'x' * 9000).status == 414


def test_connections_are_limited(launch):
    host = launch(config={'server': {'connectionsMax': 2}})
    until(lambda: value_of(host, 'hearth_http_connections_open') == 1, 'earlier connections are gone')
    with Frames(host.port) as first:
        until(lambda: first.request('GET', '/_/health').status == 200, 'the first is served')
        with Frames(host.port) as second, Frames(host.port) as third:
            assert second.request('GET', '/_/health').status == 200
            assert third.socket.recv(100).startswith(b'HTTP/1.1 503')


def test_an_idle_connection_is_ended_in_order(launch):
    host = launch(config={'server': {'limits': {'idleSeconds': 0.5, 'headerSeconds': 0.5}}})
    with Frames(host.port) as client:
        assert client.request('GET', '/_/health').status == 200
        assert client.ending() == NO_ERROR
        assert [one.last_stream for one in client.seen if one.type == GOAWAY] == [1]
    with Frames(host.port) as silent:
        assert silent.ending() == NO_ERROR


# -- the end of the host

def test_stopping(launch):
    host = launch(['probe'], config={'workers': {'drainSeconds': 20}})
    with Frames(host.port) as busy, Frames(host.port) as idle:
        busy.result(host, 'pid')
        idle.result(host, 'pid')
        slow = busy.call(host, 'sleep', {'milliseconds': 1500})
        busy.ping()
        host.begin_stop()
        assert idle.ending() == NO_ERROR
        busy.until(lambda: any(one.type == GOAWAY for one in busy.seen))
        # A request is served that the client has sent before it knew.
        late = busy.call(host, 'pid')
        assert busy.answer(slow).json == {'result': 'slept'}
        assert busy.answer(late).status in (200, 503) or busy.answers[late].reset == REFUSED_STREAM
        assert busy.ending() == NO_ERROR
    host.stop()


@pytest.mark.timeout(120)
def test_an_upgrade_of_the_host(tmp_path):
    host = Upgradable(tmp_path / 'upgrade', ['probe']).start()
    try:
        with Frames(host.port) as busy, Frames(host.port) as idle:
            busy.result(host, 'pid')
            idle.result(host, 'pid')
            slow = busy.call(host, 'sleep', {'milliseconds': 1000})
            busy.ping()
            assert host.upgrade().status == 200
            assert idle.ending() == NO_ERROR
            assert busy.answer(slow).json == {'result': 'slept'}
            assert busy.ending() == NO_ERROR
        with Frames(host.port) as client:
            assert client.result(host, 'pid')
    finally:
        host.stop()


# -- figures

def value_of(host, name):
    return next(float(line.split()[1]) for line in host.request('GET', '/_/metrics').text.splitlines() if line.startswith(f'{name} '))


def figures(host):
    text = host.request('GET', '/_/metrics').body.decode()
    return {(sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text) for sample in family.samples if family.name.startswith('hearth_http2')}


def test_metrics(launch):
    host = launch(['probe'], config={'server': {'loops': 2}})
    with Frames(host.port) as client:
        client.result(host, 'pid')
        stream = client.call(host, 'waits')
        client.ping()
        seen = figures(host)
        assert seen['hearth_http2_connections_open',] == seen['hearth_http2_connections_total',] == 1
        assert (seen['hearth_http2_streams_total',], seen['hearth_http2_streams_open',]) == (2, 1)
        client.send(3, 0, stream, bytes([0, 0, 0, 8]))
        client.ping()
        client.send(0, 0, 0, b'x')
        assert client.ending() == 1
    until(lambda: figures(host)['hearth_http2_connections_open',] == 0, 'the connection is gone')
    seen = figures(host)
    assert seen['hearth_http2_streams_open',] == 0
    assert seen['hearth_http2_resets_total', 'client'] == 1
    assert seen['hearth_http2_goaways_total', 'violation'] == 1
    assert 'http2' not in host.log.lower(), 'clients cannot fill the log'
