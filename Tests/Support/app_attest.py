"""A fake Apple: a root that attests keys of an app on a device, and such keys (App Attest)."""

import base64
import datetime
import hashlib
import struct

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NONCE_EXTENSION = x509.ObjectIdentifier('1.2.840.113635.100.8.2')
PRODUCTION, DEVELOPMENT = b'appattest' + bytes(7), b'appattestdevelop'


def cbor(value):
    """A value in CBOR: integers, bytes, texts, lists and objects."""
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b''.join(map(cbor, value))
    return head(5, len(value)) + b''.join(cbor(key) + cbor(item) for key, item in value.items())


def head(kind, size):
    if size < 24:
        return bytes([kind << 5 | size])
    for extra, form in ((24, '>B'), (25, '>H'), (26, '>I')):
        if size < 1 << 8 * struct.calcsize(form):
            return bytes([kind << 5 | extra]) + struct.pack(form, size)
    raise ValueError(size)


def certificate(subject, key, issuer, issuer_key, extensions=()):
    """A certificate that is valid for long: hosts of tests have clocks that are ahead."""
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(named(subject)).issuer_name(named(issuer)).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
    builder = builder.not_valid_after(now + datetime.timedelta(days=3650))
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256())


def named(name):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


class FakeApple:
    """A root and an intermediate authority, and the app whose keys they attest."""

    def __init__(self, team, bundle):
        self.app = hashlib.sha256(f'{team}.{bundle}'.encode()).digest()
        self.root_key, self.key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP384R1())
        authority = [(x509.BasicConstraints(ca=True, path_length=None), True)]
        root = certificate('Fake Apple App Attestation Root CA', self.root_key, 'Fake Apple App Attestation Root CA', self.root_key, authority)
        self.intermediate = certificate('Fake Apple App Attestation CA 1', self.key, 'Fake Apple App Attestation Root CA', self.root_key, authority)
        self.root_pem = root.public_bytes(serialization.Encoding.PEM)

    def new_key(self, **options):
        return AttestedKey(self, **options)


class AttestedKey:
    """A key of a device. `app` and `aaguid` are those that its attestations claim."""

    def __init__(self, apple, app=None, aaguid=PRODUCTION):
        self.apple, self.app, self.aaguid = apple, app or apple.app, aaguid
        self.private = ec.generate_private_key(ec.SECP256R1())
        numbers = self.private.public_key().public_numbers()
        self.x, self.y = (number.to_bytes(32, 'big') for number in (numbers.x, numbers.y))
        self.hash = hashlib.sha256(b'\x04' + self.x + self.y).digest()
        self.identifier = base64.b64encode(self.hash).decode()

    def authenticator_data(self, counter, with_key):
        data = self.app + bytes([0x40 if with_key else 0]) + struct.pack('>I', counter)
        if with_key:
            data += self.aaguid + struct.pack('>H', 32) + self.hash + cbor({1: 2, 3: -7, -1: 1, -2: self.x, -3: self.y})
        return data

    def attestation(self, challenge, counter=0):
        """The statement that this key is on a device with the app, in Base64."""
        data = self.authenticator_data(counter, with_key=True)
        nonce = hashlib.sha256(data + hashlib.sha256(challenge).digest()).digest()
        extension = x509.UnrecognizedExtension(NONCE_EXTENSION, bytes.fromhex('3024a1220420') + nonce)
        leaf = certificate(self.hash.hex(), self.private, 'Fake Apple App Attestation CA 1', self.apple.key, [(extension, False)])
        statement = {'x5c': [der(leaf), der(self.apple.intermediate)], 'receipt': b'receipt'}
        return base64.b64encode(cbor({'fmt': 'apple-appattest', 'attStmt': statement, 'authData': data})).decode()

    def assertion(self, artifact, challenge, counter):
        """The signature of the key for a later exchange, in Base64."""
        data = self.authenticator_data(counter, with_key=False)
        nonce = hashlib.sha256(data + hashlib.sha256(artifact + challenge).digest()).digest()
        return base64.b64encode(cbor({'signature': self.private.sign(nonce, ec.ECDSA(hashes.SHA256())), 'authenticatorData': data})).decode()
