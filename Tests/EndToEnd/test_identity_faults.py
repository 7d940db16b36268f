"""Hosts that are killed, and disks that are full or fail: an acknowledged change is there afterwards, and nothing else has happened."""

import contextlib
import errno
import random
import stat
import threading
import time

import pytest

from commands import Commands
from disks import FailingDisk, SmallDisk
from identity import PASSWORD, Identity, addresses, claims, sign_in_host
from identity_cases import KEYS_PATH
from processes import until
from wire import Ended

pytestmark = pytest.mark.timeout(180)


class Visitors:
    """Threads that sign up and refresh, and keep what the host has acknowledged."""

    def __init__(self, host, count=6):
        self.host, self.stopping, self.problems = host, threading.Event(), []
        self.users = [{} for _ in range(count)]
        self.threads = [threading.Thread(target=self.visit, args=(number,)) for number in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def visit(self, number):
        known = self.users[number]
        while not self.stopping.is_set():
            # A new address for each turn, because limits are for addresses.
            with Identity(self.host, source=next(addresses)) as identity:
                try:
                    if number % 3 == 0 and known:
                        uid = random.choice(list(known))
                        answer = identity.refresh(known[uid])
                        if answer.status == 200:
                            known[uid] = answer.json['refresh_token']
                    else:
                        answer = identity.post('accounts:signUp', returnSecureToken=True)
                        if answer.status == 200:
                            known[answer.json['localId']] = answer.json['refreshToken']
                    if answer.status not in (200, 503):
                        self.problems.append((answer.status, answer.body))
                except (OSError, Ended):
                    time.sleep(0.01)

    def count(self):
        return sum(map(len, self.users))

    def check(self):
        """Every acknowledged user is there, and the last acknowledged session goes on."""
        assert self.problems == [], self.problems[:3]
        with Identity(self.host, source=next(addresses)) as identity:
            stored = {user['localId'] for user in identity.every_user()}
            for known in self.users:
                assert set(known) <= stored
                for uid, token in known.items():
                    answer = identity.refresh(token)
                    assert answer.status == 200 and answer.json['user_id'] == uid, (uid, answer.status, answer.body)
                    known[uid] = answer.json['refresh_token']


@pytest.fixture
def prepared():
    """Makes hosts with sign-in that are not started yet; none of them outlives the test."""
    made = []

    def make(*arguments, **options):
        made.append(sign_in_host(*arguments, **options))
        return made[-1]

    yield make
    for host in made:
        host.abandon()


@pytest.fixture(params=['production', 'development'])
def host(request, tmp_path, prepared):
    return prepared(tmp_path / 'host', request.param).start()


def test_killed_under_load(host):
    with Visitors(host) as visitors:
        for _ in range(4):
            before = visitors.count()
            until(lambda before=before: visitors.count() >= before + 40, 'users sign up', 60)
            host.kill()
            host.start()
    assert visitors.count() >= 160
    visitors.check()
    host.stop()


def test_a_change_that_was_acknowledged_survives(host):
    with Identity(host) as identity:
        user = identity.sign_up('kill@example.com')
        deleted = identity.sign_up('gone@example.com')
        identity.do('accounts:update', idToken=user['idToken'], password='another1')
        identity.managed('accounts:update', localId=user['localId'], customAttributes='{"role":"x"}')
        identity.do('accounts:delete', idToken=deleted['idToken'])
    host.kill()
    host.start()
    with Identity(host) as identity:
        assert identity.user(deleted['localId']) is None
        assert claims(identity.sign_in('kill@example.com', 'another1')['idToken'])['role'] == 'x'
        assert identity.post('accounts:signInWithPassword', email='kill@example.com', password=PASSWORD).status == 400
    host.stop()


def test_keys_outlive_the_host(tmp_path, prepared):
    host = prepared(tmp_path / 'host').start()
    with contextlib.closing(Identity(host)) as identity:
        user = identity.sign_up('keys@example.com')
        before = host.request('GET', KEYS_PATH).json
        for end in (host.kill, host.stop):
            identity.close()
            end()
            host.start()
            assert host.request('GET', KEYS_PATH).json == before
            assert identity.lookup(user['idToken'])['localId'] == user['localId']
        private = [path for path in host.data.rglob('*') if path.is_file() and b'PRIVATE KEY' in path.read_bytes()]
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in private), private
    host.stop()


def test_killed_while_it_starts_for_the_first_time(tmp_path, prepared):
    """The next start works after a kill at any moment, and keys are never half made."""
    host = prepared(tmp_path / 'host')
    for turn in range(8):
        host.spawn()
        time.sleep(0.02 + 0.03 * turn)
        host.kill()
    host.start()
    with Identity(host) as identity:
        user = identity.sign_up('start@example.com')
        assert identity.lookup(user['idToken'])['email'] == 'start@example.com'
    host.stop()


@pytest.fixture
def small(tmp_path, prepared):
    """A host whose data is on a small disk."""
    host = prepared(tmp_path / 'host', 'production')
    host.data.mkdir(parents=True)
    with SmallDisk(host.data, 24) as disk:
        yield host.start(), disk
        host.abandon()


