"""hearth database:import and database:export: any size, any place, whatever happens on the way."""

import contextlib
import json
import os
import pathlib
import random
import re
import stat
import subprocess
import time

import pytest

from commands import Commands
from hearth import Host
from processes import until


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('import'), mode='production').start()
    yield host
    host.stop()


@pytest.fixture
def hearth(host, tmp_path):
    made = Commands(host, tmp_path / 'here')
    made.succeeds('database:remove', '/', '--force', '--disable-triggers')
    return made


def read(hearth, path, *more):
    return json.loads(hearth.succeeds('database:get', path, *more))


def tree(dice, leaves):
    """A tree in the form of an export, with about so many leaves."""
    def value(depth):
        kind = dice.random()
        if depth >= 8 or kind < 0.5:
            leaf = dice.choice([1, -2.5, 12345678901, True, False, 'text', 'ä "quoted" \\ 😀\n', 'x' * 300])
            return {'.value': leaf, '.priority': dice.choice([1.5, 'high'])} if kind < 0.05 else leaf
        keys = dice.sample(range(10_000), dice.randrange(1, 12))
        node = {(f'key {key}' if dice.random() < 0.7 else str(key)): value(depth + 1) for key in keys}
        if kind > 0.95:
            node['.priority'] = dice.choice([-1, 'p'])
        return node
    found, size = {}, 0
    while size < leaves:
        found[f'k{len(found)}'] = one = value(1)
        size += json.dumps(one).count(':')
    return found


@pytest.mark.parametrize('seed', range(4))
def test_what_is_imported_is_what_is_exported(seed, hearth):
    value = tree(random.Random(seed), 20_000)
    (hearth.folder / 'in.json').write_text(json.dumps(value, indent=[None, 2][seed % 2], ensure_ascii=seed < 2))
    hearth.succeeds('database:import', '/place/below', 'in.json', '--chunk-size', ['0.25', '0.005'][seed % 2], '--concurrency', str(seed + 1))
    hearth.succeeds('database:export', '/place/below', '--output', 'out.json')
    assert json.loads((hearth.folder / 'out.json').read_text()) == value
    # And once more, of the export.
    hearth.succeeds('database:import', '/again', 'out.json')
    assert json.loads(hearth.succeeds('database:export', '/again')) == value


@pytest.mark.parametrize('text', ['5', '"text"', 'true', '{".value": 1, ".priority": 2}', '[1, null, 3]', '{"a": {".priority": 1, "b": 2}}'])
def test_small_texts(text, hearth):
    hearth.succeeds('database:import', '/a', '-', given=text)
    value = json.loads(text)
    expected = {'0': 1, '2': 3} if isinstance(value, list) else value
    assert read(hearth, '/a', '--export') == expected


@pytest.mark.parametrize('text', ['null', '{}', '[]'])
def test_nothing_to_import(text, hearth):
    hearth.succeeds('database:import', '/a', '-', given=text)
    assert read(hearth, '/a') is None


def test_the_root(hearth):
    hearth.succeeds('database:import', '/', '-', given='{"a": 1, ".priority": 3}')
    assert read(hearth, '/', '--export') == {'.priority': 3, 'a': 1}


def test_a_place_with_data_is_refused(hearth):
    hearth.succeeds('database:set', '/a', '--data', '{"old": 1}', '--force')
    assert '--force' in hearth.run('database:import', '/a', '-', given='{"new": 1}').sentence
    assert read(hearth, '/a') == {'old': 1}
    hearth.succeeds('database:import', '/a', '-', '--force', given='{"new": 1}')
    assert read(hearth, '/a') == {'new': 1}


@pytest.mark.parametrize('text, place', [
    ('{"a": 1,\n "b": tru}', '2:7'), ('{"a": 1} {}', '1:10'), ('{"a": {"b.c": 1}}', '1:8'), ('{"a": [1, 2}', '1:12'), ('', '1:1'),
    ('{"a": "\\x"}', '1:'),
])
def test_a_file_that_is_wrong_changes_nothing(text, place, hearth):
    (hearth.folder / 'wrong.json').write_text(text)
    said = hearth.run('database:import', '/a', 'wrong.json').sentence
    assert f'wrong.json:{place}' in said
    assert 'nothing was written' in said
    assert read(hearth, '/a') is None


