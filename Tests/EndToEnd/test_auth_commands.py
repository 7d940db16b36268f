"""`hearth auth:...`: users from the command line, and their files in the formats of the Firebase tools."""

import base64
import csv
import io
import json
import os
import re
import stat
import subprocess
import time

import pytest
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from commands import Commands
from hearth import BINARY
from identity import Identity, claims, sign_in_host
from processes import until

FACEBOOK = {'providerId': 'facebook.com', 'rawId': '42', 'email': 'ada@example.org', 'displayName': 'Ada, "the" Countess'}
ADA = {'localId': 'ada', 'email': 'ada@example.com', 'emailVerified': True, 'displayName': 'Ada, "Countess"\nof Lovelace',
       'createdAt': '1500000000000', 'lastSignedInAt': '1600000000000', 'phoneNumber': '+15555550100',
       'customAttributes': '{"admin":true}', 'providerUserInfo': [FACEBOOK]}
PBKDF2 = {'passwordHash': 'kZyB7rYQ1qk6p9A1nEwnNLJbcqR4y4SoUu4tH9fZvqo=', 'salt': 'c2FsdA=='}
OWN = ['--hash-algo', 'STANDARD_SCRYPT', '--mem-cost', '32768', '--block-size', '8', '--parallelization', '1', '--dk-len', '32']


@pytest.fixture(scope='module', params=['development', 'production'])
def shared(request, tmp_path_factory):
    host = sign_in_host(tmp_path_factory.mktemp('users') / 'host', request.param).start()
    yield host
    host.stop()


@pytest.fixture
def identity(shared):
    with Identity(shared) as identity:
        identity.empty()
        yield identity


@pytest.fixture
def hearth(shared, identity, tmp_path):
    return Commands(shared, tmp_path / 'here')


def write(hearth, users, name='users.json'):
    (hearth.folder / name).write_text(users if isinstance(users, str) else json.dumps({'users': users}))
    return name


# -- single users

def test_a_user_from_creation_to_deletion(identity, hearth):
    assert hearth.succeeds('auth:list') == 'No users.\n'
    uid = hearth.succeeds('auth:create', '--email', 'Ada@example.com', '--verified', '--display-name', 'Ada', '--claims', '{admin: true}',
                          '--password', given='correct horse\n').strip()
    assert claims(identity.sign_in('ada@example.com', 'correct horse')['idToken'])['admin'] is True
    shown = hearth.succeeds('auth:get', uid)
    assert re.search(r'^e-mail +ada@example.com \(verified\)$', shown, re.MULTILINE) and re.search(r'^claims +{"admin":true}$', shown, re.MULTILINE)
    user = hearth.result('auth:get', '--email', 'ADA@example.com')
    assert (user['localId'], user['displayName']) == (uid, 'Ada')
    assert not {'passwordHash', 'salt'} & set(user)
    heading, line = hearth.succeeds('auth:list').splitlines()
    assert heading.split()[:3] == ['UID', 'E-MAIL', 'PHONE'] and line.split()[:3] == [uid, 'ada@example.com', 'Ada']
    assert hearth.succeeds('auth:delete', uid, '--force') == f'The user {uid} is deleted\n'
    assert identity.user(uid) is None


def test_the_ways_to_name_a_user(identity, hearth):
    write(hearth, [ADA])
    hearth.succeeds('auth:import', 'users.json')
    for way in (['ada'], ['--email', 'ada@example.com'], ['--phone', '+15555550100'], ['--provider', 'facebook.com', '--provider-uid', '42']):
        assert hearth.result('auth:get', *way)['localId'] == 'ada'
    for way, words in ((['bob'], 'the uid bob'), (['--email', 'b@example.com'], 'the e-mail b@example.com'),
                       (['--provider', 'google.com', '--provider-uid', '42'], 'the id 42 at google.com')):
        assert hearth.run('auth:get', *way).sentence == f'there is no user with {words}; hearth auth:list lists all'


