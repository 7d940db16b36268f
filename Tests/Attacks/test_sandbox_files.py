"""A plugin that tries to read and change foreign files: from its first instruction on, from threads, by paths and by descriptors."""

import errno
import os
import pathlib

import pytest

from hearth import Host, library
from processes import descendants


def intruder(data):
    return {'intruder': {'library': library('intruder', TARGET=f'"{data}"')}}


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    """The host's configuration is in a separate folder, as `/etc/hearth` is."""
    folder = tmp_path_factory.mktemp('sandbox')
    host = Host(folder, intruder(folder / 'data'), env={'HOST_ONLY': 'a-secret-of-the-host'})
    (folder / '.secret.local').write_text('API_KEY=somebody-elses\n')
    host.start()
    yield host
    host.stop()


def attempt(host, what, argument=''):
    return host.result('try', f'{what}:{argument}')


@pytest.mark.parametrize('number', range(3), ids=['the token', "the host's environment", 'a file in the data folder'])
@pytest.mark.parametrize('when', ['early', "thread's"])
def test_a_constructor_and_its_thread_are_inside(when, number, host):
    """The result of the worker that answers. The worker that was asked for the manifest ran before: nothing was planted."""
    assert attempt(host, when, number) == errno.EACCES
    assert not (host.data / 'planted').exists()


@pytest.mark.parametrize('path', ['functions.json', '.secret.local', 'host.log', 'data', 'data/admin-token', 'data/artifacts', 'data/database'])
def test_what_belongs_to_the_host(path, host):
    assert attempt(host, 'read', host.folder / path) == errno.EACCES


@pytest.mark.parametrize('path', ['/etc', '/etc/shadow', '/etc/ssl/private', '/etc/fstab', '/root', '/home', '/opt', '/srv', '/var', '/run', '/tmp',
                                  '/dev', '/dev/shm', '/dev/pts', '/sys', '/sys/kernel', '/proc', '/proc/1/cmdline', '/proc/1/status'])
def test_what_belongs_to_the_machine(path, host):
    if pathlib.Path(path).exists():
        assert attempt(host, 'read', path) == errno.EACCES


@pytest.mark.parametrize('name', ['environ', 'cmdline', 'status', 'maps', 'mem', 'auxv', 'stat', 'fd', 'task'])
def test_what_the_kernel_tells_of_the_host(name, host):
    assert attempt(host, 'read', f'/proc/{host.pid}/{name}') == errno.EACCES


@pytest.mark.parametrize('name', ['cwd', 'exe', 'root', 'fd/0'])
def test_where_the_host_stands(name, host):
    assert attempt(host, 'link', f'/proc/{host.pid}/{name}') == errno.EACCES


def test_other_workers(tmp_path):
    host = Host(tmp_path, {**intruder(tmp_path / 'data'), 'probe': {'library': library('probe')}}).start()
    try:
        folder, pid = host.result('folder'), host.result('pid')
        assert attempt(host, 'write', f'{folder}/note') == errno.EACCES
        assert attempt(host, 'list', folder) == errno.EACCES
        assert attempt(host, 'read', f'/proc/{pid}/environ') == errno.EACCES
    finally:
        host.stop()


@pytest.mark.parametrize('path', ['/etc/passwd', '/etc/hosts', '/etc/resolv.conf', '/etc/nsswitch.conf', '/etc/ld.so.cache', '/etc/ssl/certs',
                                  '/usr/bin', '/usr/share/zoneinfo/UTC', '/proc/self/status', '/proc/self/maps', '/proc/meminfo', '/proc/cpuinfo',
                                  '/dev/null', '/dev/urandom', '/sys/devices/system/cpu/online'])
def test_what_functions_need(path, host):
    if pathlib.Path(path).exists():
        assert attempt(host, 'read', path) == 0


def test_what_the_configuration_adds(prepare):
    host = prepare(['intruder'], config={'workers': {'readable': ['shared', 'missing']}})
    (host.folder / 'shared').mkdir()
    (host.folder / 'shared/model').write_text('weights')
    host.start()
    assert attempt(host, 'read', host.folder / 'shared/model') == 0
    assert attempt(host, 'write', host.folder / 'shared/model') == errno.EACCES


CHANGES = ['chmod', 'fchmodat', 'fchmodat2', 'chown', 'fchownat', 'utimes', 'setxattr', 'watch']


@pytest.mark.parametrize('path', ['.', 'admin-token', 'workers'])
@pytest.mark.parametrize('what', CHANGES)
def test_modes_owners_times_and_attributes(what, path, host):
    """Landlock does not see them."""
    target = host.data / path
    before = os.stat(target)
    assert attempt(host, what, target) == errno.EPERM
    after = os.stat(target)
    for field in ('st_mode', 'st_uid', 'st_mtime_ns', 'st_ctime_ns'):
        assert getattr(after, field) == getattr(before, field)
    assert os.listxattr(target) == []


def test_its_library(host):
    for artifact in (host.data / 'artifacts').glob('*.so'):
        before = artifact.stat()
        assert attempt(host, 'read', artifact) == 0
        for what in ('write', 'empty', 'truncate'):
            assert attempt(host, what, artifact) == errno.EACCES
        assert artifact.stat().st_size == before.st_size


def test_its_own_files(host):
    """Root owns more than its own, so that it may not even change what it has open."""
    expected = errno.EPERM if os.geteuid() == 0 else 0
    assert attempt(host, 'chmod own') == expected
    assert attempt(host, 'utimes own') == expected


def test_privileges(host):
    """The only remaining privilege of root is searching folders."""
    attempt(host, 'raise')
    workers = [process for process in descendants(host.pid) if host.plugins_of(process.pid)]
    for process in workers:
        status = dict(line.split(':\t') for line in pathlib.Path(f'/proc/{process.pid}/status').read_text().splitlines())
        assert int(status['CapPrm'], 16) & ~(1 << 2) == 0
        assert (status['NoNewPrivs'], status['Seccomp']) == ('1', '2')
    assert workers
