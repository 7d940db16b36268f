"""The sample page docs/samples/chat.html in a browser: messages, presence, and a host that restarts."""

import contextlib
import json
import re
import urllib.parse

import pytest

from browser import Browser, Page
from fixtures import own_database, shared_host
from hearth import ROOT
from live import Live
from processes import until

SAMPLES = ROOT / 'docs/samples'
MESSAGES = "[...document.querySelectorAll('#messages li')].map(item => [item.querySelector('strong').textContent, item.lastChild.textContent])"
WAITING = "[...document.querySelectorAll('#messages .waiting')].map(item => item.lastChild.textContent)"
TIMES = "[...document.querySelectorAll('#people small')].map(item => item.textContent)"
AGE = "[document.getElementById('online').textContent, document.getElementById('people').className]"
PEOPLE = "[...document.querySelectorAll('#people li')].map(item => item.firstChild.textContent)"
STATE = "document.getElementById('state').className"
PROBLEM = "document.getElementById('problem').textContent"


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp('browser')) as browser:
        yield browser


host = shared_host()
database = own_database((SAMPLES / 'chat.rules.json').read_text())


@pytest.fixture
def enter(browser, database):
    """Opens the page from its file, as a user with this name."""
    pages = []

    def open_page(name, script='', **more):
        query = {'host': f'127.0.0.1:{database.host.port}', 'ns': database.namespace, 'name': name, **more}
        page = Page(browser)
        pages.append(page)
        page.do('Page.addScriptToEvaluateOnNewDocument', source=script)
        page.go(f'{(SAMPLES / "chat.html").as_uri()}?{urllib.parse.urlencode(query)}')
        page.until(f'{STATE} === "connected"')
        return page

    yield open_page
    for page in pages:
        page.close()
        assert page.errors == []


def say(page, text):
    page.run("document.getElementById('text').focus()")
    page.type(text)
    page.press_enter()


def shows(page, script, value):
    with contextlib.suppress(AssertionError):
        until(lambda: page.run(script) == value, '')
    assert page.run(script) == value


def test_two_people(enter, tmp_path):
    ada = enter('Ada')
    shows(ada, PEOPLE, ['Ada'])
    bob = enter('Bob 😀')
    for page in (ada, bob):
        shows(page, PEOPLE, ['Ada', 'Bob 😀'])
    said = [['Ada', 'Hello'], ['Bob 😀', 'Hello Ada'], ['Ada', '漢字 & <b>bold</b> 😀']]
    for author, text in said:
        say(ada if author == 'Ada' else bob, text)
        for page in (ada, bob):
            page.until(f'{MESSAGES}.some(item => item[1] === {text!r})')
    for page in (ada, bob):
        # The order of messages of two people depends on how well each page knows the host's clock.
        shows(page, f'{MESSAGES}.map(item => item[1]).sort()', sorted(text for _, text in said))
        assert [message for message in page.run(MESSAGES) if message[0] == 'Ada'] == [said[0], said[2]]
        assert page.run(PROBLEM) == ''
        shows(page, WAITING, [])
        assert page.run(AGE) == ['Online', '']
    ada.screenshot(tmp_path / 'light.png')
    ada.screenshot(tmp_path / 'dark.png', width=420, is_dark=True)
    bob.close()
    shows(ada, PEOPLE, ['Ada'])


def test_texts_are_never_html(enter, database):
    page = enter('<i>Eve</i>')
    text = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>'
    say(page, text)
    shows(page, MESSAGES, [['<i>Eve</i>', text]])
    shows(page, PEOPLE, ['<i>Eve</i>'])
    assert page.run("document.querySelectorAll('main img, main i, main script').length") == 0
    assert page.run('document.title') == 'Chat'


def test_the_host_restarts(enter, host):
    pages = [enter('Ada'), enter('Bob')]
    for page in pages:
        shows(page, PEOPLE, ['Ada', 'Bob'])
    host.stop()
    for page in pages:
        page.until(f'{STATE} === "waiting"')
        # The list is no longer right.
        assert page.run(AGE) == ['Was online', 'outdated']
        assert sorted(page.run(PEOPLE)) == ['Ada', 'Bob']
    say(pages[0], 'written meanwhile')
    assert pages[0].run(MESSAGES) == [['Ada', 'written meanwhile']]
    assert pages[0].run(WAITING) == ['written meanwhile']
    assert pages[1].run(MESSAGES) == []
    host.start()
    for page in pages:
        shows(page, MESSAGES, [['Ada', 'written meanwhile']])
        page.until(f'{PEOPLE}.sort().join() === "Ada,Bob"')
        shows(page, WAITING, [])
        shows(page, AGE, ['Online', ''])
    say(pages[1], 'and after')
    for page in pages:
        shows(page, MESSAGES, [['Ada', 'written meanwhile'], ['Bob', 'and after']])


