"""hearth database:get, set, update, push, remove: what they do, what they ask, what they say when they fail."""

import json
import os
import re
import shutil
import stat
import subprocess

import pytest

from certificates import make_certificate
from commands import Commands
from databases import Database
from hearth import BINARY, ROOT, Host
from processes import until
from secure_host import TLS

PEOPLE = {'ada': {'born': 1815, 'name': 'Ada'}, 'alan': {'born': 1912, 'name': 'Alan'}, 'grace': {'born': 1906, 'name': 'Grace'}}


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('commands'), mode='production').start()
    yield host
    host.stop()


@pytest.fixture
def hearth(host, tmp_path):
    """Commands against a database that is empty except for its rules."""
    made = Commands(host, tmp_path / 'here')
    made.succeeds('database:remove', '/', '--force')
    (tmp_path / 'rules.json').write_text(json.dumps({'rules': {'people': {'.indexOn': ['born', '.value']}, 'numbers': {'.indexOn': '.value'}}}))
    made.succeeds('database:rules', 'set', tmp_path / 'rules.json')
    return made


def read(hearth, path, *more):
    return json.loads(hearth.succeeds('database:get', path, *more))


# -- reading

def test_get(hearth):
    hearth.succeeds('database:set', '/people', '--data', json.dumps(PEOPLE), '--force')
    assert read(hearth, '/people/ada') == PEOPLE['ada']
    assert read(hearth, 'people/ada/born') == 1815
    assert read(hearth, '//people//nobody/') is None
    assert hearth.succeeds('database:get', '/people/ada/name') == '"Ada"\n'
    assert read(hearth, '/') == {'people': PEOPLE}


def test_get_in_other_forms(hearth):
    hearth.succeeds('database:set', '/a', '--data', '{"b": {".value": 1, ".priority": 2}, "c": {"0": "x", "1": "y"}}', '--force')
    assert '\n  "b"' in hearth.succeeds('database:get', '/a', '--pretty')
    assert read(hearth, '/a', '--shallow') == {'b': True, 'c': True}
    assert read(hearth, '/a') == {'b': 1, 'c': ['x', 'y']}
    assert read(hearth, '/a', '--export') == {'b': {'.value': 1, '.priority': 2}, 'c': {'0': 'x', '1': 'y'}}


@pytest.mark.parametrize('arguments, keys', [
    (['--order-by-key', '--limit-to-first', '2'], ['ada', 'alan']), (['--order-by-key', '--limit-to-last', '1'], ['grace']),
    (['--order-by-key', '--start-at', 'alan'], ['alan', 'grace']), (['--order-by', 'born', '--end-at', '1906'], ['ada', 'grace']),
    (['--order-by', 'born', '--start-at', '1900', '--limit-to-first', '1'], ['grace']), (['--order-by', 'born', '--equal-to', '1912'], ['alan']),
])
def test_queries(arguments, keys, hearth):
    hearth.succeeds('database:set', '/people', '--data', json.dumps(PEOPLE), '--force')
    assert sorted(read(hearth, '/people', *arguments)) == keys


def test_bounds_may_be_negative_or_text(hearth):
    hearth.succeeds('database:set', '/numbers', '--data', '{"a": -5, "b": -1, "c": "-1"}', '--force')
    assert list(read(hearth, '/numbers', '--order-by-value', '--end-at', '-2')) == ['a']
    assert list(read(hearth, '/numbers', '--order-by-value', '--equal-to', '"-1"')) == ['c']


def test_a_query_without_an_index(hearth):
    hearth.succeeds('database:set', '/people', '--data', json.dumps(PEOPLE), '--force')
    assert 'indexOn' in hearth.run('database:get', '/people', '--order-by', 'name').sentence


def test_output_file(hearth):
    hearth.succeeds('database:set', '/a', '--data', '[1]', '--force')
    said = hearth.succeeds('database:get', '/a', '--output', 'a.json')
    assert 'a.json' in said
    assert json.loads((hearth.folder / 'a.json').read_text()) == [1]


def test_output_that_fails_leaves_what_was_there(hearth):
    (hearth.folder / 'a.json').write_text('before')
    hearth.run('database:get', '/a', '--order-by', 'x', '--output', 'a.json').sentence  # noqa: B018
    assert (hearth.folder / 'a.json').read_text() == 'before'
    assert os.listdir(hearth.folder) == ['a.json']


