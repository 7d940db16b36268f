"""Secrets of users: none is in the log, and a copy of the data gives nobody a session (A28, A30)."""

import stat

import pytest

from commands import Commands
from identity import Identity, refusal, succeeded
from identity_answers import totp
from identity_providers import APP_SECRET
from identity_scene import scene_of, stage  # noqa: F401

DEBUG_TOKEN = '11111111-2222-4333-8444-555555555555'
scene = scene_of(appCheck={'debugTokens': [DEBUG_TOKEN]}, functions={'whoami': {}})


@pytest.fixture
def secrets(scene):
    """Uses most of sign-in, with success and without; the secrets that occurred, by name."""
    identity, found = scene.identity, {'password': 'correct-horse-battery', 'wrong password': 'staple-wrong-horse', 'app secret': APP_SECRET}
    user = identity.sign_up('secret@example.com', found['password'])
    found |= {'ID token': user['idToken'], 'refresh token': user['refreshToken']}
    identity.refused('accounts:signInWithPassword', email='secret@example.com', password=found['wrong password'])
    found['second refresh token'] = identity.refreshed(user['refreshToken'])['refresh_token']
    found['code'] = identity.managed('accounts:sendOobCode', requestType='PASSWORD_RESET', email='secret@example.com', returnOobLink=True)['oobCode']
    identity.refused('accounts:resetPassword', oobCode=found['code'], newPassword='x')
    credential = scene.limited()
    found |= {'ID token of Facebook': credential['id_token'], 'nonce': credential['nonce']}
    succeeded(identity.with_provider(**credential), 'Limited Login')
    refusal(identity.with_provider(**credential))
    found['access token'] = 'EAAsecret-access-token-of-facebook'
    refusal(identity.with_provider(access_token=found['access token']))
    identity.managed('accounts:update', localId=user['localId'], emailVerified=True)
    started = identity.do('accounts/mfaEnrollment:start', version='v2', idToken=user['idToken'], totpEnrollmentInfo={})['totpSessionInfo']
    found['secret of an app'] = started['sharedSecretKey']
    proof = {'sessionInfo': started['sessionInfo'], 'verificationCode': totp(started['sharedSecretKey'], scene.clock.now())}
    identity.do('accounts/mfaEnrollment:finalize', version='v2', idToken=user['idToken'], totpVerificationInfo=proof)
    found['pending credential'] = identity.sign_in('secret@example.com', found['password'])['mfaPendingCredential']
    identity.refresh('rt1.' + 'x' * 43)
    scene.host.callable('whoami', token=user['idToken'] + 'x')
    return found


def test_a28_the_log(scene, secrets):
    log = scene.host.log_path.read_text(errors='replace')
    assert [name for name, secret in secrets.items() if secret in log] == []


def every_byte(folder):
    return b''.join(path.read_bytes() for path in sorted(folder.rglob('*')) if path.is_file())


def test_a30_the_data(scene, secrets):
    scene.identity.close()
    scene.host.stop()
    try:
        data = every_byte(scene.host.data)
    finally:
        scene.host.start()
    # The app's secret and debug tokens are in the configuration, which is not data.
    assert [name for name, secret in secrets.items() if secret.encode() in data] == []


def test_a30_files_belong_to_the_host_alone(scene, secrets):
    assert secrets
    for path in scene.host.data.rglob('*'):
        if path.is_file() and (b'PRIVATE KEY' in (content := path.read_bytes()) or b'secret@example.com' in content):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a30_a_backup(scene, secrets, tmp_path):
    Commands(scene.host, tmp_path / 'commands').succeeds('backup', tmp_path / 'all.tar')
    data = (tmp_path / 'all.tar').read_bytes()
    assert b'secret@example.com' in data, 'the backup has the users'
    assert [name for name, secret in secrets.items() if secret.encode() in data] == []
    # It has the keys of the host, so that tokens and session cookies outlive a restore. So nobody else may read it.
    assert (tmp_path / 'all.tar').stat().st_mode & 0o077 == 0


def test_a28_an_error_does_not_repeat_what_was_sent(scene):
    identity = Identity(scene.host, source=scene.identity.source)
    for answer in (identity.post('accounts:lookup', idToken='SECRET.SECRET.SECRET'), identity.refresh('SECRETSECRET'),
                   identity.post('accounts:resetPassword', oobCode='SECRETSECRET'), identity.with_provider(access_token='SECRETSECRET'),
                   identity.post('accounts:signInWithCustomToken', token='SECRET.SECRET.SECRET'),
                   identity.post('accounts:signInWithIdp', requestUri='http://localhost?access_token=SECRETSECRET', postBody='id_token=SECRETSECRET'),
                   identity.post('accounts:signInWithPassword', email='a@example.com', password='SECRETSECRET')):
        assert b'SECRET' not in answer.body, answer.body
    identity.close()