def test_changes(identity, hearth):
    hearth.succeeds('auth:create', '--uid', 'ada', '--email', 'a@example.com', '--password-argument', 'first password')
    session = identity.sign_in('a@example.com', 'first password')
    said = hearth.result('auth:update', 'ada', '--phone', '+15555550101', '--photo', 'https://example.com/a.png', '--display-name', '-',
                         '--claims', '{"level": 9007199254740993}', '--verified')
    assert (said['phoneNumber'], said['photoUrl'], said['displayName'], said['emailVerified']) == (
        '+15555550101', 'https://example.com/a.png', '-', True)
    assert said['customAttributes'] == '{"level":9007199254740993}'
    said = hearth.result('auth:update', 'ada', '--remove', 'phone', '--remove', 'photo', '--remove', 'name', '--remove', 'claims', '--no-verified')
    assert not {'phoneNumber', 'photoUrl', 'displayName'} & set(said) and said['emailVerified'] is False and said['customAttributes'] == '{}'
    hearth.succeeds('auth:update', 'ada', '--password', given='second password\n')
    assert identity.sign_in('a@example.com', 'second password')['localId'] == 'ada'
    hearth.succeeds('auth:update', 'ada', '--disabled')
    assert identity.refused('accounts:lookup', idToken=session['idToken']) in ('USER_DISABLED', 'TOKEN_EXPIRED')
    assert 'disabled' in hearth.succeeds('auth:list')
    hearth.succeeds('auth:update', 'ada', '--no-disabled', '--revoke')
    assert int(identity.user('ada')['validSince']) > 0


@pytest.mark.parametrize('change', [['--revoke'], ['--password']])
def test_sessions_end_as_the_page_says(change, identity, hearth):
    """In production; in development refresh tokens go on, as those of the emulator."""
    hearth.succeeds('auth:create', '--uid', 'ada', '--email', 'a@example.com', '--password-argument', 'first password')
    session = identity.sign_in('a@example.com', 'first password')
    until(lambda: int(time.time()) > claims(session['idToken'])['iat'], 'the next second begins')
    hearth.succeeds('auth:update', 'ada', *change, given='second password\n')
    assert identity.refused('accounts:lookup', idToken=session['idToken']) == 'TOKEN_EXPIRED'
    status = {'development': 200, 'production': 400}[identity.host.mode]
    assert identity.refresh(session['refreshToken']).status == status


def test_an_import_replaces_users_as_a_whole(identity, hearth):
    hearth.succeeds('auth:create', '--uid', 'ada', '--email', 'a@example.com', '--password-argument', 'first password', '--claims', '{a: 1}')
    hearth.succeeds('auth:export', 'everything.json', '--all-fields')
    hearth.succeeds('auth:export', 'users.json')
    hearth.succeeds('auth:export', 'users.csv')
    for arguments in (['everything.json'], ['users.json', *OWN]):
        session = identity.sign_in('a@example.com', 'first password')
        hearth.succeeds('auth:import', *arguments)
        assert identity.refresh(session['refreshToken']).status == 400, 'the user was replaced'
        assert identity.user('ada')['customAttributes'] == '{"a":1}'
    session = identity.sign_in('a@example.com', 'first password')
    hearth.succeeds('auth:import', 'users.csv', '--without-passwords')
    assert identity.post('accounts:signInWithPassword', email='a@example.com', password='first password').status == 400
    assert identity.refresh(session['refreshToken']).status == 400
    assert 'passwordHash' not in identity.user('ada')


