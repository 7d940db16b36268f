"""A host whose system has no descriptor, thread or process for it at a chosen moment, or few of them from the start."""

import mmap
import pathlib
import struct

from hearth import Host, compiled

SUPPORT = pathlib.Path(__file__).parent
NAMES_AT, COUNTED_AT, SIZE = 4, 64, 256


class Scarcity:
    """Fails one call of a process: `variables` are for the process's environment."""

    def __init__(self, path):
        path.write_bytes(bytes(SIZE))
        with open(path, 'r+b') as file:
            self.control = mmap.mmap(file.fileno(), SIZE)
        self.variables = {'LD_PRELOAD': compiled(SUPPORT / 'scarcity.c', ()), 'SCARCITY': str(path)}

    def fail(self, number, *calls):
        """The call of this number, from 1 on, fails: of these, or of all."""
        counted = f' {" ".join(calls)} '.encode() if calls else b''
        self.control[NAMES_AT:SIZE] = counted.rjust(len(counted) + COUNTED_AT - NAMES_AT, b'\0').ljust(SIZE - NAMES_AT, b'\0')
        self.control[:NAMES_AT] = struct.pack('i', number)

    def end(self):
        """The name of the call that failed, or None if there were fewer calls. Later calls succeed."""
        self.control[:NAMES_AT] = struct.pack('i', 0)
        return self.control[NAMES_AT:COUNTED_AT].rstrip(b'\0').decode() or None


class SmallHost(Host):
    """A host that may have only so many descriptors open."""

    def __init__(self, *arguments, open_files, **options):
        super().__init__(*arguments, **options)
        self.open_files = open_files

    def command(self):
        return ['prlimit', f'--nofile={self.open_files}:{self.open_files}', *super().command()]
