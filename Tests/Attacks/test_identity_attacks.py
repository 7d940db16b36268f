"""Attacks on accounts: old tokens, finding out who has an account, guessing passwords."""

import concurrent.futures
import contextlib

import pytest

from identity import PASSWORD, Identity, claims, refusal, sign_in_host, succeeded
from identity_attackers import LOCKED, WRONG, fail_often, processor_seconds, shown
from identity_scene import scene_of, stage  # noqa: F401


scene = scene_of(testHooks=True)
private = scene_of(emailPrivacyConfig={'enableImprovedEmailPrivacy': True}, rateLimit={
    'perAccountFailures': 10, 'windowSec': 300, 'perAddressFailures': 25})


@pytest.fixture
def identity(scene):
    return scene.identity


# -- A13, A22: what an old or foreign token may do

def test_a13_sensitive_changes_need_a_recent_sign_in(scene, identity):
    user = identity.sign_up('recent@example.com')
    scene.clock.advance(400)
    token = identity.refreshed(user['refreshToken'])['id_token']
    for action, change in (('update', {'password': 'another1'}), ('update', {'email': 'mine@example.com'}), ('delete', {})):
        assert identity.refused(f'accounts:{action}', idToken=token, **change).startswith('CREDENTIAL_TOO_OLD_LOGIN_AGAIN')
    fresh = identity.sign_in('recent@example.com')['idToken']
    identity.do('accounts:update', idToken=fresh, password='another1')


def test_a13_a_change_does_not_make_an_old_sign_in_recent(scene, identity):
    user = identity.sign_up('linking@example.com')
    scene.clock.advance(400)
    token = identity.refreshed(user['refreshToken'])['id_token']
    assert identity.refused('accounts:update', idToken=token, validSince='0').startswith('CREDENTIAL_TOO_OLD_LOGIN_AGAIN')
    linked = succeeded(identity.with_provider(access_token='fb-classic-alice', idToken=token), 'Facebook')
    for new in (linked['idToken'], identity.refreshed(linked['refreshToken'])['id_token']):
        assert identity.refused('accounts:update', idToken=new, password='another1').startswith('CREDENTIAL_TOO_OLD_LOGIN_AGAIN')
        assert identity.lookup(new)['localId'] == user['localId']


def test_a13_an_anonymous_user_of_long_ago_gets_a_password(scene, identity):
    user = identity.sign_up()
    scene.clock.advance(400)
    token = identity.refreshed(user['refreshToken'])['id_token']
    upgraded = identity.do('accounts:signUp', idToken=token, email='upgraded@example.com', password=PASSWORD, returnSecureToken=True)
    assert upgraded['localId'] == user['localId']
    assert identity.lookup(upgraded['idToken'])['email'] == 'upgraded@example.com'
    assert identity.lookup(identity.refreshed(upgraded['refreshToken'])['id_token'])['localId'] == user['localId']


def test_a11_a_link_by_mail_takes_an_address_back(scene, identity):
    """An attacker who registered with the victim's address keeps nothing when the victim signs in with a link."""
    attacker = identity.sign_up('linked@example.com')
    identity.managed('accounts:update', localId=attacker['localId'], phoneNumber='+15555550181',
                     linkProviderUserInfo={'providerId': 'google.com', 'rawId': 'attacker'})
    scene.clock.advance(2)
    code = identity.managed('accounts:sendOobCode', requestType='EMAIL_SIGNIN', email='linked@example.com', returnOobLink=True,
                            continueUrl='http://localhost')['oobCode']
    victim = identity.do('accounts:signInWithEmailLink', email='linked@example.com', oobCode=code)
    assert victim['localId'] == attacker['localId']
    assert identity.refused('accounts:lookup', idToken=attacker['idToken']).startswith('TOKEN_EXPIRED')
    assert identity.refresh(attacker['refreshToken']).status == 400
    user = identity.lookup(victim['idToken'])
    assert [entry['providerId'] for entry in user['providerUserInfo']] == ['password'] and 'phoneNumber' not in user
    assert identity.refused('accounts:signInWithPassword', email='linked@example.com', password=PASSWORD).startswith(
        ('INVALID_PASSWORD', 'INVALID_LOGIN_CREDENTIALS'))


CHANGES = {
    'disabled': lambda identity, user: identity.managed('accounts:update', localId=user['localId'], disableUser=True),
    'deleted': lambda identity, user: identity.managed('accounts:delete', localId=user['localId']),
    'another password': lambda identity, user: identity.managed('accounts:update', localId=user['localId'], password='another1'),
    'revoked': lambda identity, user: identity.managed(
        'accounts:update', localId=user['localId'], validSince=str(claims(user['idToken'])['iat'] + 2)),
}


