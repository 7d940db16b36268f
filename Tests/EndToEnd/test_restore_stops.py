"""Restores that fail, or that a stop or a kill interrupts: the data is all old or all new."""

import concurrent.futures
import json
import pathlib
import tarfile

import pytest

from commands import Commands
from hearth import compiled
from processes import until
from upgrading import Upgradable

pytestmark = pytest.mark.timeout(180)
SUPPORT = pathlib.Path(__file__).resolve().parents[1] / 'Support'


@pytest.fixture
def host(launch):
    return launch(mode='development')


@pytest.fixture
def commands(host, tmp_path):
    return Commands(host, tmp_path / 'commands')


def put(host, path, value):
    answer = host.request('PUT', f'{path}.json', [('Authorization', 'Bearer owner')], json.dumps(value), timeout=60)
    assert answer.status == 200, answer.text


def get(host, path):
    return host.request('GET', f'{path}.json', [('Authorization', 'Bearer owner')]).json


def test_a_new_host_that_cannot_serve_what_is_restored(tmp_path):
    """The old data comes back."""
    host = Upgradable(tmp_path / 'host', mode='development')
    host.start()
    try:
        commands = Commands(host, tmp_path / 'commands')
        put(host, '/a', 1)
        commands.succeeds('backup', tmp_path / 'all.tar')
        put(host, '/a', 2)
        host.install_pretender(after='die')
        assert 'before it served' in commands.run('restore', tmp_path / 'all.tar', '--force').sentence
        assert get(host, '/a') == 2
        put(host, '/a', 3)
        assert not list(host.data.glob('before-restore*')) and not list(host.data.glob('restore*'))
        host.install()
        commands.succeeds('restore', tmp_path / 'all.tar', '--force')
        assert get(host, '/a') == 1
    finally:
        host.stop()


def test_a_stop_during_a_restore(tmp_path):
    """The old data comes back, and not before the new process, which dies slowly, has let go of it."""
    host = Upgradable(tmp_path / 'host', mode='development')
    host.variables.update(LD_PRELOAD=compiled(SUPPORT / 'late_kill.c', ()), LATE_KILL=str(host.folder / 'witness'))
    host.start()
    try:
        commands = Commands(host, tmp_path / 'commands')
        put(host, '/a', 1)
        commands.succeeds('backup', tmp_path / 'all.tar')
        put(host, '/a', 2)
        host.install_pretender(after='witness')
        with concurrent.futures.ThreadPoolExecutor() as pool:
            outcome = pool.submit(commands.run, 'restore', tmp_path / 'all.tar', '--force')
            until((host.folder / 'witness').exists, 'the new process has the databases')
            host.stop()
            assert 'the host stops' in outcome.result().sentence
        assert not (host.folder / 'taken-away').exists()
        assert not list(host.data.glob('before-restore*')) and not list(host.data.glob('restore*'))
        host.install()
        host.start()
        assert get(host, '/a') == 2
    finally:
        host.stop()


def test_a_stop_before_the_data_is_replaced(tmp_path):
    """The new process is getting ready and is not waited for; the restore is refused, and nothing is left of it."""
    host = Upgradable(tmp_path / 'host', mode='development')
    host.start()
    try:
        commands = Commands(host, tmp_path / 'commands')
        put(host, '/a', 1)
        commands.succeeds('backup', tmp_path / 'all.tar')
        put(host, '/a', 2)
        host.install('#!/bin/sh\necho $$ > ready\nexec sleep 600\n')
        with concurrent.futures.ThreadPoolExecutor() as pool:
            outcome = pool.submit(commands.run, 'restore', tmp_path / 'all.tar', '--force')
            until((host.folder / 'ready').exists, 'the new process')
            host.stop()
            assert 'the host stops' in outcome.result().sentence
        assert not list(host.data.glob('before-restore*')) and not list(host.data.glob('restore*'))
        host.install()
        host.start()
        assert get(host, '/a') == 2
    finally:
        host.stop()


def test_a_stop_while_a_backup_arrives(host, commands, tmp_path):
    """The pieces that have arrived are discarded with the host."""
    put(host, '/a', 1)
    commands.succeeds('backup', tmp_path / 'all.tar')
    put(host, '/a', 2)
    owner = [('Authorization', 'Bearer owner')]
    restore = host.request('POST', '/_/api/restores', owner).json['restore']
    piece = (tmp_path / 'all.tar').read_bytes()[:10_000]
    assert host.request('PUT', f'/_/api/restores/{restore}?offset=0', owner, piece).json == {'receivedBytes': len(piece)}
    assert list(host.data.glob('restore-*'))
    host.stop()
    assert not list(host.data.glob('restore*'))
    host.start()
    assert get(host, '/a') == 2


def test_a_restore_that_is_interrupted_is_completed(host, commands, tmp_path):
    """The remains of a killed restore: the journal, and some folders exchanged."""
    put(host, '/a', 1)
    commands.succeeds('backup', tmp_path / 'all.tar')
    put(host, '/a', 2)
    host.stop()
    stage, kept = host.data / 'restore-1-1', 'before-restore-1'
    with tarfile.open(tmp_path / 'all.tar') as archive:
        archive.extractall(stage, filter='data')
    (host.data / 'restore.json').write_text(json.dumps({'stage': stage.name, 'kept': kept, 'replaced': ['database', 'users', 'schedules', 'tasks']}))
    (host.data / kept).mkdir()
    (host.data / 'database').rename(host.data / kept / 'database')
    host.start()
    assert get(host, '/a') == 1
    assert not stage.exists() and not (host.data / 'restore.json').exists()
