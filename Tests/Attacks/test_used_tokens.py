"""An App Check token that was consumed counts once: after a restart, a crash and an upgrade, and however its signature is written."""

import string

import pytest


def used(host, token):
    return host.result('consumesAppCheck', app=token)['alreadyConsumed']


@pytest.mark.parametrize('end', ['stop', 'kill'])
def test_a_used_token_stays_used(launch, keys, end):
    host = launch(keys=keys)
    first, second = keys.app_token(), keys.app_token()
    assert not used(host, first)
    getattr(host, end)()
    host.start()
    assert [used(host, token) for token in (first, second, first, second)] == [True, False, True, True]
    assert (host.data / 'app-check.sqlite').stat().st_mode & 0o777 == 0o600


def test_another_spelling_of_the_signature(launch, keys):
    """The last letter of a signature in base64url has bits that mean nothing."""
    host = launch(keys=keys)
    token = keys.app_token()
    assert not used(host, token)
    for letter in string.ascii_letters + string.digits + '-_':
        answer = host.callable('consumesAppCheck', app=token[:-1] + letter)
        assert answer.status == 401 or answer.json['result']['alreadyConsumed'], letter
