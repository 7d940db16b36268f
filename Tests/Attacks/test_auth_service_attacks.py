"""A plugin that misuses the service `auth`: hostile payloads, floods, and calls without the permission."""

import pytest

from hearth import Host
from identity import API, Identity

NESTED = '[' * 60 + ']' * 60
OPERATIONS = ['accounts:create', 'accounts:lookup', 'accounts:update', 'accounts:delete', 'accounts:batchDelete', 'accounts:batchGet',
              'accounts:batchCreate', 'accounts:query', 'accounts:sendOobCode', 'createSessionCookie', 'createCustomToken', 'verifyIdToken',
              'verifySessionCookie', 'tenants:create', 'tenants:get', 'tenants:update', 'tenants:delete', 'tenants:list', 'accounts:nothing', '']


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('attacked'), ['Conformance'], config={'project': 'demo-p', 'auth': {'plugins': ['Conformance']}}).start()
    yield host
    host.stop()


@pytest.fixture(scope='module')
def closed(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('closed'), ['Conformance'], config={'project': 'demo-p', 'auth': {'plugins': ['Other']}}).start()
    yield host
    host.stop()


def call(host, method, payload=None, **more):
    return host.result('usersRaw', {'method': method, 'payload': payload or {}, **more}, timeout=60)


@pytest.mark.parametrize('method', OPERATIONS)
def test_no_operation_without_the_permission(method, closed):
    answer = call(closed, method, {'localId': 'x', 'uid': 'x', 'tenantId': '', 'users': [{'localId': 'x'}]})
    assert (answer['refused'], answer['details']) == ('permission-denied', {'reason': 'insufficient-permission'})
    assert 'auth.plugins' in answer['message']
    with Identity(closed) as identity:
        assert identity.every_user() == []


@pytest.mark.parametrize('method,payload', [
    ('accounts:create', {'localId': 'x' * 129}), ('accounts:create', {'localId': 5}), ('accounts:create', {'email': 'a\x00@example.com' * 50}),
    ('accounts:create', {'password': 'x' * 5000}), ('accounts:create', {'mfaInfo': [{'phoneInfo': 'x'}]}), ('accounts:create', {'mfaInfo': {}}),
    ('accounts:create', {'__proto__': {'admin': True}}), ('accounts:create', {'tenantId': {'a': 1}}),
    ('accounts:create', {'isAdmin': True}), ('accounts:update', {'localId': 'ada', 'customAttributes': NESTED}),
    ('accounts:update', {'localId': 'ada', 'customAttributes': '{"firebase": {}}'}), ('accounts:update', {'localId': 'ada', 'validSince': 'never'}),
    ('accounts:update', {'localId': 'ada', 'oobCode': 'x'}), ('accounts:update', {'localId': ['ada']}),
    ('accounts:lookup', {'localId': [1]}), ('accounts:lookup', {'localId': ['x'] * 1001}), ('accounts:lookup', {'federatedUserId': ['x']}),
    ('accounts:batchGet', {'maxResults': 10 ** 18}), ('accounts:batchGet', {'maxResults': 0}), ('accounts:batchDelete', {'localIds': ['x'] * 1001}),
    ('accounts:batchCreate', {'users': [{}] * 1001}), ('accounts:batchCreate', {'users': 'all'}),
    ('accounts:sendOobCode', {'requestType': 'PASSWORD_RESET', 'email': 'nobody@example.com', 'returnOobLink': True}),
    ('accounts:sendOobCode', {'requestType': 99}),
    ('accounts:sendOobCode', {'requestType': 'EMAIL_SIGNIN', 'email': 'a@b.c', 'continueUrl': 'javascript:x'}),
    ('verifyIdToken', {'idToken': 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.'}), ('verifyIdToken', {'idToken': 'x' * 500_000}),
    ('verifyIdToken', {'idToken': 'a.b.c', 'checkRevoked': 'no'}), ('verifySessionCookie', {'sessionCookie': '..'}),
    ('createCustomToken', {'uid': 'ada', 'claims': {'sub': 'root'}}), ('createCustomToken', {'uid': 'ada', 'claims': {'a': 'x' * 2000}}),
    ('createCustomToken', {'uid': 'ada', 'claims': []}), ('tenants:get', {'tenantId': '../../x'}),
    ('tenants:update', {'tenantId': 'none', 'displayName': 'x'}),
])
def test_hostile_payloads_are_refused(method, payload, host):
    answer = call(host, method, payload)
    assert set(answer) == {'refused', 'message', 'details'} and answer['details']['reason'] and answer['message'], answer
    assert answer['refused'] in ('invalid-argument', 'not-found', 'unauthenticated', 'failed-precondition'), answer
    with Identity(host) as identity:
        assert identity.ask('GET', f'{API}/v1/projects/demo-p/accounts:batchGet').status == 200


def test_payloads_that_are_too_large(host):
    answer = call(host, 'accounts:create', padding=(1 << 20) + 1)
    assert (answer['refused'], answer['details']['reason']) == ('resource-exhausted', 'argument-error') and '1 MiB' in answer['message']
    answer = call(host, 'accounts:batchCreate', padding=(10 << 20) + 1)
    assert answer['refused'] == 'resource-exhausted' and '10 MiB' in answer['message']
    answer = call(host, 'accounts:lookup', padding=70 << 20)
    assert answer['refused'] == 'resource-exhausted'


def test_a_flood_holds_up_nobody_else(host):
    assert call(host, 'accounts:lookup', {'localId': ['x']}, count=5000) == 0
    with Identity(host) as identity:
        assert identity.user('x') is None


def test_no_secret_is_logged(host):
    secret = 'do-not-log-this-password'
    call(host, 'accounts:create', {'localId': 'logged', 'password': secret, 'email': 'no'})
    token = call(host, 'createCustomToken', {'uid': 'logged'})['customToken']
    assert secret not in host.log and token not in host.log
