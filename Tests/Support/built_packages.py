"""Swift packages that tests build in release mode. Their folders are kept, so that only the first run builds everything."""

import contextlib
import fcntl
import subprocess

from hearth import ROOT

FOLDER = ROOT / '.build/test-projects'


def write(path, text):
    """Writes a file if its text differs, because the build looks at modification times."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


@contextlib.contextmanager
def alone(name):
    """Locks the package of that name, so that only one test process builds it at a time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f'{name}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def built(name, files, products, seconds=2400):
    """Builds `products` of the package `name` and returns the paths of their libraries. `files` are the package's texts, by path."""
    folder = FOLDER / name
    with alone(name):
        # The packages depend on a clone in ../hearth, as in the guide.
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
