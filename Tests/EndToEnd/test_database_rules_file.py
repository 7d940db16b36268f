"""The rules file of functions.json: put in force when it is new or has changed, and only when it has no error."""

import json

import pytest

from commands import Commands
from databases import OWNER, Database
from hearth import Host
from processes import until

OPEN = '{"rules": {".read": true}}'
CLOSED = '{\n  // Nobody reads.\n  "rules": {".read": false}\n}'
BROKEN = '{\n  "rules": {".read": "auth.uid == "}\n}'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'rules.json').write_text(OPEN)
    return tmp_path


def started(folder):
    return Host(folder, [], mode='development', config={'database': {'rules': str(folder / 'rules.json')}}).start()


def may_read(host, namespace='demo-hearth-default-rtdb'):
    with Database(host, namespace) as database:
        return database.ask('GET', '/a.json', headers={}).status == 200


def upload(host, rules):
    with Database(host, 'demo-hearth-default-rtdb') as database:
        answer = database.send('PUT', '/.settings/rules.json', rules, headers=OWNER)
        assert (answer.status, answer.json) == (200, {'status': 'ok'})


def test_a_changed_file_is_in_force_without_a_restart(folder):
    host = started(folder)
    try:
        assert may_read(host)
        assert may_read(host, 'another')
        (folder / 'rules.json').write_text(CLOSED)
        until(lambda: not may_read(host), 'the closed rules are in force')
        assert not may_read(host, 'another')
        # Editors save in this way: a new file replaces the old one.
        (folder / 'rules.json.new').write_text(OPEN)
        (folder / 'rules.json.new').rename(folder / 'rules.json')
        until(lambda: may_read(host), 'the open rules are in force')
    finally:
        host.stop()


def test_the_command_says_that_the_file_takes_over(folder, tmp_path):
    host = started(folder)
    try:
        hearth = Commands(host, tmp_path / 'here')
        (hearth.folder / 'mine.json').write_text(CLOSED)
        said = hearth.succeeds('database:rules', 'set', 'mine.json')
        assert said == "Rules of mine.json are in force until the host's rules.json changes, which functions.json names\n"
        assert hearth.result('database:rules', 'set', 'mine.json') == {'valid': True, 'inForce': True, 'untilChangeOf': 'rules.json'}
        (folder / 'rules.json').write_text(OPEN + '\n')
        until(lambda: may_read(host), 'the rules of the file are in force')
    finally:
        host.stop()


def test_a_file_with_an_error_changes_nothing_and_says_where_it_is(folder):
    host = started(folder)
    try:
        (folder / 'rules.json').write_text(BROKEN)
        assert host.until_logged(r'the database rules have an error; the previous ones stay in force.*rules\.json:2:\d+: ')
        assert may_read(host)
        (folder / 'rules.json').write_text(CLOSED)
        until(lambda: not may_read(host), 'the closed rules are in force')
    finally:
        host.stop()


def test_what_was_uploaded_stays_until_the_file_changes(folder):
    host = started(folder)
    try:
        upload(host, CLOSED)
        assert not may_read(host)
        host.stop()
        host.start()
        assert not may_read(host)
        host.stop()
        (folder / 'rules.json').write_text(json.dumps({'rules': {'.read': 'true'}}))
        host.start()
        assert may_read(host)
    finally:
        host.stop()


def test_a_host_starts_with_a_broken_file_and_the_rules_of_before(folder):
    host = started(folder)
    try:
        # Rules are kept with a database, which its first value makes.
        with Database(host, 'demo-hearth-default-rtdb') as database:
            assert database.ask('PUT', '/a.json', '1').status == 200
        assert may_read(host)
        host.stop()
        (folder / 'rules.json').write_text(BROKEN)
        host.start()
        assert may_read(host)
        assert host.until_logged('the database rules have an error')
    finally:
        host.stop()


def test_without_rules_only_administrators_may(tmp_path):
    host = Host(tmp_path, [], mode='development').start()
    try:
        assert not may_read(host)
        with Database(host, 'demo-hearth-default-rtdb') as database:
            assert database.ask('GET', '/a.json').status == 200
    finally:
        host.stop()


def test_the_configured_size_holds_for_files_and_uploads(tmp_path):
    large = OPEN.replace('{', '{ //' + 'x' * 2_000_000 + '\n', 1)
    (tmp_path / 'rules.json').write_text(large)
    limits = {'database': {'rules': str(tmp_path / 'rules.json'), 'limits': {'rulesBytes': 4_000_000}}}
    host = Host(tmp_path, [], mode='development', config=limits).start()
    try:
        assert may_read(host)
        upload(host, large.replace('true', 'false'))
        assert not may_read(host)
        host.stop()
        host.write_config([], {'database': {'limits': {'rulesBytes': 4096}}})
        host.start()
        # Accepted rules stay.
        assert not may_read(host)
        with Database(host, 'demo-hearth-default-rtdb') as database:
            answer = database.send('PUT', '/.settings/rules.json', large, headers=OWNER)
            assert (answer.status, answer.json) == (400, {'error': 'Rules are too large: at most 4096 bytes are taken'})
            answer = database.send('PUT', '/.settings/rules.json', large, query={'dryRun': 'true'}, headers=OWNER)
            assert (answer.status, answer.json) == (200, {'status': 'ok'})
    finally:
        host.stop()