@pytest.mark.parametrize('name', ['nowhere/a.json', '.'])
def test_output_that_cannot_be_written(name, hearth):
    assert name in hearth.run('database:get', '/a', '--output', name).sentence


def test_output_that_nobody_reads(hearth):
    hearth.succeeds('database:set', '/a', '--force', given=json.dumps(['x' * 1000] * 2000))
    process = hearth.start('database:get', '/a')
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(20) != 0
    process.stderr.close()


# -- writing

def test_set_from_a_file_and_from_standard_input(hearth):
    (hearth.folder / 'a.json').write_text('{"x": 1, "y": 2}')
    assert '/a' in hearth.succeeds('database:set', '/a', 'a.json', '--force')
    assert read(hearth, '/a') == {'x': 1, 'y': 2}
    hearth.succeeds('database:set', '/a', '-', '--force', given='{"z": [1, 2]}')
    assert read(hearth, '/a') == {'z': [1, 2]}
    hearth.succeeds('database:set', '/a', '--force', given='-12.5')
    assert read(hearth, '/a') == -12.5
    hearth.succeeds('database:set', '/a', '--data', '-7', '--force')
    assert read(hearth, '/a') == -7


def test_data_as_people_type_it(hearth):
    hearth.succeeds('database:set', '/typed', '--data', "{a: 1, 'b': ['x',]}", '--force')
    assert json.loads(hearth.succeeds('database:get', '/typed')) == {'a': 1, 'b': ['x']}
    hearth.succeeds('database:set', '/typed', '--data', '{"large": 9007199254740993.0}', '--force')


def test_update(hearth):
    hearth.succeeds('database:set', '/a', '--data', '{"x": 1, "y": {"z": 2}}', '--force')
    hearth.succeeds('database:update', '/a', '--data', '{"x": null, "y/w": 3}', '--force')
    assert read(hearth, '/a') == {'y': {'w': 3, 'z': 2}}


def test_push(hearth):
    first = hearth.succeeds('database:push', '/list', '--data', '"one"').strip()
    second = hearth.result('database:push', '/list', '--data', '"two"')
    assert second['path'] == f'/list/{second["name"]}'
    assert list(read(hearth, '/list').items()) == [(first, 'one'), (second['name'], 'two')]


def test_remove(hearth):
    hearth.succeeds('database:set', '/a', '--data', '{"x": 1, "y": 2}', '--force')
    hearth.succeeds('database:remove', '/a/x', '--force')
    assert read(hearth, '/a') == {'y': 2}
    hearth.succeeds('database:remove', '/a', '--force')
    assert read(hearth, '/a') is None


def test_remove_much(hearth):
    hearth.succeeds('database:set', '/much', '--force', given=json.dumps({str(n): {'v': 'x' * 50} for n in range(100_000)}))
    hearth.succeeds('database:remove', '/much', '--force')
    assert read(hearth, '/') is None


def test_keys_that_need_encoding(hearth):
    key = 'ä b%2F?&=+"\'😀'
    hearth.succeeds('database:set', f'/{key}/x', '--data', '1', '--force')
    assert read(hearth, '/') == {key: {'x': 1}}
    assert read(hearth, f'/{key}') == {'x': 1}


def test_another_instance(launch, tmp_path):
    hearth = Commands(launch([], mode='development'), tmp_path / 'here')
    hearth.succeeds('database:set', '/a', '--data', '1', '--force', '--instance', 'other')
    assert read(hearth, '/a') is None
    assert read(hearth, '/a', '--instance', 'other') == 1


@pytest.mark.parametrize('arguments, part', [
    (['database:set', '/a', '--data', 'text', '--force'], '--data'), (['database:set', '/a', 'nowhere.json', '--force'], 'nowhere.json'),
    (['database:set', '/a', '.', '--force'], 'folder'), (['database:set', '/a.b', '--data', '1', '--force'], 'path'),
    (['database:update', '/a', '--data', '1', '--force'], ''), (['database:set', '/a', '--data', '{"b.c": 1}', '--force'], 'key'),
])
def test_what_cannot_be_written(arguments, part, hearth):
    assert part in hearth.run(*arguments).sentence
    assert read(hearth, '/') is None


# -- questions

@pytest.mark.parametrize('arguments', [['database:set', '/a', '--data', '1'], ['database:update', '/a', '--data', '{}'], ['database:remove', '/a']])
def test_nobody_to_ask(arguments, hearth):
    assert '--force' in hearth.run(*arguments).sentence


