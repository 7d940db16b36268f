"""Swift packages that tests build in release mode: each in a folder that stays, so that only the first run builds everything."""

import contextlib
import fcntl
import subprocess

from hearth import ROOT

FOLDER = ROOT / '.build/test-projects'


def write(path, text):
    """Writes a file where it differs: what is as it was is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


@contextlib.contextmanager
def alone(name):
    """Lets one process at a time, of those that run tests, into the package of that name."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f'{name}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def built(name, files, products, seconds=2400):
    """The libraries of a package's products; `files` are its texts by path, and the package is called `name`."""
    folder = FOLDER / name
    with alone(name):
        # The guide builds beside a clone that is called hearth.
        link = FOLDER / 'hearth'
        if not link.is_symlink():
            with contextlib.suppress(FileExistsError):
                link.symlink_to(ROOT)
        for path, text in files.items():
            write(folder / path, text)
        for product in products:
            done = subprocess.run(['swift', 'build', '-c', 'release', '--product', product], cwd=folder, capture_output=True, text=True,
                                  timeout=seconds, check=False)
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return {product: folder / f'.build/release/lib{product}.so' for product in products}
