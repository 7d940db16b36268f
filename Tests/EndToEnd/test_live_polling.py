"""Long polling, and the change from it to a WebSocket (spec database 3.9, 10.1, 10.2)."""

import json
import threading
import time

import pytest

from databases import OPEN_RULES, Database
from fixtures import own_database, shared_host
from hearth import Host
from live import Live
from polling import Poller, Polling, calls
from processes import until
from tokens import id_claims, unsigned
from websocket import CLOSE, TEXT, WebSocket


host = shared_host(config={'server': {'loops': 2}})
database = own_database()


@pytest.fixture
def poller(database):
    return Poller(database.host.port, database.namespace)


@pytest.fixture
def polling(database):
    with Polling(database.host.port, database.namespace) as polling:
        yield polling


def control(kind):
    return {'t': 'c', 'd': {'t': kind, 'd': {}}}


def request(number, action, **body):
    return {'t': 'd', 'd': {'r': number, 'a': action, 'b': body}}


def refusal(host, query, method='GET'):
    answer = host.request(method, f'/.lp?{query}')
    return answer.status, answer.text


# Polling


def test_hello_comes_with_the_opening(host, poller):
    assert set(poller.hello) == {'ts', 'v', 'h', 's'} and poller.hello['v'] == '5'
    assert poller.hello['h'] == f'127.0.0.1:{host.port}'
    assert len(poller.password) == 32


def test_reading_writing_and_listening(polling, database):
    assert polling.ask('p', p='/a', d={'x': 1}) == ('ok', '')
    assert polling.ask('q', p='/a', h='') == ('ok', {})
    assert polling.push() == ('d', {'p': 'a', 'd': {'x': 1}})
    with Live(database.host.port, database.namespace) as other:
        other.do('p', p='/a/y', d='é 😀')
    assert polling.push() == ('d', {'p': 'a/y', 'd': 'é 😀'})
    assert polling.ask('g', p='/a', q={}) == ('ok', {'x': 1, 'y': 'é 😀'})


def test_a_poll_waits_until_there_is_something(poller, database):
    poller.poll(poller.parts(request(1, 'q', p='/a', h=''))[0])
    assert poller.next()['d']['r'] == 1
    waiting = threading.Thread(target=poller.poll)
    waiting.start()
    with Live(database.host.port, database.namespace) as other:
        other.do('p', p='/a', d=7)
    waiting.join(20)
    assert poller.next() == {'t': 'd', 'd': {'a': 'd', 'b': {'p': 'a', 'd': 7}}}


def test_a_newer_poll_releases_the_older(poller):
    first = threading.Thread(target=poller.poll)
    first.start()
    until(lambda: poller.serial == 1, 'the first is sent')
    second = threading.Thread(target=poller.poll)
    second.start()
    first.join(20)
    assert not first.is_alive() and second.is_alive()
    # One that was sent before, and arrives after it, is the older one.
    poller.take(poller.get(f'id={poller.id}&pw={poller.password}&ser=0'))
    assert second.is_alive()
    poller.poll(poller.parts(control('p'))[0])
    second.join(20)
    assert not second.is_alive()
    assert poller.next() == control('o')


def test_long_messages_in_any_order(poller, database):
    text = 'é' * 40_000
    parts = poller.parts(request(1, 'p', p='/long', d=text))
    assert len(parts) > 50
    for start in range(0, len(parts), 20):
        for part in reversed(parts[start:start + 20]):
            threading.Thread(target=poller.poll, args=[part], daemon=True).start()
        until(lambda: poller.serial >= min(start + 20, len(parts)), 'they are sent')
        time.sleep(0.2)
    until(lambda: database.get('/long.json') == text, 'the message has arrived')


def test_what_a_literal_cannot_say(database):
    """In a script, `__proto__` in an object would not be a member of it."""
    value = {'__proto__': {'a': 1}, 'b"': '</script>\u2028'}
    database.put('/odd.json', value)
    poller = Poller(database.host.port, database.namespace)
    raw = poller.get(poller.address(poller.parts(request(1, 'g', p='/odd', q={}))[0]))
    start = raw.index('JSON.parse(') + len('JSON.parse(')
    message = json.loads(json.JSONDecoder().raw_decode(raw, start)[0])
    assert message['d']['b'] == {'s': 'ok', 'd': value}


