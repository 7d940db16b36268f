"""Work in progress while a host is replaced by another process: calls that use the database, events, connections with TLS."""

import json
import threading
import time

import pytest

from certificates import make_certificate, trusting
from hearth import callable_headers
from processes import until
from secure_host import TLS
from upgrading import TimedLoad, Upgradable
from wire import Wire

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def host(tmp_path):
    host = Upgradable(tmp_path / 'host-0')
    host.start()
    yield host
    host.stop()


def upgraded(host, **options):
    answer = host.upgrade(**options)
    assert answer.status == 200, answer.text
    return answer.json


def stored(host, path):
    return host.request('GET', f'/{path}.json', [('Authorization', f'Bearer {host.token}')]).json


def put(host, path, value):
    answer = host.request('PUT', f'/{path}.json', [('Authorization', f'Bearer {host.token}')], json.dumps(value))
    assert answer.status == 200, answer.text


def test_a_call_that_outlives_its_host_reads_and_writes(host):
    """Database calls of its function after the switch are answered by the host that has the database now."""
    put(host, 'known', 'before')
    answers = {}

    def call(name, step):
        answers[name] = host.callable('database', {'afterMilliseconds': 1500, **step}, timeout=30)

    steps = {'set': {'do': 'set', 'at': 'late', 'value': {'deep': [1, 2]}}, 'get': {'do': 'get', 'at': 'known'}}
    callers = [threading.Thread(target=call, args=item) for item in steps.items()]
    for caller in callers:
        caller.start()
    until(lambda: len(host.loaded_workers()) > 0, 'the calls run')
    time.sleep(0.3)
    upgraded(host)
    assert not answers
    put(host, 'known', 'after')
    for caller in callers:
        caller.join(30)
    assert {name: answer.status for name, answer in answers.items()} == {'set': 200, 'get': 200}, answers
    assert 'after' in answers['get'].text
    assert stored(host, 'late') == {'deep': [1, 2]}


def test_events_under_way_are_not_lost(host):
    """Events that a function works on, waiting events, and events of writes during the upgrade: none is lost, and each keeps its id."""
    for number in range(10):
        put(host, f'slow/first{number}', 900)
    until(lambda: stored(host, 'worked'), 'the functions work')
    upgraded(host)
    for number in range(10):
        put(host, f'slow/second{number}', 10)
    names = {f'{group}{number}' for group in ('first', 'second') for number in range(10)}

    def ended():
        worked = stored(host, 'worked') or {}
        return {name for name, runs in worked.items() if runs.get('ended')}

    until(lambda: ended() == names, 'each event is worked on to its end', 60)
    for name, runs in stored(host, 'worked').items():
        assert len(runs['begun']) == 1 and set(runs['ended']) == set(runs['begun']), (name, runs)
        # Only the new host delivers events of writes after the switch.
        if name.startswith('second'):
            assert list(runs['begun'].values()) == [1], (name, runs)


class SecureUpgradable(Upgradable):
    """A host with TLS."""

    def wire(self, **options):
        return super().wire(tls=trusting(self.folder), **options)


@pytest.fixture
def secure(tmp_path):
    host = SecureUpgradable(tmp_path / 'host-0', config=TLS)
    make_certificate(host.folder)
    host.start()
    yield host
    host.stop()


def test_connections_with_tls_go_on(secure):
    """An open connection gets one more answer, with Connection: close; new ones reach the new host; no call fails."""
    request = ('POST', secure.path('echo'), callable_headers(), '{"data":1}')
    with secure.wire() as used, secure.wire() as unused, TimedLoad(secure, 'echo', clients=4, tls=trusting(secure.folder)) as load:
        assert used.request(*request).json == {'result': 1}
        for _ in range(3):
            before = load.count()
            upgraded(secure)
            until(lambda before=before: load.count() > before + 50, 'calls go on')
        for wire in (used, unused):
            answer = wire.request(*request)
            assert answer.json == {'result': 1}
            assert answer.header('Connection') == 'close'
    assert load.lost() == {} and set(load.answers()) == {(200, None)}