def test_a_list_has_pages(identity, hearth):
    write(hearth, [{'localId': f'u{number:04}'} for number in range(2500)])
    assert hearth.result('auth:import', 'users.json') == {'imported': 2500, 'refused': 0, 'refusals': []}
    assert len(hearth.result('auth:list', '--limit', '3000')['users']) == 2500
    found = hearth.result('auth:list', '--limit', '1500')
    assert (len(found['users']), found['hasMore'], found['users'][-1]['localId']) == (1500, True, 'u1499')
    assert hearth.result('auth:list', '--after', 'u2497')['users'][0]['localId'] == 'u2498'
    assert 'There are more: use --limit 100.' in hearth.succeeds('auth:list', '--limit', '10')
    assert not hearth.result('auth:list', '--limit', '2500')['hasMore']


def test_several_users_are_deleted_or_none(identity, hearth):
    write(hearth, [{'localId': 'a'}, {'localId': 'b'}])
    hearth.succeeds('auth:import', 'users.json')
    assert hearth.run('auth:delete', 'a', 'c', '--force').sentence == 'there is no user with the uid c; nothing was deleted'
    assert '--force' in hearth.run('auth:delete', 'a').sentence
    status, shown = hearth.on_terminal('auth:delete', 'a', 'b', answers='n\n')
    assert status == 1 and 'delete 2 users' in shown and identity.user('a')
    assert hearth.on_terminal('auth:delete', 'a', 'b', answers='y\n')[0] == 0
    assert identity.user('a') is None and identity.user('b') is None


def test_a_password_is_typed_unseen(identity, hearth):
    hearth.succeeds('auth:create', '--uid', 'ada', '--email', 'a@example.com')
    status, shown = hearth.on_terminal('auth:update', 'ada', '--password', prompt='Password: ', answers='typed password\n')
    assert status == 0 and 'Password: ' in shown and 'typed password' not in shown
    assert identity.sign_in('a@example.com', 'typed password')['localId'] == 'ada'


@pytest.mark.parametrize('arguments,said', [
    (['auth:create', '--email', 'nonsense'], 'the e-mail is not valid; write one like ada@example.com'),
    (['auth:create', '--phone', '12'], 'the phone number is not valid; write it in the international form, such as +15555550100'),
    (['auth:create', '--password-argument', 'abc'],
     'the password is refused (Password should be at least 6 characters); choose another one'),
    (['auth:create', '--email', 'taken@example.com'], 'another user has this e-mail; hearth auth:get --email finds that user'),
    (['auth:create', '--uid', 'taken'], 'another user has this uid; hearth auth:update changes that user'),
    (['auth:update', 'taken', '--claims', '{sub: 1}'], 'the claim sub is reserved; choose another name'),
    (['auth:update', 'taken', '--claims', json.dumps({'a': 'x' * 1000})],
     'the claims have more than 1000 characters, which is the limit; keep such data in the database'),
    (['auth:update', 'nobody', '--verified'], 'there is no such user; hearth auth:list lists all'),
    (['auth:update', 'taken'], 'nothing is to be changed; hearth auth:update --help lists the properties'),
    (['auth:update', 'taken', '--claims', '1'], "the claims are not an object, such as '{admin: true}'"),
    (['auth:update', 'taken', '--password'], 'the password is empty; type it, or pipe it in'),
])
def test_refusals(arguments, said, identity, hearth):
    identity.managed('accounts', localId='taken', email='taken@example.com')
    assert hearth.run(*arguments).sentence == said
    assert hearth.run(*arguments, '--json').json['error'] == said


