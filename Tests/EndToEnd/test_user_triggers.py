"""Functions that run when users are created or deleted: which operations run them, their input, failures and crashes."""

import contextlib
import json
import random
import re
import threading
import time

import pytest

from commands import Commands
from databases import OWNER
from hearth import Host
from identity import Identity, claims, succeeded
from processes import until
from tokens import PROJECT
from wire import Ended

TRIGGERS = {'retryMinSeconds': 0.05, 'retryMaxSeconds': 0.2, 'retryAgeSeconds': 2}
CREATED, DELETED = ('google.firebase.auth.user.v2.' + verb for verb in ('created', 'deleted'))


class UserHost(Host):
    """A host with the plugin that notes the events of users in its worker's folder."""

    def __init__(self, folder, more=None):
        super().__init__(folder, ['users'], mode='development', config={
            'database': {'triggers': TRIGGERS}, 'workers': {'drainSeconds': 1}, **(more or {})})

    def notes(self, uid=None, function=None):
        """The events that the functions were called with, in order."""
        return [{**note['context']['event'], 'user': note['payload'], 'function': note['function']} for note in self.noted()
                if uid in (None, note['payload']['uid']) and function in (None, note['function'])]

    def until_noted(self, uid, function='created', count=1, seconds=20):
        return until(lambda: len(found := self.notes(uid, function)) >= count and found, f'{count} events of {uid} for {function}', seconds)

    def letters(self):
        answer = self.request('GET', '/_/api/users/dead-letters?limit=1000', OWNER)
        assert answer.status == 200, answer.body
        return answer.json['deadLetters']


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    """The tests share this host; each has its own users."""
    host = UserHost(tmp_path_factory.mktemp('users')).start()
    try:
        yield host
        host.stop()
    finally:
        host.abandon()


@pytest.fixture
def own(tmp_path):
    """Makes a host for one test."""
    hosts = []

    def make(**more):
        hosts.append(UserHost(tmp_path / f'host{len(hosts)}', more))
        return hosts[-1].start()
    yield make
    for host in hosts:
        host.abandon()


@pytest.fixture
def identity(host):
    with Identity(host) as identity:
        yield identity


def make(identity, uid, **more):
    return identity.managed('accounts', localId=uid, **more)


# -- which operations

def test_each_way_to_sign_up(host, identity):
    identity.manage('accounts', localId='ways')
    made = {
        'anonymous': identity.sign_up()['localId'],
        'password': identity.sign_up('ways@example.com')['localId'],
        'custom token': claims(identity.do(
            'accounts:signInWithCustomToken', token=json.dumps({'uid': 'custom.1'}), returnSecureToken=True)['idToken'])['sub'],
        'provider': succeeded(identity.with_provider('google.com', id_token=json.dumps(
            {'sub': '7', 'email': 'google@example.com', 'email_verified': True, 'name': 'Eve'})), 'provider')['localId'],
        'phone': by_phone(identity, '+15555550111'),
        'link': by_link(identity, 'link@example.com'),
        'administrator': 'ways',
    }
    for way, uid in made.items():
        [event] = host.until_noted(uid)
        assert event['type'] == CREATED and event['subject'] == f'users/{uid.replace(".", "%2E")}', way
    user = host.notes(made['provider'], 'created')[0]['user']
    assert user['email'] == 'google@example.com' and user['emailVerified'] is True and user['displayName'] == 'Eve'
    assert [entry['providerId'] for entry in user['providerData']] == ['google.com']
    assert host.notes(made['phone'], 'created')[0]['user']['phoneNumber'] == '+15555550111'
    # Signing in again creates nobody.
    identity.sign_in('ways@example.com')
    identity.do('accounts:signInWithCustomToken', token=json.dumps({'uid': 'custom.1'}), returnSecureToken=True)
    make(identity, 'afterWays')
    host.until_noted('afterWays')
    assert [len(host.notes(uid, 'created')) for uid in made.values()] == [1] * len(made)


def by_phone(identity, number):
    sent = identity.do('accounts:sendVerificationCode', phoneNumber=number)
    codes = succeeded(identity.ask('GET', f'/emulator/v1/projects/{PROJECT}/verificationCodes'), 'codes')['verificationCodes']
    code = next(code['code'] for code in codes if code['sessionInfo'] == sent['sessionInfo'])
    return identity.do('accounts:signInWithPhoneNumber', sessionInfo=sent['sessionInfo'], code=code)['localId']


def by_link(identity, email):
    identity.do('accounts:sendOobCode', requestType='EMAIL_SIGNIN', email=email, continueUrl='http://localhost')
    codes = succeeded(identity.ask('GET', f'/emulator/v1/projects/{PROJECT}/oobCodes'), 'codes')['oobCodes']
    code = next(code['oobCode'] for code in codes if code['email'] == email)
    return identity.do('accounts:signInWithEmailLink', email=email, oobCode=code)['localId']