def test_too_deep_for_its_place(hearth):
    (hearth.folder / 'deep.json').write_text('{"a":' * 20 + '1' + '}' * 20)
    hearth.succeeds('database:import', '/' + 'x/' * 12, 'deep.json')
    assert '32' not in hearth.run('database:import', '/' + 'y/' * 13, 'deep.json').output
    assert 'nothing was written' in hearth.run('database:import', '/' + 'y/' * 13, 'deep.json').sentence


@pytest.mark.timeout(300)
def test_memory_does_not_grow_with_the_file(hearth):
    with open(hearth.folder / 'big.json', 'w') as file:
        file.write('{"users": {')
        for number in range(400_000):
            file.write(f'{"," if number else ""}"u{number:07}": {{"name": "somebody number {number}", "born": {1900 + number % 100}, "on": true}}')
        file.write('}}')
    size = (hearth.folder / 'big.json').stat().st_size
    with hearth.start('database:import', '/', 'big.json', '--json') as process:
        peak = peak_kilobytes(process)
        said = json.loads(process.communicate(timeout=300)[0])
    assert said['result']['bytes'] == size
    assert peak < 80_000
    with hearth.start('database:export', '--output', 'out.json') as process:
        peak = peak_kilobytes(process)
        process.communicate(timeout=300)
        assert process.returncode == 0
    assert peak < 80_000
    assert json.loads((hearth.folder / 'out.json').read_text()) == json.loads((hearth.folder / 'big.json').read_text())


def peak_kilobytes(process):
    """The most memory that a process had until it ended. What the kernel tells a parent afterwards counts the parent too."""
    peak = 0
    while process.poll() is None:
        with contextlib.suppress(OSError):
            found = re.search(r'VmHWM:\s+(\d+)', pathlib.Path(f'/proc/{process.pid}/status').read_text())
            peak = max(peak, int(found[1]) if found else 0)
        time.sleep(0.02)
    assert peak > 0
    return peak


def lines(count):
    return '{' + ','.join(f'"k{number:07}": {{"n": {number}, "text": "{"x" * 80}"}}' for number in range(count)) + '}'


