"""Attackers of sign-in: what a host answers them, and what that costs it."""

import re

from identity import refusal

WRONG = ('INVALID_PASSWORD', 'INVALID_LOGIN_CREDENTIALS')
LOCKED = 'TOO_MANY_ATTEMPTS_TRY_LATER'


def shown(answer):
    """The parts of an answer by which a stranger could tell two users apart."""
    text = re.sub(r'[\w.]+@example\.com', 'MAIL', answer.body.decode())
    text = re.sub(r'"sessionId":\s*"[^"]*"', '"sessionId":""', text)
    names = sorted(name.lower() for name, _ in answer.headers if name.lower() != 'content-length')
    return answer.status, text, names


def processor_seconds(host, work):
    """The processor time that a host needs for some work."""
    before = used_seconds(host)
    work()
    return used_seconds(host) - before


def used_seconds(host):
    with open(f'/proc/{host.pid}/stat', encoding='ascii') as stat:
        fields = stat.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def fail_often(identity, email, count=10):
    """Tries to sign in with a wrong password."""
    for _ in range(count):
        assert identity.refused('accounts:signInWithPassword', email=email, password='wrong-password').startswith(WRONG)


def pending(identity, email):
    """The credential and the factor of a sign-in of a user who has a second factor."""
    answer = identity.sign_in(email)
    assert 'idToken' not in answer and 'refreshToken' not in answer, answer
    return answer['mfaPendingCredential'], answer['mfaInfo'][0]['mfaEnrollmentId']


def is_ended(answer):
    """Whether a refresh is refused because the session has ended."""
    return refusal(answer).startswith(('TOKEN_EXPIRED', 'INVALID_REFRESH_TOKEN'))
