"""An access token is worth nothing once its service account is gone."""

import time
import urllib.parse

import pytest

from databases import Database
from messaging import Messaging, assertion
from tokens import PROJECT

SEND = f'/v1/projects/{PROJECT}/messages:send'


@pytest.fixture
def messaging(launch):
    messaging = Messaging(launch([], config={'server': {'loops': 2}}), PROJECT)
    yield messaging
    messaging.close()


def access_token(messaging, account):
    form = urllib.parse.urlencode(
        {'grant_type': 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'assertion': assertion(account, int(time.time()))})
    answer = messaging.wire.request('POST', '/token', {'Content-Type': 'application/x-www-form-urlencoded'}, form)
    assert answer.status == 200, answer.body
    return answer.json['access_token']


def statuses(messaging, token):
    """On several connections, so on each loop."""
    answers = [messaging.host.request('POST', SEND, {'Authorization': f'Bearer {token}'}, '{"message": {"topic": "news"}}') for _ in range(6)]
    return {answer.status for answer in answers}


def delete(messaging, account):
    messaging.do('DELETE', f"/_messaging/v1/projects/{PROJECT}/credentials/{account['client_email']}")


def test_a_deleted_accounts_token_ends_at_once(messaging):
    gone, kept = (messaging.account(name) for name in ('gone', 'kept'))
    tokens = [access_token(messaging, account) for account in (gone, kept)]
    assert [statuses(messaging, token) for token in tokens] == [{200}, {200}]
    delete(messaging, gone)
    assert [statuses(messaging, token) for token in tokens] == [{401}, {200}]
    messaging.host.stop()
    messaging.host.start()
    assert [statuses(messaging, token) for token in tokens] == [{401}, {200}]


def test_an_account_of_the_same_name_is_another_one(messaging):
    old = access_token(messaging, messaging.account())
    replaced = messaging.account()
    assert statuses(messaging, old) == {401}, 'its key was replaced'
    new = access_token(messaging, replaced)
    assert statuses(messaging, new) == {200}
    delete(messaging, replaced)
    messaging.account()
    assert statuses(messaging, new) == {401}


def test_messages_that_are_gone_take_their_accounts_along(messaging):
    """The store is deleted by hand, and the administrator's token, by which tokens are made, is kept."""
    token = access_token(messaging, messaging.account())
    messaging.host.stop()
    for path in (messaging.host.data / 'messaging').glob('messaging.sqlite*'):
        path.unlink()
    messaging.host.start()
    assert statuses(messaging, token) == {401}


def test_a_deleted_account_hears_nothing_more(messaging):
    """A stream that it has opened shows nothing that is written afterwards, and ends."""
    account, scope = messaging.account('gone'), 'https://www.googleapis.com/auth/firebase.database https://www.googleapis.com/auth/userinfo.email'
    form = urllib.parse.urlencode({
        'grant_type': 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'assertion': assertion(account, int(time.time()), scope=scope)})
    token = messaging.wire.request('POST', '/token', {'Content-Type': 'application/x-www-form-urlencoded'}, form).json['access_token']
    with Database(messaging.host, f'{PROJECT}-default-rtdb') as database:
        administrator = {'Authorization': f'Bearer {messaging.admin}'}
        database.put('/x.json', 1, headers=administrator)
        with database.stream('/x.json', headers={'Authorization': f'Bearer {token}'}) as stream:
            assert stream.put() == ('/', 1)
            delete(messaging, account)
            database.put('/x.json', 'secret', headers=administrator)
            assert stream.next()[0] == 'auth_revoked'
            assert stream.has_ended()
