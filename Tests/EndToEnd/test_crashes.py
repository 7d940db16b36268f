"""Crash reports in the log: in words, under the function and the call that crashed, with the author's own lines."""

import json
import re
import shutil
import subprocess
import time

import pytest

from commands import Commands
from hearth import BINARY, INTERNAL, library
from processes import until

CRASHES = {
    # kind: words, the innermost call of the author's, signals
    'nil': ('fatal error: Unexpectedly found nil while unwrapping an Optional value', 'unwrapsNothing', (4, 5)),
    'overflow': ('fatal error: arithmetic overflow', 'overflows', (4, 5)),
    'message': ('fatal error: this is why: message', 'tellsWhy', (4, 5, 6)),
    'recursion': ('stack overflow, as from a function that calls itself without end', 'recurses', (11,)),
    'later': ('fatal error: Unexpectedly found nil while unwrapping an Optional value', 'unwrapsNothing', (4, 5)),
}


def crash_line(host, function):
    """The line of the log that tells of the crash."""
    def found():
        # The last line may be on its way.
        for line in host.log.split('\n')[:-1]:
            if line.startswith('{') and (entry := json.loads(line)).get('function') == function and entry['message'].startswith('it crashed'):
                return entry
        return None
    return until(found, f'{function} is said to have crashed')


@pytest.mark.parametrize('kind', CRASHES)
def test_words_and_calls(kind, launch):
    words, innermost, signals = CRASHES[kind]
    host = launch(['Faults'])
    assert host.callable('crashes', kind).json == INTERNAL
    line = crash_line(host, 'crashes')
    assert line['message'].startswith(f'it crashed: {words} (signal ')
    assert int(re.search(r'signal (\d+)', line['message'])[1]) in signals
    assert re.fullmatch('[a-z0-9]{12}', line['invocation'])
    calls = line['calls']
    assert re.search(rf'Crashes\.{innermost}\(.* at /.*/Tests/Plugins/Faults/Crashes\.swift:\d+$', calls[0]), calls
    assert not [call for call in calls if '/SDK/Sources/' in call], 'the SDK is not the author\'s'
    assert len(calls) <= 16
    for noise in ('@Sendable', 'specialization <', 'variable initialization', 'Array<FunctionDefinition>', 'partial function'):
        assert not [call for call in calls if noise in call], 'only what tells functions apart'


def test_names_are_those_of_the_page(launch):
    host = launch(['Faults'])
    for name, number in [('trap', 1), ('segfault', 3)]:
        host.callable(name)
        call = crash_line(host, name)['calls'][1]
        assert re.match(rf'closure #{number} \(CallableRequest<JSONValue>\) -> Int in Faults\.functions at /', call), call


def test_one_line_is_an_error(launch):
    """The crash has the line of its function; the line of the worker that ended says less."""
    host = launch(['Faults'])
    host.callable('crashes', 'nil')
    crash = crash_line(host, 'crashes')
    end = json.loads(host.until_logged('an instance ended'))
    assert (crash['severity'], end['severity']) == ('error', 'notice')
    assert (end['function'], end['plugin'], end['pid']) == ('crashes', 'Faults', crash['pid'])
    assert end['reason'] == 'it crashed; the line with its calls says why'
    assert not {'pid_', 'running', 'givenUp'} & set(end)


def test_an_end_that_has_no_other_line_is_an_error(launch):
    host = launch(['probe'])
    host.callable('exit')
    assert json.loads(host.until_logged('an instance ended'))['severity'] == 'error'


def slow_tools(folder, seconds):
    """A `PATH` with a compiler whose symbolizer takes that long, and knows nothing."""
    tools = folder / 'tools/bin'
    tools.mkdir(parents=True)
    for name in ('swift', 'llvm-symbolizer'):
        (tools / name).write_text(f'#!/bin/sh\nexec sleep {seconds}\n')
        (tools / name).chmod(0o755)
    return {'PATH': f'{tools}:/usr/bin:/bin'}


def test_a_crash_while_a_plugin_is_loaded(launch, tmp_path):
    """Its library is kept until the names in it have been read."""
    host = launch(['entry_crashes', 'Conformance'], env=slow_tools(tmp_path, 2))
    line = json.loads(host.until_logged('"message":"it crashed: abort'))
    assert line['plugin'] == 'entry_crashes'
    assert line['calls'] == ['hearth_plugin_entry']


