"""A plugin that takes more processes, memory and disk than it may, and that leaves processes behind."""

import errno
import json
import os
import pathlib
import re
import signal

import pytest

from hearth import callable_headers, library
from processes import look, until

MIB = 1 << 20


@pytest.fixture
def glutton(launch):
    def make(config=None, command=None, **options):
        settings = {'workers': {'folderBytes': 8 * MIB}, 'defaults': {'memory': '256MiB'}, **(config or {})}
        return launch({'glutton': {'library': library('glutton')}}, config=settings, **options)

    return make


def take(host, what, amount=0):
    return host.result('take', f'{what}:{amount}')


def has_groups(controller):
    """Whether this machine lets the host make control groups of this kind."""
    return os.access('/sys/fs/cgroup/cgroup.subtree_control', os.W_OK) or os.access(f'/sys/fs/cgroup/{controller}', os.W_OK)


def is_gone(pid):
    process = look(pid)
    return process is None or process.is_zombie


def test_three_hundred_forks(glutton):
    host = glutton()
    started = take(host, 'fork', 300)
    if has_groups('pids'):
        assert 100 < started < 256
    else:
        assert 'the processes of one worker are not counted on their own' in host.banner
    assert host.request('GET', '/_/health').status == 200


def test_children_share_the_memory_of_their_worker(glutton):
    """Four that take 150 MiB each are more than the 256 MiB of their worker."""
    host = glutton()
    alive = take(host, 'share', 150 * MIB)
    if has_groups('memory'):
        assert alive < 4
    else:
        assert 'each process of a worker may take the memory that the worker may take' in host.banner


@pytest.mark.parametrize('end', ['the worker', 'the host', 'the host, killed'])
def test_what_leaves_its_session_ends_with_its_worker(end, glutton):
    host = glutton()
    left = [take(host, 'leave') for _ in range(3)]
    assert all(pid > 0 and not is_gone(pid) for pid in left)
    if end == 'the worker':
        os.kill(take(host, 'pid'), signal.SIGKILL)
    elif end == 'the host':
        host.stop()
    else:
        host.kill()
    until(lambda: all(is_gone(pid) for pid in left), 'nothing is left', 10)


def test_what_is_left_behind_ends_without_control_groups(prepare):
    """And after the process that ends it was killed itself."""
    host = prepare({'glutton': {'library': library('glutton')}})
    command = ['unshare', '--mount', 'sh', '-c', 'umount --lazy /sys/fs/cgroup && exec "$@"', 'sh', *host.command()]
    host.command = lambda: command
    host.start()
    assert 'each process of a worker may take the memory' in host.banner
    left = take(host, 'leave')
    cleaners = [pid for pid in map(int, filter(str.isdigit, os.listdir('/proc'))) if is_cleaner(pid, host.pid)]
    assert len(cleaners) == 1
    os.kill(cleaners[0], signal.SIGKILL)
    until(lambda: any(is_cleaner(pid, host.pid) for pid in map(int, filter(str.isdigit, os.listdir('/proc'))) if pid != cleaners[0]), 'another one')
    host.kill()
    until(lambda: is_gone(left), 'it is gone', 10)


def is_cleaner(pid, host):
    process = look(pid)
    if process is None or process.is_zombie or process.parent != host:
        return False
    try:
        return b'clean-up' in pathlib.Path(f'/proc/{pid}/cmdline').read_bytes()
    except OSError:
        return False


def test_one_large_file(glutton):
    host = glutton()
    assert take(host, 'one file', 200 * MIB) == -errno.EFBIG


@pytest.mark.parametrize('what', ['files', 'nameless', 'bad names', 'in child', 'mapped'])
def test_many_files(what, glutton):
    host = glutton()
    worker = take(host, 'pid')
    assert take(host, what, 64 * MIB) == 64 * MIB
    until(lambda: is_gone(worker), 'the worker is ended')
    host.until_logged('folderBytes')
    folder = next(entry for entry in (host.data / 'workers').iterdir() if entry.name.startswith('glutton'))
    until(lambda: sum(file.stat().st_size for file in folder.rglob('*') if file.is_file()) == 0, 'its folder is emptied')
    assert take(host, 'pid') != worker


@pytest.mark.parametrize('lane', ['first', 'second'])
def test_service_calls_without_a_pause(lane, glutton):
    """Each call counts, whatever number the plugin gives it: the host stops reading instead of holding all of them."""
    host = glutton({'server': {'memoryBytes': 64 * MIB, 'loops': 2}})
    take(host, 'pid')
    until(lambda: take(host, 'pid') > 0, 'the second loop is connected')
    before = host.peak_bytes()
    assert take(host, f'calls on the {lane} lane', 400) == 400
    assert host.peak_bytes() - before < 48 * MIB


@pytest.mark.timeout(120)
def test_a_message_that_is_never_whole(glutton):
    """An announced size takes no memory of the host, and the worker is ended."""
    host = glutton({'server': {'memoryBytes': 64 * MIB}})
    worker = take(host, 'pid')
    with host.wire() as wire:
        wire.send_request('POST', host.path('take'), callable_headers(), json.dumps({'data': f'message:{60 * MIB}'}))
        held = re.search(r'held_bytes\{for="services"\} (\d+)', host.request('GET', '/_/metrics').text)
        assert int(held[1]) < MIB, 'what has not arrived takes no room'
        host.until_logged('it began a message to the host and did not finish it', seconds=60)
        assert wire.response().json['error']['status'] == 'INTERNAL'
    until(lambda: is_gone(worker), 'the worker is ended')
    assert take(host, 'pid') != worker
