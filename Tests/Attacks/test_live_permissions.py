"""Permissions and credentials that end while others write: nobody hears anything afterwards."""

import collections
import json
import threading
import time

import pytest

from fixtures import own_database, shared_host
from live import Live, connect
from processes import until
from tokens import id_claims, unsigned
from websocket import CLOSE

ADA = unsigned(id_claims('ada'))
DEFAULT = 'demo-hearth-default-rtdb'
RULES = {'rules': {'open': {'.read': True, '.write': True}, 'users': {'$uid': {'.read': 'auth.uid === $uid', '.write': True}}}}


host = shared_host()
database = own_database(RULES)


class Load(threading.Thread):
    """Writes the time to a place, again and again."""

    def __init__(self, database, path):
        super().__init__()
        self.database, self.path, self.stop_event = database, path, threading.Event()
        self.count = 0

    def run(self):
        with connect(self.database) as live:
            live.own()
            while not self.stop_event.is_set():
                # Several at once: some are committed while the permission ends.
                numbers = [live.request('p', p=f'{self.path}/k{number}', d=time.monotonic_ns()) for number in range(8)]
                for number in numbers:
                    assert live.answer(number)[0] == 'ok'
                self.count += 8

    def __enter__(self):
        self.start()
        until(lambda: self.count, 'something is written')
        return self

    def __exit__(self, *_):
        self.stop_event.set()
        self.join()


def heard_times(pushes):
    """The times in pushes, which are those of the writes."""
    found = collections.deque()

    def walk(value):
        if isinstance(value, dict):
            for member in value.values():
                walk(member)
        elif isinstance(value, int):
            found.append(value)
    for action, body in pushes:
        if action in ('d', 'm'):
            walk(body['d'])
    return found


QUERY = {'i': '.value', 'l': 3, 'vf': 'r'}


@pytest.mark.parametrize('way', ['rules', 'data', 'user'])
def test_nothing_is_heard_after_the_end_of_a_permission(way, database):
    place = '/users/ada' if way == 'user' else '/secret'
    rules = {'rules': {**RULES['rules'], 'secret': {'.read': "root.child('open/door').val() === true", '.write': True, '.indexOn': '.value'}}}
    with Load(database, place):
        for turn in range(8):
            database.put('/open/door.json', True)
            database.use_rules(rules)
            with connect(database) as live:
                live.do('auth', cred=ADA)
                pushes = [*live.listen(place), *live.listen(place, query=QUERY, tag=1), live.push(), live.push()]
                assert heard_times(pushes)
                if way == 'rules':
                    database.use_rules(RULES if turn % 2 else {'rules': {'.read': False}})
                elif way == 'data':
                    database.put('/open/door.json', False)
                else:
                    live.do('unauth')
                end = time.monotonic_ns()
                ended = []
                while len(ended) < 2:
                    action, body = live.push()
                    assert max(heard_times([(action, body)]), default=0) < end, 'a client has heard what was written after its permission had ended'
                    if action == 'c':
                        ended.append(body)
                assert sorted(map(json.dumps, ended)) == sorted(map(json.dumps, [
                    {'p': place[1:]}, {'p': place[1:], 'q': [QUERY]}]))
                live.do('s', c={})
                assert live.taken() == []
                assert live.ask('q', p=place, h='')[0] == 'permission_denied'


def test_a_token_that_expires_under_load(keys, prepare):
    """The client gets this as its last message; others go on, and the operation for its end runs."""
    host = prepare([], keys=keys, config={'auth': {'clockSkewSeconds': 0}}).start()
    owner = (host.data / 'admin-token').read_text().strip()
    with Live(host.port, DEFAULT) as writer, Live(host.port, DEFAULT) as live:
        writer.do('gauth', cred=owner)
        writer.do('p', p='/', d={'a': 0})
        answer = host.request('PUT', f'/.settings/rules.json?ns={DEFAULT}', {'Authorization': f'Bearer {owner}'},
                              json.dumps({'rules': {'.read': 'auth !== null', '.write': 'auth !== null'}}))
        assert answer.status == 200, answer.body
        live.do('auth', cred=keys.id.sign(id_claims('ada', lifetime=2)))
        live.listen('/a')
        live.do('o', p='/ends', d={'.sv': {'increment': 1}})
        number = 0
        while not live.pushes or live.pushes[-1][0] != 'ac':
            number += 1
            writer.do('p', p='/a', d=number)
            request = live.request('p', p='/b', d=number)
            while request not in live.answers and (not live.pushes or live.pushes[-1][0] != 'ac'):
                live.take()
        assert live.pushes[-1][1] == {'s': 'expired_token', 'd': 'Auth token is expired'}
        # It is the last word: client libraries take a later one for the end of their listens.
        assert live.socket.frame()[0] == CLOSE
        writer.do('p', p='/a', d='after')
        # The operation runs for the user whom the session had last.
        until(lambda: writer.do('g', p='/ends', q={}) == 1, 'the session has ended')
