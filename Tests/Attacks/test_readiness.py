"""Writes from the first accepted connection on: what was acknowledged runs its functions, whatever of the host is not ready yet."""

import contextlib
import json
import pathlib
import shutil
import time

import pytest

from commands import Commands
from databases import OWNER
from deploys import on_write, plugin
from processes import until
from tokens import PROJECT
from upgrading import Upgradable
from wire import Wire

NAMESPACE = f'{PROJECT}-default-rtdb'


def watcher(version=1, name='noted', **more):
    """A plugin with a function that runs on every write at /things/ID and logs it."""
    return plugin(version, **{name: on_write('things/{id}')}, **more)


def first_connection(host, seconds=30):
    """The first connection that the host accepts."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert host.process.poll() is None, host.log[-2000:]
        with contextlib.suppress(ConnectionRefusedError):
            return Wire(host.port)
    raise AssertionError(f'nobody listens: {host.log[-2000:]}')


def is_refused(host):
    try:
        Wire(host.port).close()
    except ConnectionRefusedError:
        return True
    return False


def write(wire, key):
    """Writes a new value to a path with a trigger; the write must be acknowledged."""
    answer = wire.request('PUT', f'/things/{key}.json?ns={NAMESPACE}', OWNER, json.dumps(f'value-{key}'))
    assert answer.status == 200, f'{answer.status} {answer.body!r}'


def ran(host, *keys):
    """The function has run for each of these writes."""
    for key in keys:
        host.until_logged(f'handled .*value-{key}[^0-9].* with version')


def wrote_at_once(host, key):
    with first_connection(host) as wire:
        write(wire, key)


@pytest.fixture
def stopped(prepare):
    """Hosts that are not started yet, with one plugin of `library`."""
    def make(library, kind=None, **options):
        named = {'Things': {'library': str(library), **({'isolation': kind} if kind else {})}}
        return prepare(named, mode='development', **options)
    return make


def test_the_first_write_of_the_first_start(stopped):
    host = stopped(watcher()).spawn()
    wrote_at_once(host, 'first')
    ran(host, 'first')


@pytest.mark.parametrize('loops', [1, 2])
def test_the_first_writes_after_kills(loops, stopped):
    host = stopped(watcher(), config={'server': {'loops': loops}}).start()
    for number in range(5):
        host.kill()
        # A worker that was just being made had the port for a moment.
        until(lambda: is_refused(host), 'nobody listens')
        host.spawn()
        wrote_at_once(host, f'kill-{number}')
    ran(host, *(f'kill-{number}' for number in range(5)))


def test_a_plugin_that_loads_slowly(stopped):
    """The write waits; what does not depend on the plugin does not."""
    host = stopped(watcher(at_entry='usleep(1500000)')).spawn()
    with first_connection(host) as wire, Wire(host.port) as beside:
        wire.send_request('PUT', f'/things/late.json?ns={NAMESPACE}', OWNER, '"value-late"')
        assert beside.request('GET', '/_/ready').status == 503
        assert beside.request('GET', '/_/health').status == 200
        assert beside.request('GET', f'/things.json?ns={NAMESPACE}', OWNER).json is None
        # An import that runs no functions need not wait for them.
        assert beside.request('PUT', f'/quiet.json?ns={NAMESPACE}&disableTriggers=true', OWNER, '1').status == 200
        assert beside.request('GET', '/_/ready').status == 503
        assert wire.response('PUT').status == 200
    ran(host, 'late')


def test_stopping_while_a_write_waits(stopped):
    host = stopped(watcher(at_entry='for (;;) pause()')).spawn()
    with first_connection(host) as wire:
        wire.send_request('PUT', f'/things/never.json?ns={NAMESPACE}', OWNER, '"value-never"')
        with Wire(host.port) as beside:
            assert beside.request('GET', '/_/ready').status == 503
        host.begin_stop()
        answer = wire.response('PUT')
        assert answer.status == 503 and 'stopping' in answer.text
    host.stop()


def lose(host, library):
    """The plugin cannot be loaded any more: its file is cut off, and the host's copy is away with what it said of itself."""
    library.write_bytes(library.read_bytes()[:1000])
    for path in (host.data / 'artifacts').iterdir():
        path.unlink()


def find(library):
    library.unlink()
    shutil.copyfile(watcher(), library)


@pytest.fixture
def library_file(tmp_path):
    path = tmp_path / 'libThings.so'
    shutil.copyfile(watcher(), path)
    return path


def test_a_deployed_plugin_that_cannot_be_loaded_now(stopped, library_file):
    host = stopped(library_file).start()
    host.stop()
    lose(host, library_file)
    host.spawn()
    wrote_at_once(host, 'lost')
    host.until_logged('libThings.so')
    assert host.request('GET', '/_/api/databases/-/dead-letters', OWNER).json['deadLetters'] == []
    host.stop()
    find(library_file)
    host.start()
    ran(host, 'lost')


def test_an_upgrade_while_a_plugin_cannot_be_loaded(tmp_path, library_file):
    host = Upgradable(tmp_path / 'host', {'Things': {'library': str(library_file)}}, mode='development')
    try:
        host.start()
        host.stop()
        lose(host, library_file)
        host.start()
        assert host.upgrade().status == 200
        wrote_at_once(host, 'upgraded')
        host.stop()
        find(library_file)
        host.start()
        ran(host, 'upgraded')
        host.stop()
    finally:
        host.abandon()


def test_a_function_that_waits_for_the_hosts_next_start(stopped, library_file):
    """A plugin inside the host is replaced: what it has now runs from the next start on, and its events wait until then."""
    shutil.copyfile(plugin(1, 'one'), library_file)
    host = stopped(library_file, 'none', args=['--watch']).start()
    fresh = pathlib.Path(f'{library_file}.new')
    shutil.copyfile(watcher(2, one={'callableTrigger': {}}), fresh)
    fresh.rename(library_file)
    host.until_logged('noted is new')
    wrote_at_once(host, 'later')
    assert host.request('GET', '/_/api/databases/-/dead-letters', OWNER).json['deadLetters'] == []
    host.stop()
    host.start()
    ran(host, 'later')


def test_a_restored_host(tmp_path, library_file):
    """Its functions are those of the backup, in which libraries are without what they say of themselves."""
    host = Upgradable(tmp_path / 'host', {'Things': {'library': str(library_file)}}, mode='development')
    try:
        host.start()
        commands = Commands(host, tmp_path / 'commands')
        commands.succeeds('backup', tmp_path / 'all.tar')
        wrote_at_once(host, 'before')
        ran(host, 'before')
        commands.succeeds('restore', tmp_path / 'all.tar', '--force')
        wrote_at_once(host, 'running')
        ran(host, 'running')
        host.stop()
        commands.succeeds('restore', tmp_path / 'all.tar', '--data', host.data, '--force')
        host.spawn()
        wrote_at_once(host, 'stopped')
        ran(host, 'stopped')
        host.stop()
    finally:
        host.abandon()
