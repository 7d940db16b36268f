"""How the sources are kept: what docs and habits ask for and a machine can see."""

import ast
import re
import subprocess

import pytest

from hearth import ROOT
from sources import text_of, tracked
from swift_source import blanked, functions

LINES_MAX = 400
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 150
DOC_COLUMNS_MAX = 160
# Written from the sources.
GENERATED = ('docs/api.md', 'docs/configuration.md')
CODE = ('.swift', '.c', '.h', '.py', '.sh')

# Modules that a worker or the request path runs in.
NO_FOUNDATION = ('SDK/Sources', *(f'Sources/{module}' for module in (
    'Base/EventLoop', 'Base/HTTP', 'Base/SQLite', 'Database', 'Functions/Configuration', 'Functions/WorkerProtocol', 'Functions/FunctionWorker',
    'Command/CommandClient')))
# Files where the program writes to a terminal.
MAY_PRINT = ('Sources/Command/hearth/',)
# The C edge, where an optional pointer is unwrapped because the C side promises it.
MAY_FORCE = ('SDK/Sources/HearthBytes/ByteBuffer.swift',)
UNSAFE = re.compile(r'@unchecked Sendable|nonisolated\(unsafe\)|unsafeBitCast')
FORCED = re.compile(r'[\w)\]>?]!(?![=(]\S*\s*=)(?!=)')


def swift(*folders):
    return [name for name in tracked('.swift') if name.startswith(folders or ('SDK/', 'Sources/', 'Plugins/', 'Tests/'))]


def hits(names, pattern, code_only=True):
    """`file:line: text` of each line that matches, comments and strings left out."""
    found = []
    for name in names:
        text = text_of(name)
        seen = blanked(text) if code_only else text
        for number, (line, original) in enumerate(zip(seen.split('\n'), text.split('\n'), strict=True), 1):
            if pattern.search(line):
                found.append(f'{name}:{number}: {original.strip()[:110]}')
    return found


def none_of(found):
    assert not found, '\n'.join(['', *found])


def test_there_is_something_to_look_at():
    assert len(swift('Sources/')) > 50


def test_files_are_short():
    long = {name: count for name in tracked(*CODE) if (count := text_of(name).count('\n')) > LINES_MAX}
    none_of([f'{name}: {count}' for name, count in long.items()])


def test_lines_are_short():
    long = [f'{name}:{number}: {len(line)}' for name in tracked(*CODE) for number, line in enumerate(text_of(name).split('\n'), 1)
            if len(line) > COLUMNS_MAX]
    none_of(long)


def test_lines_of_docs_are_short():
    """Rows of tables, code and long links cannot be broken."""
    long = []
    for name in tracked('.md'):
        is_code = False
        for number, line in enumerate(text_of(name).split('\n') if name not in GENERATED else (), 1):
            if line.lstrip().startswith('```'):
                is_code = not is_code
            if len(line) > DOC_COLUMNS_MAX and not is_code and not line.lstrip().startswith(('|', '    ')):
                long.append(f'{name}:{number}: {len(line)}')
    none_of(long)


def test_swift_functions_are_short():
    long = [f'{name}:{line}: {head} has {count} lines' for name in swift() for line, head, count in functions(text_of(name))
            if count > FUNCTION_LINES_MAX]
    none_of(long)


def test_python_functions_are_short():
    long = []
    for name in tracked('.py'):
        for node in ast.walk(ast.parse(text_of(name))):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= FUNCTION_LINES_MAX:
                long.append(f'{name}:{node.lineno}: {node.name}')
    none_of(long)


def test_whitespace():
    crooked = [f'{name}:{number}' for name in tracked(*CODE, '.md') for number, line in enumerate(text_of(name).split('\n'), 1)
               if line != line.rstrip() or '\t' in line or re.search(r'[\x00-\x08\x0b-\x1f\x7f]', line)]
    none_of(crooked)
    assert [name for name in tracked(*CODE, '.md') if text_of(name) and not text_of(name).endswith('\n')] == []


def test_no_forced_try_or_cast():
    none_of(hits(swift('SDK/', 'Sources/', 'Plugins/'), re.compile(r'\btry!|\bas!|\bfatalError\(')))


def test_no_forced_unwrapping():
    names = [name for name in swift('SDK/', 'Sources/', 'Plugins/') if name not in MAY_FORCE]
    none_of(hits(names, FORCED))


def test_no_print():
    names = [name for name in swift('SDK/', 'Sources/', 'Plugins/') if not name.startswith(MAY_PRINT)]
    none_of(hits(names, re.compile(r'(?<![\w.])(print|debugPrint|dump|NSLog)\(')))