def test_it_goes_on_when_the_host_is_started_again(prepare, tmp_path):
    host = prepare([], mode='production').start()
    hearth = Commands(host, tmp_path / 'here')
    text = lines(150_000)
    with hearth.start('database:import', '/a', '-', '--chunk-size', '0.02', stdin=subprocess.PIPE) as process:
        process.stdin.write(text[:len(text) // 2].encode())
        process.stdin.flush()
        host.kill()
        host.start()
        process.stdin.write(text[len(text) // 2:].encode())
        process.stdin.close()
        process.stdin = None
        error = process.communicate(timeout=120)[1]
        assert process.returncode == 0, error
    assert read(hearth, '/a') == json.loads(text)


def test_it_can_be_resumed(launch, prepare, tmp_path):
    host = launch([], mode='production')
    hearth = Commands(host, tmp_path / 'here')
    text = lines(100_000)
    (hearth.folder / 'in.json').write_text(text)
    with hearth.start('database:import', '/a', 'in.json', '--chunk-size', '0.005') as process:
        until(lambda: read(hearth, '/a', '--shallow'), 'something is written')
        process.kill()
    written = len(read(hearth, '/a', '--shallow'))
    assert 0 < written < 100_000
    # The byte that a completed attempt would have named; everything before it is written.
    byte = text.index(f'"k{written // 2:07}"')
    assert '--force' in hearth.run('database:import', '/a', 'in.json').sentence
    hearth.succeeds('database:import', '/a', 'in.json', '--resume-at', byte)
    assert read(hearth, '/a') == json.loads(text)


def test_a_refusal_names_where_to_go_on(launch, tmp_path):
    """A final refusal of the host ends the import, with the byte from which to resume."""
    host = launch([], mode='production', config={'database': {'limits': {'writeBytes': 3000}}})
    hearth = Commands(host, tmp_path / 'here')
    long = 'x' * 5000
    (hearth.folder / 'in.json').write_text(json.dumps({'a': 1, 'b': {'c': 'x' * 2000}, 'd': long}))
    said = hearth.run('database:import', '/a', 'in.json', '--chunk-size', '0.001', '--concurrency', '1').sentence
    assert '--resume-at' in said
    byte = int(said.split()[-1])
    (hearth.folder / 'in.json').write_text((hearth.folder / 'in.json').read_text().replace(long, 'short'))
    hearth.succeeds('database:import', '/a', 'in.json', '--resume-at', byte)
    assert read(hearth, '/a/d') == 'short'


def test_functions_run_only_when_they_should(hearth):
    hearth.succeeds('database:import', '/watched', '-', given='{"quiet": 1}')
    hearth.succeeds('database:remove', '/watched', '--force', '--disable-triggers')
    hearth.succeeds('database:import', '/watched', '-', '--no-disable-triggers', given='{"loud": 1}')
    until(lambda: read(hearth, '/noted/created'), 'the function ran')
    assert len(read(hearth, '/noted/created')) == 1


def test_progress_on_a_terminal_only(hearth):
    (hearth.folder / 'in.json').write_text(lines(150_000))
    status, shown = hearth.on_terminal('database:import', '/a', 'in.json', '--chunk-size', '0.02')
    assert status == 0, shown
    assert 'Importing' in shown and '%' in shown and '/s' in shown
    assert shown.rstrip().splitlines()[-1].rsplit('\x1b[K', 1)[-1].startswith('17.')
    outcome = hearth.run('database:import', '/b', 'in.json')
    assert (outcome.status, outcome.error) == (0, '')


def test_an_export_is_of_one_moment(hearth):
    """While another client writes pairs of equal values, every export has equal pairs."""
    hearth.succeeds('database:import', '/filler', '-', given=lines(60_000))
    writer = subprocess.Popen(['bash', '-c', f'''
        for number in $(seq 1 100000); do
          curl -s -o /dev/null -X PATCH -H "Authorization: Bearer $(cat {hearth.host.data}/admin-token)" \\
            -d "{{\\"a/first\\": $number, \\"z/last\\": $number}}" {hearth.url}/.json || exit 0
        done'''], start_new_session=True)
    try:
        until(lambda: read(hearth, '/a'), 'the first pair')
        for _ in range(5):
            value = json.loads(hearth.succeeds('database:export'))
            assert value['a']['first'] == value['z']['last']
    finally:
        writer.kill()
        writer.wait()


def open_files(pid):
    """The sizes of the regular files that a process has open."""
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(f'/proc/{pid}/fd'):
            with contextlib.suppress(FileNotFoundError):
                found = os.stat(f'/proc/{pid}/fd/{name}')
                if stat.S_ISREG(found.st_mode):
                    yield found.st_size


def test_an_export_that_fails_leaves_the_old_one(hearth, launch, tmp_path):
    host = launch([], mode='production')
    other = Commands(host, tmp_path / 'other')
    (other.folder / 'out.json').write_text('before')
    (other.folder / 'in.json').write_text(lines(300_000))
    other.succeeds('database:import', '/a', 'in.json')
    with other.start('database:export', '--output', 'out.json') as process:
        until(lambda: process.poll() is not None or any(size > 0 for size in open_files(process.pid)), 'the export has begun')
        host.kill()
        process.wait(60)
        if process.returncode == 0:
            # It was quicker than the signal.
            assert json.loads((other.folder / 'out.json').read_text())
        else:
            assert (other.folder / 'out.json').read_text() == 'before'
    assert sorted(path.name for path in other.folder.iterdir()) == ['in.json', 'out.json']
