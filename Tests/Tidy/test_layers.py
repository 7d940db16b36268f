"""The layers of the sources: the allowed imports of each module, and the allowed references between folders of a module."""

import json
import re

import pytest

from hearth import ROOT
from modules import LAYERS, circles, manifest, modules
from sources import tracked

MODULES = modules()
NAMES = list(MODULES)
SDK = {'CHearth', 'HearthBytes', 'HearthJSON', 'HearthFunctions', 'HearthTesting'}


def test_every_folder_is_a_module():
    folders = {path for layer in LAYERS for path in (ROOT / 'Sources' / layer).iterdir() if path.is_dir()}
    assert folders == {module.folder for module in MODULES.values() if module.layer != 'SDK'}
    assert {path.name for path in (ROOT / 'Sources').iterdir()} == set(LAYERS)
    assert {path.name for path in (ROOT / 'SDK/Sources').iterdir()} == SDK


@pytest.mark.parametrize('name', NAMES)
def test_a_module_imports_what_it_declares(name):
    imported = MODULES[name].imported()
    assert {other: where for other, where in imported.items() if other in MODULES and other not in MODULES[name].imports} == {}
    assert [other for other in MODULES[name].imports if other in MODULES and other not in imported and not other.startswith('C')] == []


@pytest.mark.parametrize('name', NAMES)
def test_a_module_imports_from_above(name):
    above = set(NAMES[:NAMES.index(name)])
    assert {other for other in MODULES[name].imports if other in MODULES} <= above


def test_modules_are_declared_layer_by_layer():
    layers = [MODULES[name].layer for name in NAMES]
    assert layers == sorted(layers, key=['SDK', *LAYERS].index)


@pytest.mark.parametrize('name', NAMES)
def test_folders_know_of_each_other_in_one_direction(name):
    references = MODULES[name].references()
    found = [{(one, two): sorted(references[one][two]) for one in circle for two in circle if references[one].get(two)}
             for circle in circles(references)]
    assert found == []


def test_circles_are_found():
    assert circles({'a': {'b': 1}, 'b': {'c': 1}, 'c': {'a': 1, 'd': 1}, 'd': {}}) == [['a', 'b', 'c']]
    assert circles({'a': {'b': 1}, 'b': {'c': 1}}) == []


def test_the_plugin_library_stands_apart_from_the_host():
    assert {other for other in MODULES['HearthFunctions'].imports if other in MODULES} <= SDK


def test_the_host_declares_the_modules_of_the_sdk_as_the_sdk_does():
    """The host compiles the same sources with flags that a package for others may not have."""
    def declared(folder):
        targets = [target for target in manifest(folder)['targets'] if target['name'] in SDK | {'HearthEntryPoint'}]
        return {target['name']: (target['type'], {next(iter(item.values()))[0] for item in target['dependencies']}) for target in targets}

    assert set(declared('SDK')) == SDK | {'HearthEntryPoint'}
    assert declared('') == declared('SDK')


def test_the_sdk_has_no_unsafe_flags():
    """SwiftPM takes a package with such flags neither by version nor as the dependency of a dependency."""
    assert 'unsafeFlags' not in json.dumps(manifest('SDK'))
    assert [dependency for dependency in manifest('SDK')['dependencies'] if 'fileSystem' in dependency] == []


@pytest.mark.parametrize('plugin', ['Arithmetic', 'Messages', 'Followers'])
def test_a_plugin_imports_the_plugin_library_only(plugin):
    found = {word for path in (ROOT / 'Plugins' / plugin).rglob('*.swift') for word in re.findall(r'^import (\w+)', path.read_text(), re.MULTILINE)}
    assert found & set(NAMES) == {'HearthFunctions'}


# -- what is written about them

def rows():
    """The modules of the table in docs/architecture.md in their order, each with what it builds on."""
    page = (ROOT / 'docs' / 'architecture.md').read_text()
    found = {}
    for line in page[page.index('## Layers'):page.index('## The path of a call')].splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if line.startswith('| `'):
            for name in re.findall(r'`(\w+)`', cells[0]):
                found[name] = re.findall(r'`(\w+)`', cells[2])
    return found


def everything_below(names):
    """These, and whatever they import."""
    found = set(names)
    for name in names:
        found |= everything_below(MODULES[name].imports & set(NAMES))
    return found


DRAWN = rows()


def test_every_module_is_drawn_in_its_layer():
    assert sorted(DRAWN) == sorted(NAMES)


@pytest.mark.parametrize('name', NAMES)
def test_a_module_is_drawn_with_what_it_imports(name):
    order = list(DRAWN)
    assert set(DRAWN[name]) <= MODULES[name].imports
    assert MODULES[name].imports & set(NAMES) <= everything_below(DRAWN[name])
    assert all(order.index(other) < order.index(name) for other in DRAWN[name])


@pytest.mark.parametrize('name', [name for name in NAMES if MODULES[name].sources])
def test_a_module_says_what_its_folders_are(name):
    page = (MODULES[name].folder / 'README.md').read_text()
    assert [folder for folder in MODULES[name].folders if not re.search(rf'`{folder}[`/]', page)] == []


# -- the ways through the layers

WAYS = {'The path of a call': 30, 'The path of a write': 20, 'The path of an event': 15, 'The path of a deployment': 40}


@pytest.mark.parametrize('way', WAYS)
def test_a_way_leads_through_few_files(way):
    page = (ROOT / 'docs' / 'architecture.md').read_text()
    section = page.split(f'## {way}\n')[1].split('\n## ')[0]
    files = re.findall(r'`([^`]*\.(?:swift|h))`', section)
    known = tracked('.swift', '.h')
    assert [file for file in files if not any(f'/{name}'.endswith(f'/{file}') for name in known)] == []
    assert len(files) == len(set(files)) <= WAYS[way]
