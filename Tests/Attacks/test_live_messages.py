"""Messages to the live connection that no client library sends: each has a definite answer, and the host goes on (spec database 3.3, 3.4)."""

import json

import pytest

from databases import OWNER, Database
from fixtures import shared_host
from live import Live
from tokens import id_claims, unsigned
from websocket import CLOSE, CONTINUATION, TEXT

ADA = unsigned(id_claims('ada'))
RULES = {'rules': {'open': {'.read': True, '.write': True}, '.read': "auth.uid === 'ada'"}}
ABSENT = object()
# Values of each JSON type. Each member is sent with those that it may not have.
TYPES = {'null': None, 'boolean': True, 'number': 5, 'fraction': 1.5, 'string': 'x', 'array': ['x'], 'object': {'x': 1}, 'absent': ABSENT}
PATH = {'null', 'boolean', 'number', 'fraction', 'array', 'object', 'absent'}
OPTIONAL_TEXT = {'boolean', 'number', 'fraction', 'array', 'object'}
QUERY = {'boolean', 'number', 'fraction', 'string', 'array'}
WRONG = [
    # action, a valid body, and the types that each of its members may not have
    ('q', {'p': '/open/a', 'h': '', 'q': {'i': '.key', 'l': 1, 'vf': 'l'}, 't': 1}, {
        'p': PATH, 'h': OPTIONAL_TEXT, 'q': QUERY, 't': {'null', 'boolean', 'fraction', 'string', 'array', 'object', 'absent'}}),
    ('n', {'p': '/open/a', 'q': {'i': '.key', 'l': 1, 'vf': 'l'}}, {'p': PATH, 'q': QUERY}),
    ('g', {'p': '/open/a', 'q': {}}, {'p': PATH, 'q': QUERY}),
    ('p', {'p': '/open/a', 'd': 1, 'h': ''}, {'p': PATH, 'd': {'absent'}, 'h': OPTIONAL_TEXT}),
    ('m', {'p': '/open/a', 'd': {'b': 1}, 'h': ''}, {
        'p': PATH, 'd': {'boolean', 'number', 'fraction', 'string', 'array', 'absent'}, 'h': OPTIONAL_TEXT}),
    ('o', {'p': '/open/a', 'd': 1}, {'p': PATH, 'd': {'absent'}}),
    ('om', {'p': '/open/a', 'd': {'b': 1}}, {'p': PATH, 'd': {'boolean', 'number', 'fraction', 'string', 'array', 'absent'}}),
    ('oc', {'p': '/open/a', 'd': None}, {'p': PATH}),
    ('auth', {'cred': ADA}, {'noauth': {'number', 'fraction', 'string', 'array', 'object'},
                             'authvar': {'boolean', 'number', 'fraction', 'string', 'array'}}),
    ('gauth', {'cred': 'owner'}, {'noauth': {'number', 'fraction', 'string', 'array', 'object'},
                                  'authvar': {'boolean', 'number', 'fraction', 'string', 'array'}}),
    ('appcheck', {'token': 'x'}, {'token': PATH}),
]
MEMBERS = [(action, body, member, kind) for action, body, members in WRONG for member, kinds in members.items() for kind in sorted(kinds)]
# The members of a query.
QUERY_MEMBERS = [
    *[('i', value) for value in (5, True, [], {}, '', '/', 'a.b', '$key')],
    *[('sp', value) for value in ([], {}, {'a': 1})], *[('ep', value) for value in ([], {})],
    *[(name, value) for name in ('sn', 'en') for value in (5, True, [], {})],
    *[(name, value) for name in ('sin', 'ein') for value in (0, 'false', [], {})],
    *[('l', value) for value in (0, -1, 1.5, '1', True, [], {}, 1 << 31, 1 << 64, 1e300)],
    *[('vf', value) for value in ('', 'm', 'left', 5, True, [], {})]]
# Texts that end a connection with a reason.
BROKEN = [
    '"r":null', '"r":"1"', '"r":1.5', '"r":1e3', '"r":true', '"r":[]', '"r":-1', '"r":-0.5', '"r":2147483648', '"r":99999999999999999999',
    '"r":1,"a":null', '"r":1,"a":5', '"r":1,"a":{}', '"r":1,"a":["p"]', f'"r":1,"a":"{"a" * 100}"', '"r":1,"a"', '"r":1,', '"r":1 "a":"s"']
NUMBERS = {'1e999': 'failure', '-1e999': 'failure', '1' + '0' * 400: 'failure', '1e308': 1e308, '-1e-400': 0, '9223372036854775807': 2 ** 63 - 1,
           '9223372036854775808': 2.0 ** 63, '-9223372036854775808': -2 ** 63, '123456789012345678901234567890': 123456789012345678901234567890.0,
           '0.1': 0.1, '-0': 0, '01': 'failure', '1.': 'failure', '+1': 'failure', '.5': 'failure', 'NaN': 'failure', 'Infinity': 'failure',
           '0x10': 'failure', '1e': 'failure'}


