"""A deployed plugin needs nothing of Swift on its machine, and nothing of Foundation at all."""

import re
import subprocess

import pytest

from hearth import PRODUCTS

# Libraries of every Debian: the C library, and the C++ runtime of Swift.
ALLOWED = {'libc.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libstdc++.so.6', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
SIZE_BYTES_MAX = 20_000_000


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize('name', ['Arithmetic', 'Messages', 'Conformance'])
def test_a_plugin_in_swift_brings_its_runtime_along(name):
    library = PRODUCTS / f'lib{name}.so'
    assert set(re.findall(r'\(NEEDED\).*\[(.+)\]', output_of('readelf', '-d', library))) <= ALLOWED
    assert library.stat().st_size < SIZE_BYTES_MAX


def test_foundation_is_not_linked_in():
    symbols = output_of('nm', PRODUCTS / 'libArithmetic.so')
    # Mangled names of Foundation's modules; the runtime's own mention of the name is another.
    assert re.findall(r'\$s\d*(?:10Foundation|20FoundationEssentials)\w*', symbols) == []


def test_a_plugin_exports_no_runtime():
    """Two plugins in one process each keep their own."""
    exported = output_of('nm', '-D', '--defined-only', PRODUCTS / 'libArithmetic.so')
    assert ' hearth_plugin_entry' in exported
    assert re.findall(r' (swift_\w+)', exported) == []
