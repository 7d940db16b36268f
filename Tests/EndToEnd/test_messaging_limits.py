"""The limits of a project and a device of the messaging service, setting by setting."""

import contextlib

import pytest

from messaging import Messaging, Receiver
from processes import until
from tokens import PROJECT


@pytest.fixture
def limited(launch):
    """A host with these settings of messaging, as its administrator sees it."""
    with contextlib.ExitStack() as stack:
        def make(**settings):
            host = launch([], mode='development', config={'project': PROJECT, 'messaging': settings})
            return stack.enter_context(contextlib.closing(Messaging(host, PROJECT)))

        yield make


def refused(answer, seconds):
    assert answer.status == 429, answer.body
    assert 0 < int(answer.header('Retry-After')) <= seconds
    assert 'QUOTA_EXCEEDED' in answer.text or 'RESOURCE_EXHAUSTED' in answer.text
    return True


def new_minute(admin):
    """Sends that follow are counted together."""
    admin.control('clock', advance_seconds=60 - admin.now() % 60)


def send(admin, **target):
    return admin.ask('POST', f'/v1/projects/{PROJECT}/messages:send', {'message': target})


def test_sends_of_a_project(limited):
    admin = limited(quotas={'projectPerMinute': 2})
    new_minute(admin)
    assert [send(admin, topic=topic).status for topic in ('a', 'b')] == [200, 200]
    assert refused(send(admin, topic='c'), 60)
    assert refused(send(admin, token=admin.register()['token']), 60)
    new_minute(admin)
    assert send(admin, topic='c').status == 200


def test_sends_to_a_device(limited):
    admin = limited(quotas={'devicePerMinute': 2})
    new_minute(admin)
    first, second = (admin.register()['token'] for _ in range(2))
    assert [send(admin, token=first).status for _ in range(2)] == [200, 200]
    assert refused(send(admin, token=first), 60)
    assert send(admin, token=second).status == 200
    new_minute(admin)
    assert send(admin, token=first).status == 200


def test_subscriptions(limited):
    """A call is let in whole; those that follow in the same second are not."""
    admin = limited(quotas={'subscriptionsPerSecond': 2})
    change = {'to': '/topics/news', 'registration_tokens': [admin.register()['token'] for _ in range(3)]}
    assert admin.do('POST', '/iid/v1:batchAdd', change) == {'results': [{}] * 3}
    until(lambda: (answer := admin.ask('POST', '/iid/v1:batchRemove', change)).status != 200 and refused(answer, 1), 'one is refused')
    admin.control('clock', advance_seconds=2)
    assert admin.do('POST', '/iid/v1:batchRemove', change) == {'results': [{}] * 3}


def test_messages_that_are_not_acknowledged(limited):
    """More are sent when some of them are."""
    admin = limited(limits={'unacknowledgedMessages': 2})
    token = admin.register()['token']
    names = {admin.send({'token': token, 'data': {'number': str(number)}}).rpartition('/')[2] for number in range(5)}
    with Receiver(admin.host, token) as receiver:
        found = [receiver.next()['message_id'] for _ in range(2)]
        with pytest.raises(TimeoutError):
            receiver.next(seconds=0.5)
    with Receiver(admin.host, token, acknowledges=True) as receiver:
        everything = {receiver.next()['message_id'] for _ in range(5)}
    assert everything == names and set(found) <= names