host = shared_host()


@pytest.fixture(scope='module')
def shared(host):
    with Database(host, 'messages') as database:
        database.use_rules(RULES)
        yield database


@pytest.fixture
def database(shared):
    shared.ask('DELETE', '/open.json')
    return shared


@pytest.fixture
def live(database):
    """A client; at the end, another one is still served."""
    with Live(database.host.port, database.namespace) as other, Live(database.host.port, database.namespace) as live:
        yield live
        other.do('p', p='/open/other', d=1)
        assert other.do('g', p='/open/other', q={}) == 1


def refused(live, action, body):
    """Sends a request that must be answered with a reason, after which the connection goes on."""
    status, text = live.ask(action, **body)
    assert status == 'failure' and isinstance(text, str) and len(text) > 10, (status, text)
    live.do('s', c={})
    return text


@pytest.mark.parametrize('action, body, member, kind', MEMBERS, ids=[f'{action}-{member}-{kind}' for action, _, member, kind in MEMBERS])
def test_members_of_wrong_types(action, body, member, kind, database, live):
    body = {key: value for key, value in {**body, member: TYPES[kind]}.items() if value is not ABSENT}
    refused(live, action, body)
    # It had no effect: the client is nobody, and nothing is written or promised.
    assert live.ask('g', p='/', q={})[0] == 'permission_denied'
    with Live(database.host.port, database.namespace, last=live.session) as again:
        assert again.do('g', p='/open/a', q={}) is None


@pytest.mark.parametrize('member, value', QUERY_MEMBERS)
def test_queries_of_wrong_types(member, value, live):
    query = {'i': '.key', 'sp': 'a', 'ep': 'z', 'l': 1, 'vf': 'l', member: value}
    for action, more in (('q', {'h': '', 't': 1}), ('n', {}), ('g', {})):
        refused(live, action, {'p': '/open', 'q': query, **more})


@pytest.mark.parametrize('body', ['', ',"b":null', ',"b":5', ',"b":"x"', ',"b":[]', ',"b":true'])
@pytest.mark.parametrize('action', ['q', 'n', 'g', 'p', 'm', 'o', 'om', 'oc', 'auth', 'gauth', 'appcheck'])
def test_bodies_that_are_no_objects(action, body, live):
    live.send(f'{{"t":"d","d":{{"r":9,"a":"{action}"{body}}}}}')
    status, text = live.answer(9)
    assert status == 'failure' and 'object' in text
    live.do('s', c={})


@pytest.mark.parametrize('action', ['s', 'unauth', 'unappcheck', 'unappeck'])
@pytest.mark.parametrize('body', ['', ',"b":null', ',"b":5', ',"b":[]', ',"b":{}'])
def test_bodies_that_do_not_matter(action, body, live):
    live.send(f'{{"t":"d","d":{{"r":9,"a":"{action}"{body}}}}}')
    assert live.answer(9) == ('ok', '')


@pytest.mark.parametrize('action', ['x', '', 'Q', 'pp', 'auth ', 'é', '\\u0070', 'constructor', '__proto__', 'listen'])
def test_unknown_actions(action, live):
    live.send(f'{{"t":"d","d":{{"r":9,"a":"{action}","b":{{"p":"/open/a","d":1}}}}}}')
    status, text = live.answer(9)
    assert status == 'failure' and 'unknown' in text
    assert live.do('g', p='/open/a', q={}) is None


@pytest.mark.parametrize('start', BROKEN)
def test_requests_without_number_or_action(start, live):
    live.send(f'{{"t":"d","d":{{{start}}}}}')
    kind, reason = live.control()
    assert kind == 'e' and reason
    assert live.socket.frame()[0] == CLOSE


@pytest.mark.parametrize('text', ['{"t":"c","d":{"t":5}}', '{"t":"c","d":[]}', '{"t":"c"}', '{"t":"c","d":{"t":"p","d":{}}', '{"d":{}}', 'null', '""',
                                  '{}', '{"t":5,"d":{}}', '\ufeff{"t":"c","d":{"t":"p","d":{}}}', '{"t":"c","d":{"t":"p","d":{}}}{}'])
def test_texts_that_are_no_messages(text, live):
    live.send(text)
    kind, reason = live.control()
    assert kind == 'e' and reason
    assert live.socket.frame()[0] == CLOSE


def test_controls_that_mean_nothing(live):
    for kind in ('x', 'h', 's', 'r', 'o', 'n', 'a', ''):
        live.send({'t': 'c', 'd': {'t': kind, 'd': {}}})
    live.send({'t': 'c', 'd': {'t': 'p', 'd': {}}})
    assert live.control() == ('o', {})


def test_numbers_that_repeat_and_go_back(live):
    """Answers have the order and the numbers of the requests, whatever these are."""
    for number in (7, 7, 3, 0, 2147483647, 7):
        live.send({'t': 'd', 'd': {'r': number, 'a': 'g', 'b': {'p': '/open/x', 'q': {}}}})
    found = [live.message()['d'] for _ in range(6)]
    assert [data['r'] for data in found] == [7, 7, 3, 0, 2147483647, 7]
    assert all(data['b'] == {'s': 'ok', 'd': None} for data in found)


