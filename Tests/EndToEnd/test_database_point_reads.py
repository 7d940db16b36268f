"""Single values are read on the loop of their connection, whichever loop that is, and always in the newest state."""

import concurrent.futures
import json
import os

import pytest

from processes import until

LOOPS = {'server': {'loops': 3}}
ANYBODY = {'rules': {'.read': True, '.write': True}}
# Connections of which the kernel gives some to each loop.
MANY = 12
# Reads on each connection after which their loops have a connection to the file.
WARM = 100


@pytest.fixture
def host(launch):
    host = launch([], mode='development', config=LOOPS)
    put_rules(host, ANYBODY)
    return host


def put_rules(host, rules):
    assert host.request('PUT', '/.settings/rules.json', [('Authorization', 'Bearer owner')], json.dumps(rules)).status == 200


def put(wire, path, value):
    answer = wire.request('PUT', f'{path}.json', [('Content-Type', 'application/json')], json.dumps(value))
    assert answer.status == 200, answer.text


def get(wire, path):
    return wire.request('GET', f'{path}.json')


def open_files(host):
    links = [os.readlink(f'/proc/{host.pid}/fd/{fd}') for fd in os.listdir(f'/proc/{host.pid}/fd') if os.path.islink(f'/proc/{host.pid}/fd/{fd}')]
    return sum(link.startswith(str(host.data / 'database')) for link in links)


def test_loops_have_the_file_open_while_they_read(host):
    wires = [host.wire() for _ in range(MANY)]
    put(wires[0], '/a', 1)
    before = open_files(host)
    assert before > 0
    warm(wires, '/a')
    until(lambda: get(wires[0], '/a').json == 1 and open_files(host) > before, 'a loop has the file open')


def warm(wires, path):
    for wire in wires:
        for _ in range(WARM):
            assert get(wire, path).status == 200


def test_every_loop_sees_what_another_one_has_acknowledged(host):
    wires = [host.wire() for _ in range(MANY)]
    put(wires[0], '/counter', 0)
    warm(wires, '/counter')
    for step in range(1, 300):
        put(wires[step % MANY], '/counter', step)
        for wire in wires:
            assert get(wire, '/counter').json == step


def test_readers_never_go_back(host):
    """While it is written without a pause, each connection sees a value that only grows."""
    with host.wire() as wire:
        put(wire, '/counter', 0)

    def read():
        with host.wire() as wire:
            last = -1
            while last < 1000:
                seen = get(wire, '/counter').json
                assert seen >= last
                last = seen

    with concurrent.futures.ThreadPoolExecutor(MANY) as pool:
        readers = [pool.submit(read) for _ in range(MANY)]
        with host.wire() as wire:
            for step in range(1, 1001):
                put(wire, '/counter', step)
        for reader in readers:
            reader.result(30)


def test_rules_hold_on_every_loop_as_soon_as_they_are_acknowledged(host):
    wires = [host.wire() for _ in range(MANY)]
    put(wires[0], '/secret', 'mine')
    warm(wires, '/secret')
    for _ in range(5):
        put_rules(host, {'rules': {'.read': False}})
        for wire in wires:
            answer = get(wire, '/secret')
            assert (answer.status, answer.json) == (401, {'error': 'Permission denied'})
        put_rules(host, ANYBODY)
        for wire in wires:
            assert get(wire, '/secret').json == 'mine'


def test_every_read_is_counted(host):
    with host.wire() as wire:
        put(wire, '/a', 1)
        for _ in range(500):
            assert get(wire, '/a').json == 1

    def counted():
        lines = host.request('GET', '/_/metrics').text.splitlines()
        return sum(float(line.rsplit(' ', 1)[1]) for line in lines
                   if line.startswith('hearth_database_reads_total{') and 'operation="value"' in line and 'outcome="answered"' in line)
    until(lambda: counted() == 500, 'all reads are counted')


def test_a_value_becomes_a_node_and_nothing(host):
    wires = [host.wire() for _ in range(MANY)]
    put(wires[0], '/a', 1)
    warm(wires, '/a')
    put(wires[0], '/a', {'b': 'x'})
    assert all(get(wire, '/a').json == {'b': 'x'} for wire in wires)
    put(wires[0], '/a', None)
    assert all(get(wire, '/a').json is None for wire in wires)
    put(wires[0], '/a', 'back')
    assert all(get(wire, '/a').json == 'back' for wire in wires)
