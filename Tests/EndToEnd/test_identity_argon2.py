"""Users imported with hashes by Argon2: they sign in, and get a hash of this host. Another implementation has made the hashes."""

import base64

import pytest
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from identity_scene import scene_of, stage  # noqa: F401

SALT = b'salt of a user'
PARAMETERS = {'hashType': 'ARGON2_ID', 'hashLengthBytes': 32, 'parallelism': 4, 'iterations': 2, 'memoryCostKib': 8192, 'version': 'VERSION_13'}
scene = scene_of()


def encoded(content):
    return base64.urlsafe_b64encode(content).decode()


def hashed(password, **more):
    values = {**PARAMETERS, **more}
    return Argon2id(salt=SALT, length=values['hashLengthBytes'], iterations=values['iterations'], lanes=values['parallelism'],
                    memory_cost=values['memoryCostKib'], ad=more.get('ad')).derive(password.encode())


def imported(scene, content, parameters, salt=SALT):
    user = {'localId': 'ada', 'email': 'ada@example.com', 'passwordHash': encoded(content), 'salt': encoded(salt)}
    answer = scene.identity.managed('accounts:batchCreate', users=[user], hashAlgorithm='ARGON2', argon2Parameters=parameters)
    assert 'error' not in answer


def test_a_password(scene):
    imported(scene, hashed('correct horse'), PARAMETERS)
    assert scene.identity.refused('accounts:signInWithPassword', email='ada@example.com', password='wrong horse') == 'INVALID_PASSWORD'
    assert scene.identity.sign_in('ada@example.com', 'correct horse')['localId'] == 'ada'
    # The hash is one of the host now: the salt and the algorithm of the import are gone.
    assert scene.identity.sign_in('ada@example.com', 'correct horse')['localId'] == 'ada'
    listed = [user for user in scene.identity.every_user() if user['localId'] == 'ada'][0]
    assert encoded(hashed('correct horse')) not in str(listed)


def test_associated_data(scene):
    imported(scene, hashed('correct horse', ad=b'pepper'), {**PARAMETERS, 'associatedData': encoded(b'pepper')})
    assert scene.identity.sign_in('ada@example.com', 'correct horse')['localId'] == 'ada'


@pytest.mark.parametrize('change', [{'memoryCostKib': 1 << 21}, {'iterations': 1_000_000}, {'parallelism': 0}, {'hashType': 'ARGON2_X'},
                                    {'version': 'VERSION_12'}, {'hashLengthBytes': 64}, {'associatedData': '*'}], ids=str)
def test_parameters_out_of_bounds_match_no_password(scene, change):
    """They cost no more than an unknown user does."""
    imported(scene, hashed('correct horse'), {**PARAMETERS, **change})
    assert scene.identity.refused('accounts:signInWithPassword', email='ada@example.com', password='correct horse') == 'INVALID_PASSWORD'
