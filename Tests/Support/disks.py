"""Disks that are small, full, read-only or broken, for a folder of a test."""

import contextlib
import os
import pathlib
import subprocess

from hearth import compiled

SUPPORT = pathlib.Path(__file__).parent
FULL = {'error': 'The disk is full: nothing was written. Try again when there is room.'}
READ_ONLY = {'error': 'The disk cannot be written to: nothing was written.'}
BROKEN = {'error': "The storage failed: nothing was done. The host's log says more."}


def mount(*arguments):
    """Mounts a file system. Requires root."""
    subprocess.run(['mount', *map(str, arguments)], check=True)


class SmallDisk:
    """A file system in memory, mounted on a folder."""

    def __init__(self, folder, mebibytes=4):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        mount('-t', 'tmpfs', '-o', f'size={mebibytes}m,mode=0700', 'none', self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(['umount', '--lazy', self.folder], check=True)

    def remount(self, options):
        mount('-o', f'remount,{options}', self.folder)

    def fill(self):
        """Fills the rest of the disk."""
        with contextlib.suppress(OSError), open(self.folder / 'filler', 'ab', buffering=0) as file:
            while file.write(bytes(4096)):
                pass

    def free(self):
        """The number of free bytes."""
        state = os.statvfs(self.folder)
        return state.f_bavail * state.f_frsize

    def make_room(self):
        (self.folder / 'filler').unlink()


@contextlib.contextmanager
def read_only_file(path):
    """Makes a file read-only, even for root."""
    mount('--bind', path, path)
    try:
        mount('-o', 'remount,bind,ro', path)
        yield
    finally:
        subprocess.run(['umount', '--lazy', path], check=True)


class FailingDisk:
    """Makes file operations of a process in a folder fail on demand. `variables` are for the environment of the process."""

    def __init__(self, folder, control):
        self.control = pathlib.Path(control)
        self.variables = {
            'LD_PRELOAD': compiled(SUPPORT / 'failing_disk.c', ()), 'FAILING_FOLDER': str(folder), 'FAILING_CONTROL': str(control)}

    def fail(self, calls, error):
        """Makes these calls (`write`, `sync`, `open`) fail with this errno from now on."""
        fresh = self.control.with_suffix('.new')
        fresh.write_text(f'{error} {calls}')
        os.rename(fresh, self.control)

    def mend(self):
        self.control.unlink()


class PowerDisk:
    """A folder on a machine that can lose its power. `variables` are for the environment of the process that writes."""

    def __init__(self, folder, synced):
        self.folder, self.synced = pathlib.Path(folder), pathlib.Path(synced)
        self.synced.mkdir()
        self.variables = {
            'LD_PRELOAD': compiled(SUPPORT / 'power_loss.c', ()), 'POWER_FOLDER': str(folder), 'POWER_SYNCED': str(synced)}

    def lose_power(self, chance):
        """Simulates a power failure after the process was killed: any sector that was written but not synced may be lost."""
        share = chance.choice([0, 0, 0.5, chance.random(), 1])
        # A process that is killed early has not made the folder.
        for path in self.folder.iterdir() if self.folder.exists() else ():
            synced = self.synced / path.name
            if path.suffix == '.sqlite-shm' or not synced.exists():
                path.unlink()
                continue
            most, least = path.read_bytes(), synced.read_bytes()
            if most != least:
                left = torn(most, least, share, chance)
                path.write_bytes(left)
                synced.write_bytes(left)


def torn(most, least, share, chance, sector=512):
    """A file whose sectors come from two states of it at random, cut to the length of one of them."""
    size = chance.choice([len(most), len(least)])
    pieces = []
    for at in range(0, size, sector):
        piece, other = (most, least) if chance.random() < share else (least, most)
        pieces.append((piece[at:at + sector] or other[at:at + sector])[:size - at])
    return b''.join(pieces)
