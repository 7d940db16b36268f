"""The configured cost of password hashes: that of new ones, and of older ones from their next sign-in on."""

import base64

from identity import PASSWORD, Identity, sign_in_host


def stored_hash(identity):
    return base64.b64decode(identity.every_user()[0]['passwordHash']).decode()


def test_a_hash_gets_todays_cost_at_the_next_sign_in(tmp_path):
    host = sign_in_host(tmp_path, config={'auth': {'passwordHash': {'costLog2': 10}}}).start()
    with Identity(host) as identity:
        identity.sign_up('ada@example.com')
        assert stored_hash(identity).startswith('$scrypt$ln=10,r=8,p=1$')
    host.stop()
    host = sign_in_host(tmp_path, config={'auth': {'passwordHash': {'costLog2': 11, 'parallelization': 2}}}).start()
    with Identity(host) as identity:
        identity.refused('accounts:signInWithPassword', email='ada@example.com', password='wrong password')
        assert stored_hash(identity).startswith('$scrypt$ln=10,'), 'a wrong password changes nothing'
        identity.sign_in('ada@example.com', PASSWORD)
        assert stored_hash(identity).startswith('$scrypt$ln=11,r=8,p=2$')
        identity.sign_in('ada@example.com', PASSWORD)
    host.stop()
