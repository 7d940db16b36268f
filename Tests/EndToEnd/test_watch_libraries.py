"""--watch with libraries from other builds, and with settings: saved changes apply, broken ones change nothing."""

import json
import operator
import os
import pty
import shutil
import subprocess
import threading

import pytest

import processes
from deploys import Deploys, plugin
from processes import until

FIRST, SECOND = 1, 2


def put(source, target):
    """Replaces a file in one step, as build tools do."""
    shutil.copyfile(source, f'{target}.new')
    os.rename(f'{target}.new', target)


def version(host, name='one'):
    answer = host.callable(name)
    return answer.json['result']['version'] if answer.status == 200 else None


def serves(host, number, name='one'):
    until(lambda: version(host, name) == number, f'{name} of version {number} serves: {host.log[-1500:]}')


@pytest.fixture
def library_file(tmp_path):
    folder = tmp_path / 'built'
    folder.mkdir()
    shutil.copyfile(plugin(FIRST, 'one'), folder / 'libThings.so')
    return folder / 'libThings.so'


@pytest.fixture
def host(launch, library_file):
    host = launch({'Things': {'library': str(library_file)}}, mode='development', args=['--watch'])
    assert version(host) == FIRST
    return host


def rewrite(host, change):
    """Saves functions.json after `change` was made to it."""
    change(host.config)
    host.config_path.write_text(json.dumps(host.config, indent=2))


def test_a_replaced_library_serves(host, library_file):
    put(plugin(SECOND, 'one', 'two'), library_file)
    serves(host, SECOND)
    assert version(host, 'two') == SECOND
    host.until_logged(r'^Things: one is version 2, two is new \(switched in \d+ ms\)\.$')


def test_a_library_that_is_written_over(host, library_file):
    shutil.copyfile(plugin(SECOND, 'one'), library_file)
    serves(host, SECOND)