def test_what_is_wrong_is_said_before_anything_is_asked(hearth):
    assert 'not JSON' in hearth.run('database:set', '/a', '--data', 'text').sentence
    assert 'nowhere.json' in hearth.run('database:update', '/a', 'nowhere.json').sentence


@pytest.mark.parametrize('answer, status, left', [('y\n', 0, 2), ('n\n', 1, 1), ('\n', 1, 1)])
def test_a_question_on_a_terminal(answer, status, left, hearth):
    hearth.succeeds('database:set', '/a', '--data', '1', '--force')
    code, shown = hearth.on_terminal('database:set', '/a', '--data', '2', answers=answer)
    assert code == status, shown
    assert '/a' in shown.split('[y/N]')[0]
    assert read(hearth, '/a') == left


# -- arguments, addresses, tokens

@pytest.mark.parametrize('arguments', [
    ['database:get'], ['database:get', '/a', '--nonsense'], ['database:get', '/a', '--limit-to-first', '0'],
    ['database:get', '/a', '--limit-to-first', 'x'], ['database:get', '/a', '--order-by-key', '--order-by-value'],
    ['database:set', '/a', 'file', '--data', '1'], ['database:import', '/', '--concurrency', '0'],
    ['database:rules', 'test', '--path', '/a', '--operation', 'write'], ['database:rules', 'test', '--path', '/a', '--operation', 'eat'],
    ['events:replay'], ['events:replay', '1', '--all'], ['database:rules', 'nonsense'],
])
def test_wrong_arguments(arguments, hearth):
    outcome = hearth.run(*arguments)
    assert outcome.status == 64
    assert outcome.error
    assert not outcome.output


def test_every_command_has_help_with_an_example():
    listed = subprocess.run([BINARY, '--help'], capture_output=True, text=True, check=True).stdout
    names = re.findall(r'^  ((?:database|events):\w+)', listed, re.MULTILINE)
    assert len(names) == 13
    for name in names:
        shown = subprocess.run([BINARY, name, '--help'], capture_output=True, text=True, check=True).stdout
        assert f'hearth {name}' in shown.split('USAGE')[0], name


def test_for_machines(hearth):
    assert hearth.result('database:set', '/a', '--data', '{"b": 1}', '--force') == {'path': '/a'}
    assert hearth.result('database:get', '/a') == {'b': 1}
    outcome = hearth.run('database:get', '/a', '--order-by', 'x', '--json')
    assert outcome.status == 1
    assert outcome.json['status'] == 'error'
    assert outcome.json['error'] == outcome.sentence


@pytest.mark.parametrize('url', ['http://127.0.0.1:1', 'https://nowhere.invalid', 'https://127.0.0.1:1'])
def test_nobody_answers(url, hearth):
    said = hearth.run('database:get', '/', '--url', url).sentence
    assert '--url' in said


@pytest.mark.parametrize('url', ['127.0.0.1:5001', 'ftp://x', 'http://', 'http://x:0', 'http://x:99999', 'http://a b'])
def test_addresses_that_are_none(url, hearth):
    assert 'not the address of a host' in hearth.run('database:get', '/', '--url', url).sentence


def test_tokens(host, hearth):
    token = (host.data / 'admin-token').read_text().strip()
    nowhere = {'HEARTH_DATA': None}
    assert hearth.run('database:get', '/', **nowhere).sentence.count('--token') == 1
    assert hearth.run('database:get', '/', '--token', token, **nowhere).status == 0
    assert hearth.run('database:get', '/', **nowhere, HEARTH_TOKEN=token).status == 0
    assert hearth.run('database:get', '/', '--data-dir', host.data, **nowhere).status == 0
    assert 'admin-token' in hearth.run('database:get', '/', '--token', 'wrong').sentence
    assert 'copy it again' in hearth.run('database:get', '/', '--token', 'two words').sentence
    assert 'admin-token' in hearth.run('database:get', '/', '--data-dir', 'nowhere').sentence
    (hearth.folder / '.hearth').symlink_to(host.data)
    assert hearth.run('database:get', '/', **nowhere).status == 0


def test_a_token_that_looks_like_an_option(prepare, tmp_path):
    host = prepare()
    host.data.mkdir(mode=0o700)
    (host.data / 'admin-token').write_text('--force-of-habit')
    host.start()
    hearth = Commands(host, tmp_path)
    assert hearth.run('database:get', '/', '--token', '--force-of-habit', HEARTH_DATA=None).status == 0


