"""Chromium without a window, driven over its DevTools protocol."""

import base64
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess

from processes import of_session, until
from websocket import CLOSE, PING, PONG, TEXT, WebSocket
from wire import Ended, Wire

# The browser's answers to a command while the page changes to another address or closes.
MOVED = ('Inspected target navigated or closed', 'Not attached to an active page')


class Moved(Exception):
    """The page changed while a command ran."""


class Browser:
    """A running browser with a profile of its own. Ends with the `with` block."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.profile = self.folder / 'profile'
        self.process, self.port = None, None

    def __enter__(self):
        program = shutil.which('chromium')
        assert program, 'the Debian package chromium is missing'
        self.profile.mkdir(parents=True)
        # A sandbox of its own needs rights that containers lack; the pages are those of the tests. Background pages must not be slowed down.
        command = [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions',
                   '--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows', '--disable-renderer-backgrounding',
                   '--remote-debugging-port=0', f'--user-data-dir={self.profile}', 'about:blank']
        with open(self.folder / 'browser.log', 'wb') as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                            env={'PATH': os.environ['PATH'], 'HOME': str(self.folder), 'LANG': 'C.UTF-8'})
        try:
            self.port = int(until(self.announced_port, 'the browser is ready', 30))
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def announced_port(self):
        assert self.process.poll() is None, (self.folder / 'browser.log').read_text()[-2000:]
        with contextlib.suppress(OSError, IndexError):
            return (self.profile / 'DevToolsActivePort').read_text().split('\n')[0]
        return None

    def end(self):
        """Ends the browser's processes, which form a session."""
        session = self.process.pid
        for process in of_session(session):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        self.process.wait(10)
        until(lambda: not [process for process in of_session(session) if process.lives()], 'the browser has ended')

    def open(self, url):
        """Opens a page and waits until it is loaded."""
        page = Page(self)
        try:
            page.go(url)
        except BaseException:
            page.close()
            raise
        return page


class Page:
    """A page of a browser."""

    def __init__(self, browser):
        with Wire(browser.port) as wire:
            target = wire.request('PUT', '/json/new?about:blank').json
        self.browser, self.id = browser, target['id']
        self.numbers = itertools.count(1)
        self.errors, self.events = [], []
        self.socket = WebSocket(browser.port, f'/devtools/page/{self.id}', timeout=30)
        assert self.socket.head.status == 101, self.socket.head
        for domain in ('Page', 'Runtime', 'Log'):
            self.do(f'{domain}.enable')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the page, as a user does."""
        with contextlib.suppress(Ended, OSError, Moved):
            self.do('Page.close')
        self.socket.wire.close()

    # -- protocol

    def do(self, method, **parameters):
        """Sends a command and returns its result. Events that come before it are kept."""
        number = next(self.numbers)
        self.socket.send(TEXT, json.dumps({'id': number, 'method': method, 'params': parameters}))
        while True:
            message = self.message()
            if message.get('id') == number:
                if message.get('error', {}).get('message') in MOVED:
                    raise Moved(method)
                assert 'error' not in message, (method, message)
                return message['result']

    def message(self):
        while True:
            opcode, payload = self.socket.frame()
            if opcode == PING:
                self.socket.send(PONG, payload)
            elif opcode == CLOSE:
                raise Ended('the page has gone')
            else:
                break
        message = json.loads(payload)
        if message.get('method') == 'Runtime.exceptionThrown':
            self.errors.append(message['params']['exceptionDetails'])
        if 'method' in message:
            self.events.append(message)
        return message

    # -- phrases

    def go(self, url):
        self.events.clear()
        self.do('Page.navigate', url=url)
        while not any(event['method'] == 'Page.loadEventFired' for event in self.events):
            self.message()

    def run(self, script):
        """The value of an expression, awaited if it is a promise."""
        result = self.do('Runtime.evaluate', expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert 'exceptionDetails' not in result, result['exceptionDetails']
        return result['result'].get('value')

    def until(self, script, what=None, seconds=20):
        """Waits until an expression is truthy, and returns its value."""
        def found():
            with contextlib.suppress(Moved):
                return self.run(script)
        return until(found, what or script, seconds)

    def type(self, text):
        """Types into the element that has the focus."""
        self.do('Input.insertText', text=text)

    def press_enter(self):
        for kind in ('keyDown', 'keyUp'):
            self.do('Input.dispatchKeyEvent', type=kind, key='Enter', code='Enter', windowsVirtualKeyCode=13, text='\r' * (kind == 'keyDown'))

    def screenshot(self, path, width=900, height=700, is_dark=False):
        """Saves a picture of the page."""
        self.do('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.do('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if is_dark else 'light'}])
        data = self.do('Page.captureScreenshot', format='png')['data']
        pathlib.Path(path).write_bytes(base64.b64decode(data))