@pytest.mark.parametrize('change', CHANGES)
def test_a22_tokens_of_before_a_change(scene, identity, change):
    user = identity.sign_up('change@example.com')
    scene.clock.advance(3)
    CHANGES[change](identity, user)
    token = user['idToken']
    for answer in (identity.post('accounts:lookup', idToken=token), identity.post('accounts:update', idToken=token, displayName='x'),
                   identity.post('accounts:delete', idToken=token), identity.manage(':createSessionCookie', idToken=token, validDuration=600),
                   identity.post('accounts:sendOobCode', requestType='VERIFY_EMAIL', idToken=token),
                   identity.post('accounts:signUp', idToken=token, email='x@example.com', password=PASSWORD),
                   identity.with_provider(access_token='fb-classic-alice', idToken=token),
                   identity.post('accounts/mfaEnrollment:start', version='v2', idToken=token, totpEnrollmentInfo={})):
        assert refusal(answer).startswith(('TOKEN_EXPIRED', 'USER_DISABLED', 'USER_NOT_FOUND', 'INVALID_ID_TOKEN')), answer.body
    message = refusal(identity.refresh(user['refreshToken']))
    assert message.startswith(('TOKEN_EXPIRED', 'USER_DISABLED', 'USER_NOT_FOUND', 'INVALID_REFRESH_TOKEN')), message


# -- A14: who has an account

def test_a14_protection_is_on_by_default(tmp_path):
    host = sign_in_host(tmp_path, 'production').start()
    with contextlib.ExitStack() as stack:
        stack.callback(host.stop)
        identity = stack.enter_context(Identity(host))
        identity.sign_up('known@example.com')
        assert identity.refused('accounts:signInWithPassword', email='known@example.com', password='wrong-one').startswith(WRONG[1])
        assert identity.refused('accounts:signInWithPassword', email='unknown@example.com', password='wrong-one').startswith(WRONG[1])


@pytest.mark.parametrize('action, body', [
    ('accounts:signInWithPassword', {'password': 'wrong-password', 'returnSecureToken': True}),
    ('accounts:sendOobCode', {'requestType': 'PASSWORD_RESET'}),
    ('accounts:createAuthUri', {'continueUri': 'http://localhost'}),
], ids=['sign-in', 'reset', 'probe'])
def test_a14_known_and_unknown_users_look_alike(private, action, body):
    identity = private.identity
    identity.sign_up('known@example.com')
    field = 'identifier' if action.endswith('Uri') else 'email'
    known, unknown = (identity.post(action, **body, **{field: f'{name}@example.com'}) for name in ('known', 'nobody'))
    assert shown(known) == shown(unknown)


def test_a14_unknown_users_cost_as_much_work(private):
    """An unknown user's password is hashed as well. Processor time is compared, not how long it took."""
    for number in range(5):
        private.identity.sign_up(f'known{number}@example.com')

    def try_all(name):
        for number in range(5):
            with private.from_elsewhere() as other:
                other.refused('accounts:signInWithPassword', email=f'{name}{number}@example.com', password='wrong-password')

    known, unknown = (processor_seconds(private.host, lambda name=name: try_all(name)) for name in ('known', 'nobody'))
    assert known > 0.1, f'hashing five passwords took {known} s'
    assert 0.5 < unknown / known < 2, (known, unknown)


# -- A15: guessing passwords

def test_a15_guessing_from_many_addresses(private):
    user = private.identity.sign_up('target@example.com')
    for _ in range(10):
        with private.from_elsewhere() as other:
            fail_often(other, 'target@example.com', 1)
    with private.from_elsewhere() as other:
        for password in ('wrong-password', PASSWORD):
            assert other.refused('accounts:signInWithPassword', email='target@example.com', password=password).startswith(LOCKED)
    # The sessions that the user has go on, and another user is not concerned.
    assert private.identity.lookup(user['idToken'])['localId'] == user['localId']
    assert private.identity.refreshed(user['refreshToken'])['user_id'] == user['localId']
    private.identity.sign_up('other@example.com')
    private.clock.advance(301)
    private.identity.sign_in('target@example.com')


def test_a15_a_lock_costs_no_hashing(private):
    private.identity.sign_up('locked@example.com')
    fail_often(private.identity, 'locked@example.com')

    def attempts():
        for _ in range(20):
            assert private.identity.refused('accounts:signInWithPassword', email='locked@example.com', password='x' * 12).startswith(LOCKED)
    assert processor_seconds(private.host, attempts) < 0.4


def test_a15_a_lock_survives_a_restart(private):
    private.identity.sign_up('restart@example.com')
    fail_often(private.identity, 'restart@example.com')
    private.identity.close()
    private.host.kill()
    private.host.start()
    assert private.identity.refused('accounts:signInWithPassword', email='restart@example.com', password=PASSWORD).startswith(LOCKED)
    private.clock.advance(301)
    private.identity.sign_in('restart@example.com')


def test_a15_guesses_in_parallel_are_all_counted(private):
    private.identity.sign_up('parallel@example.com')

    def guess(_):
        with private.from_elsewhere() as other:
            return refusal(other.post('accounts:signInWithPassword', email='parallel@example.com', password='wrong-password'))
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        messages = list(pool.map(guess, range(24)))
    assert sum(message.startswith(WRONG) for message in messages) <= 10, messages
    assert private.identity.refused('accounts:signInWithPassword', email='parallel@example.com', password=PASSWORD).startswith(LOCKED)


@pytest.mark.timeout(180)
def test_a15_one_password_for_many_accounts(private):
    """An address that tries one password after the other account is stopped too, and nobody else is."""
    identity = private.identity

    def is_stopped():
        for number in range(60):
            if identity.refused('accounts:signInWithPassword', email=f'spray{number}@example.com', password='Summer2026').startswith(LOCKED):
                return True
        return False
    assert is_stopped()
    with private.from_elsewhere() as other:
        other.sign_up('bystander@example.com')
        other.sign_in('bystander@example.com')