def test_a_stop_does_not_wait_long_for_names(launch, tmp_path):
    host = launch(['Faults'], env=slow_tools(tmp_path, 60))
    kinds = ['nil', 'overflow', 'message']
    for kind in kinds:
        assert host.callable('crashes', kind).status == 500
    assert 'it crashed:' not in host.log
    begin = time.monotonic()
    host.stop()
    assert time.monotonic() - begin < 6
    lines = [json.loads(line) for line in host.log.splitlines() if '"it crashed: ' in line]
    assert len(lines) == len(kinds) and all(line['calls'] for line in lines)


def test_a_thread_of_the_plugin(launch):
    """The call is known as long as there is only one."""
    host = launch(['Faults'])
    assert host.callable('crashes', 'thread').json == INTERNAL
    line = crash_line(host, 'crashes')
    assert line['message'] == 'it crashed: segmentation fault: access through a null pointer, at address 0x8 (signal 11, SIGSEGV)'
    assert 'Faults.segfault()' in line['calls'][0]
    assert '@objc' not in ''.join(line['calls'])


@pytest.mark.parametrize('name, words', [
    ('callsNothing', 'segmentation fault: access through a null pointer (signal 11, SIGSEGV)'),
    ('divides', 'division by zero (signal 8, SIGFPE)'),
    ('abort', 'abort() was called (signal 6, SIGABRT)'),
])
def test_plugins_in_c(name, words, launch):
    host = launch(['probe'])
    assert host.callable(name).json == INTERNAL
    line = crash_line(host, name)
    assert line['message'] == f'it crashed: {words}'
    # This library has no lines, and names for its functions only.
    assert line['calls'][:2] == ['misbehave', 'invoke']


def test_it_is_shown_for_the_function_alone(launch, tmp_path):
    host = launch(['probe'])
    host.callable('divides')
    crash_line(host, 'divides')
    shown = Commands(host, tmp_path / 'commands').succeeds('functions:log', '--only', 'divides')
    assert re.search(r' E divides: it crashed: division by zero \(signal 8, SIGFPE\)\n    at misbehave\n    at invoke\n', shown)
    assert 'it crashed' not in Commands(host, tmp_path / 'commands').succeeds('functions:log', '--only', 'pid')


def test_an_end_without_a_crash_is_told_in_words_too(launch):
    host = launch(['probe'])
    host.callable('exit')
    assert '"function":"exit"' in host.until_logged('it ended itself with exit status 0')


def test_the_crash_of_a_forked_child_is_not_the_workers(launch):
    host = launch(['probe'])
    assert host.callable('childAborts').json == INTERNAL
    line = json.loads(host.until_logged('an instance ended'))
    assert line['reason'] == 'it was ended by signal 9, SIGKILL'
    # Crashes are logged one after the other.
    host.callable('divides')
    crash_line(host, 'divides')
    assert 'abort() was called' not in host.log


def test_without_the_tools_of_a_compiler():
    """The library's own names have to do."""
    symbols = subprocess.run(['nm', '--defined-only', library('Faults')], capture_output=True, text=True, check=True).stdout
    place = next(line.split()[0] for line in symbols.splitlines() if line.endswith(' $s6Faults10PlainErrorVMa'))
    done = subprocess.run([BINARY, 'symbolizer', '', library('Faults'), str(int(place, 16) + 1), '1'], capture_output=True, text=True,
                          timeout=30, check=True, env={})
    assert done.stdout.splitlines()[0].split('\t')[2:] == ['type metadata accessor for Faults.PlainError', '', '0']


@pytest.mark.parametrize('content', [b'', b'\x7fELF', b'\x7fELF\x02\x01' + b'\xff' * 200, b'\x7fELF\x02\x01' + b'\x00' * 34 + b'\x28' + b'\x00' * 23,
                                     # Its table of sections begins at the largest number that there is.
                                     b'\x7fELF\x02\x01' + b'\x00' * 34 + b'\xff' * 7 + b'\x7f' + b'\x00' * 10 + b'\x00\x00\x02\x00' + b'\x00' * 99])
def test_files_that_are_no_libraries_harm_nobody(content, tmp_path):
    path = tmp_path / 'bad.so'
    path.write_bytes(content)
    done = subprocess.run([BINARY, 'symbolizer', '', path, '1', '2'], capture_output=True, timeout=30, check=True, env={})
    assert done.stdout == b'\n'


def test_a_stripped_library_is_told_by_offsets(launch, tmp_path):
    shutil.copy(library('probe'), tmp_path / 'libprobe.so')
    subprocess.run(['strip', '--strip-all', tmp_path / 'libprobe.so'], check=True)
    host = launch({'probe': {'library': str(tmp_path / 'libprobe.so')}})
    host.callable('divides')
    assert re.fullmatch(r'libprobe\.so\+0x[0-9a-f]+', crash_line(host, 'divides')['calls'][0])