@pytest.mark.parametrize('arguments,said', [
    (['auth:get'], 'name the user'), (['auth:get', 'a', '--email', 'b'], 'in one way only'), (['auth:get', '--provider', 'x'], 'need each other'),
    (['auth:create', '--password', '--password-argument', 'x'], 'exclude each other'), (['auth:update', 'a', '--remove', 'shoes'], '--remove takes'),
    (['auth:update', 'a', '--remove', 'claims', '--claims', '{}'], 'exclude each other'), (['auth:delete'], '<uid>'),
    (['auth:list', '--limit', '0'], 'at least 1'), (['auth:export', 'users'], '--format'), (['auth:export', 'a.csv', '--all-fields'], 'needs JSON'),
    (['auth:export', '-', '--format', 'json', '--json'], 'needs a file'), (['auth:import', '-'], '--format'),
    (['auth:import', 'a.csv', '--hash-algo', 'ROT13'], 'ROT13'), (['auth:import', 'a.csv', '--rounds', '3'], 'needs --hash-algo'),
    (['auth:import', 'a.csv', '--hash-algo', 'SCRYPT'], 'needs --hash-key'),
    (['auth:import', 'a.csv', '--hash-algo', 'SCRYPT', '--hash-key', 'a*b', '--rounds', '8', '--mem-cost', '14'], 'Base64'),
    (['auth:import', 'a.csv', '--hash-algo', 'SCRYPT', '--hash-key', 'aaaa' * 8, '--rounds', '9', '--mem-cost', '14'], 'from 1 to 8'),
    (['auth:import', 'a.csv', '--hash-algo', 'SCRYPT', '--hash-key', 'KEY', '--rounds', '8', '--mem-cost', '14'], 'has 2 bytes'),
    (['auth:import', 'a.csv', '--hash-algo', 'HMAC_SHA256', '--hash-key', 'KEY'], 'at least 8'),
    (['auth:import', 'a.csv', '--hash-algo', 'ARGON2', '--rounds', '2', '--mem-cost', '8192'], 'needs --parallelization'),
    (['auth:import', 'a.csv', '--hash-algo', 'BCRYPT', '--argon-type', 'ID'], 'needs --hash-algo ARGON2'),
    (['auth:import', 'a.csv', '--hash-algo', 'STANDARD_SCRYPT', '--mem-cost', '1000'], 'power of two'),
    (['auth:import', 'a.csv', '--hash-algo', 'BCRYPT', '--without-passwords'], 'exclude each other'),
    (['auth:import', 'a.csv', '--hash-algo', 'MD5', '--rounds', '0', '--hash-input-order', 'x'], 'SALT_FIRST'),
    (['auth:inbox', '--email', 'a', '--phone', 'b'], 'exclude each other'), (['auth:inbox', '--follow', '--newest'], 'exclude each other'),
])
def test_wrong_arguments(arguments, said, tmp_path):
    outcome = Commands(None, tmp_path / 'here').run(*arguments)
    assert (outcome.status, outcome.output) == (64, ''), outcome
    assert said in outcome.error and f'hearth {arguments[0]} --help' in outcome.error


def test_the_token_is_needed(hearth):
    assert 'HEARTH_TOKEN' in hearth.run('auth:list', '--token', 'wrong').sentence
    assert 'hearth serve' in hearth.run('auth:list', '--url', 'http://127.0.0.1:1').sentence


def test_tenants(identity, hearth):
    tenant = identity.managed('tenants', version='v2', displayName='one')['tenantId']
    hearth.succeeds('auth:create', '--uid', 'ada', '--tenant', tenant)
    assert hearth.result('auth:get', 'ada', '--tenant', tenant)['tenantId'] == tenant
    assert hearth.result('auth:list')['users'] == []
    hearth.succeeds('auth:export', 'one.json', '--tenant', tenant)
    assert hearth.result('auth:update', 'ada', '--display-name', 'Ada', '--tenant', tenant)['displayName'] == 'Ada'
    assert [user['localId'] for user in hearth.result('auth:list', '--tenant', tenant)['users']] == ['ada']
    hearth.succeeds('auth:delete', 'ada', '--force', '--tenant', tenant)
    hearth.succeeds('auth:import', 'one.json', '--tenant', tenant)
    assert hearth.result('auth:get', 'ada', '--tenant', tenant)['localId'] == 'ada'
    if identity.host.mode == 'production':
        assert hearth.run('auth:list', '--tenant', 'none').sentence == 'there is no tenant none; check --tenant'


# -- files

