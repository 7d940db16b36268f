"""The project's own files: those that git tracks or would add."""

import subprocess

from hearth import ROOT


def tracked(*suffixes):
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file() and not (ROOT / name).is_symlink()]
    return sorted(name for name in names if not suffixes or name.endswith(suffixes))


def text_of(name):
    return (ROOT / name).read_text(errors='replace')
