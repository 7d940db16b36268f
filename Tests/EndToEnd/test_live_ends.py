"""Ends of live connections that the host brings about: when it stops or is upgraded, and what its log and metrics say of them."""

import socket

import pytest

import processes
from databases import OPEN_RULES, OWNER, Database
from fixtures import own_database, shared_host
from live import Live, connect
from messaging import OWN, Messaging
from observing import metric
from polling import Polling
from processes import until
from tokens import PROJECT
from upgrading import Upgradable
from websocket import BINARY, CLOSE, TEXT, WebSocket

# Far more than a stop takes, and less than an open WebSocket has otherwise for its close frame.
STOP_SECONDS = 4.5


@pytest.fixture
def stopping(tmp_path):
    """A host with debug lines that the test stops."""
    host = Upgradable(tmp_path / 'host', [], mode='development', config={'logging': {'level': 'debug'}})
    host.start()
    yield host
    try:
        host.stop()
    finally:
        host.abandon()


host = shared_host(config={'logging': {'level': 'debug'}})
database = own_database()


def close_code(live):
    """The code of the host's close frame, and the control messages before it."""
    while True:
        opcode, payload = live.socket.frame()
        if opcode == CLOSE:
            return int.from_bytes(payload[:2], 'big')
        assert opcode == TEXT
        live.controls.append(payload.decode())


# -- stopping


def test_stopping_does_not_wait_for_a_client_that_does_not_answer(stopping):
    with Database(stopping, 'presence') as database:
        database.use_rules(OPEN_RULES)
        with connect(database) as live:
            live.do('o', p='/status', d='gone')
            stopping.stop(seconds=STOP_SECONDS)
            assert close_code(live) == 1000
        stopping.start()
        assert database.get('/status.json') == 'gone'


def test_stopping_does_not_wait_for_a_client_that_has_not_read(stopping):
    with Database(stopping, 'unread') as database:
        database.put('/.json', {'text': 'x' * 8_000_000})
        with connect(database, receive_buffer=4096) as live:
            live.own().request('q', p='/', h='')
            live.request('s', c={})
            until(lambda: metric(stopping, 'hearth_live_listens') == 1, 'the listen has begun')
            stopping.stop(seconds=STOP_SECONDS)


def test_stopping_does_not_wait_for_devices_that_do_not_answer(stopping):
    token = Messaging(stopping, PROJECT).register()['token']
    with WebSocket(stopping.port, f'{OWN}/connect', [('Authorization', f'Bearer {token}')], 'fcm-device.v1') as device:
        assert device.hear()['type'] == 'ready'
        stopping.stop(seconds=STOP_SECONDS)


def test_a_replaced_host_does_not_wait_for_a_client_that_does_not_answer(stopping):
    with Live(stopping.port, 'replaced') as live:
        assert stopping.upgrade().status == 200
        assert close_code(live) == 1000
        until(lambda: 'stand-in' in processes.command_line(stopping.pid), 'the first process stands in', STOP_SECONDS)


def accepts(port):
    try:
        socket.create_connection(('127.0.0.1', port), 5).close()
        return True
    except ConnectionRefusedError:
        return False


def test_a_host_that_has_taken_over_takes_no_connections_while_it_stops(stopping):
    assert stopping.upgrade().status == 200
    until(lambda: 'stand-in' in processes.command_line(stopping.pid), 'the first process stands in')
    serving = stopping.serving_pid()
    assert len(listening_sockets(stopping.port, serving)) == 1
    with stopping.wire() as wire, stopping.wire() as other:
        # A request that has begun keeps the host from ending.
        wire.send('PUT /a.json?ns=late HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer owner\r\nContent-Length: 4\r\n\r\ntr')
        assert other.request('GET', '/_/health').status == 200
        stopping.begin_stop()
        until(lambda: not accepts(stopping.port), 'connections are refused')
        assert listening_sockets(stopping.port, serving) == set()
        wire.send('ue')
        assert wire.response().status == 200
    stopping.stop()


def listening_sockets(port, pid):
    """The sockets on which a process listens at a port."""
    with open(f'/proc/{pid}/net/tcp', encoding='ascii') as table:
        rows = [line.split() for line in table][1:]
    wanted = {row[9] for row in rows if row[3] == '0A' and int(row[1].split(':')[1], 16) == port}
    return {target for target in processes.descriptors(pid).values() if any(target == f'socket:[{inode}]' for inode in wanted)}


# -- databases that cannot be used


@pytest.fixture
def production(launch):
    host = launch([], config={'database': {'namespaces': ['archive']}, 'logging': {'level': 'debug'}})
    host.admin = {'Authorization': f'Bearer {(host.data / "admin-token").read_text().strip()}'}
    return host


def test_a_listed_database_that_was_never_written_to_is_empty(production):
    with Database(production, 'archive') as archive, Live(production.port, 'archive') as live, Live(production.port, 'archive') as admin:
        # There are no rules yet, so the rules refuse: the database is there.
        assert archive.send('GET', '/a.json').status == 401
        for action, body in [('q', {'h': ''}), ('g', {}), ('p', {'d': 1}), ('o', {'d': 1})]:
            assert live.ask(action, p='/a', **body)[0] == 'permission_denied', action
        assert archive.send('GET', '/a.json', headers=production.admin).json is None
        admin.do('gauth', cred=production.admin['Authorization'].split()[1])
        assert admin.listen('/a') == []
        assert archive.send('PUT', '/a.json', '1', headers=production.admin).status == 200
        assert admin.push() == ('d', {'p': 'a', 'd': 1})


