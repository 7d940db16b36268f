"""Functions that decide: requests that they are not asked about, and the state after their refusals."""

import json

from blocking import REFUSED, GatedHost
from identity import PASSWORD, Identity, refusal, succeeded


def test_nobody_is_asked_about_what_the_host_refuses(tmp_path):
    host = GatedHost(tmp_path / 'host', auth={'limits': {'textsPerAccount': 1, 'mailsPerAccount': 1}}).start()
    try:
        with Identity(host) as identity:
            identity.managed('accounts', email='mfa@example.com', password=PASSWORD, emailVerified=True)
            token = identity.sign_in('mfa@example.com')['idToken']
            answer = identity.post('accounts/mfaEnrollment:start', version='v2', idToken=token, phoneEnrollmentInfo={'phoneNumber': 'nonsense'})
            assert refusal(answer).startswith('INVALID_PHONE_NUMBER') and host.asked('texts', 'nonsense') == []
            sent = {'requestType': 'EMAIL_SIGNIN', 'continueUrl': 'http://localhost'}
            for action, function, body in (('accounts:sendVerificationCode', 'texts', {'phoneNumber': '+15555550104'}),
                                           ('accounts:sendOobCode', 'mails', {'email': 'twice@example.com', **sent})):
                identity.do(action, **body)
                assert identity.refused(action, **body).startswith('TOO_MANY_ATTEMPTS_TRY_LATER')
                assert len(host.asked(function, list(body.values())[0])) == 1
        host.stop()
    finally:
        host.abandon()


def test_a_refusal_leaves_the_pending_token(tmp_path):
    """The provider's credential may be one that counts once."""
    host = GatedHost(tmp_path / 'host').start()
    try:
        with Identity(host) as identity:
            email = 'refuse-create.pending@example.com'
            uid = identity.managed('accounts', email=email, password=PASSWORD)['localId']
            token = json.dumps({'sub': 'pending', 'email': email, 'email_verified': False})
            answer = succeeded(identity.with_provider('facebook.com', id_token=token), 'provider')
            assert answer['needConfirmation'] is True
            identity.managed('accounts:delete', localId=uid)
            pending = answer['pendingToken']
            for _ in range(2):
                assert refusal(identity.with_provider(pendingToken=pending)) == REFUSED
            identity.managed('accounts', localId='linked', email='pending@example.com', password=PASSWORD)
            own = identity.sign_in('pending@example.com')['idToken']
            succeeded(identity.with_provider(pendingToken=pending, idToken=own), 'link')
            assert refusal(identity.with_provider(pendingToken=pending)) == 'INVALID_PENDING_TOKEN', 'it was used'
        host.stop()
    finally:
        host.abandon()
