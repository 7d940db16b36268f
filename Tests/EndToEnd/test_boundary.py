"""The tables of hearth.h may grow: older and newer plugins load, and nothing that they were built against has moved."""

import pathlib
import re
import subprocess

import pytest

from hearth import ROOT, library
from test_plugins import refusal

CURRENT = ROOT / 'SDK/Sources/CHearth/include'
HEADERS = ROOT / 'Tests/Plugins/C/headers'
VERSIONS = sorted(path.name for path in HEADERS.iterdir())
STRUCTS = ['hearth_bytes', 'hearth_invocation', 'hearth_answer', 'hearth_service_call', 'hearth_host', 'hearth_plugin']


def built(source, include, target):
    subprocess.run(['gcc', '-shared', '-fPIC', '-Wall', '-Werror', '-DVERSION=7', '-I', include, ROOT / f'Tests/Plugins/C/{source}.c', '-o', target],
                   check=True)
    return str(target)


def members(header, struct):
    """The names of a struct's members, in their order."""
    text = re.sub(r'/\*.*?\*/', '', (header / 'hearth.h').read_text(), flags=re.DOTALL)
    body = re.search(rf'struct {struct} \{{(.*?)\n\}}', text, re.DOTALL)[1]
    return [re.search(r'\(\*(\w+)\)', line)[1] if '(*' in line else line.split()[-1].lstrip('*') for line in body.split(';') if line.strip()]


def layout(header, struct, names, folder):
    """Where these members of a struct are, and how large they are."""
    lines = ''.join(f'printf("%zu %zu\\n", offsetof({struct}, {name}), sizeof(({struct} *)0)->{name});' for name in names)
    source, program = folder / 'layout.c', folder / 'layout'
    source.write_text(f'#include <hearth.h>\n#include <stdio.h>\nint main(void) {{ {lines} return 0; }}\n')
    subprocess.run(['gcc', '-I', header, source, '-o', program], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize('version', VERSIONS)
def test_a_plugin_built_against_an_older_header(version, launch, tmp_path):
    path = built('versioned', HEADERS / version, tmp_path / 'libold.so')
    assert launch({'old': {'library': path}}).result('version7') == 7


def test_a_plugin_with_a_larger_table(launch):
    assert launch({'new': {'library': library('larger_table')}}).result('larger') == 'larger'


def test_a_plugin_with_a_shorter_table(launch):
    """Members behind its end count as absent: they are not called, at the end of the worker neither."""
    host = launch({'old': {'library': library('shorter_table')}})
    assert host.result('shorter') == 'shorter'
    host.stop()
    assert 'abort' not in host.log.lower()
    assert 'SIGABRT' not in host.log


def test_a_table_without_what_each_plugin_has(launch):
    refusal(launch, library('shorter_table', SIZE=24), r'its plugin table has 24 bytes, expected at least \d+')


@pytest.mark.parametrize('struct', STRUCTS)
@pytest.mark.parametrize('version', VERSIONS)
def test_members_have_not_moved(version, struct, tmp_path):
    old = members(HEADERS / version, struct)
    new = members(CURRENT, struct)[:len(old)]
    # A reserved member may get a meaning, and its name with it.
    assert [name if name == before or before != 'reserved' else before for name, before in zip(new, old, strict=True)] == old
    assert layout(CURRENT, struct, new, tmp_path) == layout(HEADERS / version, struct, old, tmp_path)


@pytest.mark.parametrize('version', VERSIONS)
def test_numbers_have_not_changed(version):
    def numbers(header: pathlib.Path):
        return dict(re.findall(r'\b(HEARTH_[A-Z_]+) = (-?\d+)', (header / 'hearth.h').read_text()))

    old = numbers(HEADERS / version)
    assert len(old) > 10
    assert numbers(CURRENT).items() >= old.items()