def signs_nobody_out(answer):
    """The answer is right, or no JSON, which SDKs take for a failure of the network: after an error in JSON they sign the user out."""
    assert answer.status == 200 or (answer.status == 503 and answer.header('Content-Type').startswith('text/plain')), answer.body


def test_a_full_disk(small):
    host, disk = small
    with Identity(host, source=next(addresses)) as identity:
        user = identity.sign_up('before@example.com')
    disk.fill()
    known, refused = {}, []
    for _ in range(400):
        with Identity(host, source=next(addresses)) as identity:
            answer = identity.post('accounts:signUp', returnSecureToken=True, displayName='x' * 200)
            if answer.status == 200:
                known[answer.json['localId']] = answer.json['refreshToken']
            else:
                refused.append(answer)
                if len(refused) == 3:
                    break
    assert refused and all(answer.status in (500, 503, 507) for answer in refused), [(answer.status, answer.body) for answer in refused]
    with Identity(host, source=next(addresses)) as identity:
        signs_nobody_out(identity.refresh(user['refreshToken']))
        # Reads need no room.
        assert identity.lookup(user['idToken'])['localId'] == user['localId']
        assert identity.user(user['localId'])['email'] == 'before@example.com'
        disk.make_room()
        until(lambda: identity.post('accounts:signUp', returnSecureToken=True).status == 200, 'sign-up works again')
        stored = {found['localId'] for found in identity.every_user()}
        assert set(known) <= stored
        for token in known.values():
            identity.refreshed(token)
    host.stop()


@pytest.mark.parametrize('calls, error', [('write', errno.EIO), ('sync', errno.EIO), ('write sync', errno.ENOSPC)])
def test_a_disk_that_fails(tmp_path, prepared, calls, error):
    data = tmp_path / 'host' / 'data'
    disk = FailingDisk(data, tmp_path / 'control')
    host = prepared(tmp_path / 'host', env=disk.variables)
    host.start()
    with Identity(host, source=next(addresses)) as identity:
        user = identity.sign_up('before@example.com')
        disk.fail(calls, error)
        answer = identity.post('accounts:signUp', email='during@example.com', password=PASSWORD)
        assert answer.status in (500, 503, 507), answer.body
        assert b'localId' not in answer.body and b'idToken' not in answer.body
        signs_nobody_out(identity.post('accounts:lookup', idToken=user['idToken']))
        disk.mend()
        until(lambda: identity.post('accounts:signUp', email='after@example.com', password=PASSWORD).status == 200, 'sign-up works again')
    host.kill()
    host.start()
    with Identity(host) as identity:
        assert {found['email'] for found in identity.every_user()} - {'during@example.com'} == {'before@example.com', 'after@example.com'}
    host.stop()


def test_backup_and_restore(host, tmp_path, prepared):
    commands = Commands(host, tmp_path / 'commands')
    with Identity(host) as identity:
        kept = identity.sign_up('kept@example.com')
        identity.managed('accounts:update', localId=kept['localId'], customAttributes='{"role":"x"}')
        commands.succeeds('backup', tmp_path / 'all.tar')
        identity.sign_up('later@example.com')
        identity.managed('accounts:update', localId=kept['localId'], displayName='later')
    commands.succeeds('restore', tmp_path / 'all.tar', '--into', tmp_path / 'restored', '--force')
    other = prepared(tmp_path / 'other', host.mode)
    other.data = tmp_path / 'restored'
    other.start()
    with contextlib.ExitStack() as stack:
        stack.callback(other.stop)
        identity = stack.enter_context(Identity(other))
        users = identity.every_user()
        assert [user['email'] for user in users] == ['kept@example.com'] and 'displayName' not in users[0]
        assert claims(identity.sign_in('kept@example.com')['idToken'])['role'] == 'x'
        identity.refreshed(kept['refreshToken'])
    host.stop()


def test_a_backup_while_users_sign_up(host, tmp_path, prepared):
    commands = Commands(host, tmp_path / 'commands')
    with Visitors(host, 3) as visitors:
        until(lambda: visitors.count() > 20, 'users sign up')
        before = {uid for known in visitors.users for uid in list(known)}
        commands.succeeds('backup', tmp_path / 'all.tar')
    assert visitors.problems == []
    commands.succeeds('restore', tmp_path / 'all.tar', '--into', tmp_path / 'restored', '--force')
    other = prepared(tmp_path / 'other', host.mode)
    other.data = tmp_path / 'restored'
    other.start()
    with contextlib.ExitStack() as stack:
        stack.callback(other.stop)
        identity = stack.enter_context(Identity(other))
        assert before <= {user['localId'] for user in identity.every_user()}
    host.stop()


def test_a_mode_does_not_take_the_tokens_of_the_other(tmp_path, prepared):
    """Data that was made in development and then served in production: unsigned tokens are worth nothing."""
    host = prepared(tmp_path / 'host', 'development').start()
    with Identity(host) as identity:
        user = identity.sign_up('mode@example.com')
    host.stop()
    host = prepared(tmp_path / 'host', 'production').start()
    with contextlib.ExitStack() as stack:
        stack.callback(host.stop)
        identity = stack.enter_context(Identity(host))
        assert identity.refused('accounts:lookup', idToken=user['idToken']).startswith('INVALID_ID_TOKEN')
