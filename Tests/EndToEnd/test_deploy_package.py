"""`hearth deploy` of plugins that the Swift package manager builds: progress, errors as the compiler wrote them, and only what is needed.

The package's plugins are in C, which takes a second to build; one test has a plugin in Swift.
"""

import json
import os
import shutil

import pytest

from deploys import Deploys
from hearth import ROOT
from projects import Project, actions
from tokens import PROJECT

MANIFEST = '''// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "chat",
    products: [
        .library(name: "Chat", type: .dynamic, targets: ["Chat"]), .library(name: "Extra", type: .dynamic, targets: ["Extra"]),
        .library(name: "Static", type: .static, targets: ["Extra"]),
    ],
    targets: [.target(name: "Chat"), .target(name: "Extra")]
)
'''
SOURCE = '''#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "\\"VERSION of NAME\\""); }

PLUGIN(ONE_CALLABLE("NAME"))
'''
BROKEN = '''#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->identifier, HEARTH_RESULT, "1"); }

PLUGIN(ONE_CALLABLE("chat"))
'''


class Package(Project):
    """A folder with a package beside functions.json."""

    def __init__(self, folder, host):
        super().__init__(folder, host, HOME=os.environ['HOME'], PATH=os.environ['PATH'])
        self.config['plugins'] = {'Chat': {'product': 'Chat'}, 'Extra': {'product': 'Extra'}}
        for target in ('Chat', 'Extra'):
            headers = folder / f'Sources/{target}/include'
            headers.mkdir(parents=True)
            shutil.copy(ROOT / 'SDK/Sources/CHearth/include/hearth.h', headers)
            shutil.copy(ROOT / 'Tests/Plugins/C/plugin.h', headers.parent)
            self.source(target, SOURCE.replace('NAME', target.lower()).replace('VERSION', 'first'))
        (folder / 'Package.swift').write_text(MANIFEST)
        self.write()

    def source(self, target, text):
        (self.folder / f'Sources/{target}/{target}.c').write_text(text)


@pytest.fixture
def host(launch):
    return launch({})


@pytest.fixture
def package(host, tmp_path):
    return Package(tmp_path / 'project', host)


def versions(host):
    return {name: function['version'] for name, function in Deploys(host).functions.items()}


def test_built_and_deployed(package, host):
    said = package.hearth.succeeds('deploy', seconds=600)
    assert said.splitlines()[0] == 'Building Chat, Extra'
    assert 'Built Chat, Extra in ' in said
    assert (host.result('chat'), host.result('extra')) == ('first of chat', 'first of extra')
    package.source('Chat', SOURCE.replace('NAME', 'chat').replace('VERSION', 'second'))
    result = package.hearth.result('deploy', seconds=600)
    assert actions(result) == {'chat': 'update', 'extra': 'unchanged'}
    assert result['seconds']['build'] > 0
    assert (host.result('chat'), host.result('extra')) == ('second of chat', 'first of extra')
    assert package.hearth.succeeds('deploy', seconds=600).splitlines()[-1] == 'Nothing to deploy: all 2 functions are unchanged.'


def test_what_does_not_compile(package, host):
    """The compiler's output is shown verbatim, beside one sentence; the plugin that does compile is not deployed either."""
    package.deploys(seconds=600)
    package.source('Chat', BROKEN)
    package.source('Extra', SOURCE.replace('NAME', 'extra').replace('VERSION', 'second'))
    outcome = package.deploy(seconds=600)
    assert outcome.status == 1
    lines = outcome.error.splitlines()
    at = next(number for number, line in enumerate(lines) if "error: no member named 'identifier'" in line)
    assert lines[at].startswith(f'{package.folder}/Sources/Chat/Chat.c:3:')
    assert 'invocation->identifier' in lines[at + 1]
    assert '^' in lines[at + 2]
    assert lines[-1].startswith('hearth: Chat does not compile')
    assert lines[-1].endswith('; nothing was changed')
    assert not any(line.startswith('[') for line in lines)
    assert versions(host) == {'chat': 1, 'extra': 1}
    assert host.result('chat') == 'first of chat'


def test_only_what_is_needed_is_built(package, host):
    package.deploys(seconds=600)
    package.source('Chat', BROKEN)
    package.source('Extra', SOURCE.replace('NAME', 'extra').replace('VERSION', 'second'))
    assert package.deploys('--only', 'functions:extra', seconds=600) == {'extra': 'update'}
    assert (host.result('chat'), host.result('extra')) == ('first of chat', 'second of extra')


def test_on_a_terminal(package):
    """Progress is one line that comes and goes."""
    status, shown = package.hearth.on_terminal('deploy', seconds=600)
    assert status == 0, shown
    assert '\r\x1b[KBuilding Chat' in shown
    assert 'Deployed: 2 created.' in shown


def test_json_is_only_json(package):
    package.source('Chat', BROKEN)
    outcome = package.deploy('--json', seconds=600)
    said = json.loads(outcome.output)
    assert said['status'] == 'error'
    assert 'Chat does not compile' in said['error']
    assert "no member named 'identifier'" in outcome.error


@pytest.mark.parametrize('product, words', [('Nothing', 'no product Nothing'), ('Static', '.dynamic')])
def test_products_that_are_none(product, words, package):
    package.config['plugins'] = {'Chat': {'product': product}}
    package.write()
    outcome = package.deploy(seconds=600)
    assert outcome.status == 1
    assert words in outcome.error.splitlines()[-1]


def test_no_package(package):
    (package.folder / 'Package.swift').unlink()
    assert 'Package.swift' in package.deploy(seconds=600).sentence


def test_a_swift_that_cannot_be_run(package, tmp_path):
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin/swift').write_text('#!/nowhere/interpreter\n')
    (tmp_path / 'bin/swift').chmod(0o755)
    assert 'install Swift' in package.deploy(PATH=f'{tmp_path}/bin:/usr/bin:/bin').sentence


@pytest.mark.timeout(900)
def test_a_plugin_in_swift(host, tmp_path):
    """A project as `hearth init` makes it, from an empty folder to a second version."""
    project = Project(tmp_path / 'greetings', host, HOME=os.environ['HOME'], PATH=os.environ['PATH'])
    project.hearth.succeeds('init', '.')
    # The host's project is another one than that of the new project.
    file = project.folder / 'functions.json'
    file.write_text(file.read_text().replace('demo-greetings', PROJECT))
    # A debug build is quicker, and is deployed in the same way.
    assert project.deploys('--mode', 'development', seconds=800) == {'greet': 'create', 'shout': 'create'}
    assert host.result('greet', {'name': 'Ada'})['text'] == 'Hello, Ada!'
    source = project.folder / 'Sources/Greetings/Greetings.swift'
    text = source.read_text()
    source.write_text(text.replace('Hello,', 'Good day,').replace('name.isEmpty', 'nome.isEmpty'))
    outcome = project.deploy('--mode', 'development', seconds=800)
    assert outcome.status == 1
    assert "error: value of type 'Person' has no member 'nome'" in outcome.error
    assert host.result('greet', {'name': 'Ada'})['text'] == 'Hello, Ada!'
    source.write_text(text.replace('Hello,', 'Good day,'))
    assert project.deploys('--mode', 'development', '--only', 'functions:greet', seconds=800) == {'greet': 'update'}
    assert host.result('greet', {'name': 'Ada'})['text'] == 'Good day, Ada!'
    assert versions(host) == {'greet': 2, 'shout': 1}