@pytest.mark.parametrize('query, status, reason', [
    ('start=t&cb=alert(1)', 400, '"cb" must be a number'),
    ('start=t&cb=12345678901', 400, '"cb" must be a number'),
    ('', 400, '"start", or "id" and "pw", must be given'),
    ('id=a', 400, '"start", or "id" and "pw", must be given'),
    ('id=a&pw=b', 400, '"ser" must be a number'),
    ('id=a&pw=b&ser=x', 400, '"ser" must be a number'),
    ('id=a&pw=b&ser=1', 404, 'no connection has this "id" and "pw"'),
    ('id=a&pw=b&dframe=t', 404, 'no connection has this "id" and "pw"'),
    ('id=a&pw=b&disconn=t', 404, 'no connection has this "id" and "pw"'),
    ('id=a&pw=b&ser=1&seg0=0&ts0=0&d0=', 400, '"seg0" must be a number'),
    ('id=a&pw=b&ser=1&seg0=0&ts0=1', 400, '"seg0" must be a number'),
    ('id=a&pw=b&ser=1&seg0=-1&ts0=1&d0=a', 400, '"seg0" must be a number'),
])
def test_requests_of_no_form(query, status, reason, host):
    found = refusal(host, query)
    assert found[0] == status and found[1].startswith(reason), found


def test_a_wrong_password(host, poller):
    wrong = poller.password[:-1] + ('0' if poller.password[-1] != '0' else '1')
    assert refusal(host, f'id={poller.id}&pw={wrong}&ser=1')[0] == 404
    poller.poll(poller.parts(control('p'))[0])
    assert poller.next() == control('o')


@pytest.mark.parametrize('part, reason', [
    ('&seg0=0&ts0=1&d0=!!', 'a message must be UTF-8 in base64'),
    ('&seg0=0&ts0=1&d0=_w..', 'a message must be UTF-8 in base64'),
    ('&seg0=0&ts0=9999999&d0=e30.', 'a message may have at most 16777216 bytes'),
    ('&seg0=2000&ts0=1&d0=e30.', 'part 0 of the messages is missing'),
    ('&seg0=0&ts0=1&d0=e30.', 'a message must have the members "t" and "d"'),
])
def test_messages_of_no_form(part, reason, poller):
    poller.poll(part)
    assert poller.next() == {'t': 'c', 'd': {'t': 'e', 'd': reason}}
    assert poller.is_closed
    with pytest.raises(AssertionError, match='404'):
        poller.poll()


def test_an_unknown_database(host):
    answer = host.request('GET', '/.lp?start=t&ser=1&cb=7&v=5&ns=no_such_name')
    (data, arguments), *rest = calls(answer.text)[-2:]
    assert data == 'pRTLPCB' and arguments[1][0]['d']['t'] == 's', answer.text
    assert rest == [('pLPCommand', ['close'])]


def test_a_page_of_another_site_is_no_administrator(database):
    for site, status in (('same-site', 'ok'), ('cross-site', 'invalid_token')):
        with Polling(database.host.port, database.namespace, headers=[('Sec-Fetch-Site', site)]) as polling:
            assert polling.ask('gauth', cred='owner')[0] == status


# The end


def test_leaving_the_page(database, poller):
    poller.poll(poller.parts(request(1, 'o', p='/online', d=False))[0])
    frame = database.host.request('GET', f'/.lp?dframe=t&id={poller.id}&pw={poller.password}')
    assert frame.status == 200 and frame.header('Content-Type').startswith('text/html')
    beacon = frame.text[frame.text.index('/.lp?disconn'):].split('"')[0]
    assert database.get('/online.json') is None
    assert database.host.request('POST', beacon).status == 204
    until(lambda: database.get('/online.json') is False, 'the operation has run')
    with pytest.raises(AssertionError, match='404'):
        poller.poll()


def test_a_lost_request(poller, database):
    """The browser's connection breaks while a request waits. The next request continues."""
    poller.poll(poller.parts(request(1, 'q', p='/a', h=''))[0])
    with database.host.wire() as wire:
        wire.send_request('GET', '/.lp?' + poller.address())
        time.sleep(0.2)
    time.sleep(0.2)
    database.put('/a.json', 5)
    poller.poll()
    assert [poller.next()['d'].get('r'), poller.next()['d']['b']] == [1, {'p': 'a', 'd': 5}]


