"""--watch with the sources of a Swift package: what compiles serves, what does not is shown."""

import contextlib
import os
import shutil

import pytest

import processes
from deploys import Deploys
from hearth import ROOT, Host
from processes import until

PACKAGE = '''// swift-tools-version:6.2
import PackageDescription
let package = Package(
    name: "tiny",
    products: [
        .library(name: "Tiny", type: .dynamic, targets: ["Tiny", "TinyEntry"]),
        .library(name: "Other", type: .dynamic, targets: ["OtherEntry"]),
    ],
    targets: [
        .target(name: "Shared"), .target(name: "Tiny", dependencies: ["Shared"]), .target(name: "TinyEntry"), .target(name: "OtherEntry"),
    ])
'''
ENTRY = '''#include "plugin.h"
#include <stdio.h>
%(declaration)s
static void invoke(const hearth_invocation *i) {
    char text[64];
    snprintf(text, sizeof text, "%%d", %(value)s);
    answer(i->id, HEARTH_RESULT, text);
}
PLUGIN(ONE_CALLABLE("%(name)s"))
'''
TINY = 'import Shared\n@c(tiny_value) public func tinyValue() -> CInt {{ {} + shared() }}\n'
SHARED = 'public func shared() -> CInt {{ {} }}\n'


def write(path, text):
    """Saves as careful editors do: a temporary file that takes the name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f'.{path.name}.tmp'
    temporary.write_text(text)
    os.rename(temporary, path)


def reset(folder):
    """The sources as they were; a build that is there already stays."""
    shutil.rmtree(folder / 'Sources', ignore_errors=True)
    write(folder / 'Package.swift', PACKAGE)
    write(folder / 'Sources/Shared/Shared.swift', SHARED.format(0))
    write(folder / 'Sources/Tiny/Tiny.swift', TINY.format(1))
    entries = {'TinyEntry': {'declaration': 'int tiny_value(void);', 'value': 'tiny_value()', 'name': 'tiny'},
               'OtherEntry': {'declaration': '', 'value': '1', 'name': 'other'}}
    for target, values in entries.items():
        write(folder / f'Sources/{target}/entry.c', ENTRY % values)
        for header in (ROOT / 'SDK/Sources/CHearth/include/hearth.h', ROOT / 'Tests/Plugins/C/plugin.h'):
            write(folder / f'Sources/{target}/include/{header.name}', header.read_text())
        write(folder / f'Sources/{target}/include/module.modulemap', f'module {target} {{ }}\n')


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    folder = tmp_path_factory.mktemp('sources')
    reset(folder)
    variables = {'PATH': os.environ['PATH'], 'HOME': os.environ.get('HOME', '/root')}
    plugins = {'Tiny': {'product': 'Tiny'}, 'Other': {'product': 'Other'}}
    host = Host(folder, plugins, mode='development', args=['--watch'], env=variables, config={'watch': {'configuration': 'debug'}}).start()
    # The first build is from nothing.
    serves(host, 1, seconds=150)
    serves(host, 1, 'other', seconds=60)
    yield host
    host.stop()


def value(host, name='tiny'):
    answer = host.callable(name)
    return answer.json['result'] if answer.status == 200 else None


def serves(host, number, name='tiny', seconds=60):
    until(lambda: value(host, name) == number, f'{name} answers {number}: {host.log[-2000:]}', seconds)


def new_lines(host, start, pattern, seconds=60):
    """The log from `start` on, once `pattern` is in it."""
    until(lambda: pattern in host.log[start:], f'{pattern!r} is said: {host.log[start:]}', seconds)
    return host.log[start:]


def build(host, plugin='Tiny'):
    return next(build for build in Deploys(host).ask('GET', 'builds')['builds'] if build['plugin'] == plugin)


@pytest.mark.timeout(300)
def test_a_saved_source_serves_and_only_its_plugin_is_built(host):
    other = build(host, 'Other')
    write(host.folder / 'Sources/Tiny/Tiny.swift', TINY.format(10))
    serves(host, 10)
    until(lambda: build(host)['state'] == 'built', 'the build is recorded')
    assert build(host)['functions'] == ['tiny']
    assert build(host)['direct'] is True
    assert build(host, 'Other') == other
    line = host.until_logged('^Tiny: tiny is version ')
    assert 'built in' in line and 'switched in' in line


@pytest.mark.timeout(120)
def test_a_compile_error_is_shown_and_the_old_version_serves(host):
    before, start = value(host), len(host.log)
    path = host.folder / 'Sources/Tiny/Tiny.swift'
    write(path, TINY.format('"text"'))
    said = new_lines(host, start, 'the previous version continues to serve.')
    assert f'{path}:2:' in said and ': error: ' in said
    assert value(host) == before
    failed = build(host)
    assert (failed['state'], ': error: ' in failed['diagnostics']) == ('failed', True)
    write(path, TINY.format(20))
    serves(host, 20)


@pytest.mark.timeout(120)
def test_what_a_target_depends_on_counts(host):
    base = value(host)
    write(host.folder / 'Sources/Shared/Shared.swift', SHARED.format(100))
    serves(host, base + 100)
    write(host.folder / 'Sources/Shared/Shared.swift', SHARED.format(0))
    serves(host, base)


@pytest.mark.timeout(120)
def test_files_come_and_go(host):
    write(host.folder / 'Sources/Tiny/More.swift', 'func more() -> CInt { 30 }\n')
    write(host.folder / 'Sources/Tiny/Tiny.swift', TINY.format('more()'))
    serves(host, 30)
    write(host.folder / 'Sources/Tiny/Tiny.swift', TINY.format(31))
    os.remove(host.folder / 'Sources/Tiny/More.swift')
    serves(host, 31)


@pytest.mark.timeout(120)
def test_a_folder_that_is_replaced(host):
    folder = host.folder / 'Sources/Tiny'
    shutil.copytree(folder, f'{folder}.new')
    write(host.folder / 'Sources/Tiny.new/Tiny.swift', TINY.format(40))
    os.rename(folder, f'{folder}.old')
    os.rename(f'{folder}.new', folder)
    serves(host, 40)
    shutil.rmtree(f'{folder}.old')
    write(folder / 'Tiny.swift', TINY.format(41))
    serves(host, 41)


@pytest.mark.timeout(120)
def test_what_editors_leave_builds_nothing(host):
    write(host.folder / 'Sources/Tiny/Tiny.swift', TINY.format(50))
    serves(host, 50)
    until(lambda: build(host)['state'] == 'built', 'the build is over')
    before = build(host)
    for name in ('.Tiny.swift.swp', 'Tiny.swift~', '#Tiny.swift#', 'build.log', '4913'):
        (host.folder / 'Sources/Tiny' / name).write_text('not a source')
        os.remove(host.folder / 'Sources/Tiny' / name)
    write(host.folder / 'Sources/OtherEntry/entry.c', (host.folder / 'Sources/OtherEntry/entry.c').read_text().replace('"%d", 1', '"%d", 2'))
    serves(host, 2, 'other')
    assert build(host) == before


@pytest.mark.timeout(120)
def test_a_newer_save_makes_a_build_obsolete(host):
    start = len(host.log)
    for number in range(60, 70):
        write(host.folder / 'Sources/Tiny/Tiny.swift', TINY.format(number))
        with contextlib.suppress(AssertionError):
            until(lambda: build(host)['state'] == 'building', 'a build begins', 2)
    serves(host, 69)
    assert 'stopped' not in host.log[start:]


def compilers(host):
    lines = (processes.command_line(process.pid) for process in processes.descendants(host.pid) if process.lives())
    return [line for line in lines if not {'worker', 'clean-up'} & set(line)]


def holdings(host):
    return len(processes.descriptors(host.pid)), len(os.listdir(f'/proc/{host.pid}/task'))


@pytest.mark.timeout(600)
def test_many_saves_leak_nothing(host):
    path = host.folder / 'Sources/Tiny/Tiny.swift'
    for number in range(200, 203):
        write(path, TINY.format(number))
        serves(host, number)
    until(lambda: len(host.loaded_workers()) == 2, 'old workers are gone')
    before = processes.steady(lambda: holdings(host), 'what the host holds')
    for number in range(300, 320):
        for step in range(4):
            write(path, TINY.format(f'{number} + {step}'))
        write(path, TINY.format(number))
        serves(host, number)
    until(lambda: not compilers(host), f'no compiler is left: {compilers(host)}')
    until(lambda: holdings(host) <= before, f'as much is held as before {before}: {holdings(host)}')


@pytest.mark.timeout(60)
def test_stopping_ends_a_build(host):
    """The last of this file: the host, killed in the middle of a build, leaves no compiler."""
    write(host.folder / 'Sources/Tiny/Tiny.swift', TINY.format(900))
    until(lambda: compilers(host), 'a compiler runs')
    family = host.kill()
    until(lambda: not [process for process in family if process.lives()], 'nothing outlives the host')
