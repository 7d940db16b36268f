"""--watch while `watch.configuration` changes: what is deployed serves on until it is built the other way."""

import json
import os
import subprocess

import pytest

from deploys import CALLABLE, Deploys
from hearth import ROOT, Host
from processes import until

PACKAGE = '''// swift-tools-version:6.2
import PackageDescription
let package = Package(
    name: "plain", products: [.library(name: "Plain", type: .dynamic, targets: ["Plain"])], targets: [.target(name: "Plain")])
'''


def save(folder, version, *names):
    """The sources of a plugin in C with these functions: a build takes a moment only."""
    target = folder / 'Sources/Plain'
    (target / 'include').mkdir(parents=True, exist_ok=True)
    (folder / 'Package.swift').write_text(PACKAGE)
    for source in ('SDK/Sources/CHearth/include/hearth.h', 'Tests/Plugins/C/plugin.h'):
        (target / 'include' / os.path.basename(source)).write_text((ROOT / source).read_text())
    (target / 'include/module.modulemap').write_text('module Plain { }\n')
    endpoints = {name: {'entryPoint': name, 'platform': 'gcfv2', **CALLABLE} for name in names}
    manifest = json.dumps(json.dumps({'specVersion': 'v1alpha1', 'endpoints': endpoints}))
    source = (ROOT / 'Tests/Plugins/C/deployable.c').read_text()
    text = f'#define VERSION {version}\n#define MANIFEST {manifest}\n{source}'
    (target / 'fresh').write_text(text)
    (target / 'fresh').rename(target / 'plain.c')


def version(host, name):
    answer = host.callable(name)
    return answer.json['result']['version'] if answer.status == 200 else None


def serves(host, number, *names):
    for name in names:
        until(lambda name=name: version(host, name) == number, f'{name} of version {number} serves: {host.log[-1500:]}', 60)


def use(host, configuration):
    """Saves functions.json with another configuration."""
    host.config['watch'] = {'configuration': configuration}
    host.config_path.write_text(json.dumps(host.config, indent=2))


def deletions(host):
    records = Deploys(host).ask('GET', 'deployments')['deployments']
    return [change for record in records for change in record['changes'] if change['action'] == 'delete']


@pytest.mark.timeout(240)
def test_a_stale_library_of_the_other_configuration(tmp_path):
    folder = tmp_path / 'host'
    save(folder, 1, 'one')
    variables = {'PATH': os.environ['PATH'], 'HOME': os.environ.get('HOME', '/root')}
    subprocess.run(['swift', 'build', '-c', 'release'], cwd=folder, env=variables, check=True, capture_output=True, timeout=200)
    save(folder, 2, 'one', 'two')
    host = Host(folder, {'Plain': {'product': 'Plain'}}, mode='development', args=['--watch'], env=variables,
                config={'watch': {'configuration': 'debug'}}).start()
    try:
        serves(host, 2, 'one', 'two')
        # The library in .build/release knows of `one` only.
        use(host, 'release')
        until(lambda: Deploys(host).ask('GET', 'builds').get('configuration') == 'release', 'it builds for release')
        # Saved again while that build may be under way.
        use(host, 'release')
        release = 'Plain: one is version'
        until(lambda: host.log.count(release) >= 2 or 'two is deleted' in host.log, f'the release build serves: {host.log[-1500:]}', 60)
        assert deletions(host) == []
        serves(host, 2, 'one', 'two')
        save(folder, 3, 'one', 'two', 'three')
        serves(host, 3, 'one', 'two', 'three')
        # The same while the host is down: the library in .build/debug does not know `three`.
        host.stop()
        use(host, 'debug')
        host.start()
        assert version(host, 'three') == 3
        save(folder, 4, 'one', 'two', 'three')
        serves(host, 4, 'one', 'two', 'three')
        assert deletions(host) == []
        host.stop()
    finally:
        host.abandon()