@pytest.mark.parametrize('form', ['json', 'csv'])
def test_an_export_is_imported(form, identity, hearth):
    write(hearth, [ADA, {'localId': 'bob', 'disabled': True}])
    hearth.succeeds('auth:import', 'users.json')
    identity.managed('accounts:update', localId='ada', password='correct horse')
    before = {user['localId']: hearth.result('auth:get', user['localId']) for user in identity.every_user()}
    said = hearth.succeeds('auth:export', f'out.{form}').splitlines()
    assert said == [f'2 users exported to out.{form}', f'Import the passwords with {" ".join(OWN)}']
    assert stat.S_IMODE((hearth.folder / f'out.{form}').stat().st_mode) == 0o600
    identity.empty()
    assert hearth.succeeds('auth:import', f'out.{form}', *OWN) == '2 users imported\n'
    after = {user['localId']: hearth.result('auth:get', user['localId']) for user in identity.every_user()}
    for user in (*before.values(), *after.values()):
        for name in ('passwordUpdatedAt', 'validSince'):
            user.pop(name, None)
    assert after == before
    assert identity.sign_in('ada@example.com', 'correct horse')['localId'] == 'ada'


def test_the_formats_of_the_firebase_tools(identity, hearth):
    write(hearth, [ADA])
    hearth.succeeds('auth:import', 'users.json')
    identity.managed('accounts:update', localId='ada', password='correct horse')
    hearth.succeeds('auth:export', 'out.json')
    [user] = json.loads((hearth.folder / 'out.json').read_text())['users']
    assert {name: user[name] for name in ADA} == ADA
    assert set(user) == {*ADA, 'passwordHash', 'salt'}
    [row] = csv.reader(io.StringIO(hearth.succeeds('auth:export', '-', '--format', 'csv')))
    assert len(row) == 29 and row[28] == ''
    assert row[:3] == ['ada', 'ada@example.com', 'true'] and row[3:5] == [user['passwordHash'], user['salt']] and row[5] == ADA['displayName']
    assert row[11:15] == ['42', 'ada@example.org', FACEBOOK['displayName'], '']
    assert row[23:28] == ['1500000000000', '1600000000000', '+15555550100', 'false', '{"admin":true}']


def test_files_of_the_firebase_tools(identity, hearth):
    """A line as their exporter writes it: quotes only around what needs them, and a comma at the end."""
    columns = ['"u1"', ' u1@example.com ', 'true', '', '', '"Ada, Countess"', '', '7', 'g@example.com', 'G', 'http://a.example/g.png', *[''] * 12,
               '1500000000000', '1600000000000', '+15555550102', '', '"{""a"":[1,2]}"', '']
    write(hearth, '\ufeff' + ','.join(columns) + '\r\nu2,,false\n\n', 'users.csv')
    assert hearth.succeeds('auth:import', 'users.csv') == '2 users imported\n'
    user = identity.user('u1')
    assert (user['email'], user['displayName'], user['customAttributes']) == ('u1@example.com', 'Ada, Countess', '{"a":[1,2]}')
    assert {'providerId': 'google.com', 'rawId': '7', 'federatedId': '7', 'displayName': 'G', 'email': 'g@example.com',
            'photoUrl': 'http://a.example/g.png'} in user['providerUserInfo']
    write(hearth, '[{"localId": "u3"}]', 'array.json')
    assert hearth.succeeds('auth:import', '-', '--format', 'json', given='{"kind": {"users": [1]}, "users": [{"localId": "u4"}], "more": "]"}'
                           ) == '1 user imported\n'
    assert hearth.succeeds('auth:import', 'array.json') == '1 user imported\n'
    assert identity.user('u3') and identity.user('u4')


