"""Hosts with TLS, and a certificate made for the test."""

import ssl
import subprocess

from certificates import make_certificate, trusting
from hearth import callable_headers
from wire import Wire

TLS = {'server': {'tls': {'certificate': 'cert.pem', 'key': 'key.pem'}}}


class Secure:
    """Wraps a host that was prepared with the settings `TLS`."""

    def __init__(self, host):
        self.host, self.folder = host, host.folder

    def start(self):
        make_certificate(self.folder)
        self.host.is_ready = self.is_ready
        self.host.start()
        return self

    def is_ready(self):
        assert self.host.process.poll() is None, self.host.log
        try:
            with self.wire() as wire:
                return wire.request('GET', '/_/ready').status == 200
        except OSError:
            return False

    def wire(self, **options):
        return Wire(self.host.port, tls=options.pop('tls', None) or trusting(self.folder), **options)

    def call(self, data, **options):
        with self.wire(**options) as wire:
            return wire.request('POST', self.host.path('echo'), callable_headers(), '{"data":%s}' % data)

    def subject(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with self.wire(tls=context) as wire:
            der = wire.socket.getpeercert(binary_form=True)
        shown = subprocess.run(['openssl', 'x509', '-inform', 'DER', '-noout', '-subject'], input=der, capture_output=True, check=True)
        return shown.stdout.decode().strip()
