"""A client of the database that polls, as a browser does without WebSockets (spec database 3.9)."""

import base64
import json
import re
import threading

from wire import Ended, Wire

LETTERS_MAX = 1840
CALL = re.compile(r'parent\.window\["(pLPCommand|pRTLPCB)7"\]\(')


def calls(script):
    """The calls of a script: pairs of a function's name and its arguments."""
    found, place, decoder = [], 0, json.JSONDecoder()
    while place < len(script):
        start = CALL.match(script, place)
        assert start, script[place:place + 100]
        arguments, place = [], start.end()
        while True:
            value, place = decoder.raw_decode(script, place)
            arguments.append(value)
            if script[place] == ')':
                break
            assert script[place] == ',', script[place:place + 100]
            place += 1
        assert script[place:place + 2] == ');'
        place += 2
        found.append((start.group(1), arguments))
    return found


class Poller:
    """A polling client. `poll` is one request; `Polling` below keeps one waiting."""

    def __init__(self, port, namespace, last=None, headers=(), app=None):
        self.port, self.headers = port, headers
        self.serial = self.part = 0
        self.messages = {}
        self.seen = 0
        self.is_closed = False
        self.last = None
        text = self.get(f'start=t&ser=12345&cb=7&v=5&ns={namespace}' + (f'&ls={last}' if last else '') + (f'&ac={app}' if app else ''))
        self.take(text)
        self.hello = self.next()['d']['d']

    def get(self, query):
        with Wire(self.port, timeout=40) as wire:
            answer = wire.request('GET', f'/.lp?{query}', self.headers)
        assert answer.status == 200, (answer.status, answer.text)
        assert answer.header('Content-Type') == 'application/javascript; charset=utf-8'
        assert answer.header('Cache-Control') == 'no-store'
        return answer.text

    def take(self, script):
        """Runs a script. Answers may arrive in another order than they were sent in."""
        for name, arguments in calls(script):
            if name == 'pRTLPCB':
                number, messages = arguments
                assert number not in self.messages
                self.messages[number] = messages
            elif arguments[0] == 'start':
                self.id, self.password = arguments[1:]
            else:
                assert arguments[0] == 'close'
                self.last = arguments[1] if len(arguments) > 1 else 0
        # The end waits for the answers before it.
        if self.last is not None and all(number in self.messages for number in range(self.last + 1)):
            self.is_closed = True

    def next(self):
        """The next message that has arrived, in order; None if there is none."""
        while not self.messages.get(self.seen, [None]):
            self.seen += 1
        return self.messages[self.seen].pop(0) if self.seen in self.messages else None

    def parts(self, message):
        """The parts of a message, as the parameters of a request."""
        text = message if isinstance(message, str) else json.dumps(message)
        letters = base64.urlsafe_b64encode(text.encode()).decode().replace('=', '.')
        pieces = [letters[start:start + LETTERS_MAX] for start in range(0, len(letters), LETTERS_MAX)]
        parts = []
        for piece in pieces:
            parts.append(f'&seg0={self.part}&ts0={len(pieces)}&d0={piece}')
            self.part += 1
        return parts

    def address(self, part=''):
        self.serial += 1
        return f'id={self.id}&pw={self.password}&ser={self.serial}{part}'

    def poll(self, part=''):
        """Sends a request, and runs the script of its answer."""
        self.take(self.get(self.address(part)))


class Polling(Poller):
    """Keeps a request waiting, as browsers do, and sends others beside it."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.changed = threading.Condition()
        self.number = 0
        self.failure = None
        self.filed = []
        threading.Thread(target=self.keep_polling, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.is_closed:
            with Wire(self.port) as wire:
                wire.request('GET', f'/.lp?disconn=t&id={self.id}&pw={self.password}')
        self.is_closed = True

    def keep_polling(self):
        while not self.is_closed:
            self.request_with('')

    def request_with(self, part):
        with self.changed:
            address = self.address(part)
        try:
            text = self.get(address)
        except (AssertionError, OSError, Ended) as error:
            self.failure = error
            text = ''
        with self.changed:
            if self.failure is None:
                self.take(text)
            else:
                self.is_closed = True
            self.changed.notify_all()

    def send(self, message):
        """Sends a message. Its requests wait beside the other one until that is answered."""
        for part in self.parts(message):
            threading.Thread(target=self.request_with, args=[part], daemon=True).start()

    def message(self):
        with self.changed:
            while (message := self.next()) is None:
                assert not self.is_closed, self.failure
                assert self.changed.wait(20), 'nothing has arrived'
            return message

    def ask(self, action, **body):
        """Sends a request, and returns the status and the payload of the answer. Pushes are filed."""
        self.number += 1
        self.send({'t': 'd', 'd': {'r': self.number, 'a': action, 'b': body}})
        return self.answer(self.number)

    def answer(self, number):
        while True:
            message = self.message()
            if message['t'] == 'd' and message['d'].get('r') == number:
                return message['d']['b']['s'], message['d']['b']['d']
            self.filed.append(message)

    def push(self):
        """The next push as (action, body)."""
        message = self.filed.pop(0) if self.filed else self.message()
        assert message['t'] == 'd', message
        return message['d']['a'], message['d']['b']
