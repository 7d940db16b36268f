"""A backup into a folder that others write in too: what they have planted at the file's name or beside it is neither used nor taken for
the backup."""

import os
import subprocess
import tarfile

import pytest

from commands import Commands
from hearth import BINARY


@pytest.fixture
def commands(launch, tmp_path):
    return Commands(launch([], mode='development'), tmp_path / 'commands')


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / 'shared'
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / 'victim'
    path.write_text('kept')
    return path


def test_a_planted_name_for_unfinished_output(commands, shared, victim):
    """The program's process id is known before it begins; a name made of it can be planted."""
    file = shared / 'hearth.tar'
    script = 'ln -s "$2" "$1.$$.part"; exec "$3" backup "$1"'
    done = subprocess.run(['sh', '-c', script, 'sh', file, victim, BINARY], env=commands.environment({}), capture_output=True, timeout=60)
    assert victim.read_text() == 'kept'
    assert done.returncode == 0, done.stderr
    assert not file.is_symlink() and file.stat().st_mode & 0o777 == 0o600
    with tarfile.open(file) as archive:
        assert 'manifest.json' in archive.getnames()


def identity(file):
    status = file.lstat()
    return status.st_ino, status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns


def plant(kind, file, victim):
    if kind == 'link':
        file.symlink_to(victim)
    elif kind == 'link to nothing':
        file.symlink_to(f'{victim}.not-there')
    elif kind == 'pipe':
        os.mkfifo(file)
    else:
        file.write_text('planted')
        os.chown(file, 12345, 12345)


@pytest.mark.parametrize('kind', ['link', 'link to nothing', 'pipe', "another user's file"])
def test_a_planted_file(kind, commands, shared, victim):
    file = shared / 'hearth.tar'
    plant(kind, file, victim)
    before = identity(file)
    done = commands.run('backup', file)
    assert done.status == 1 and 'name another file' in done.error, done
    assert identity(file) == before and victim.read_text() == 'kept'
    assert [path.name for path in shared.iterdir()] == ['hearth.tar']


def test_a_file_of_ones_own_is_replaced(commands, shared):
    file = shared / 'hearth.tar'
    file.write_text('the backup of yesterday')
    commands.succeeds('backup', file)
    assert tarfile.is_tarfile(file)
