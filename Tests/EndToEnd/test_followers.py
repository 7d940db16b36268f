"""The example plugin Followers: every device is notified of a new follower, and invalid tokens are deleted."""

from databases import Database
from messaging import Messaging, Receiver
from processes import until
from tokens import PROJECT


def test_followers_are_told_and_dead_tokens_forgotten(launch):
    host = launch(['Followers'], mode='development')
    messaging, database = Messaging(host, PROJECT), Database(host, f'{PROJECT}-default-rtdb')
    tokens = [messaging.register(name=f'phone {n}')['token'] for n in range(2)]
    dead = 'cDeadDevice00000000001:APA91b' + 'D' * 40
    database.put('/users/ann.json', {'notificationTokens': {token: True for token in [*tokens, dead]}})
    database.put('/users/bob.json', {'displayName': 'Bob'})
    with Receiver(host, tokens[0]) as first, Receiver(host, tokens[1]) as second:
        database.put('/followers/ann/bob.json', True)
        for receiver in (first, second):
            message = receiver.next()
            assert message['notification'] == {'title': 'You have a new follower!', 'body': 'Bob is now following you.'}, message
    until(lambda: set(database.get('/users/ann/notificationTokens.json')) == set(tokens), 'the dead token is forgotten')
    database.put('/followers/ann/bob.json', None)
    until(lambda: 'stopped following' in host.log, 'the end is seen')
