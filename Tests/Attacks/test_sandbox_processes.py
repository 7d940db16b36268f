"""A plugin that tries to stop or starve the host by system calls on its processes, and plugins that start processes."""

import errno
import os
import pathlib
import resource

import pytest

from hearth import Host, library

# The expected error of refused calls: EPERM, except for calls that a filter cannot inspect.
ON_OTHERS = ['prlimit', 'setpriority', 'setpriority user', 'affinity', 'scheduler', 'ioprio', 'own', 'user namespace', 'sibling']
SIGNALS = ['signal', 'queue', 'tgkill']
OF_ITS_OWN = ['thread', 'program', 'resolve', 'zone', 'temporary', 'raise', 'own limit', 'own priority', 'shared memory']


def start(folder, **options):
    plugins = {'intruder': {'library': library('intruder')}}
    return Host(folder, plugins, **options).start()


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = start(tmp_path_factory.mktemp('sandbox'))
    yield host
    host.stop()


# The version of Landlock distinguishes kernels: that of Linux 6.1 (Debian 12), those of 6.2 and 6.10, and that of this machine.
@pytest.fixture(scope='module', params=[2, 3, 5, None], ids=['Landlock 2', 'Landlock 3', 'Landlock 5', 'Landlock of this kernel'])
def kernel(request, tmp_path_factory):
    environment = {'HEARTH_LANDLOCK_VERSION_MAX': str(request.param)} if request.param else {}
    host = start(tmp_path_factory.mktemp('kernel'), env=environment)
    host.version = request.param or 99
    yield host
    host.stop()


def attempt(host, what, argument=''):
    return host.result('try', f'{what}:{argument}')


def state(pid):
    files = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    return files, os.getpriority(os.PRIO_PROCESS, pid), os.sched_getaffinity(pid), os.sched_getscheduler(pid)


@pytest.mark.parametrize('what', ON_OTHERS)
def test_the_host_is_left_alone(what, host):
    before = state(host.pid)
    assert attempt(host, what) == errno.EPERM
    assert state(host.pid) == before


@pytest.mark.parametrize('what', ['clone3', 'x32'])
def test_calls_that_no_filter_can_look_into_are_not_there(what, host):
    assert attempt(host, what) == errno.ENOSYS


@pytest.mark.parametrize('what', SIGNALS)
def test_the_host_cannot_be_signalled(what, kernel):
    assert attempt(kernel, what) == errno.EPERM


def test_truncation(kernel):
    """Landlock sees it from its third version on; before, a filter does."""
    refusal = errno.EACCES if kernel.version >= 3 else errno.EPERM
    token = kernel.data / 'admin-token'
    artifact = next((kernel.data / 'artifacts').glob('*.so'))
    for path in (token, artifact):
        size = path.stat().st_size
        assert attempt(kernel, 'truncate', path) == refusal
        assert attempt(kernel, 'empty', path) in (errno.EACCES, errno.EPERM)
        assert path.stat().st_size == size > 0


def test_the_hosts_port_cannot_be_shared(kernel):
    """A socket of the same user can join those of a host with several loops, and would get a part of its connections."""
    assert attempt(kernel, 'bind', 0) == 0
    expected = errno.EACCES if kernel.version >= 4 else errno.EADDRINUSE
    assert attempt(kernel, 'bind', kernel.port) == expected


@pytest.mark.parametrize('what', OF_ITS_OWN)
def test_what_functions_do(what, kernel):
    assert attempt(kernel, what) == 0


def test_signals_to_its_own_children(kernel):
    """A filter cannot tell them from others."""
    assert attempt(kernel, 'signal child') == (0 if kernel.version >= 6 else errno.EPERM)


def test_the_log_says_what_the_kernel_lacks(kernel):
    expected = {
        'workers cannot truncate files by their path': kernel.version < 3,
        'workers can listen on any port': kernel.version < 4,
        'cannot signal the processes that they start': kernel.version < 6,
    }
    assert {text: text in kernel.banner for text in expected} == expected


def test_a_kernel_without_landlock(tmp_path):
    host = start(tmp_path, env={'HEARTH_LANDLOCK_VERSION_MAX': '0'})
    try:
        assert 'there is no Landlock' in host.banner
        assert attempt(host, 'signal') == errno.EPERM
        assert attempt(host, 'chmod', host.data) == errno.EPERM
        assert attempt(host, 'truncate', host.data / 'admin-token') == errno.EPERM
        assert pathlib.Path(host.data / 'admin-token').stat().st_size > 0
    finally:
        host.stop()
