"""Which room may import which: what Package.swift declares, and nothing below its own place in it."""

import re

import pytest

from hearth import ROOT
from swift_source import blanked

PACKAGE = (ROOT / 'Package.swift').read_text() + (ROOT / 'SDK/Package.swift').read_text()
# The rooms from the ground up; a room imports only from what stands before it.
ORDER = ['CHearth', 'CLinux', 'CLibuv', 'COpenSSL', 'CZlib', 'CLLHTTP', 'CCurl', 'CSQLite', 'CRE2', 'HearthBytes', 'Files', 'Metrics', 'HearthJSON',
         'CommandClient', 'EventLoop', 'HTTP', 'Tokens', 'Configuration', 'SQLite', 'Tree', 'Rules', 'RealtimeDatabase', 'Messaging',
         'WorkerProtocol', 'FunctionWorker', 'PluginBuild', 'FunctionHost', 'hearth']
# Names that Package.swift gives to modules of the SDK.
CONSTANTS = {'bytes': 'HearthBytes', 'json': 'HearthJSON'}
# What a plugin author imports stands apart from the host: it travels into other processes.
SDK = {'CHearth', 'HearthBytes', 'HearthJSON', 'HearthFunctions'}


def declared():
    """Each target of Package.swift with the targets that it depends on."""
    rooms = {}
    for match in re.finditer(r'\.(target|executableTarget|systemLibrary)\(\s*name: "(\w+)"', PACKAGE):
        rest = PACKAGE[match.end():]
        rest = rest[:re.search(r'\n        \.\w+\(|\n    \]', rest).start()] if re.search(r'\n        \.\w+\(|\n    \]', rest) else rest
        listed = re.search(r'dependencies: \[(.*?)\](?=,|\))', rest, re.DOTALL)
        named = re.sub(r'\.product\(.*?\)', '', listed[1]) if listed else ''
        named = re.sub(r'\b(bytes|json)\b', lambda constant: f'"{CONSTANTS[constant[1]]}"', named)
        rooms[match[2]] = set(re.findall(r'"(\w+)"', named))
    return rooms


IMPORT = re.compile(r'^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+|(?:public|package|internal|private|fileprivate)[ \t]+)*import[ \t]+'
                    r'(?:(?:struct|class|enum|protocol|func|var|let|typealias)[ \t]+)?(\w+)', re.MULTILINE)


def imports(folder):
    """What the sources of a folder import, each with one file that does."""
    found = {}
    for path in sorted((ROOT / folder).rglob('*.swift')):
        for match in IMPORT.finditer(blanked(path.read_text())):
            found.setdefault(match[1], str(path.relative_to(ROOT)))
    return found


ROOMS = declared()
FOLDERS = {path.name: path for parent in ('Sources', 'SDK/Sources') for path in (ROOT / parent).iterdir() if path.is_dir()}
SOURCES = sorted(FOLDERS)


def test_imports_are_seen():
    assert {'HearthBytes', 'HearthJSON', 'EventLoop', 'HTTP'} <= set(imports(FOLDERS['FunctionHost']))


def test_every_folder_is_a_target():
    assert set(SOURCES) <= set(ROOMS)


@pytest.mark.parametrize('room', SOURCES)
def test_a_room_imports_what_it_declares(room):
    undeclared = {name: where for name, where in imports(FOLDERS[room]).items() if name in ROOMS and name not in ROOMS[room]}
    assert undeclared == {}


@pytest.mark.parametrize('room', [room for room in SOURCES if room in ORDER])
def test_a_room_imports_from_above(room):
    above = set(ORDER[:ORDER.index(room)])
    assert ROOMS[room] <= above


def test_every_room_has_its_place():
    assert set(SOURCES) == {*ORDER, 'HearthFunctions'}


def test_the_plugin_library_stands_apart_from_the_host():
    assert ROOMS['HearthFunctions'] <= SDK
    assert {path.name for path in (ROOT / 'SDK/Sources').iterdir()} == SDK


@pytest.mark.parametrize('plugin', ['Arithmetic', 'Messages'])
def test_a_plugin_imports_the_plugin_library_only(plugin):
    assert set(imports(f'Plugins/{plugin}')) & set(ROOMS) == {'HearthFunctions'}


# -- what is written about them

def rows():
    """The rooms of the table in docs/architecture.md in their order, each with what it builds on."""
    page = (ROOT / 'docs' / 'architecture.md').read_text()
    table = page[page.index('## Rooms'):page.index('Inside `FunctionHost`')]
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if line.startswith('| `'):
            for room in re.findall(r'`(\w+)`', cells[0]):
                found[room] = re.findall(r'`(\w+)`', cells[2])
    return found


def everything_below(rooms):
    """These, and whatever they import."""
    found = set(rooms)
    for room in rooms:
        found |= everything_below(ROOMS[room])
    return found


DRAWN = rows()


def test_every_room_is_drawn():
    assert sorted(DRAWN) == SOURCES


@pytest.mark.parametrize('room', SOURCES)
def test_a_room_is_drawn_with_what_it_imports(room):
    order = list(DRAWN)
    assert set(DRAWN[room]) <= ROOMS[room]
    assert ROOMS[room] <= everything_below(DRAWN[room])
    assert all(order.index(name) < order.index(room) for name in DRAWN[room])


def folders(room):
    return [path.name for path in sorted(FOLDERS[room].iterdir()) if path.is_dir() and any(path.rglob('*.swift'))]


@pytest.mark.parametrize('room', [room for room in SOURCES if any(FOLDERS[room].rglob('*.swift'))])
def test_a_room_says_what_its_folders_are(room):
    page = (FOLDERS[room] / 'README.md').read_text()
    assert [name for name in folders(room) if not re.search(rf'`{name}[`/]', page)] == []


def test_the_folders_of_the_host_are_drawn():
    page = (ROOT / 'docs' / 'architecture.md').read_text()
    assert [name for name in folders('FunctionHost') if f'`{name}`' not in page[page.index('Inside `FunctionHost`'):]] == []
