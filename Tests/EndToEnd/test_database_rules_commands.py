"""hearth database:rules: what is in force, what would be allowed, and why not."""

import json

import pytest

from commands import Commands
from databases import Database
from fixtures import shared_host

RULES = '''{
  // People may see and change themselves.
  "rules": {
    "users": {
      "$user": {
        ".read": "auth.uid == $user",
        ".write": "auth.uid == $user",
        "born": { ".validate": "newData.isNumber() && newData.val() > 1800" }
      }
    },
    "scores": { ".read": "query.orderByKey && query.limitToFirst <= 10" }
  }
}
'''


host = shared_host()


@pytest.fixture
def hearth(host, tmp_path):
    made = Commands(host, tmp_path / 'here')
    (made.folder / 'rules.json').write_text(RULES)
    made.succeeds('database:rules', 'set', 'rules.json')
    return made


def allowed(hearth, *arguments):
    outcome = hearth.run('database:rules', 'test', *arguments)
    assert (outcome.status, outcome.output) in ((0, 'Allowed\n'), (1, 'Denied\n')), outcome
    assert outcome.error == ''
    return outcome.status == 0


def test_rules_are_kept_as_they_were_written(hearth):
    assert hearth.succeeds('database:rules', 'get') == RULES
    assert 'users' in json.loads(hearth.succeeds('database:rules', 'get', '--strict'))['rules']
    assert 'users' in hearth.result('database:rules', 'get')['rules']
    hearth.succeeds('database:rules', 'get', '--output', 'copy.json')
    assert (hearth.folder / 'copy.json').read_text() == RULES


def test_wrong_rules_are_refused_with_their_place(hearth):
    (hearth.folder / 'wrong.json').write_text(RULES.replace('auth.uid == $user"', 'auth.uid == $usr"', 1))
    for more in ([], ['--dry-run']):
        said = hearth.run('database:rules', 'set', 'wrong.json', *more).sentence
        assert said.startswith('wrong.json:6:')
        assert '$usr' in said
    assert hearth.succeeds('database:rules', 'get') == RULES


def test_a_dry_run_changes_nothing(hearth):
    (hearth.folder / 'open.json').write_text('{"rules": {".read": true}}')
    assert 'valid' in hearth.succeeds('database:rules', 'set', 'open.json', '--dry-run')
    assert hearth.succeeds('database:rules', 'get') == RULES


ADA = ['--auth', '{"uid": "ada"}']


@pytest.mark.parametrize('arguments, is_allowed', [
    (['--path', '/users/ada', '--operation', 'read', *ADA], True), (['--path', '/users/bob', '--operation', 'read', *ADA], False),
    (['--path', '/users/ada', '--operation', 'read'], False), (['--path', '/users/ada/born', '--operation', 'write', '--data', '1815', *ADA], True),
    (['--path', '/users/ada/born', '--operation', 'write', '--data', '-1', *ADA], False),
    (['--path', '/users/ada/born', '--operation', 'write', '--data', 'null', *ADA], True),
    (['--path', '/users/ada', '--operation', 'update', '--data', '{"born": 1815, "name": "Ada"}', *ADA], True),
    (['--path', '/users', '--operation', 'update', '--data', '{"ada/born": 1815, "bob/born": 1900}', *ADA], False),
    (['--path', '/scores', '--operation', 'read'], False),
    (['--path', '/scores', '--operation', 'read', '--order-by-key', '--limit-to-first', '5'], True),
    (['--path', '/scores', '--operation', 'read', '--order-by-key', '--limit-to-first', '11'], False),
])
def test_what_would_be_allowed(arguments, is_allowed, hearth, host):
    assert allowed(hearth, *arguments) is is_allowed
    assert hearth.run('database:rules', 'test', *arguments, '--json').json['result'] == {'allowed': is_allowed}
    assert json.loads(hearth.succeeds('database:get', '/')) is None


def test_auth_as_people_type_it(hearth):
    assert allowed(hearth, '--path', '/users/ada', '--operation', 'read', '--auth', "{uid: 'ada'}")


def test_rules_that_are_not_in_force_yet(hearth):
    (hearth.folder / 'open.json').write_text('{"rules": {".read": true /* everybody */}}')
    assert allowed(hearth, '--path', '/x', '--operation', 'read', '--rules', 'open.json')
    assert not allowed(hearth, '--path', '/x', '--operation', 'read')
    (hearth.folder / 'wrong.json').write_text('{"rules": {".read": "x"}}')
    assert 'not valid' in hearth.run('database:rules', 'test', '--path', '/x', '--operation', 'read', '--rules', 'wrong.json').sentence


def test_data_that_is_there_counts(hearth, host):
    hearth.succeeds('database:set', '/users/ada', '--data', '{"name": "Ada"}', '--force')
    (hearth.folder / 'once.json').write_text('{"rules": {"users": {"$u": {".write": "!data.exists()"}}}}')
    assert not allowed(hearth, '--path', '/users/ada', '--operation', 'write', '--data', '1', '--rules', 'once.json')
    assert allowed(hearth, '--path', '/users/bob', '--operation', 'write', '--data', '1', '--rules', 'once.json')
    hearth.succeeds('database:remove', '/', '--force')


def test_explaining(hearth):
    shown = hearth.succeeds('database:rules', 'explain', '--path', '/users/bob/born', '--operation', 'write', '--data', '1900', *ADA)
    assert shown.startswith('Denied\n')
    assert '/users/$user/.write' in shown
    assert 'line 7' in shown
    assert "'ada'" in shown
    told = hearth.result('database:rules', 'explain', '--path', '/users/ada/born', '--operation', 'write', '--data', '-1', *ADA)
    assert told['allowed'] is False
    assert [(rule['rule'], rule['outcome']) for rule in told['rules']] == \
        [('/users/$user/.write', 'true'), ('/users/$user/born/.validate', 'false')]
    assert hearth.succeeds('database:rules', 'explain', '--path', '/users/ada', '--operation', 'read', *ADA).startswith('Allowed\n')


def test_what_is_asked_must_make_sense(hearth):
    assert '--auth' in hearth.run('database:rules', 'test', '--path', '/x', '--operation', 'read', '--auth', 'ada').sentence
    assert 'key' in hearth.run('database:rules', 'test', '--path', '/x', '--operation', 'write', '--data', '{"a.b": 1}').sentence


def test_another_instance(hearth, host):
    hearth.succeeds('database:rules', 'set', 'rules.json', '--instance', 'second')
    with Database(host, 'second') as database:
        assert database.send('GET', '/.settings/rules.json', headers={'Authorization': 'Bearer owner'}).text == RULES
    assert allowed(hearth, '--path', '/users/ada', '--operation', 'read', *ADA, '--instance', 'second')
    assert 'third' in hearth.run('database:rules', 'test', '--path', '/', '--operation', 'read', '--instance', 'third').sentence
