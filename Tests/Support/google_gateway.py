"""The names of Google's services led to a host, as a gateway with a certificate authority of one's own does: SDKs stay as they are."""

import contextlib
import os
import socket
import ssl
import subprocess
import threading

from local_server import Handler, LocalServer

NAMES = ['identitytoolkit.googleapis.com', 'securetoken.googleapis.com', 'www.googleapis.com', 'firebaseappcheck.googleapis.com',
         'content-firebaseappcheck.googleapis.com']


class GoogleGateway(LocalServer):
    """A proxy that ends TLS for those names and passes everything to the port of a host. It refuses all other names."""

    def __init__(self, folder, port):
        self.port_of_host, self.asked = port, []
        self.certificate, key = folder / 'gateway.pem', folder / 'gateway-key.pem'
        names = ','.join(f'DNS:{name}' for name in NAMES)
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=gateway', '-addext',
                        f'subjectAltName={names}', '-keyout', key, '-out', self.certificate], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        super().__init__(type('Bound', (Tunnel,), {'gateway': self}))

    @property
    def environment(self):
        """Variables that lead a client of `requests` here."""
        return {'HTTPS_PROXY': self.url, 'https_proxy': self.url, 'NO_PROXY': '127.0.0.1,localhost', 'no_proxy': '127.0.0.1,localhost',
                'REQUESTS_CA_BUNDLE': os.fspath(self.certificate)}


class Tunnel(Handler):
    """A connection of a client."""

    gateway = None

    def do_CONNECT(self):
        name = self.path.partition(':')[0]
        self.gateway.asked.append(name)
        if name not in NAMES:
            self.send_error(403)
            return
        self.wfile.write(b'HTTP/1.1 200 Connected\r\n\r\n')
        self.close_connection = True
        with contextlib.suppress(OSError), self.gateway.context.wrap_socket(self.connection, server_side=True) as client:
            with socket.create_connection(('127.0.0.1', self.gateway.port_of_host)) as upstream:
                back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
                back.start()
                pump(client, upstream)
                back.join(10)


def pump(source, target):
    """Passes bytes on until the source ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
