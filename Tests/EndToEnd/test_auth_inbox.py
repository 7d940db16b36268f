"""`hearth auth:inbox`: mails and text messages of development; and every command of docs/users.md."""

import json
import re
import subprocess
import time

import pytest

from commands import Commands
from hearth import BINARY, ROOT
from identity import Identity, sign_in_host


@pytest.fixture
def development(tmp_path):
    host = sign_in_host(tmp_path / 'host', 'development').start()
    with Identity(host) as identity:
        yield identity
    host.stop()


def test_the_inbox(development, tmp_path):
    hearth = Commands(development.host, tmp_path / 'here')
    assert hearth.succeeds('auth:inbox') == 'No messages.\n'
    assert hearth.run('auth:inbox', '--newest').sentence == 'there is no such message'
    development.sign_up('ada@example.com')
    development.do('accounts:sendOobCode', requestType='PASSWORD_RESET', email='ada@example.com')
    time.sleep(0.002)  # The order of messages of one millisecond is open.
    development.do('accounts:sendVerificationCode', phoneNumber='+15555550123')
    time.sleep(0.002)
    development.do('accounts:sendOobCode', requestType='EMAIL_SIGNIN', email='bob@example.com', continueUrl='http://localhost/')
    mails, texts = development.codes(), development.codes('verificationCodes')
    lines = hearth.succeeds('auth:inbox').splitlines()
    assert [line.split('  ')[1] for line in lines[::2]] == ['ada@example.com: reset the password', '+15555550123: code', 'bob@example.com: sign in']
    assert lines[1::2] == [mails[0]['oobLink'], texts[0]['code'], mails[1]['oobLink']]
    assert hearth.succeeds('auth:inbox', '--newest', '--email', 'Ada@example.com').strip() == mails[0]['oobLink']
    assert hearth.succeeds('auth:inbox', '--newest', '--phone', '+15555550123').strip() == texts[0]['code']
    assert [message['email'] for message in hearth.result('auth:inbox', '--email', 'bob@example.com')['messages']] == ['bob@example.com']


def test_the_inbox_is_followed(development, tmp_path):
    hearth = Commands(development.host, tmp_path / 'here')
    development.do('accounts:sendVerificationCode', phoneNumber='+15555550123')
    following = hearth.start('auth:inbox', '--follow', '--json')
    try:
        assert json.loads(following.stdout.readline())['phoneNumber'] == '+15555550123'
        development.do('accounts:sendVerificationCode', phoneNumber='+15555550124')
        assert json.loads(following.stdout.readline())['phoneNumber'] == '+15555550124'
        development.host.stop()
        assert b'waiting for it' in following.stderr.readline()
        development.close()
        development.host.start()
        assert b'back' in following.stderr.readline()
        development.do('accounts:sendVerificationCode', phoneNumber='+15555550125')
        assert json.loads(following.stdout.readline())['phoneNumber'] == '+15555550125'
        following.send_signal(2)
        assert following.wait(30) == 0
    finally:
        following.kill()
        following.wait()


@pytest.mark.parametrize('hooks', [False, True])
def test_production_shows_codes_to_tests_only(hooks, tmp_path):
    host = sign_in_host(tmp_path / 'host', 'production', {'auth': {'testHooks': hooks, 'publicUrl': 'https://id.example.org'}}).start()
    try:
        hearth = Commands(host, tmp_path / 'here')
        with Identity(host) as identity:
            identity.managed('accounts:sendOobCode', requestType='EMAIL_SIGNIN', email='a@example.com', returnOobLink=True)
        if hooks:
            assert hearth.succeeds('auth:inbox', '--newest').startswith('https://id.example.org/')
        else:
            assert 'shows no codes' in hearth.run('auth:inbox').sentence
    finally:
        host.stop()


def test_the_page(development, tmp_path):
    """Every command of docs/users.md, in its order."""
    folder = tmp_path / 'here'
    folder.mkdir()
    blocks = re.findall(r'^```sh\n(.*?)^```\n', (ROOT / 'docs/users.md').read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    environment = {'PATH': f'{BINARY.parent}:/usr/bin:/bin', 'HOME': str(folder), 'HEARTH_URL': f'http://127.0.0.1:{development.host.port}',
                   'HEARTH_DATA': str(development.host.data)}
    for commands in blocks:
        done = subprocess.run(['bash', '-e', '-o', 'pipefail'], input=commands, capture_output=True, text=True, cwd=folder, env=environment,
                              timeout=60, check=False)
        assert done.returncode == 0, (commands, done.stdout, done.stderr)
        if 'auth:import' in commands:
            assert development.user('ada')['passwordHash'], 'no import of the page takes the password of the one before'
