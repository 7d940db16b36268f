"""Secrets of authenticator programs on the disk: encrypted with a key of their own, also those of earlier versions, and in backups."""

import base64
import json
import shutil
import sqlite3
import stat
import time

import pytest

from commands import Commands
from hearth import Host
from identity import Identity, sign_in_host
from identity_answers import totp

EMAIL = 'ada@example.com'


def host_of(folder):
    return sign_in_host(folder, config={'auth': {'mfa': {'state': 'ENABLED'}, 'testHooks': True}})


def enrolled(identity, email=EMAIL):
    """Enrols an authenticator program, and returns its secret."""
    user = identity.sign_up(email)
    identity.managed('accounts:update', localId=user['localId'], emailVerified=True)
    started = identity.do('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'], totpEnrollmentInfo={})['totpSessionInfo']
    # The code before the current one, so that the current one can be used to sign in.
    code = totp(started['sharedSecretKey'], int(time.time()) - 30)
    identity.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'],
                totpVerificationInfo={'sessionInfo': started['sessionInfo'], 'verificationCode': code})
    return started['sharedSecretKey']


def signs_in(identity, secret, email=EMAIL):
    first = identity.sign_in(email)
    body = {'mfaPendingCredential': first['mfaPendingCredential'], 'mfaEnrollmentId': first['mfaInfo'][0]['mfaEnrollmentId'],
            'totpVerificationInfo': {'verificationCode': totp(secret, int(time.time()))}}
    return identity.post('accounts/mfaSignIn:finalize', version='v2', **body).status == 200


def forms(secret):
    """The spellings in which a secret could be on the disk."""
    raw = base64.b32decode(secret)
    return [secret.encode(), raw, base64.urlsafe_b64encode(raw).rstrip(b'='), base64.b64encode(raw).rstrip(b'='), raw.hex().encode()]


def on_disk(folder, secret):
    return [str(path) for path in folder.rglob('*') if path.is_file() for form in forms(secret) if form in path.read_bytes()]


def record(host, change=None):
    """The stored user, and with `change` a changed one."""
    with sqlite3.connect(host.data / 'users/users.sqlite') as connection:
        (text,) = connection.execute('SELECT record FROM user WHERE email = ?', [EMAIL]).fetchone()
        stored = json.loads(text)
        if change:
            change(stored)
            connection.execute('UPDATE user SET record = ? WHERE email = ?', [json.dumps(stored, separators=(',', ':')), EMAIL])
            connection.execute("DELETE FROM setting WHERE key = 'key of second factors'")
    connection.close()
    return stored


@pytest.fixture
def host(tmp_path):
    host = host_of(tmp_path / 'host').start()
    yield host
    host.stop()
    host.abandon()


def test_no_secret_is_on_the_disk(host):
    with Identity(host) as identity:
        secret = enrolled(identity)
        assert on_disk(host.data, secret) == []
        key = host.data / 'users/second-factors.keys'
        assert stat.S_IMODE(key.stat().st_mode) == 0o600 and len(base64.urlsafe_b64decode(key.read_text() + '=')) == 32
        assert signs_in(identity, secret)
    host.stop()
    assert on_disk(host.data, secret) == [] and record(host)['m'][0]['s'].startswith('g1.')
    host.start()


def test_the_store_of_an_earlier_version(host):
    """The secrets are encrypted when the host starts, and no copy stays in the file."""
    with Identity(host) as identity:
        secret = enrolled(identity)
    host.stop()
    plain = base64.urlsafe_b64encode(base64.b32decode(secret)).rstrip(b'=').decode()
    record(host, lambda stored: stored['m'][0].update(s=plain))
    assert on_disk(host.data, secret) != []
    host.start()
    with Identity(host) as identity:
        assert signs_in(identity, secret)
    host.stop()
    assert on_disk(host.data, secret) == [] and record(host)['m'][0]['s'].startswith('g1.')
    host.start()


def test_a_secret_cannot_be_moved_to_another_user(host):
    """Writing the store without the key does not give a user the secret of another."""
    with Identity(host) as identity:
        secret = enrolled(identity)
        enrolled(identity, 'eve@example.com')
    host.stop()
    with sqlite3.connect(host.data / 'users/users.sqlite') as connection:
        (text,) = connection.execute("SELECT record FROM user WHERE email = 'eve@example.com'").fetchone()
        stolen = json.loads(text)['m'][0]['s']
        ada = json.loads(connection.execute('SELECT record FROM user WHERE email = ?', [EMAIL]).fetchone()[0])
        ada['m'][0]['s'] = stolen
        connection.execute('UPDATE user SET record = ? WHERE email = ?', [json.dumps(ada), EMAIL])
    connection.close()
    host.start()
    with Identity(host) as identity:
        assert not signs_in(identity, secret)


def test_a_copy_works_with_its_key_only(host, tmp_path):
    """As after a restore. With another key the host serves no users, and loses no secret."""
    with Identity(host) as identity:
        secret = enrolled(identity)
    host.stop()
    copy = host_of(tmp_path / 'copy')
    shutil.copytree(host.data, copy.data)
    key = copy.data / 'users/second-factors.keys'
    right = key.read_bytes()
    key.unlink()
    copy.start()
    copy.until_logged('second-factors.keys is not the file with which this store was written')
    with Identity(copy) as identity:
        assert identity.post('accounts:signInWithPassword', email=EMAIL, password='notasecret').status == 503
    copy.stop()
    key.write_bytes(right)
    copy.start()
    with Identity(copy) as identity:
        assert signs_in(identity, secret)
    copy.stop()
    host.start()


def test_a_backup_and_a_restore(host, tmp_path):
    with Identity(host) as identity:
        secret = enrolled(identity)
    commands = Commands(host, tmp_path / 'commands')
    commands.succeeds('backup', tmp_path / 'all.tar')
    host.stop()
    key = (host.data / 'users/second-factors.keys').read_bytes()
    assert key in (tmp_path / 'all.tar').read_bytes() and on_disk(tmp_path / 'commands', secret) == []
    shutil.rmtree(host.data)
    host.start()
    # The host that runs has made another key.
    commands.succeeds('restore', tmp_path / 'all.tar', '--force')
    with Identity(host) as identity:
        assert signs_in(identity, secret)
    assert stat.S_IMODE((host.data / 'users/second-factors.keys').stat().st_mode) == 0o600


def test_a_damaged_key_stops_the_start(tmp_path):
    host = host_of(tmp_path / 'host')
    (host.data / 'users').mkdir(parents=True)
    (host.data / 'users/second-factors.keys').write_text('no key')
    with pytest.raises(AssertionError, match='does not have the key of second factors'):
        Host.start(host)
    host.abandon()