def test_a_half_written_library_is_never_loaded(host, library_file):
    whole = open(plugin(SECOND, 'one'), 'rb').read()
    with open(library_file, 'wb', buffering=0) as file:
        for start in range(0, len(whole), len(whole) // 7 + 1):
            file.write(whole[start:start + len(whole) // 7 + 1])
            assert version(host) in (FIRST, SECOND)
    serves(host, SECOND)
    assert 'truncated' not in host.log


def test_a_library_that_stays_broken_is_named(host, library_file):
    whole = open(plugin(SECOND, 'one'), 'rb').read()
    library_file.write_bytes(whole[:len(whole) // 2])
    line = host.until_logged('is truncated')
    assert 'the previous version continues to serve' in line
    assert version(host) == FIRST
    library_file.write_bytes(whole)
    serves(host, SECOND)


def test_a_library_that_is_refused_changes_nothing(host, library_file):
    put(plugin(SECOND, 'one', two={'callableTrigger': {}, 'httpsTrigger': {}}), library_file)
    host.until_logged('the previous version continues to serve')
    assert version(host) == FIRST


def test_a_library_that_is_away_for_a_moment(host, library_file):
    folder = library_file.parent
    os.rename(folder, f'{folder}.old')
    host.until_logged('cannot be read')
    assert version(host) == FIRST
    folder.mkdir()
    put(plugin(SECOND, 'one'), library_file)
    serves(host, SECOND)


def test_without_watch_nothing_is_watched(launch, library_file):
    host = launch({'Things': {'library': str(library_file)}}, mode='development')
    put(plugin(SECOND, 'one'), library_file)
    rewrite(host, lambda config: config.update(plugins={}))
    assert version(host) == FIRST
    answer = Deploys(host).ask('GET', 'builds')
    assert answer == {'watching': False, 'builds': []}


# -- settings


def test_options_apply_without_a_restart(host):
    rewrite(host, lambda config: config.update(functions={'one': {'timeoutSeconds': 7}}))
    until(lambda: Deploys(host).function('one')['timeoutSeconds'] == 7, 'the option is in force')
    host.until_logged(r'^Settings: one is version 2\.$')


def test_a_bad_document_keeps_the_old_and_says_where(host):
    rewrite(host, lambda config: config.update(functions={'one': {'timeoutSeconds': 'long'}}))
    line = host.until_logged(r'functions\.json:\d+:\d+')
    assert 'timeoutSeconds' in line
    host.until_logged(r'functions\.json has errors; the previous settings stay in force\.')
    assert version(host) == FIRST
    rewrite(host, lambda config: config.update(functions={'one': {'timeoutSeconds': 9}}))
    until(lambda: Deploys(host).function('one')['timeoutSeconds'] == 9, 'the option is in force')


def test_what_needs_a_restart_is_named(host):
    rewrite(host, lambda config: config.update(server={'port': 1234}, workers={'idleSeconds': 3, 'queueLengthMax': 5}))
    line = host.until_logged('next start')
    for name in ('server.port', 'workers.idleSeconds', 'workers.queueLengthMax'):
        assert name in line
    assert version(host) == FIRST


def test_a_plugin_comes_and_goes(host, tmp_path):
    other = tmp_path / 'libOther.so'
    shutil.copyfile(plugin(5, 'other'), other)
    rewrite(host, lambda config: config['plugins'].update(Other={'library': str(other)}))
    serves(host, 5, 'other')
    put(plugin(6, 'other'), other)
    serves(host, 6, 'other')
    rewrite(host, lambda config: config['plugins'].pop('Other'))
    until(lambda: host.callable('other').status == 404, 'other is gone')
    assert version(host) == FIRST


def test_environment_files_apply(host):
    (host.folder / '.env').write_text('SETTING=here\n')
    until(lambda: host.result('one')['setting'] == 'here', 'the variable is in the worker')
    (host.folder / '.env').write_text('not a line\n')
    host.until_logged(r'\.env:1')
    assert host.result('one')['setting'] == 'here'


def test_a_changed_secret_makes_new_workers(prepare):
    """Only functions that name it see it, and no log shows it."""
    host = prepare(['probe', 'Conformance'], mode='development', args=['--watch'])
    secrets = host.folder / '.secret.local'
    secrets.write_text('API_KEY=s3cr3t-one\n')
    host.write_config(('probe', 'Conformance'), {'functions': {'environment': {'secrets': ['API_KEY']}}})
    host.start()
    assert host.result('environment')['API_KEY'] == 's3cr3t-one'
    other = host.result('pid')
    secrets.write_text('API_KEY=s3cr3t-two\n')
    until(lambda: host.result('environment')['API_KEY'] == 's3cr3t-two', 'the function sees the new one')
    assert host.result('pid') == other
    secrets.write_text('API_KEY\n')
    host.until_logged(r'\.secret\.local:1')
    assert host.result('environment')['API_KEY'] == 's3cr3t-two'
    assert 's3cr3t' not in host.log


def test_rules_may_move_to_another_file(host):
    rules = host.folder / 'other.rules.json'
    rules.write_text(json.dumps({'rules': {'.read': False, 'open': {'.read': True}}}))
    assert host.request('GET', '/open.json').status == 401
    rewrite(host, lambda config: config.update(database={'rules': rules.name}))
    until(lambda: host.request('GET', '/open.json').status == 200, 'the rules of the other file are in force')


# -- nothing leaks


def holdings(host):
    threads = len(os.listdir(f'/proc/{host.pid}/task'))
    return len(processes.descriptors(host.pid)), threads, len(processes.descendants(host.pid))


@pytest.mark.timeout(240)
def test_a_hundred_saves_leak_nothing(host, library_file):
    for number in range(2, 12):
        put(plugin(number % 5 + 1, 'one'), library_file)
        serves(host, number % 5 + 1)
    until(lambda: (len(host.loaded_workers()), len(host.workers())) == (1, 2), 'old workers are gone, and one is kept without a plugin')
    before = processes.steady(lambda: holdings(host), 'what the host holds')
    for number in range(12, 112):
        put(plugin(number % 5 + 1, 'one'), library_file)
        serves(host, number % 5 + 1)
    until(lambda: all(map(operator.le, holdings(host), before)), f'as much is held as before {before}: {holdings(host)}')
    artifacts = list((host.data / 'artifacts').glob('*'))
    assert len(artifacts) <= 11, artifacts
    assert not list(library_file.parent.glob('*.new'))


def test_a_new_function_without_its_secret_has_no_version_before(host, library_file):
    spell = {'callableTrigger': {}, 'secretEnvironmentVariables': [{'key': 'API_KEY'}]}
    put(plugin(SECOND, 'one', spell=spell), library_file)
    line = host.until_logged('needs the secret API_KEY')
    assert line.startswith(f'{host.folder}/.secret.local: the function spell needs')
    assert line.endswith('add a line API_KEY=value; spell is not served.'), line
    assert 'one is version 2' in host.log


def read_all(descriptor, into):
    try:
        while piece := os.read(descriptor, 65536):
            into.extend(piece)
    except OSError:
        # The terminal's end, as Linux says it.
        pass


def test_one_line_for_each_deployment_on_a_terminal(prepare, library_file):
    """The log says it too, where a program reads it."""
    host = prepare({'Things': {'library': str(library_file)}}, mode='development', args=['--watch'])
    main, side = pty.openpty()
    shown = bytearray()
    reader = threading.Thread(target=read_all, args=(main, shown))
    reader.start()
    process = subprocess.Popen(host.command(), stdin=subprocess.DEVNULL, stdout=side, stderr=side, cwd=host.folder, start_new_session=True,
                               env={'PATH': '/usr/bin:/bin', 'HOME': str(host.folder), 'TERM': 'dumb'})
    os.close(side)
    try:
        until(lambda: b'deployed: created one' in shown, 'the first deployment is told')
        until(lambda: b':%d' % host.port in shown, 'the host serves')
        put(plugin(SECOND, 'one'), library_file)
        until(lambda: b'one is version 2' in shown, 'the new version is told')
        headers = Deploys(host).headers
        until(lambda: b'deployed: updated one to version 2' in host.request('GET', '/_/api/logs', headers).body, 'the line is kept')
    finally:
        process.terminate()
        assert process.wait(30) == 0
        reader.join()
        os.close(main)
    assert b'deployed: updated' not in shown