def test_each_deletion(host, identity):
    client = identity.sign_up('client@example.com')
    identity.do('accounts:delete', idToken=client['idToken'])
    for uid in ('byAdmin', 'batch1', 'batch2', 'kept'):
        make(identity, uid, displayName=uid)
    identity.managed('accounts:delete', localId='byAdmin')
    identity.managed('accounts:batchDelete', localIds=['batch1', 'nobody', 'batch2'], force=True)
    identity.managed('accounts:batchDelete', localIds=['kept'])
    for uid in (client['localId'], 'byAdmin', 'batch1', 'batch2'):
        [event] = host.until_noted(uid, 'deleted')
        assert event['type'] == DELETED and event['source'] == f'//firebaseauth.googleapis.com/projects/{PROJECT}'
    assert host.notes('batch1', 'deleted')[0]['user']['displayName'] == 'batch1'
    assert host.notes('kept', 'deleted') == []


def test_imports_and_links_run_nothing(host, identity):
    identity.managed('accounts:batchCreate', users=[{'localId': 'imported', 'email': 'imported@example.com'}])
    anonymous = identity.sign_up()
    host.until_noted(anonymous['localId'])
    identity.do('accounts:signUp', idToken=anonymous['idToken'], email='upgraded@example.com', password='notasecret', returnSecureToken=True)
    make(identity, 'afterImport')
    host.until_noted('afterImport')
    assert host.notes('imported') == [] and len(host.notes(anonymous['localId'], 'created')) == 1


def test_the_record_has_no_secrets(host, identity):
    make(identity, 'secrets', email='secrets@example.com', password='a-long-password', displayName='Ada', phoneNumber='+15555550122')
    [event] = host.until_noted('secrets')
    user = event['user']
    assert user.pop('metadata').keys() >= {'creationTime'}
    assert user == {
        'uid': 'secrets', 'email': 'secrets@example.com', 'emailVerified': False, 'displayName': 'Ada', 'phoneNumber': '+15555550122',
        'disabled': False, 'customClaims': {}, 'providerData': [
            {'providerId': 'password', 'uid': 'secrets@example.com', 'email': 'secrets@example.com', 'displayName': 'Ada'},
            {'providerId': 'phone', 'uid': '+15555550122', 'phoneNumber': '+15555550122'}]}
    assert 'hash' not in json.dumps(event).lower() and 'salt' not in json.dumps(event).lower()
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', event['time']) and event['attempt'] == 1


def test_first_generation_and_tenants(host, identity):
    make(identity, 'gen1')
    [event] = host.until_noted('gen1', 'first')
    assert event['type'] == 'providers/firebase.auth/eventTypes/user.create'
    for tenant in ('blue', 'red'):
        identity.ask('POST', f'/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/tenants/{tenant}/accounts', {'localId': f'in-{tenant}'})
        [event] = host.until_noted(f'in-{tenant}')
        assert event['user']['tenantId'] == tenant and event['source'].endswith(f'/tenants/{tenant}') and event['params'] == {'tenantId': tenant}
    host.until_noted('in-blue', 'ofTenant')
    host.until_noted('gen1', 'ofProject')
    make(identity, 'afterTenants')
    host.until_noted('afterTenants', 'ofProject')
    assert host.notes('in-red', 'ofTenant') == [] == host.notes('in-blue', 'ofProject') == host.notes('gen1', 'ofTenant')


# -- failures

def test_retries_and_dead_letters(host, identity, tmp_path):
    make(identity, 'retried', displayName='failOnce')
    first, second = host.until_noted('retried', count=2)
    assert first['id'] == second['id'] and (first['attempt'], second['attempt']) == (1, 2)
    make(identity, 'failing', displayName='fail')
    identity.managed('accounts:delete', localId='failing')
    letter = until(lambda: [letter for letter in host.letters() if (letter['function'], letter['path']) == ('deleted', '/users/failing')],
                   'the dead letter')[0]
    assert letter['type'] == DELETED and 'it was told to fail' in letter['error']
    commands = Commands(host, tmp_path / 'commands')
    assert letter['id'] in [each['id'] for each in commands.result('events:list', '--users')['deadLetters']]
    shown = commands.result('events:show', '--users', letter['id'])
    assert shown['data']['uid'] == 'failing' and 'instance' not in shown
    commands.succeeds('events:replay', '--users', letter['id'])
    events = host.until_noted('failing', 'deleted', 2)
    assert events[0]['id'] == events[1]['id']
    until(lambda: [each for each in host.letters() if each['event'] == letter['event'] and each['id'] != letter['id']], 'the dead letter again')
    commands.succeeds('events:delete', '--users', '--all', '--force')
    assert [each for each in host.letters() if each['event'] == letter['event']] == []
    assert host.request('GET', '/_/api/databases/-/dead-letters', OWNER).json['deadLetters'] == []


def test_a_worker_that_ends_is_no_failure_of_the_event(own):
    host = own()
    with Identity(host) as identity:
        make(identity, 'crashing', displayName='crashOnce')
    # Another function of the worker may have ended it before this one had its first attempt.
    until(lambda: [event for event in host.notes('crashing', 'created') if event['attempt'] > 1], 'another attempt')
    until(lambda: waiting(host) == 0, 'no event waits')
    assert len({event['id'] for event in host.notes('crashing', 'created')}) == 1 and host.letters() == []
    host.stop()