def test_users_listen_to_a_listed_database_before_its_first_write(launch, tmp_path):
    rules = tmp_path / 'open.json'
    rules.write_text('{"rules": {".read": true, ".write": true}}')
    host = launch([], config={'database': {'namespaces': ['archive'], 'rules': str(rules)}})
    with Live(host.port, 'archive') as live, Live(host.port, 'archive') as other:
        assert live.listen('/a') == []
        assert other.do('g', p='/a') is None
        other.do('p', p='/a', d=1)
        assert live.push() == ('d', {'p': 'a', 'd': 1})


def test_a_database_that_is_not_listed_ends_the_connection(production):
    with WebSocket(production.port, '/.ws?v=5&ns=stranger') as socket_of_client:
        message = socket_of_client.hear()['d']
        assert message['t'] == 's' and 'stranger' in message['d']
        assert socket_of_client.closed() == 1000
    assert '"cause":"unknownNamespace"' in production.until_logged('a live connection is ended')


def test_a_listen_for_which_there_is_no_room_ends_the_connection_with_a_reason(launch):
    host = launch([], mode='development', config={'database': {'limits': {'openNamespaces': 2}}, 'logging': {'level': 'debug'}})
    for name in 'abc':
        with Database(host, name) as database:
            database.use_rules(OPEN_RULES)
    with Live(host.port, 'a') as first, Live(host.port, 'b') as second:
        assert first.listen('/x') == second.listen('/x') == []
        with Live(host.port, 'c') as third:
            number = third.request('q', p='/x', h='')
            kind, text = third.control()
            assert kind == 'e' and text
            assert close_code(third) == 1000 and number not in third.answers
        assert '"cause":"unavailable"' in host.until_logged('a live connection is ended')
        second.close()
        # A client connects again, and finds room in time.
        until(lambda: listens(host, 'c'), 'there is room')


def listens(host, namespace):
    with Live(host.port, namespace) as live:
        live.request('q', p='/x', h='')
        while not live.answers and not live.controls:
            live.take()
        return live.answers == {1: ('ok', {})}


# -- log and metrics


def live_metrics(host):
    text = host.request('GET', '/_/metrics', OWNER).text
    return {line.rsplit(' ', 1)[0]: int(line.rsplit(' ', 1)[1]) for line in text.splitlines() if line.startswith('hearth_live_')}


def test_connections_and_listens_are_counted(host, database):
    assert set(live_metrics(host).values()) == {0}
    with connect(database) as live, connect(database), Polling(host.port, database.namespace) as polling:
        live.listen('/a')
        live.listen('/b', query={'i': '.key', 'l': 1, 'vf': 'l'}, tag=1)
        live.do('o', p='/c', d=1)
        assert polling.ask('q', p='/a', h='')[0] == 'ok'
        assert live_metrics(host) == {
            'hearth_live_connections{transport="websocket"}': 2, 'hearth_live_connections{transport="polling"}': 1, 'hearth_live_listens': 3,
            'hearth_live_presences': 1, 'hearth_live_mistakes_total': 0}
        live.do('n', p='/a')
        assert live_metrics(host)['hearth_live_listens'] == 2
    until(lambda: set(live_metrics(host).values()) == {0}, 'all have gone')


@pytest.mark.parametrize('mistake, reason', [
    (lambda live: live.socket.send(TEXT, 'a secret that is not JSON'), 'a JSON object is expected'),
    (lambda live: live.socket.send(BINARY, b'a secret'), 'frames must be texts'),
    (lambda live: live.socket.wire.send(b'\x81\x08a secret'), 'a client\'s frame is not masked'),
], ids=['text', 'binary', 'frame'])
def test_mistakes_are_counted_and_logged(mistake, reason, host, database):
    before, length = live_metrics(host)['hearth_live_mistakes_total'], len(host.log)
    with connect(database) as live:
        mistake(live)
        close_code(live)
    until(lambda: live_metrics(host)['hearth_live_mistakes_total'] == before + 1, 'the mistake is counted')
    until(lambda: 'a live connection is ended' in host.log[length:], 'it is logged')
    line = next(line for line in host.log[length:].splitlines() if 'a live connection is ended' in line)
    assert '"cause":"mistake"' in line and reason in line and database.namespace in line
    assert 'secret' not in host.log[length:] and live.session not in host.log[length:]


def test_a_client_that_leaves_is_no_mistake(host, database):
    before, length = live_metrics(host)['hearth_live_mistakes_total'], len(host.log)
    with connect(database) as live:
        live.close()
    until(lambda: live_metrics(host)['hearth_live_connections{transport="websocket"}'] == 0, 'it has gone')
    assert live_metrics(host)['hearth_live_mistakes_total'] == before
    assert 'a live connection is ended' not in host.log[length:]