@pytest.mark.parametrize('folder', NO_FOUNDATION)
def test_hot_modules_do_without_foundation(folder):
    pattern = re.compile(r'^\s*(@\w+\s+|public\s+|internal\s+|private\s+)*import\s+(\w+\s+)?(Foundation\w*|Dispatch)\b')
    none_of(hits(swift(f'{folder}/'), pattern))


def test_unsafe_markers_give_a_reason():
    bare = []
    for name in swift():
        text = text_of(name)
        lines, code = text.split('\n'), blanked(text).split('\n')
        for number, line in enumerate(code):
            above = lines[number - 1].strip() if number else ''
            below = lines[number + 1].strip() if number + 1 < len(lines) else ''
            if UNSAFE.search(line) and '//' not in lines[number] and not above.startswith('//') and not below.startswith('//'):
                bare.append(f'{name}:{number + 1}: {lines[number].strip()[:110]}')
    none_of(bare)


def test_public_things_of_the_plugin_library_are_documented():
    kinds = 'struct|class|enum|protocol|func|actor|init|var|let|typealias'
    declared = re.compile(rf'\s*public (?:static |final |mutating |indirect |nonisolated )*({kinds})\b')
    # One comment may cover the stored properties right below it.
    stored = re.compile(r'\s*public (?:static )?(let|var) [^{]*$')
    # Members that the language calls by itself.
    witness = re.compile(r'init\(\w+Literal\b|func (makeIterator|build\w+|hash)\(')
    bare = []
    for name in swift('SDK/Sources/HearthFunctions/', 'SDK/Sources/HearthTesting/'):
        lines = text_of(name).split('\n')
        for number, line in enumerate(lines):
            above = number - 1
            while above >= 0 and (lines[above].strip().startswith('@') or (stored.match(line) and stored.match(lines[above]))):
                above -= 1
            if declared.match(line) and not witness.search(line) and not lines[above].strip().startswith('///'):
                bare.append(f'{name}:{number + 1}: {line.strip()[:110]}')
    none_of(bare)


def test_nothing_is_marked_as_unfinished():
    # The words are split so that this line is not a finding.
    words = re.compile('|'.join(rf'\b{a}{b}\b' for a, b in [('TO', 'DO'), ('FIX', 'ME'), ('XX', 'X'), ('HA', 'CK')]))
    none_of(hits(tracked(*CODE, '.md'), words, code_only=False))


def test_no_test_is_switched_off():
    words = re.compile(r'XCT' r'Skip|\.dis' r'abled\(|mark\.sk' r'ip|mark\.xf' r'ail|pytest\.sk' r'ip')
    none_of(hits([name for name in tracked('.swift', '.py') if name.startswith('Tests/')], words, code_only=False))


def test_no_package_registry_is_named():
    hosts = [('py', 'pi.org'), ('pythonhosted', '.org'), ('npmjs', '.org'), ('deb.debian', '.org'), ('crates', '.io'), ('rubygems', '.org')]
    pattern = re.compile('|'.join(re.escape(a + b) for a, b in hosts))
    none_of(hits(tracked(), pattern, code_only=False))


def test_what_builds_make_is_not_kept():
    assert [name for name in tracked() if name == 'Package.resolved' or name.startswith('.build') or name.endswith('.so')] == []


def test_scripts_are_strict_and_can_be_run():
    for name in ['scripts/serve', 'scripts/test', '.ci/run']:
        text = text_of(name)
        assert (ROOT / name).stat().st_mode & 0o111, name
        assert 'set -euo pipefail' in text or 'lib/setup.sh' in text, name
        subprocess.run(['bash', '-n', ROOT / name], check=True)


FUZZ_TARGETS = ['Build', 'Configuration', 'Context', 'Frames', 'HTTP', 'HTTP2', 'Import', 'JSON', 'Logs', 'Outbox', 'RelaxedJSON', 'REST', 'Rules',
                'Trace', 'Tree', 'Messaging', 'WebSocket', 'Live', 'CBOR', 'Passwords', 'IdentityProviders', 'Users', 'BlockingAnswer', 'Tokens',
                'Authentication', 'Multipart', 'Schedules', 'Tasks']


@pytest.mark.parametrize('target', FUZZ_TARGETS)
def test_fuzz_targets_have_a_corpus(target):
    """Parsers of input from outside are fuzzed, starting with known texts."""
    assert [name for name in tracked() if name.startswith(f'Tests/Fuzz/{target}/corpus/')]


def test_every_fuzz_target_is_known_here():
    assert {name.split('/')[2] for name in tracked() if name.startswith('Tests/Fuzz/') and name.count('/') > 2} == set(FUZZ_TARGETS)