def test_hashes_of_firebase(identity, hearth):
    """The example of Firebase's own scrypt utility."""
    write(hearth, [{'localId': 'u', 'email': 'u@example.com', 'salt': '42xEC+ixf3L2lw==',
                    'passwordHash': 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='}])
    hearth.succeeds('auth:import', 'users.json', '--hash-algo', 'scrypt', '--salt-separator', 'Bw==', '--rounds', '8', '--mem-cost', '14',
                    '--hash-key', 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==')
    said = hearth.run('auth:export', 'out.json')
    assert said.status == 0 and 'other algorithm' in said.error.replace('another', 'other') and '--all-fields' in said.error
    assert 'passwordHash' not in json.loads((hearth.folder / 'out.json').read_text())['users'][0]
    hearth.succeeds('auth:export', 'all.json', '--all-fields')
    identity.empty()
    assert hearth.succeeds('auth:import', 'all.json') == '1 user imported\n'
    assert identity.sign_in('u@example.com', 'user1password')['localId'] == 'u'
    assert hearth.result('auth:export', 'out.json')['passwords'] == 1


def test_hashes_by_argon2(identity, hearth):
    made = Argon2id(salt=b'0123456789abcdef', length=32, iterations=2, lanes=1, memory_cost=8192).derive(b'argon password')
    text = {'passwordHash': base64.b64encode(made).decode(), 'salt': base64.b64encode(b'0123456789abcdef').decode()}
    write(hearth, [{'localId': 'u', 'email': 'u@example.com', **text}])
    hearth.succeeds('auth:import', 'users.json', '--hash-algo', 'argon2', '--rounds', '2', '--mem-cost', '8192', '--parallelization', '1',
                    '--dk-len', '32')
    assert identity.sign_in('u@example.com', 'argon password')['localId'] == 'u'


def test_an_export_names_the_parameters_of_its_host(tmp_path):
    """They are settings, and the import needs the same."""
    host = sign_in_host(tmp_path / 'host', config={'auth': {'passwordHash': {'costLog2': 14, 'parallelization': 2}}}).start()
    try:
        hearth = Commands(host, tmp_path / 'here')
        with Identity(host) as identity:
            identity.sign_up('u@example.com', 'some password')
            said = hearth.succeeds('auth:export', 'out.json')
            options = said.split('with ')[1].split()
            assert options[1:] == ['STANDARD_SCRYPT', '--mem-cost', '16384', '--block-size', '8', '--parallelization', '2', '--dk-len', '32']
            identity.empty()
            hearth.succeeds('auth:import', 'out.json', *options)
            identity.sign_in('u@example.com', 'some password')
        host.stop()
    finally:
        host.abandon()


def test_a_complete_export(identity, hearth):
    user = {**ADA, 'providerUserInfo': [FACEBOOK, {'providerId': 'oidc.own', 'rawId': 'x'}], 'validSince': '1600000000', 'mfaInfo': [
        {'mfaEnrollmentId': 'f1', 'phoneInfo': '+15555550199', 'displayName': 'phone', 'enrolledAt': '2026-01-31T12:00:00.000Z'}]}
    write(hearth, [user])
    hearth.succeeds('auth:import', 'users.json')
    before = hearth.result('auth:get', 'ada')
    none = {'passwords': 0, 'providers': 0, 'factors': 0, 'oneTimeCodes': 0}
    assert hearth.result('auth:export', 'some.json')['incomplete'] == {**none, 'providers': 1, 'factors': 1}
    assert hearth.result('auth:export', 'all.json', '--all-fields')['incomplete'] == none
    identity.empty()
    hearth.succeeds('auth:import', 'all.json')
    after = hearth.result('auth:get', 'ada')
    # In production, tokens of a former user with the uid end with the import.
    assert int(after.pop('validSince')) >= int(before.pop('validSince'))
    assert after == before


def test_refused_users_are_told_with_line_and_reason(identity, hearth):
    users = [{'localId': 'a', 'email': 'a@example.com'}, {'email': 'none@example.com'}, {'localId': 'b', 'email': 'nonsense'},
             {'localId': 'c', 'shoe': 1}, {'localId': 'd', 'passwordHash': '***'}, {'localId': 'e', 'email': 'a@example.com'}, {'localId': 'f'}]
    write(hearth, '{"users": [\n' + ',\n'.join(json.dumps(user) for user in users) + '\n]}')
    outcome = hearth.run('auth:import', 'users.json')
    assert (outcome.status, outcome.output) == (1, '2 users imported, 5 refused\n')
    assert sorted(outcome.error.splitlines()) == [
        'users.json:3: user 2: localId is missing', 'users.json:4: user 3 (b): email is invalid',
        'users.json:5: user 4 (c): the field shoe is unknown',
        'users.json:6: user 5 (d): the field passwordHash must be in Base64',
        'users.json:7: user 6 (e): email exists in other account in database']
    assert {user['localId'] for user in identity.every_user()} == {'a', 'f'}
    outcome = hearth.run('auth:import', 'users.json', '--json')
    assert outcome.status == 1 and outcome.json['result']['refused'] == 5
    assert {'row': 3, 'line': 4, 'uid': 'b', 'reason': 'email is invalid'} in outcome.json['result']['refusals']


@pytest.mark.parametrize('name,text,said', [
    ('a.json', '', 'a.json:1: the file is empty'), ('a.json', '{}', 'a.json:1: the file has no member users'),
    ('a.json', '{"users": [{"localId": "x"}\n,', 'a.json:2: the file ends before the list of users is complete'),
    ('a.json', '{"users": [\n1]}', 'a.json:2: a user must be an object'), ('a.json', '{"users": {}}', 'must be an array'),
    ('a.json', '{"users": []} x', 'there is more text'), ('a.json', 'null', 'must begin with'),
    ('a.json', '{"users": [], "users": []}', 'appears twice'),
    ('a.csv', 'x\n"a" b,c\n', 'a.csv:2: there is text after the closing quote'),
    ('a.csv', 'x\n"a\n', 'a.csv:2: a quoted field has no end'),
    ('a.json', '{"users": [{"localId": "x", "a": "' + 'y' * (1 << 20) + '"}]}', 'more than 1 MiB'),
])
def test_files_that_are_none(name, text, said, identity, hearth):
    write(hearth, text, name)
    assert said in hearth.run('auth:import', name).sentence
    assert identity.every_user() == []
    assert said.replace(name, 'standard input') in hearth.run('auth:import', '-', '--format', name[2:], given=text).sentence


def test_hashes_without_an_algorithm(identity, hearth):
    write(hearth, [{'localId': 'a', **PBKDF2}])
    assert hearth.run('auth:import', 'users.json').sentence == (
        'there are password hashes (line 1): name their algorithm with --hash-algo, or use --without-passwords; no user was imported')
    assert hearth.succeeds('auth:import', 'users.json', '--without-passwords') == '1 user imported\n'
    assert 'passwordHash' not in identity.user('a')


def peak(hearth, *arguments):
    """The most memory of a command that succeeds, in bytes."""
    started = subprocess.Popen([BINARY, *arguments], cwd=hearth.folder, env=hearth.environment({}), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = status
    assert status == 0
    return usage.ru_maxrss * 1024


def test_many_users_do_not_fill_memory(identity, hearth):
    """Files with ten times as many users need hardly more memory, though they have tens of megabytes more."""
    needed = {}
    for count in (4000, 40_000):
        with open(hearth.folder / 'many.csv', 'w') as file:
            for number in range(count):
                file.write(f'user{number:06},u{number}@example.com,false,,,,{"x" * 1500}\n')
        needed[count] = [peak(hearth, 'auth:import', 'many.csv'), peak(hearth, 'auth:export', 'out.csv')]
        assert len((hearth.folder / 'out.csv').read_text().splitlines()) == count
    for few, many in zip(*needed.values(), strict=True):
        assert many - few < 15 << 20, needed
