"""All data in one file, made while the host runs; and back."""

import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import threading

import pytest

from commands import Commands
from disks import SmallDisk
from hearth import BINARY, Host
from processes import resident_kib, until
from upgrading import Upgradable, Writers

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def host(launch):
    return launch(mode='development')


@pytest.fixture
def commands(host, tmp_path):
    return Commands(host, tmp_path / 'commands')


def put(host, path, value, namespace=None):
    query = f'?ns={namespace}' if namespace else ''
    answer = host.request('PUT', f'{path}.json{query}', [('Authorization', 'Bearer owner')], json.dumps(value), timeout=60)
    assert answer.status == 200, answer.text


def get(host, path, namespace=None):
    query = f'?ns={namespace}' if namespace else ''
    return host.request('GET', f'{path}.json{query}', [('Authorization', 'Bearer owner')]).json


def members(path):
    """Name and bytes of each member, in their order."""
    with tarfile.open(path) as archive:
        return [(entry.name, archive.extractfile(entry).read()) for entry in archive]


def rewritten(path, target, change):
    """A copy of an archive in which `change` has changed the dict of members."""
    found = dict(members(path))
    change(found)
    with tarfile.open(target, 'w', format=tarfile.USTAR_FORMAT) as archive:
        for name, content in found.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return target


def test_what_is_in_it(host, commands, tmp_path):
    put(host, '/a', {'b': [1, 2, 3]})
    put(host, '/x', 'other', 'second')
    said = commands.succeeds('backup', tmp_path / 'all.tar')
    assert 'backed up to' in said
    found = members(tmp_path / 'all.tar')
    names = [name for name, _ in found]
    assert names[0] == 'hearth-backup.json' and names[-1] == 'manifest.json'
    assert {'database/demo-hearth-default-rtdb.sqlite', 'database/second.sqlite'} <= set(names)
    assert any(name.startswith('artifacts/') for name in names)
    assert not any('token' in name for name in names)
    assert json.loads(found[0][1])['format'] == 1
    listed = json.loads(found[-1][1])['members']
    assert [(entry['name'], entry['sizeBytes'], entry['sha256']) for entry in listed] == [
        (name, len(content), hashlib.sha256(content).hexdigest()) for name, content in found[1:-1]]
    for name, content in found:
        if name.endswith('.sqlite'):
            file = tmp_path / 'one.sqlite'
            file.write_bytes(content)
            with sqlite3.connect(file) as connection:
                assert connection.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    subprocess.run(['tar', 'tf', tmp_path / 'all.tar'], check=True, capture_output=True)
    assert not list(host.data.glob('backup-*'))


def test_compressed_by_its_name(host, commands, tmp_path):
    put(host, '/a', 'x' * 100_000)
    commands.succeeds('backup', tmp_path / 'all.tar.gz')
    assert (tmp_path / 'all.tar.gz').stat().st_mode & 0o777 == 0o600, 'keys of the push service are in it'
    with gzip.open(tmp_path / 'all.tar.gz') as file, tarfile.open(fileobj=file) as archive:
        assert archive.getnames()[-1] == 'manifest.json'
    assert (tmp_path / 'all.tar.gz').stat().st_size < 10_000_000


def test_compressed_whatever_its_name(host, commands, tmp_path):
    commands.succeeds('backup', tmp_path / 'all.tar', '--gzip')
    with gzip.open(tmp_path / 'all.tar') as file, tarfile.open(fileobj=file) as archive:
        assert archive.getnames()[-1] == 'manifest.json'


def test_to_standard_output_and_by_default(host, commands):
    output = subprocess.run([BINARY, 'backup', '-'], env=commands.environment({}), capture_output=True, check=True, timeout=60).stdout
    with tarfile.open(fileobj=io.BytesIO(output)) as archive:
        assert archive.getnames()[0] == 'hearth-backup.json'
    result = commands.result('backup')
    assert result['file'].startswith('hearth-demo-hearth-') and result['file'].endswith('.tar.gz')
    assert (commands.folder / result['file']).stat().st_size == result['fileBytes'] > 0


