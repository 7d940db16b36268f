"""The modules of the project, from its manifests, and the references between their sources."""

import collections
import functools
import json
import re
import subprocess

from hearth import ROOT
from swift_source import blanked

# The layers of Sources/, from the lowest to the highest.
LAYERS = ['Base', 'Database', 'Identity', 'Messaging', 'Functions', 'Host', 'Command']
IMPORT = re.compile(r'^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+|(?:public|package|internal|private|fileprivate)[ \t]+)*import[ \t]+'
                    r'(?:(?:struct|class|enum|protocol|func|var|let|typealias)[ \t]+)?(\w+)', re.MULTILINE)
DECLARATION = re.compile(r'^(?:(?:public|package|internal|final|indirect|nonisolated|@\w+(?:\([^)\n]*\))?)\s+)*'
                         r'(?:struct|class|enum|protocol|actor|typealias|func|let|var)\s+(\w+)', re.MULTILINE)

# A type at the top level of a file.
TYPE = re.compile(r'^(?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated|@\w+(?:\([^)\n]*\))?)\s+)*'
                  r'(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)', re.MULTILINE)


class Module:
    """A target that is not a test, a plugin or a build plugin."""

    def __init__(self, package, target):
        self.name = target['name']
        self.folder = ROOT / package / (target.get('path') or f'Sources/{self.name}')
        self.layer = 'SDK' if package else self.folder.parent.name
        self.imports = {next(iter(item.values()))[0] for item in target['dependencies']}

    @functools.cached_property
    def sources(self):
        """The Swift files, with their text without comments and strings."""
        return {path: blanked(path.read_text()) for path in sorted(self.folder.rglob('*.swift'))}

    @functools.cached_property
    def folders(self):
        """The names of the folders that contain Swift files."""
        return sorted({path.relative_to(self.folder).parts[0] for path in self.sources if path.parent != self.folder})

    def imported(self):
        """The imported modules, each with a file that imports it."""
        return {match[1]: str(path.relative_to(ROOT)) for path, text in self.sources.items() for match in IMPORT.finditer(text)}

    def references(self):
        """For each folder, the folders of the module whose declarations it uses, with the names of these declarations.

        Files outside of folders belong to '.'. Names that are declared in several folders are ignored.
        """
        def folder(path):
            return path.relative_to(self.folder).parts[0] if path.parent != self.folder else '.'

        declared = collections.defaultdict(set)
        for path, text in self.sources.items():
            for match in DECLARATION.finditer(text):
                declared[match[1]].add(folder(path))
        found = collections.defaultdict(lambda: collections.defaultdict(set))
        for path, text in self.sources.items():
            for word in set(re.findall(r'\b[A-Za-z_]\w+', text)):
                places = declared.get(word, ())
                if len(places) == 1 and folder(path) not in places:
                    found[folder(path)][next(iter(places))].add(word)
        return found


def manifest(folder):
    printed = subprocess.run(['swift', 'package', 'dump-package'], cwd=ROOT / folder, capture_output=True, check=True).stdout
    return json.loads(printed)


def modules():
    """All modules by name, in the order of the manifests, those of the SDK first."""
    found = {}
    for package in ('SDK', ''):
        for target in manifest(package)['targets']:
            if target['type'] not in ('test', 'plugin') and (package or (target.get('path') or '').startswith('Sources/')):
                found[target['name']] = Module(package, target)
    return found


def circles(references):
    """The groups of folders with circular references."""
    def reach(start):
        seen, left = set(), [start]
        while left:
            for name in references.get(left.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    left.append(name)
        return seen

    reached = {name: reach(name) for name in list(references)}
    groups = {frozenset(other for other in reached[name] if name in reached.get(other, ())) for name in reached if name in reached[name]}
    return sorted(sorted(group) for group in groups)
