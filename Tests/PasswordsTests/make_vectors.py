"""Makes vectors.json: hashes of other systems by Python's own modules. Run it in this folder with a Python that still has `crypt`."""

import base64
import hashlib
import hmac
import json
import warnings
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    import crypt

PASSWORDS = ['password', 'pässwörd 🔑', 'x' * 200]
SALT = b'\xff\x00salt\xfb'
KEY = bytes(range(200, 264 - 8))
DIGESTS = {'MD5': 'md5', 'SHA1': 'sha1', 'SHA256': 'sha256', 'SHA512': 'sha512'}


def letters(data):
    return base64.urlsafe_b64encode(data).decode()


def row(password, made, **parameters):
    return {'password': password, 'hash': letters(made), 'parameters': {'salt': letters(SALT), **parameters}}


def signed_scrypt(password, salt, separator, key, rounds, memory):
    derived = hashlib.scrypt(password, salt=salt + separator, n=1 << memory, r=rounds, p=1, dklen=32, maxmem=1 << 27)
    return Cipher(algorithms.AES(derived), modes.CTR(bytes(16))).encryptor().update(key)


def chain(name, text, rounds):
    for _ in range(max(rounds, 1)):
        text = hashlib.new(name, text).digest()
    return text


def rows():
    for text in PASSWORDS:
        password = text.encode()
        yield row(text, signed_scrypt(password, SALT, b'\x07', KEY, 8, 10), hashAlgorithm='SCRYPT', signerKey=letters(KEY),
                  saltSeparator=letters(b'\x07'), rounds=8, memoryCost=10)
        for length in 32, 64:
            yield row(text, hashlib.scrypt(password, salt=SALT, n=1024, r=8, p=2, dklen=length), hashAlgorithm='STANDARD_SCRYPT',
                      cpuMemCost=1024, blockSize=8, parallelization=2, dkLen=length)
        bcrypt = crypt.crypt(text, '$2b$04$abcdefghijklmnopqrstuu').encode()
        for version in b'2a', b'2b', b'2y':
            yield row(text, b'$' + version + bcrypt[3:], hashAlgorithm='BCRYPT')
        yield row(text, hashlib.pbkdf2_hmac('sha256', password, SALT, 1000, 64), hashAlgorithm='PBKDF2_SHA256', rounds=1000)
        yield row(text, hashlib.pbkdf2_hmac('sha1', password, SALT, 1000, 20), hashAlgorithm='PBKDF_SHA1', rounds=1000)
        for name, digest in DIGESTS.items():
            first, last = SALT + password, password + SALT
            keyed = {'hashAlgorithm': f'HMAC_{name}', 'signerKey': letters(KEY)}
            yield row(text, hmac.digest(KEY, last, digest), **keyed)
            yield row(text, hmac.digest(KEY, last, digest), **keyed, passwordHashOrder='PASSWORD_AND_SALT')
            yield row(text, hmac.digest(KEY, first, digest), **keyed, passwordHashOrder='SALT_AND_PASSWORD')
            for rounds in 0, 1, 5:
                yield row(text, chain(digest, first, rounds), hashAlgorithm=name, rounds=rounds)
                yield row(text, chain(digest, last, rounds), hashAlgorithm=name, rounds=rounds, passwordHashOrder='PASSWORD_AND_SALT')
            yield row(text, chain(digest, first, 1).hex().encode(), hashAlgorithm=name, rounds=0)


def main():
    own = [{'password': text, 'hash': '$scrypt$ln=15,r=8,p=1$' + '$'.join(
        base64.b64encode(part).decode().rstrip('=') for part in (
            bytes(16), hashlib.scrypt(text.encode(), salt=bytes(16), n=1 << 15, r=8, p=1, dklen=32, maxmem=1 << 27)))} for text in PASSWORDS]
    lines = ',\n'.join(json.dumps(item) for item in rows())
    own_lines = ',\n'.join(json.dumps(item) for item in own)
    Path('vectors.json').write_text(f'{{"own": [\n{own_lines}\n], "imported": [\n{lines}\n]}}\n')


main()
