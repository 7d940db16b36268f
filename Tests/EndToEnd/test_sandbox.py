"""The reach of a plugin: the system's files to read, its own folder, and not the host. Tests/Attacks has the attacks."""

import errno
import os
import pathlib
import shutil
import tempfile

import pytest

from hearth import ROOT, Host, library


@pytest.fixture(scope='module')
def host():
    folder = tempfile.mkdtemp(prefix='hearth-', dir='/var/tmp')
    host = Host(folder, {'trespasser': {'library': library('trespasser')}, 'probe': {'library': library('probe')}})
    (host.folder / '.secret.local').write_text('API_KEY=x\n')
    host.start()
    yield host
    host.stop()
    shutil.rmtree(folder)


def refused(host):
    """The error of a worker for a foreign file; a kernel without Landlock allows the access, and the log reports that."""
    return 0 if 'no Landlock' in host.log else errno.EACCES


@pytest.mark.parametrize('path', ['data/admin-token', '.secret.local', 'functions.json', 'host.log', 'data'])
def test_what_belongs_to_the_host(path, host):
    assert host.result('try', f'read:{host.folder / path}') == refused(host)


@pytest.mark.parametrize('path', ['/root', '/home', '/var/tmp', '/run', '/boot', '/'])
def test_what_belongs_to_others(path, host):
    if pathlib.Path(path).exists():
        assert host.result('try', f'read:{path}') == refused(host)


@pytest.mark.parametrize('path', ['/etc/passwd', '/usr/bin', '/proc/self/status', '/dev/null'])
def test_what_belongs_to_everybody(path, host):
    assert host.result('try', f'read:{path}') == 0


@pytest.mark.parametrize('path', ['/etc/hearth-was-here', '/usr/hearth-was-here', '/var/tmp/hearth-was-here'])
def test_writing_elsewhere(path, host):
    assert host.result('try', f'write:{path}') == refused(host)
    pathlib.Path(path).unlink(missing_ok=True)


def test_its_own_library_cannot_be_changed(host):
    for artifact in (host.data / 'artifacts').glob('*.so'):
        assert host.result('try', f'write:{artifact}') != 0 or refused(host) == 0
        assert host.result('try', f'delete:{artifact}') == refused(host)


def test_its_own_folder(host):
    folder = host.result('folder')
    assert folder.startswith(str(host.data))
    for process in host.loaded_workers():
        own = pathlib.Path(f'/proc/{process.pid}/cwd').readlink()
        if str(own) != folder:
            assert host.result('try', f'write:{own}/note') == 0
            assert host.result('try', f'write:{folder}/note') == refused(host)


@pytest.mark.parametrize('what', ['mount', 'unshare', 'chroot', 'trace'])
def test_calls_that_no_function_needs(what, host):
    assert host.result('try', what) == errno.EPERM


def test_the_host_cannot_be_signalled(host):
    assert host.result('try', 'signal') == errno.EPERM


def test_workers_see_settings_that_are_replaced(prepare, tmp_path):
    """A rule of the kernel's is for a file: who replaces `resolv.conf` would leave running workers without any."""
    etc = tmp_path / 'etc'
    etc.mkdir()
    for name in ('passwd', 'group', 'ld.so.cache', 'nsswitch.conf', 'resolv.conf'):
        (etc / name).write_bytes(pathlib.Path('/etc', name).read_bytes())
    host = prepare(['trespasser', 'probe'])
    command = ['unshare', '--mount', 'sh', '-c', f'mount --bind {etc} /etc && exec "$@"', 'sh', *host.command()]
    host.command = lambda: command
    host.start()
    before = host.result('pid')
    assert host.result('try', 'read:/etc/resolv.conf') == 0
    (etc / 'new').write_text('nameserver 192.0.2.1\n')
    os.rename(etc / 'new', etc / 'resolv.conf')
    host.until_logged('a setting of the system was replaced')
    assert host.result('pid') != before
    assert host.result('try', 'read:/etc/resolv.conf') == 0


def test_turned_off(launch):
    host = launch(['trespasser'], config={'workers': {'sandbox': False}})
    assert host.result('try', f'read:{ROOT / "README.md"}') == 0
