"""Hosts that run out of descriptors, threads or processes: at a chosen moment, or because of a low limit."""

import mmap
import pathlib
import struct

from hearth import Host, compiled

SUPPORT = pathlib.Path(__file__).parent
NAMES_AT, COUNTED_AT, SIZE = 4, 64, 256


class Scarcity:
    """Makes one system call of a process fail. `variables` are for the environment of the process."""

    def __init__(self, path):
        path.write_bytes(bytes(SIZE))
        with open(path, 'r+b') as file:
            self.control = mmap.mmap(file.fileno(), SIZE)
        self.variables = {'LD_PRELOAD': compiled(SUPPORT / 'scarcity.c', ()), 'SCARCITY': str(path)}

    def fail(self, number, *calls):
        """Makes call number `number`, from 1, fail; counts only the named calls, or all if none is named."""
        counted = f' {" ".join(calls)} '.encode() if calls else b''
        self.control[NAMES_AT:SIZE] = counted.rjust(len(counted) + COUNTED_AT - NAMES_AT, b'\0').ljust(SIZE - NAMES_AT, b'\0')
        self.control[:NAMES_AT] = struct.pack('i', number)

    def end(self):
        """Stops counting. Returns the name of the call that failed, or None if there were fewer calls."""
        self.control[:NAMES_AT] = struct.pack('i', 0)
        return self.control[NAMES_AT:COUNTED_AT].rstrip(b'\0').decode() or None


class SmallHost(Host):
    """A host with a limit on open descriptors."""

    def __init__(self, *arguments, open_files, **options):
        super().__init__(*arguments, **options)
        self.open_files = open_files

    def command(self):
        return ['prlimit', f'--nofile={self.open_files}:{self.open_files}', *super().command()]