def test_only_administrators(launch, tmp_path):
    production = launch()
    for method, target in (('POST', '/_/api/backup'), ('POST', '/_/api/restores'), ('PUT', '/_/api/restores/x?offset=0'),
                           ('POST', '/_/api/restores/x:apply'), ('POST', '/_/api/host:upgrade')):
        assert production.request(method, target, body=b'x').status == 401
    assert 'admin-token' in Commands(production, tmp_path / 'c', HEARTH_TOKEN='wrong').run('backup', tmp_path / 'no.tar').sentence
    assert not (tmp_path / 'no.tar').exists()


def test_each_database_is_of_one_moment(host, commands, tmp_path):
    """Every write sets 1000 leaves to one number, so a backup with two numbers is inconsistent. The backup delays no write."""
    put(host, '/filler', {str(number): 'x' * 200 for number in range(20_000)})
    stopping, count = threading.Event(), [0]

    def write():
        while not stopping.is_set():
            put(host, '/same', {str(index): count[0] for index in range(1000)})
            count[0] += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for turn in range(5):
            until(lambda: count[0] > 2 * turn, 'writes')
            commands.succeeds('backup', tmp_path / f'{turn}.tar')
    finally:
        stopping.set()
        writer.join()
    for turn in range(5):
        target = tmp_path / f'restored-{turn}'
        commands.succeeds('restore', tmp_path / f'{turn}.tar', '--into', target, '--force')
        other = Host(tmp_path / f'host-{turn}', mode='development')
        other.data = target
        other.start()
        try:
            assert len(set(get(other, '/same').values() if isinstance(get(other, '/same'), dict) else get(other, '/same'))) == 1
        finally:
            other.stop()


def test_memory_does_not_grow_with_the_data(launch, tmp_path):
    host = launch([], mode='development')
    for part in range(10):
        put(host, f'/many/{part}', {str(number): number for number in range(50_000)})
    before = resident_kib(host.pid)
    Commands(host, tmp_path / 'commands').succeeds('backup', tmp_path / 'all.tar')
    assert resident_kib(host.pid) - before < 40_000


# -- back


def test_into_a_host_that_does_not_run(host, commands, tmp_path):
    put(host, '/a', {'b': 1})
    put(host, '/x', 'other', 'second')
    commands.succeeds('backup', tmp_path / 'all.tar.gz')
    put(host, '/a', {'b': 2})
    put(host, '/new', 1, 'third')
    token = (host.data / 'admin-token').read_text()
    host.stop()
    said = commands.result('restore', tmp_path / 'all.tar.gz', '--data', host.data, '--force')
    assert said['members'] >= 2
    host.start()
    assert get(host, '/a') == {'b': 1} and get(host, '/x', 'second') == 'other'
    assert get(host, '/new', 'third') is None
    assert (host.data / 'admin-token').read_text() == token
    assert not list(host.data.glob('restore*'))
    kept = host.data / said['kept'].rsplit('/', 1)[1] / 'database'
    assert (kept / 'third.sqlite').exists()


def test_while_the_host_runs(tmp_path):
    host = Upgradable(tmp_path / 'host', mode='development')
    host.start()
    try:
        commands = Commands(host, tmp_path / 'commands')
        put(host, '/a', {'b': 1})
        commands.succeeds('backup', tmp_path / 'all.tar')
        put(host, '/a', {'b': 2})
        with Writers(host, clients=2) as writers:
            until(lambda: min(writers.acknowledged) > 0, 'writes')
            result = commands.result('restore', tmp_path / 'all.tar', '--force')
            before = list(writers.acknowledged)
            until(lambda: min(writers.acknowledged) > max(before), 'writes go on')
        assert writers.problems == []
        assert get(host, '/a') == {'b': 1}
        assert host.result('echo', 1) == 1
        assert (host.data / result['kept'].rsplit('/', 1)[1] / 'database').is_dir()
        # And once more: a host that was restored is like any other.
        commands.succeeds('backup', tmp_path / 'again.tar')
        commands.succeeds('restore', tmp_path / 'again.tar', '--force')
        assert get(host, '/a') == {'b': 1}
    finally:
        host.stop()