def test_members_that_repeat(live):
    """The last one counts, as in JSON.parse."""
    live.send('{"t":"c","t":"d","d":{},"d":{"r":1,"r":9,"a":"x","a":"p","b":5,"b":{"p":"/open/b","p":"/open/a","d":1,"d":{"k":1,"k":2}}}}')
    assert live.answer(9) == ('ok', '')
    assert live.do('g', p='/open', q={}) == {'a': {'k': 2}}


@pytest.mark.parametrize('text, wanted', NUMBERS.items(), ids=[text[:30] for text in NUMBERS])
def test_numbers(text, wanted, live):
    live.send(f'{{"t":"d","d":{{"r":9,"a":"p","b":{{"p":"/open/n","d":{text}}}}}}}')
    status, reason = live.answer(9)
    if wanted == 'failure':
        assert status == 'failure' and reason
        assert live.do('g', p='/open/n', q={}) is None
    else:
        assert status == 'ok' and live.do('g', p='/open/n', q={}) == wanted


@pytest.mark.parametrize('depth', [33, 1000, 100_000])
@pytest.mark.parametrize('opening, closing', [('{"a":', '}'), ('[', ']')])
def test_deep_data(depth, opening, closing, live):
    deep = opening * depth + '1' + closing * depth
    for number, action in enumerate(('p', 'm', 'o', 'om'), 10):
        live.send(f'{{"t":"d","d":{{"r":{number},"a":"{action}","b":{{"p":"/open","d":{deep}}}}}}}')
        assert live.answer(number)[0] == 'failure'
    live.send(f'{{"t":"d","d":{{"r":20,"a":"g","b":{{"p":"/open","q":{deep}}}}}}}')
    assert live.answer(20)[0] == 'failure'
    live.send(f'{{"t":"d","d":{{"r":21,"a":"gauth","b":{{"cred":"owner","authvar":{deep}}}}}}}')
    assert live.answer(21)[0] == 'failure'
    assert live.ask('g', p='/', q={})[0] == 'permission_denied'


@pytest.mark.parametrize('path', ['/open/\\u0000', '/open/a#b', '/open/a$b', '/open/a[b', '/open/a.b', '/open/' + 'k' * 769,
                                  '/open' + '/a' * 40])
def test_paths_that_are_not_allowed(path, live):
    for number, body in enumerate((f'"p":"{path}","d":1', f'"p":"{path}","q":{{}}'), 5):
        live.send(f'{{"t":"d","d":{{"r":{number},"a":"{"p" if number == 5 else "g"}","b":{{{body}}}}}}}')
        assert live.answer(number)[0] == 'failure'


@pytest.mark.parametrize('text', [b'\xff', b'"\xc3"', b'\xed\xa0\x80', b'\xf4\x90\x80\x80', b'\xc0\x80'])
@pytest.mark.parametrize('is_split', [False, True])
def test_texts_that_are_not_unicode(text, is_split, live):
    message = b'{"t":"d","d":{"r":1,"a":"p","b":{"p":"/open/u","d":"' + text + b'"}}}'
    if is_split:
        live.socket.send(TEXT, message[:60], is_final=False)
        live.socket.send(CONTINUATION, message[60:])
    else:
        live.socket.send(TEXT, message)
    assert live.socket.closed() == 1007


def test_characters_across_frames_and_segments(live):
    """A character may be cut by frames of WebSocket. Segments are whole texts."""
    message = json.dumps({'t': 'd', 'd': {'r': 5, 'a': 'p', 'b': {'p': '/open/u', 'd': '😀é'}}}, ensure_ascii=False).encode()
    for index in range(len(message) - 12, len(message)):
        live.socket.send(TEXT, message[:index], is_final=False)
        live.socket.send(CONTINUATION, message[index:])
        assert live.answer(5) == ('ok', '')
    text = message.decode()
    live.socket.send(TEXT, '3')
    for part in (text[:20], text[20:-9], text[-9:]):
        live.socket.send(TEXT, part)
    assert live.answer(5) == ('ok', '')
    assert live.do('g', p='/open/u', q={}) == '😀é'


@pytest.mark.parametrize('count', ['0', '-1', '00', ' '])
def test_counts_that_announce_nothing(count, live):
    live.send(count)
    if count == ' ':
        assert live.control()[0] == 'e'
        return
    live.do('p', p='/open/a', d=1)


def test_an_owner_who_is_nobody(database, live):
    """`noauth` and `authvar` cannot be lost on the way: an administrator who acts for others never acts as oneself by mistake."""
    assert database.ask('GET', '/.json', headers=OWNER).status == 200
    live.do('gauth', cred='owner', noauth=True)
    assert live.ask('g', p='/', q={})[0] == 'permission_denied'
    live.do('gauth', cred='owner', authvar=None, noauth=None)
    live.do('g', p='/', q={})
