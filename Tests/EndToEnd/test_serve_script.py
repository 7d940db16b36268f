"""The build of scripts/serve on a terminal equals that of the watcher: the second build finds nothing to do."""

import os
import pty
import shutil
import subprocess

import pytest

from hearth import BINARY, ROOT

PACKAGE = '''// swift-tools-version:6.2
import PackageDescription
let package = Package(name: "tiny", products: [.library(name: "Tiny", type: .dynamic, targets: ["Tiny"])], targets: [.target(name: "Tiny")])
'''


def on_a_terminal(command, **options):
    """Runs a command whose input and output are a terminal; returns its status and what was printed."""
    main, side = pty.openpty()
    with subprocess.Popen(command, stdin=side, stdout=side, stderr=side, start_new_session=True, **options) as process:
        os.close(side)
        printed = b''
        try:
            while piece := os.read(main, 65536):
                printed += piece
        except OSError:
            # The terminal's end, as Linux says it.
            pass
        os.close(main)
        return process.wait(60), printed.decode(errors='replace')


@pytest.mark.timeout(120)
def test_a_build_on_a_terminal_and_one_without(tmp_path):
    shutil.copytree(ROOT / 'scripts/lib', tmp_path / 'scripts/lib')
    (tmp_path / 'Sources/Tiny').mkdir(parents=True)
    (tmp_path / 'Package.swift').write_text(PACKAGE)
    (tmp_path / 'Sources/Tiny/Tiny.swift').write_text('public func tiny() -> Int { 1 }\n')
    status, printed = on_a_terminal(['bash', '-c', '. scripts/lib/setup.sh && find_swift && build_release'], cwd=tmp_path)
    assert status == 0 and 'complete' in printed, printed
    again = subprocess.run(['swift', 'build', '-c', 'release', '--product', 'Tiny'], cwd=tmp_path, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=True, timeout=100)
    assert 'Compiling' not in again.stdout + again.stderr, again.stdout


@pytest.mark.timeout(180)
def test_a_project_builds_on_a_terminal_what_the_watcher_builds(tmp_path):
    """The package is one that compiles fast; the script is the project's."""
    environment = {**os.environ, 'HOME': str(tmp_path)}
    subprocess.run([BINARY, 'init', 'tiny', '--package', ROOT], cwd=tmp_path, env=environment, check=True, capture_output=True)
    folder = tmp_path / 'tiny'
    (folder / 'Package.swift').write_text(PACKAGE)
    (folder / 'Sources/Tiny/Tiny.swift').write_text('public func tiny() -> Int { 1 }\n')
    status, printed = on_a_terminal(['scripts/build'], cwd=folder, env=environment)
    assert status == 0 and 'complete' in printed, printed
    again = subprocess.run(['swift', 'build', '-c', 'release', '--product', 'Tiny'], cwd=folder, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=True, timeout=100)
    assert 'Compiling' not in again.stdout + again.stderr, again.stdout