def test_a_token_that_ends(polling, database):
    """The client hears of it, polling ends, and onDisconnect operations run."""
    answer = polling.ask('auth', cred=unsigned(id_claims('ada', lifetime=2)))
    assert answer[0] == 'ok'
    assert polling.ask('o', p='/gone', d=True) == ('ok', '')
    assert polling.push() == ('ac', {'s': 'expired_token', 'd': 'Auth token is expired'})
    until(lambda: database.get('/gone.json') is True, 'the operation runs')
    with pytest.raises(AssertionError, match='404'):
        polling.get(polling.address())


def test_the_end_of_the_host(tmp_path):
    host = Host(tmp_path, [], mode='development').start()
    with Polling(host.port, 'demo-hearth-default-rtdb') as polling:
        until(lambda: polling.serial == 1, 'a request waits')
        host.stop()
        until(lambda: polling.is_closed, 'the client hears of it')


# The change to a WebSocket


class Upgrade:
    """The steps of a browser that changes to a WebSocket."""

    def __init__(self, database, polling):
        self.polling = polling
        self.socket = WebSocket(database.host.port, f'/.ws?v=5&ns={database.namespace}&s={polling.id}')
        assert self.message() == control('a')
        for _ in range(2):
            self.send(control('p'))
            assert self.message() == control('o')

    def send(self, message):
        self.socket.send(TEXT, json.dumps(message))

    def message(self):
        opcode, payload = self.socket.frame()
        assert opcode == TEXT, (opcode, payload)
        return json.loads(payload)


@pytest.mark.parametrize('turn', range(6))
def test_the_change(turn, polling, database):
    assert polling.ask('q', p='/a', h='')[0] == 'ok'
    assert polling.ask('o', p='/gone', d=True)[0] == 'ok'
    upgrade = Upgrade(database, polling)
    database.put('/a.json', 1)
    assert polling.push() == ('d', {'p': 'a', 'd': 1})
    upgrade.send(control('a'))
    # The client sends on the socket at once; the host waits for the end of polling, so that the order is kept.
    upgrade.send(request(90, 'p', p='/a', d=3))
    polling.send(request(89, 'p', p='/a', d=2))
    polling.send(control('n'))
    assert polling.message() == control('n')
    assert [upgrade.message()['d'] for _ in range(4)] == [
        {'a': 'd', 'b': {'p': 'a', 'd': 2}}, {'r': 89, 'b': {'s': 'ok', 'd': ''}},
        {'a': 'd', 'b': {'p': 'a', 'd': 3}}, {'r': 90, 'b': {'s': 'ok', 'd': ''}}]
    until(lambda: polling.is_closed, 'polling has ended')
    assert database.get('/gone.json') is None
    upgrade.send(request(91, 'g', p='/a', q={}))
    assert upgrade.message()['d'] == {'r': 91, 'b': {'s': 'ok', 'd': 3}}
    upgrade.socket.wire.close()
    until(lambda: database.get('/gone.json') is True, 'the operation has run')


def test_long_messages_after_the_change(polling, database):
    upgrade = Upgrade(database, polling)
    upgrade.send(control('a'))
    polling.send(control('n'))
    assert polling.message() == control('n')
    text = 'x' * 50_000
    for number in range(40):
        body = json.dumps(request(number, 'p', p=f'/many/{number}', d=text))
        frames = [body[start:start + 16384] for start in range(0, len(body), 16384)]
        for frame in [str(len(frames)), *frames]:
            upgrade.socket.send(TEXT, frame)
        assert upgrade.message()['d'] == {'r': number, 'b': {'s': 'ok', 'd': ''}}
    upgrade.send(request(99, 'g', p='/many', q={}))
    count = upgrade.message()
    parts = b''.join(upgrade.socket.frame()[1] for _ in range(count))
    assert json.loads(parts)['d']['b']['d'] == {str(number): text for number in range(40)}
    upgrade.socket.wire.close()