def test_messages_that_wait(enter, host):
    """They stay at the end of their room, in the order in which they were written."""
    page = enter('Ada')
    say(page, 'before')
    shows(page, MESSAGES, [['Ada', 'before']])
    shows(page, WAITING, [])
    host.stop()
    try:
        page.until(f'{STATE} === "waiting"')
        for text in ('one', 'two'):
            say(page, text)
        shows(page, MESSAGES, [['Ada', 'before'], ['Ada', 'one'], ['Ada', 'two']])
        assert page.run(WAITING) == ['one', 'two']
        room = "document.getElementById('room').value = {!r}; document.querySelector('#place button').click()"
        page.run(room.format('garden'))
        assert page.run(MESSAGES) == []
        page.run(room.format('lobby'))
        assert page.run(WAITING) == ['one', 'two']
    finally:
        host.start()
    shows(page, WAITING, [])
    shows(page, MESSAGES, [['Ada', 'before'], ['Ada', 'one'], ['Ada', 'two']])


def test_the_times_of_people(enter):
    """They are written again every 30 seconds; here more often."""
    page = enter('Ada', script='const interval = setInterval; window.setInterval = (act, time) => interval(act, time === 30_000 ? 50 : time)')
    shows(page, TIMES, ['now'])
    page.run('connection.offset += 120_000')
    shows(page, TIMES, ['2 min'])


def test_the_newest_fifty(enter, database):
    for number in range(60):
        database.put(f'/messages/lobby/-{number:018}x.json', {'author': 'Ada', 'text': f'number {number}', 'at': {'.sv': 'timestamp'}})
    page = enter('Bob')
    shows(page, f'{MESSAGES}.map(item => item[1])', [f'number {number}' for number in range(10, 60)])
    say(page, 'one more')
    shows(page, f'{MESSAGES}.map(item => item[1])', [*(f'number {number}' for number in range(11, 60)), 'one more'])


def test_rooms(enter):
    ada, bob = enter('Ada', room='Küche'), enter('Bob', room='Küche')
    say(ada, 'here')
    for page in (ada, bob):
        shows(page, MESSAGES, [['Ada', 'here']])
    ada.run("document.getElementById('room').value = 'garden'; document.querySelector('#place button').click()")
    shows(ada, MESSAGES, [])
    shows(ada, PEOPLE, ['Ada'])
    shows(bob, PEOPLE, ['Bob'])
    say(bob, 'alone')
    shows(bob, MESSAGES, [['Ada', 'here'], ['Bob', 'alone']])
    assert ada.run(MESSAGES) == []


def test_what_the_rules_refuse(enter, database):
    page = enter('Ada')
    say(page, 'x')
    shows(page, MESSAGES, [['Ada', 'x']])
    page.run("document.getElementById('text').maxLength = 2000")
    say(page, 'y' * 1001)
    page.until(f'{PROBLEM}.includes("permission_denied")')
    assert page.run(PROBLEM).endswith('Does the database have the rules of chat.rules.json?')
    assert page.run(MESSAGES) == [['Ada', 'x']]
    database.use_rules({'rules': {'.read': False}})
    page.until(f'{PROBLEM}.startsWith("The messages cannot be read")')


@pytest.mark.parametrize('key', ['a' * 20, '-' + 'a' * 18, '-' + 'a' * 20, '1'])
def test_keys_that_the_rules_refuse(key, database):
    """A key of another form would be out of order for ever."""
    message = {'author': 'Ada', 'text': 'x', 'at': {'.sv': 'timestamp'}}
    with Live(database.host.port, database.namespace) as live:
        assert live.ask('p', p=f'messages/lobby/{key}', d=message)[0] == 'permission_denied'
        assert live.ask('p', p=f'messages/lobby/-{"a" * 19}', d=message)[0] == 'ok'


def test_a_database_without_the_rules(enter, database):
    page = enter('Ada', ns=f'{database.namespace}-2')
    page.until(f'{PROBLEM}.endsWith("Does the database have the rules of chat.rules.json?")')


def test_the_messages_in_the_documentation(database):
    """docs/database-live.md shows the steps of the page: the requests are accepted as they are there."""
    page = (ROOT / 'docs/database-live.md').read_text()
    requests = [json.loads(text) for text in re.findall(r'^\| [^|]+ \| `(\{"t":"d","d":\{"r":\d+,"a":.*)` \|$', page, re.MULTILINE)]
    assert [request['d']['a'] for request in requests] == ['q', 'o', 'p']
    with Live(database.host.port, database.namespace) as live:
        for request in requests:
            live.send(request)
            assert live.answer(request['d']['r'])[0] == 'ok'


def test_a_database_that_does_not_exist(browser, launch):
    host = launch([], mode='production')
    query = urllib.parse.urlencode({'host': f'127.0.0.1:{host.port}', 'ns': 'no-such', 'name': 'Ada'})
    page = browser.open(f'{(SAMPLES / "chat.html").as_uri()}?{query}')
    page.until(f'{STATE} === "refused"')
    page.close()
