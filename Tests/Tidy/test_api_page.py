"""docs/api.md is what the sources of HearthFunctions and HearthTesting say, and leaves out nothing that is public."""

import re
import subprocess
import sys

from hearth import ROOT

PUBLIC = re.compile(r'^\s*(?:@\w+(?:\([^)]*\))? )*public (?:static |final |mutating )*'
                    r'(?:struct|class|enum|protocol|func|var|let|typealias) `?(\w+)', re.MULTILINE)


def test_the_page_is_that_of_the_sources():
    done = subprocess.run([sys.executable, ROOT / 'scripts/make-api-page', '--check'], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_on_it():
    words = set(re.findall(r'\w+', (ROOT / 'docs/api.md').read_text()))
    sources = [path for module in ('HearthFunctions', 'HearthTesting') for path in (ROOT / 'SDK/Sources' / module).rglob('*.swift')]
    missing = sorted({name for path in sources for name in PUBLIC.findall(path.read_text())} - words)
    # The parts of a result builder are written by the compiler alone.
    assert [name for name in missing if not name.startswith('build')] == []
