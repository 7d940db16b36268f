"""The Admin SDK for Python, unmodified, as a client of the database."""

import threading

import firebase_admin
import pytest
from firebase_admin import db, exceptions

from databases import Database
from fixtures import shared_host
from processes import until

PLAYERS = {'ada': {'name': 'Ada', 'score': 7}, 'bob': {'name': 'Bob', 'score': 3}, 'cyd': {'name': 'Cyd', 'score': 5}}


host = shared_host()


@pytest.fixture
def namespace(request):
    return request.node.name.replace('_', '-')


@pytest.fixture
def connect(host, namespace, monkeypatch):
    """Makes apps as a program makes them whose environment leads it to an emulator."""
    monkeypatch.setenv('FIREBASE_DATABASE_EMULATOR_HOST', f'127.0.0.1:{host.port}')
    apps = []

    def make(**options):
        url = f'http://127.0.0.1:{host.port}/?ns={namespace}'
        apps.append(firebase_admin.initialize_app(options={'databaseURL': url, 'projectId': 'demo-hearth', **options}, name=f'app-{len(apps)}'))
        return lambda path='/': db.reference(path, app=apps[-1])

    yield make
    for app in apps:
        firebase_admin.delete_app(app)


@pytest.fixture
def reference(connect):
    return connect()


@pytest.fixture
def rules(host, namespace):
    def use(rules):
        with Database(host, namespace) as database:
            database.use_rules({'rules': rules})
    return use


def test_setting_and_getting(reference):
    players = reference('players')
    players.set(PLAYERS)
    assert players.get() == PLAYERS
    assert players.get(shallow=True) == {'ada': True, 'bob': True, 'cyd': True}
    assert players.child('ada/name').get() == 'Ada'
    players.child('list').set(['a', 'b'])
    assert players.child('list').get() == ['a', 'b']
    players.child('bob').delete()
    assert players.child('bob').get() is None


def test_updating(reference):
    reference('players').set(PLAYERS)
    reference().update({'players/ada/score': 8, 'players/bob': None, 'other': True})
    assert reference('players/ada').get() == {'name': 'Ada', 'score': 8}
    assert reference().get(shallow=True) == {'players': True, 'other': True}
    with pytest.raises(exceptions.InvalidArgumentError):
        reference().update({'a': {'b': 1}, 'a/b': 2})


def test_pushing(reference):
    first, second = reference('list').push('one'), reference('list').push({'n': 2})
    assert first.key < second.key and len(first.key) == 20
    assert list(reference('list').get().items()) == [(first.key, 'one'), (second.key, {'n': 2})]


def test_etags(reference):
    place = reference('lock')
    value, etag = place.get(etag=True)
    assert (value, etag) == (None, 'null_etag')
    assert place.set_if_unchanged(etag, 'mine')[0]
    done, current, now = place.set_if_unchanged(etag, 'theirs')
    assert (done, current) == (False, 'mine')
    assert place.get_if_changed(now) == (False, None, None)
    assert place.get_if_changed(etag) == (True, 'mine', now)


def test_transactions_count_right(reference):
    counter = reference('counter')

    def count():
        for _ in range(10):
            counter.transaction(lambda value: (value or 0) + 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.get() == 40


def test_queries(reference, rules):
    players = reference('players')
    players.set(PLAYERS)
    rules({'players': {'.indexOn': 'score'}, 'values': {'.indexOn': '.value'}})
    assert list(players.order_by_child('score').get()) == ['bob', 'cyd', 'ada']
    assert list(players.order_by_child('score').limit_to_last(2).get()) == ['cyd', 'ada']
    assert list(players.order_by_child('score').start_at(4).end_at(6).get()) == ['cyd']
    assert players.order_by_child('score').equal_to(3).get() == {'bob': PLAYERS['bob']}
    assert players.order_by_child('score').equal_to(99).get() == {}
    assert list(players.order_by_key().start_at('b').limit_to_first(1).get()) == ['bob']
    reference('values').set({'x': 3, 'y': 1, 'z': 2})
    assert list(reference('values').order_by_value().get().items()) == [('y', 1), ('z', 2), ('x', 3)]
    with pytest.raises(exceptions.InvalidArgumentError, match='Index not defined, add ".indexOn": "name"'):
        players.order_by_child('name').get()


# Closing a listener has its own thread fail in the middle of a read.
@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_listening(reference):
    events = []
    reference('players').set({'ada': 1})
    listener = reference('players').listen(lambda event: events.append((event.event_type, event.path, event.data)))
    until(lambda: len(events) == 1, 'the value')
    reference('players/bob').set(2)
    reference('players').update({'ada': None, 'cyd/score': 3})
    reference('players').delete()
    until(lambda: len(events) == 4, 'three changes')
    assert events == [('put', '/', {'ada': 1}), ('put', '/bob', 2), ('patch', '/', {'ada': None, 'cyd/score': 3}), ('put', '/', None)]
    closing = threading.Thread(target=listener.close)
    closing.start()
    until(lambda: reference('players').set(1) or not closing.is_alive(), 'the listener hears once more and ends')


def test_acting_for_a_user(connect, rules):
    rules({'users': {'$user': {'.read': 'auth.uid === $user', '.write': 'auth.uid === $user'}}})
    ada = connect(databaseAuthVariableOverride={'uid': 'ada'})
    ada('users/ada').set({'n': 1})
    assert ada('users/ada').get() == {'n': 1}
    with pytest.raises(exceptions.UnauthenticatedError, match='Permission denied'):
        ada('users/bob').get()
    nobody = connect(databaseAuthVariableOverride=None)
    with pytest.raises(exceptions.UnauthenticatedError):
        nobody('users/ada').get()


def test_server_values_and_large_ones(reference):
    reference('time').set({'.sv': 'timestamp'})
    assert reference('time').get() > 1_700_000_000_000
    text = 'é' * 1_000_000
    reference('text').set(text)
    assert reference('text').get() == text
