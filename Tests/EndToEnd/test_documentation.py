"""The documentation of the SDK's modules builds with the toolchain's DocC, without a warning."""

import shutil
import subprocess

import pytest

from hearth import PRODUCTS, ROOT


@pytest.mark.timeout(300)
@pytest.mark.parametrize('module', ['HearthFunctions', 'HearthTesting'])
def test_documentation_builds_without_warnings(module, tmp_path):
    graphs = tmp_path / 'graphs'
    graphs.mkdir()
    target = subprocess.run(['swift', '-print-target-info'], capture_output=True, text=True, check=True).stdout.split('"triple": "')[1].split('"')[0]
    extracted = subprocess.run(
        ['swift', 'symbolgraph-extract', '-module-name', module, '-I', PRODUCTS / 'Modules', '-I', ROOT / 'SDK/Sources/CHearth', '-target', target,
         '-output-dir', graphs, '-minimum-access-level', 'public'], capture_output=True, text=True, check=False)
    assert extracted.returncode == 0, extracted.stderr
    # Graphs of other modules' types are named MODULE@OTHER; those of the modules below have pages of their own.
    assert (graphs / f'{module}.symbols.json').exists()
    docc = shutil.which('docc') or '/opt/swift/usr/bin/docc'
    built = subprocess.run(
        [docc, 'convert', ROOT / f'SDK/Sources/{module}/{module}.docc', '--fallback-display-name', module, '--fallback-bundle-identifier',
         f'hearth.{module}', '--additional-symbol-graph-dir', graphs, '--output-path', tmp_path / f'{module}.doccarchive', '--warnings-as-errors'],
        capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    page = tmp_path / f'{module}.doccarchive/data/documentation' / f'{module.lower()}.json'
    assert 'Overview' in page.read_text()