def test_development_needs_no_token(launch, tmp_path):
    host = launch([], mode='development')
    hearth = Commands(None, tmp_path / 'here', url=f'http://127.0.0.1:{host.port}')
    hearth.succeeds('database:set', '/a', '--data', '1', '--force')
    assert read(hearth, '/a') == 1


def test_over_tls(prepare, tmp_path):
    host = prepare([], config=TLS)
    make_certificate(host.folder)
    host.spawn()
    hearth = Commands(host, tmp_path / 'here', url=f'https://localhost:{host.port}', SSL_CERT_FILE=str(host.folder / 'cert.pem'))
    until(lambda: hearth.run('database:get', '/').status == 0, 'the host answers')
    value = {str(number): 'x' * 100 for number in range(20_000)}
    (hearth.folder / 'big.json').write_text(json.dumps(value))
    hearth.succeeds('database:set', '/a', 'big.json', '--force')
    assert len(read(hearth, '/a')) == 20_000
    hearth.succeeds('database:import', '/b', 'big.json')
    assert len(read(hearth, '/b', '--shallow', '--url', f'https://127.0.0.1:{host.port}')) == 20_000
    assert 'SSL_CERT_FILE' in hearth.run('database:get', '/', SSL_CERT_FILE='/nowhere').sentence
    assert 'TLS' in hearth.run('database:get', '/', '--url', f'https://127.0.0.1:{plain_port(tmp_path)}').sentence


def plain_port(folder):
    """A port that does not speak TLS: the server of this test."""
    import http.server
    import threading
    server = http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.handle_request, daemon=True).start()
    return server.server_port


def test_something_else_answers(tmp_path):
    import socket
    import threading
    server = socket.create_server(('127.0.0.1', 0))

    def answer():
        for _ in range(1):
            connection, _ = server.accept()
            connection.recv(1000)
            connection.sendall(b'220 mail.example ESMTP\r\n\r\n')
            connection.close()
    threading.Thread(target=answer, daemon=True).start()
    hearth = Commands(None, tmp_path / 'here', url=f'http://127.0.0.1:{server.getsockname()[1]}')
    assert 'not a Hearth host' in hearth.run('database:get', '/').sentence


def test_a_trigger_can_be_left_out(hearth, host):
    hearth.succeeds('database:set', '/watched/quiet', '--data', '1', '--force', '--disable-triggers')
    hearth.succeeds('database:set', '/watched/loud', '--data', '1', '--force')
    until(lambda: read(hearth, '/noted/written'), 'the function ran')
    refs = [event['ref'] for event in read(hearth, '/noted/written').values()]
    assert refs == ['/watched/loud'] or refs == ['watched/loud']


# -- the page

def test_the_page(launch, tmp_path):
    """Every command of docs/command-line.md, in its order."""
    host = launch(['Messages', 'Counter'], mode='development')
    folder = tmp_path / 'here'
    folder.mkdir()
    shutil.copy(host.config_path, folder)
    page = (ROOT / 'docs/command-line.md').read_text()
    blocks = re.findall(r'^```sh\n(.*?)^```\n(?:```(?:json|text)\n(.*?)^```\n)?', page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 6
    environment = {'PATH': f'{BINARY.parent}:/usr/bin:/bin', 'HOME': str(folder), 'HEARTH_URL': f'http://127.0.0.1:{host.port}'}
    for commands, shown in blocks:
        if 'export PATH' in commands:
            continue
        done = subprocess.run(['bash', '-e', '-o', 'pipefail'], input=commands, capture_output=True, text=True, cwd=folder, env=environment,
                              timeout=60, check=False)
        assert done.returncode == 0, (commands, done.stdout, done.stderr)
        if shown:
            assert done.stdout.strip() == shown.strip(), commands


def test_the_programs_files_are_private(host, hearth):
    hearth.succeeds('database:set', '/a', '--data', '1', '--force')
    hearth.succeeds('database:export', '--output', 'a.json')
    assert stat.S_IMODE((hearth.folder / 'a.json').stat().st_mode) & 0o111 == 0


def test_commands_see_what_clients_see(launch, tmp_path):
    host = launch([], mode='development')
    hearth = Commands(host, tmp_path / 'here')
    with Database(host, 'shared') as database:
        database.put('/a.json', {'b': 1})
        assert read(hearth, '/a', '--instance', 'shared') == {'b': 1}
        hearth.succeeds('database:update', '/a', '--data', '{"c": 2}', '--force', '--instance', 'shared')
        assert database.get('/a.json') == {'b': 1, 'c': 2}