def test_a_socket_that_does_not_work(polling, database):
    """The browser gives the socket up, and goes on with polling. Another one is accepted once the host has noticed the end of the first."""
    for number in range(3):
        until(lambda: is_offered(polling, database), 'a socket is accepted')
        assert polling.ask('p', p='/a', d=number) == ('ok', '')


def is_offered(polling, database):
    """Whether a socket would be accepted."""
    with WebSocket(database.host.port, f'/.ws?v=5&ns={database.namespace}&s={polling.id}') as socket:
        return json.loads(socket.frame()[1])['d']['t'] == 'a'


def test_requests_that_wait_when_the_client_changes(poller, database):
    """More requests than the host takes at once, because a transaction on a large node is under way. They are performed, before the later ones."""
    database.put('/large.json', {f'k{number:06}': number for number in range(150_000)})
    database.put('/large/k000000.json', -1)
    upgrade = Upgrade(database, poller)
    poller.poll(poller.parts(request(1, 'p', p='/large', d=1, h='wrong'))[0])
    count, answers = 1_200, []

    def send(part):
        threading.Thread(target=lambda query: answers.append(poller.get(query)), args=[poller.address(part)], daemon=True).start()
        # As browsers do, which have only a few requests under way.
        until(lambda: len(answers) >= poller.serial - 5, 'earlier requests are answered')
    for start in range(2, count, 10):
        parts = []
        for number in range(start, min(start + 10, count)):
            part, = poller.parts(request(number, 'p', p='/last', d=number))
            parts.append(part.replace('0=', f'{len(parts)}='))
        send(''.join(parts))
    upgrade.send(control('a'))
    upgrade.send(request(count, 'p', p='/last', d='last'))
    send(poller.parts(control('n'))[0])
    numbers = []
    while count not in numbers:
        message = upgrade.message()
        assert set(message['d']) == {'r', 'b'}, message
        numbers.append(message['d']['r'])
    until(lambda: len(answers) > count // 10, 'the requests are answered')
    for script in answers:
        poller.take(script)
    early = []
    while message := poller.next():
        if 'r' in message['d']:
            early.append(message['d']['r'])
    assert early + numbers == list(range(1, count + 1))
    assert database.get('/last.json') == 'last'
    upgrade.socket.wire.close()


def test_messages_before_the_end_of_polling(launch):
    """They wait, and the host takes only a few of them."""
    host = launch([], mode='development', config={'server': {'memoryBytes': 32 << 20}})
    with Database(host, 'early') as database, Polling(host.port, 'early') as polling:
        database.use_rules(OPEN_RULES)
        upgrade = WebSocket(host.port, f'/.ws?v=5&ns=early&s={polling.id}', timeout=2)
        upgrade.frame()
        before = host.peak_bytes()
        with pytest.raises(TimeoutError):
            for number in range(60):
                upgrade.send(TEXT, json.dumps(request(number, 'p', p='/a', d='x' * (4 << 20))))
        assert host.peak_bytes() - before < 60 << 20
        assert polling.ask('p', p='/b', d=1) == ('ok', '')


def test_a_second_socket(polling, database):
    first = Upgrade(database, polling)
    with WebSocket(database.host.port, f'/.ws?v=5&ns={database.namespace}&s={polling.id}') as second:
        assert json.loads(second.frame()[1])['d']['t'] == 'r'
        assert second.frame()[0] == CLOSE
    first.send(control('a'))
    assert polling.message() == control('n')
    first.socket.wire.close()


def test_a_socket_for_nobody(host):
    with WebSocket(host.port, '/.ws?v=5&s=00000000000000000000000000000000-00000000000000000000000000000000') as socket:
        assert json.loads(socket.frame()[1]) == {'t': 'c', 'd': {'t': 'r', 'd': f'127.0.0.1:{host.port}'}}
        assert socket.frame()[0] == CLOSE


def test_a_client_that_vanishes_halfway(polling, database):
    assert polling.ask('o', p='/gone', d=True)[0] == 'ok'
    upgrade = Upgrade(database, polling)
    upgrade.send(control('a'))
    assert polling.message() == control('n')
    upgrade.socket.wire.close()
    until(lambda: database.get('/gone.json') is True, 'the operation has run')
