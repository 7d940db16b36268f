"""Facts about processes from /proc: descendants, open descriptors, zombies."""

import glob
import os
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    """A process in /proc. `started` distinguishes it from a later process with the same id."""

    pid: int
    state: str
    parent: int
    session: int
    started: int

    @property
    def is_zombie(self):
        return self.state == 'Z'

    def lives(self):
        now = look(self.pid)
        return now is not None and now.started == self.started and not now.is_zombie


def look(pid):
    """The process with this id, or None."""
    try:
        with open(f'/proc/{pid}/stat', 'rb') as file:
            text = file.read().decode(errors='replace')
    except OSError:
        return None
    fields = text[text.rindex(')') + 2:].split()
    return Process(pid, fields[0], int(fields[1]), int(fields[3]), int(fields[19]))


def every_process():
    return [process for pid in map(int, filter(str.isdigit, os.listdir('/proc'))) if (process := look(pid))]


def descendants(pid):
    """All descendants of `pid`, including zombies."""
    found, parents = [], {pid}
    everything = sorted(every_process(), key=lambda process: process.started)
    grew = True
    while grew:
        new = [p for p in everything if p.parent in parents and p.pid not in parents]
        parents.update(p.pid for p in new)
        found += new
        grew = bool(new)
    return found


def children(pid):
    return [process for process in every_process() if process.parent == pid]


def of_session(session):
    return [process for process in every_process() if process.session == session]


def descriptors(pid):
    """The target of each open descriptor of a process, by number."""
    links = {}
    for name in os.listdir(f'/proc/{pid}/fd'):
        try:
            links[int(name)] = os.readlink(f'/proc/{pid}/fd/{name}')
        except OSError:
            continue
    return links


def deaf_threads(pid, signal):
    """The threads that block a signal, and the threads that do not."""
    blocking, others = [], []
    for thread in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{thread}/status') as file:
            mask = next(int(line.split()[1], 16) for line in file if line.startswith('SigBlk:'))
        (blocking if mask >> (signal - 1) & 1 else others).append(int(thread))
    return blocking, others


def resident_kib(pid):
    with open(f'/proc/{pid}/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmRSS:'))


def anonymous_kib(pid):
    """Memory of a process without the pages of files that it has mapped."""
    with open(f'/proc/{pid}/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('RssAnon:'))


def cpu_ticks(pid):
    with open(f'/proc/{pid}/stat') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


def command_line(pid):
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            return file.read().decode(errors='replace').split('\0')[:-1]
    except OSError:
        return []


def mapped_files(pid):
    """The files that a process has mapped, including its libraries."""
    try:
        with open(f'/proc/{pid}/maps') as file:
            return {line.split(None, 5)[5].strip() for line in file if line.count(' ') > 4 and '/' in line}
    except OSError:
        return set()


def memory_groups(host):
    """The control groups that a host has made for its workers."""
    return [folder for place in ('', 'memory/', 'pids/') for folder in glob.glob(f'/sys/fs/cgroup/{place}hearth-{host}-*')]


def environment(pid):
    with open(f'/proc/{pid}/environ', 'rb') as file:
        pairs = (entry.partition('=') for entry in file.read().decode(errors='replace').split('\0') if entry)
        return {name: value for name, _, value in pairs}


def steady(measure, what, seconds=20):
    """Waits until `measure()` has not changed for 0.3 s, so that earlier work is finished, and returns its value."""
    end, found, since = time.monotonic() + seconds, measure(), time.monotonic()
    while time.monotonic() - since < 0.3:
        assert time.monotonic() < end, f'did not settle within {seconds} s: {what}: {found}'
        time.sleep(0.02)
        now = measure()
        if now != found:
            found, since = now, time.monotonic()
    return found


def until(condition, what, seconds=20):
    """Waits until `condition()` is true, and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f'did not happen within {seconds} s: {what}')
        time.sleep(0.01)


def whole_lines(path):
    """The lines of a file that another process may be writing: text after the last line end is left out."""
    return path.read_text(errors='replace').split('\n')[:-1] if path.exists() else []
