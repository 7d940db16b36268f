"""A mail server for tests (SMTP with STARTTLS, TLS and a user), and an endpoint for text messages."""

import base64
import email
import email.policy
import json
import socketserver
import ssl
import threading

from local_server import Handler, LocalServer


class Mail:
    """A mail as it arrived."""

    def __init__(self, sender, recipients, data, user, is_encrypted):
        self.sender, self.recipients, self.data, self.user, self.is_encrypted = sender, recipients, data, user, is_encrypted
        self.message = email.message_from_bytes(data, policy=email.policy.default)

    @property
    def text(self):
        return self.message.get_content()


class MailServer:
    """A server on a free port. `answers` are given instead of accepting a mail, one each: a code, or None to break the connection."""

    def __init__(self, certificates=None, is_tls=False, offers_tls=True, password=None):
        self.mails, self.answers, self.attempts, self.commands = [], [], 0, []
        self.is_tls, self.offers_tls, self.password = is_tls, offers_tls and certificates is not None, password
        self.arrived = threading.Condition()
        self.context = None
        if certificates:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificates / 'cert.pem', certificates / 'key.pem')
        mail_server = self

        class Conversation(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    Session(mail_server, self.request).run()
                except OSError:
                    """The client is gone, or did not accept the certificate."""

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        self.server = socketserver.ThreadingTCPServer(('127.0.0.1', 0), Conversation)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()

    def wait(self, count=1, attempts=0, seconds=20):
        """The mails, when there are so many, and so many attempts were made."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.mails) >= count and self.attempts >= attempts, seconds), \
                f'{len(self.mails)} mails after {self.attempts} attempts'
            return list(self.mails)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Session:
    """One connection."""

    def __init__(self, server, connection):
        self.server, self.connection, self.is_encrypted, self.user = server, connection, False, None
        connection.settimeout(20)
        if server.is_tls:
            self.encrypt()
        self.file = self.connection.makefile('rb')

    def encrypt(self):
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.is_encrypted = True

    def say(self, text):
        self.connection.sendall(f'{text}\r\n'.encode())

    def run(self):
        self.say('220 test')
        sender, recipients = None, []
        while line := self.file.readline():
            command = line.decode().rstrip('\r\n')
            self.server.commands.append(command)
            verb = command.upper()
            if verb.startswith('EHLO'):
                offers = ['test', 'SMTPUTF8'] + (['STARTTLS'] if self.server.offers_tls and not self.is_encrypted else [])
                offers += ['AUTH PLAIN'] if self.server.password else []
                for number, offer in enumerate(offers):
                    self.say(f'250{" " if number == len(offers) - 1 else "-"}{offer}')
            elif verb == 'STARTTLS':
                self.say('220 go')
                self.encrypt()
                self.file = self.connection.makefile('rb')
            elif verb.startswith('AUTH PLAIN'):
                self.log_in(command)
            elif verb.startswith('MAIL FROM:'):
                sender, recipients = command[10:].split('>')[0].strip(' <'), []
                self.say('250 ok' if self.user or not self.server.password else '530 who are you')
            elif verb.startswith('RCPT TO:'):
                recipients.append(command[8:].split('>')[0].strip(' <'))
                self.say('250 ok')
            elif verb == 'DATA':
                self.say('354 go on')
                if not self.take(sender, recipients):
                    return
            elif verb == 'QUIT':
                self.say('221 bye')
                return
            else:
                self.say('500 what')

    def log_in(self, command):
        given = command.split(' ')[2] if command.count(' ') > 1 else None
        if given is None:
            self.say('334 ')
            given = self.file.readline().decode().strip()
        _, user, password = base64.b64decode(given).decode().split('\0')
        self.user = user if (user, password) == self.server.password else None
        self.say('235 ok' if self.user else '535 no')

    def take(self, sender, recipients):
        data = b''
        while (line := self.file.readline()) != b'.\r\n':
            data += line.removeprefix(b'.')
        with self.server.arrived:
            self.server.attempts += 1
            answer = self.server.answers.pop(0) if self.server.answers else 250
            if answer == 250:
                self.server.mails.append(Mail(sender, recipients, data, self.user, self.is_encrypted))
            self.server.arrived.notify_all()
        if answer is None:
            self.connection.close()
            return False
        self.say(f'{answer} answer')
        return True


class TextService:
    """An endpoint for text messages. `answers` are statuses that are given first."""

    def __init__(self):
        self.requests, self.answers = [], []
        self.arrived = threading.Condition()
        service = self

        class Endpoint(Handler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                with service.arrived:
                    service.requests.append((dict(self.headers), json.loads(body)))
                    status = service.answers.pop(0) if service.answers else 200
                    service.arrived.notify_all()
                self.send_response(status)
                self.send_header('Content-Length', '0')
                self.end_headers()

        self.server = LocalServer(Endpoint)
        self.url = self.server.url

    def wait(self, count=1, seconds=20):
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.requests) >= count, seconds), f'{len(self.requests)} requests'
            return list(self.requests)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()
