"""The modules of the project, as its manifests declare them, and what their sources refer to."""

import collections
import functools
import json
import re
import subprocess

from hearth import ROOT
from swift_source import blanked

# The layers of Sources/, from the ground up.
LAYERS = ['Base', 'Database', 'Identity', 'Messaging', 'Functions', 'Host', 'Command']
IMPORT = re.compile(r'^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+|(?:public|package|internal|private|fileprivate)[ \t]+)*import[ \t]+'
                    r'(?:(?:struct|class|enum|protocol|func|var|let|typealias)[ \t]+)?(\w+)', re.MULTILINE)
DECLARATION = re.compile(r'^(?:(?:public|package|internal|final|indirect|nonisolated|@\w+(?:\([^)\n]*\))?)\s+)*'
                         r'(?:struct|class|enum|protocol|actor|typealias|func|let|var)\s+(\w+)', re.MULTILINE)

# A type at the top level of a file.
TYPE = re.compile(r'^(?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated|@\w+(?:\([^)\n]*\))?)\s+)*'
                  r'(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)', re.MULTILINE)


class Module:
    """A target that is no test, no plugin and no build plugin."""

    def __init__(self, package, target):
        self.name = target['name']
        self.folder = ROOT / package / (target.get('path') or f'Sources/{self.name}')
        self.layer = 'SDK' if package else self.folder.parent.name
        self.imports = {next(iter(item.values()))[0] for item in target['dependencies']}

    @functools.cached_property
    def sources(self):
        """Each Swift file, with its text without comments and strings."""
        return {path: blanked(path.read_text()) for path in sorted(self.folder.rglob('*.swift'))}

    @functools.cached_property
    def folders(self):
        """The names of the folders that hold Swift files."""
        return sorted({path.relative_to(self.folder).parts[0] for path in self.sources if path.parent != self.folder})

    def imported(self):
        """The imports of the sources, each with one file that has it."""
        return {match[1]: str(path.relative_to(ROOT)) for path, text in self.sources.items() for match in IMPORT.finditer(text)}

    def references(self):
        """The folders of the module that each folder refers to by a declaration's name, with these names.

        Files that stand in no folder belong to '.'. A name that several folders declare is left out.
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
    """All modules in the order in which the manifests declare them, the SDK's first, by name."""
    found = {}
    for package in ('SDK', ''):
        for target in manifest(package)['targets']:
            if target['type'] not in ('test', 'plugin') and (package or (target.get('path') or '').startswith('Sources/')):
                found[target['name']] = Module(package, target)
    return found


def circles(references):
    """The groups of folders that refer to each other in a circle."""
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