DAMAGES = {
    'truncated': 'the backup is not complete: its end is missing',
    'altered': 'the backup is damaged: ',
    'without manifest': 'the backup is not complete: its end is missing',
    'newer': 'the backup was made by a newer version of Hearth (format 2, this one reads 1); upgrade first',
    'unknown member': 'the backup holds "mail/x.db", which this version does not know',
    'leads out': 'the backup holds "../evil.sqlite", which this version does not know',
    'missing member': 'the backup is damaged: its list names',
    'not a backup': 'the backup is damaged, or is not a backup of Hearth',
    'another tar': 'this is not a backup of Hearth',
    'empty': 'this is not a backup of Hearth',
    'no database': 'the backup is damaged: database/',
    'no data': 'the backup has no data',
}


def damage(kind, good, target):
    def other(change):
        return rewritten(good, target, change)

    def altered(found):
        name = next(name for name in found if name.endswith('.sqlite'))
        found[name] = found[name][:5000] + b'?' + found[name][5001:]

    def no_database(found):
        name = next(name for name in found if name.endswith('.sqlite'))
        found[name] = b'x' * 5000
        listed = json.loads(found['manifest.json'])
        for entry in listed['members']:
            if entry['name'] == name:
                entry.update(sizeBytes=5000, sha256=hashlib.sha256(found[name]).hexdigest())
        found['manifest.json'] = json.dumps(listed).encode()

    def inserted(name):
        def change(found):
            manifest = found.pop('manifest.json')
            found[name] = b'x'
            found['manifest.json'] = manifest
        return change

    match kind:
        case 'truncated': target.write_bytes(good.read_bytes()[:-20_000])
        case 'altered': other(altered)
        case 'without manifest': other(lambda found: found.pop('manifest.json'))
        case 'newer': other(lambda found: found.update({'hearth-backup.json': b'{"format":2}'}))
        case 'unknown member': other(inserted('mail/x.db'))
        case 'leads out': other(inserted('../evil.sqlite'))
        case 'missing member': other(lambda found: found.pop(next(name for name in found if name.endswith('.sqlite'))))
        case 'not a backup': target.write_bytes(b'hello' * 1000)
        case 'another tar': other(lambda found: (found.clear(), found.update({'readme': b'x'})))
        case 'empty': target.write_bytes(b'')
        case 'no database': other(no_database)
        case 'no data': other(lambda found: [found.pop(name) for name in list(found) if name not in ('hearth-backup.json', 'manifest.json')]
                              and found.update({'manifest.json': b'{"format":1,"members":[]}'}))
    return target


@pytest.mark.parametrize('way', ['stopped', 'running'])
@pytest.mark.parametrize('kind', DAMAGES)
def test_what_is_damaged_changes_nothing(host, commands, tmp_path, kind, way):
    put(host, '/a', 1)
    commands.succeeds('backup', tmp_path / 'good.tar')
    put(host, '/a', 2)
    bad = damage(kind, tmp_path / 'good.tar', tmp_path / 'bad.tar')
    if way == 'stopped':
        host.stop()
        outcome = commands.run('restore', bad, '--data', host.data, '--force')
        host.start()
    else:
        outcome = commands.run('restore', bad, '--force')
    assert outcome.sentence.startswith(DAMAGES[kind]) and outcome.sentence.endswith('nothing was changed')
    assert get(host, '/a') == 2
    until(lambda: not list(host.data.glob('restore*')), 'nothing is left of it')
    assert not list(host.data.glob('before-restore*')) and not (host.data.parent / 'evil.sqlite').exists()


def test_a_compressed_backup_that_is_cut_off(host, commands, tmp_path):
    put(host, '/a', 1)
    commands.succeeds('backup', tmp_path / 'good.tar.gz')
    (tmp_path / 'bad.tar.gz').write_bytes((tmp_path / 'good.tar.gz').read_bytes()[:-1000])
    assert 'its end is missing' in commands.run('restore', tmp_path / 'bad.tar.gz', '--force').sentence