def test_a_users_events_stay_in_order(host, identity):
    for number in range(3):
        make(identity, 'again', displayName=f'n{number}')
        identity.managed('accounts:delete', localId='again')
    host.until_noted('again', 'created', 3)
    host.until_noted('again', 'deleted', 3)
    for function in ('created', 'deleted'):
        assert [event['user']['displayName'] for event in host.notes('again', function)] == ['n0', 'n1', 'n2']


# -- by hand and in lists

def test_commands(host, tmp_path):
    commands = Commands(host, tmp_path / 'commands')
    listed = {entry['name']: entry for entry in commands.result('functions:list')['functions']}
    assert listed['created']['trigger'] == CREATED and 'url' not in listed['created']
    commands.succeeds('functions:call', 'created', '{"uid": "byHand", "tenantId": "blue"}')
    [event] = host.notes('byHand', 'created')
    assert event['subject'] == 'users/byHand' and event['source'].endswith('/tenants/blue')
    commands.succeeds('functions:call', 'deleted', '{"uid": "byHand"}')
    assert len(host.notes('byHand', 'deleted')) == 1
    refused = commands.run('functions:call', 'created', '{"name": "Ada"}')
    assert refused.status == 1 and "must be a user's record with a uid" in refused.sentence


# -- ends of the host

def sign_up_until_killed(host, acknowledged, deleted, number):
    """Creates and deletes users until the host is gone; notes those that were acknowledged."""
    with contextlib.suppress(Ended, OSError, AssertionError), Identity(host) as identity:
        for count in range(100_000):
            uid = f'k{number}-{time.monotonic_ns()}-{count}'
            if identity.manage('accounts', localId=uid).status != 200:
                return
            acknowledged.append(uid)
            if count % 3 == 0 and identity.manage('accounts:delete', localId=uid).status == 200:
                deleted.append(uid)


def test_kills_lose_no_event_and_invent_none(own):
    host, acknowledged, deleted = own(), [], []
    for round_number in range(6):
        threads = [threading.Thread(target=sign_up_until_killed, args=(host, acknowledged, deleted, f'{round_number}{number}'))
                   for number in range(2)]
        for thread in threads:
            thread.start()
        threads[0].join(random.uniform(0.1, 0.8))
        host.kill()
        for thread in threads:
            thread.join()
        host.start()
    assert len(acknowledged) > 50 and deleted
    until(lambda: {event['user']['uid'] for event in host.notes(function='created')} >= set(acknowledged), 'every creation', 60)
    until(lambda: {event['user']['uid'] for event in host.notes(function='deleted')} >= set(deleted), 'every deletion', 60)
    until(lambda: waiting(host) == 0, 'no event waits', 60)
    with Identity(host) as identity:
        existing = {user['localId'] for user in identity.every_user()}
    ids = {}
    for event in host.notes():
        ids.setdefault((event['function'], event['user']['uid']), set()).add(event['id'])
    # Each is delivered under its one id, however often; and each user with an event is or was there.
    assert all(len(found) == 1 for found in ids.values())
    created = {uid for function, uid in ids if function == 'created'}
    gone = {uid for function, uid in ids if function == 'deleted'}
    assert created == existing | gone and not existing & gone
    host.stop()


def waiting(host):
    found = re.search(rb'^hearth_outbox_events_waiting (\d+)$', host.request('GET', '/_/metrics', OWNER).body, re.MULTILINE)
    return int(found[1])


def test_functions_that_could_not_be_loaded_get_their_events_later(own):
    host = own()
    whole = host.config
    host.stop()
    for artifact in host.data.glob('artifacts/*.so'):
        artifact.unlink()
    host.config_path.write_text(json.dumps({**whole, 'plugins': {'users': {'library': str(host.config_path)}}}))
    host.start()
    with Identity(host) as identity:
        make(identity, 'orphan')
    assert waiting(host) == 3 and host.letters() == []
    host.stop()
    host.config_path.write_text(json.dumps(whole))
    host.start()
    host.until_noted('orphan')
    host.stop()


def test_without_functions_nothing_is_stored(tmp_path):
    host = Host(tmp_path, ['Messages'], mode='development').start()
    try:
        with Identity(host) as identity:
            make(identity, 'alone')
            identity.managed('accounts:delete', localId='alone')
        assert waiting(host) == 0
        host.stop()
    finally:
        host.abandon()


def test_sign_ups_wait_until_functions_are_known(own):
    host = own()
    host.stop()
    # A request of the first moment creates a user whose event reaches the function.
    done = []

    def sign_up_at_once():
        while not done:
            with contextlib.suppress(OSError, Ended, AssertionError, ConnectionError), Identity(host) as identity:
                make(identity, 'early')
                done.append(True)
    thread = threading.Thread(target=sign_up_at_once)
    thread.start()
    host.start()
    thread.join()
    host.until_noted('early')
    host.stop()

