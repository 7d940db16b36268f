"""The sample page docs/samples/chat.html in a browser: messages, presence, and a host that restarts."""

import contextlib
import urllib.parse

import pytest

from browser import Browser
from databases import Database
from hearth import ROOT, Host
from live import name_of
from processes import until

SAMPLES = ROOT / 'docs/samples'
MESSAGES = "[...document.querySelectorAll('#messages li')].map(item => [item.querySelector('strong').textContent, item.lastChild.textContent])"
PEOPLE = "[...document.querySelectorAll('#people li')].map(item => item.firstChild.textContent)"
STATE = "document.getElementById('state').className"
PROBLEM = "document.getElementById('problem').textContent"


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp('browser')) as browser:
        yield browser


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('chat'), [], mode='development').start()
    yield host
    host.stop()


@pytest.fixture
def database(host, request):
    with Database(host, name_of(request)) as database:
        database.use_rules((SAMPLES / 'chat.rules.json').read_text())
        yield database


@pytest.fixture
def enter(browser, database):
    """Opens the page from its file, as a user with this name."""
    pages = []

    def open_page(name, **more):
        query = {'host': f'127.0.0.1:{database.host.port}', 'ns': database.namespace, 'name': name, **more}
        page = browser.open(f'{(SAMPLES / "chat.html").as_uri()}?{urllib.parse.urlencode(query)}')
        pages.append(page)
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
        shows(page, MESSAGES, said)
        assert page.run(PROBLEM) == ''
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
    say(pages[0], 'written meanwhile')
    assert pages[0].run(MESSAGES) == []
    host.start()
    for page in pages:
        shows(page, MESSAGES, [['Ada', 'written meanwhile']])
        page.until(f'{PEOPLE}.sort().join() === "Ada,Bob"')
    say(pages[1], 'and after')
    for page in pages:
        shows(page, MESSAGES, [['Ada', 'written meanwhile'], ['Bob', 'and after']])


def test_the_newest_fifty(enter, database):
    for number in range(60):
        database.put(f'/messages/lobby/m{number:02}.json', {'author': 'Ada', 'text': f'number {number}', 'at': {'.sv': 'timestamp'}})
    page = enter('Bob')
    shows(page, f'{MESSAGES}.map(item => item[1])', [f'number {number}' for number in range(10, 60)])
    say(page, 'one more')
    # Keys that begin with "-" sort before those above, so the window does not change.
    database.put('/messages/lobby/n.json', {'author': 'Ada', 'text': 'newest', 'at': {'.sv': 'timestamp'}})
    shows(page, f'{MESSAGES}.map(item => item[1])', [*(f'number {number}' for number in range(11, 60)), 'newest'])


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
    assert page.run(MESSAGES) == [['Ada', 'x']]
    database.use_rules({'rules': {'.read': False}})
    page.until(f'{PROBLEM}.startsWith("The messages cannot be read")')


def test_a_database_that_does_not_exist(browser, launch):
    host = launch([], mode='production')
    query = urllib.parse.urlencode({'host': f'127.0.0.1:{host.port}', 'ns': 'no-such', 'name': 'Ada'})
    page = browser.open(f'{(SAMPLES / "chat.html").as_uri()}?{query}')
    page.until(f'{STATE} === "refused"')
    page.close()