def test_what_killed_hosts_have_left_is_removed_at_the_start(host):
    put(host, '/a', 1)
    host.stop()
    gone, alive = subprocess.Popen(['true']), os.getpid()
    gone.wait()
    for folder in [f'restore-{gone.pid}-12', f'restore-{alive}-12', 'restore-plan', 'before-restore-20260101000000']:
        (host.data / folder / 'database').mkdir(parents=True)
        (host.data / folder / 'database/a.sqlite').write_bytes(b'x')
    for file in [f'backup-{gone.pid}-12.sqlite', f'backup-{alive}-12.sqlite', 'backup-mine.sqlite']:
        (host.data / file).write_bytes(b'x')
    host.start()
    left = {path.name for path in host.data.iterdir() if 'restore' in path.name or 'backup' in path.name}
    assert left == {f'restore-{alive}-12', 'restore-plan', 'before-restore-20260101000000', f'backup-{alive}-12.sqlite', 'backup-mine.sqlite'}
    assert get(host, '/a') == 1


def test_a_full_disk(tmp_path):
    """Neither a backup nor a restore can be made; the log and the answer say why, and all goes on when there is room."""
    host = Host(tmp_path, mode='development')
    host.data.mkdir()
    owner = [('Authorization', 'Bearer owner')]
    with SmallDisk(host.data, 32) as disk:
        host.start()
        put(host, '/a', 'x' * 1_000_000)
        archive = host.request('POST', '/_/api/backup', owner).body
        restore = host.request('POST', '/_/api/restores', owner).json['restore']
        disk.fill()
        failed = host.request('POST', '/_/api/backup', owner)
        assert (failed.status, failed.json['error']['status']) == (503, 'UNAVAILABLE')
        assert 'database or disk is full' in failed.json['error']['message']
        host.until_logged('"message":"a backup failed"')
        refused = host.request('PUT', f'/_/api/restores/{restore}?offset=0', owner, archive[:8 << 20])
        assert (refused.status, refused.json['error']['status']) == (503, 'UNAVAILABLE')
        assert refused.json['error']['message'].endswith('no space left on device; start the restore again')
        disk.make_room()
        assert host.request('POST', '/_/api/backup', owner).body.endswith(bytes(1024))
        host.stop()


def test_a_data_directory_that_is_removed_under_the_host(host):
    put(host, '/a', 1)
    shutil.rmtree(host.data)
    until(lambda: host.request('PUT', '/b.json', [('Authorization', 'Bearer owner')], '1').status == 500, 'writes are refused')
    host.until_logged('was removed or replaced while it was open')
    refused = host.request('POST', '/_/api/backup', [('Authorization', 'Bearer owner')])
    assert (refused.status, refused.json['error']['status']) == (503, 'UNAVAILABLE')
    assert refused.json['error']['message'].endswith('has lost its files')


def test_a_running_host_is_not_overwritten(host, commands, tmp_path):
    commands.succeeds('backup', tmp_path / 'good.tar')
    assert 'is used by another host' in commands.run('restore', tmp_path / 'good.tar', '--data', host.data, '--force').sentence


def test_asks_first(host, commands, tmp_path):
    put(host, '/a', 1)
    commands.succeeds('backup', tmp_path / 'good.tar')
    put(host, '/a', 2)
    assert 'use --force' in commands.run('restore', tmp_path / 'good.tar').sentence
    status, shown = commands.on_terminal('restore', tmp_path / 'good.tar', answers='n\n')
    assert status == 1 and 'nothing was changed' in shown
    assert get(host, '/a') == 2


def test_a_backup_that_is_given_up_leaves_nothing(host, commands, tmp_path):
    put(host, '/filler', {str(number): 'x' * 200 for number in range(50_000)})
    with host.wire() as wire:
        wire.send_request('POST', '/_/api/backup', [('Authorization', 'Bearer owner')])
        wire.socket.recv(100)
    # Its output is not read, so that it cannot end.
    process = commands.start('backup', '-')
    until(lambda: process.stdout.read(1), 'it began')
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    until(lambda: not list(host.data.glob('backup-*')), 'the copy is removed')
    assert host.result('echo', 1) == 1
