"""Certificates made for a test."""

import ssl
import subprocess


def make_certificate(folder, name='localhost'):
    """Writes `cert.pem` and `key.pem` into a folder. Each replaces its former file atomically."""
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', f'/CN={name}', '-addext',
                    'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', folder / 'new-key.pem', '-out', folder / 'new-cert.pem'],
                   check=True, capture_output=True)
    (folder / 'new-key.pem').replace(folder / 'key.pem')
    (folder / 'new-cert.pem').replace(folder / 'cert.pem')


def trusting(folder, protocols=('http/1.1',), **versions):
    """A TLS context for clients that trust the certificate in a folder."""
    context = ssl.create_default_context(cafile=folder / 'cert.pem')
    context.set_alpn_protocols(list(protocols))
    for name, value in versions.items():
        setattr(context, name, value)
    return context
