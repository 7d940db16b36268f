"""The users as functions administer them: every operation of the plugin library, and the service behind it."""

import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

from hearth import Host, merged
from identity import EVERY_WAY, PASSWORD, Identity, claims

SETTINGS = {'project': 'demo-p', 'auth': {'apiKeys': ['fake-api-key'], 'signIn': EVERY_WAY, 'plugins': ['Conformance'],
                                          'publicUrl': 'https://id.example.org', 'authorizedDomains': ['example.org']}}


def served(folder, mode, **settings):
    config = merged(SETTINGS, {'auth': settings}) if mode == 'production' else {'project': 'demo-p', 'auth': settings}
    return Host(folder, ['Conformance'], mode=mode, config=config)


@pytest.fixture(scope='module', params=['development', 'production'])
def host(request, tmp_path_factory):
    host = served(tmp_path_factory.mktemp('users'), request.param).start()
    yield host
    host.stop()


@pytest.fixture
def identity(host):
    with Identity(host) as identity:
        identity.empty()
        yield identity


@pytest.fixture
def do(host, identity):
    """Takes one step in a function."""
    def step(do, **more):
        return host.result('administerUsers', {'do': do, **more}, timeout=30)
    return step


@pytest.fixture
def raw(host, identity):
    """Calls the service."""
    def call(method, payload=None):
        return host.result('usersRaw', {'method': method, 'payload': payload if payload is not None else {}}, timeout=30)
    return call


def refused(answer):
    assert set(answer) == {'refused', 'message'}, answer
    assert answer['message']
    return answer['refused']


# -- users

def test_a_user_from_creation_to_deletion(do, identity):
    made = do('create', uid='ada', email='Ada@example.com', password=PASSWORD, name='Ada', phone='+15555550100', verified=True)
    assert made == {'uid': 'ada', 'email': 'ada@example.com', 'name': 'Ada', 'phone': '+15555550100', 'verified': True,
                    'disabled': False, 'claims': {},
                    'providers': ['password ada@example.com', 'phone +15555550100'], 'isNew': made['isNew'], 'hasPassword': True, 'factors': 0}
    assert identity.sign_in('ada@example.com')['localId'] == 'ada'
    for way in ({'do': 'get', 'uid': 'ada'}, {'do': 'getByEmail', 'email': 'ADA@example.com'}, {'do': 'getByPhone', 'phone': '+15555550100'}):
        assert do(**way)['uid'] == 'ada'
    changed = do('update', uid='ada', name='Countess', provider='facebook.com', rawId='42', remove=['phone'])
    assert (changed['name'], changed['providers']) == ('Countess', ['password ada@example.com', 'facebook.com 42']) and 'phone' not in changed
    assert do('getByProvider', provider='facebook.com', uid='42')['uid'] == 'ada'
    changed = do('update', uid='ada', remove=['facebook.com', 'name', 'password'], disabled=True)
    assert not changed['hasPassword'] and changed['disabled'] and 'name' not in changed and changed['providers'] == []
    assert do('delete', uid='ada') is None
    assert refused(do('get', uid='ada')) == 'auth/user-not-found'
    assert refused(do('delete', uid='ada')) == 'auth/user-not-found'


def test_a_new_user_gets_an_id(do):
    assert len(do('create')['uid']) == 28


def test_many_users(do):
    assert do('import', uids=[f'u{number}' for number in range(7)]) == {'imported': 7, 'failures': []}
    assert do('list', size=3) == [f'u{number}' for number in range(7)]
    assert do('list') == [f'u{number}' for number in range(7)]
    assert do('getMany', uids=['u1', 'u9', 'u2'], email='U3@example.com') == {'users': ['u1', 'u2', 'u3'], 'missing': 1}
    assert do('deleteMany', uids=['u1', 'u2', 'nobody']) == {'deleted': 3, 'failures': []}
    assert do('list') == ['u0', 'u3', 'u4', 'u5', 'u6']
    assert do('import', uids=['u0', ''])['failures'] == ['1 localId is missing']


def test_custom_claims(do, identity):
    identity.managed('accounts', localId='ada', email='a@example.com', password=PASSWORD)
    do('claims', uid='ada', claims={'admin': True, 'snake_case': 1})
    assert do('get', uid='ada')['claims'] == {'admin': True, 'snake_case': 1}
    assert claims(identity.sign_in('a@example.com')['idToken'])['snake_case'] == 1
    do('claims', uid='ada')
    assert do('get', uid='ada')['claims'] == {}
    assert refused(do('claims', uid='ada', claims={'sub': 1})) == 'auth/forbidden-claim'
    assert refused(do('claims', uid='ada', claims={'a': 'x' * 1000})) == 'auth/claims-too-large'


@pytest.mark.parametrize('step,code', [
    ({'do': 'create', 'uid': 'taken'}, 'uid-already-exists'), ({'do': 'create', 'email': 'taken@example.com'}, 'email-already-exists'),
    ({'do': 'create', 'phone': '+15555550199'}, 'phone-number-already-exists'), ({'do': 'create', 'email': 'x'}, 'invalid-email'),
    ({'do': 'create', 'phone': '12'}, 'invalid-phone-number'), ({'do': 'create', 'password': 'short'}, 'invalid-password'),
    ({'do': 'update', 'uid': 'nobody', 'name': 'x'}, 'user-not-found'), ({'do': 'update', 'uid': '', 'name': 'x'}, 'invalid-uid'),
    ({'do': 'revoke', 'uid': 'nobody'}, 'user-not-found'), ({'do': 'customToken', 'uid': ''}, 'invalid-uid'),
    ({'do': 'customToken', 'uid': 'x' * 129}, 'invalid-uid'), ({'do': 'customToken', 'uid': 'a', 'claims': {'aud': 1}}, 'forbidden-claim'),
    ({'do': 'cookie', 'token': 'x'}, 'invalid-id-token'), ({'do': 'cookie', 'token': 'x', 'seconds': 299}, 'invalid-session-cookie-duration'),
    ({'do': 'verify', 'token': 'x'}, 'argument-error'), ({'do': 'verify'}, 'argument-error'),
    ({'do': 'verifyCookie', 'token': 'a.b.c'}, 'argument-error'),
    ({'do': 'resetLink', 'email': 'nobody@example.com'}, 'email-not-found'), ({'do': 'verifyLink', 'email': 'nobody@example.com'}, 'user-not-found'),
    ({'do': 'list', 'size': 1001}, 'invalid-argument'), ({'do': 'getMany', 'uids': [str(number) for number in range(101)]},
                                                         'maximum-user-count-exceeded'),
])
def test_refusals(step, code, host, identity):
    identity.managed('accounts', localId='taken', email='taken@example.com', phoneNumber='+15555550199')
    assert refused(host.result('administerUsers', step, timeout=30)) == f'auth/{code}'


# -- tokens

def test_custom_tokens(do, identity):
    token = do('customToken', uid='new', claims={'premium_account': True})
    signed_in = identity.do('accounts:signInWithCustomToken', token=token, returnSecureToken=True)
    assert signed_in['isNewUser'] is True
    found = claims(signed_in['idToken'])
    assert (found['sub'], found['premium_account'], found['firebase']['sign_in_provider']) == ('new', True, 'custom')
    assert claims(identity.refreshed(signed_in['refreshToken'])['id_token'])['premium_account'] is True
    if identity.host.mode == 'production':
        header, payload, signature = token.split('.')
        assert identity.refused('accounts:signInWithCustomToken', token=f'{header}.{payload}.{signature[:-8]}AAAAAAAA')
        assert (identity.host.data / 'users/custom-token.keys').stat().st_mode & 0o777 == 0o600
        assert refused(do('verify', token=token)) == 'auth/argument-error'


def test_id_tokens(do, identity):
    user = identity.sign_up('a@example.com')
    assert do('verify', token=user['idToken'], checked=True) == {'uid': user['localId'], 'claims': claims(user['idToken'])}
    identity.managed('accounts:update', localId=user['localId'], validSince=str(claims(user['idToken'])['iat'] + 1))
    assert do('verify', token=user['idToken'])['uid'] == user['localId']
    assert refused(do('verify', token=user['idToken'], checked=True)) == 'auth/id-token-revoked'
    do('update', uid=user['localId'], disabled=True)
    assert refused(do('verify', token=user['idToken'], checked=True)) == 'auth/user-disabled'
    do('delete', uid=user['localId'])
    assert refused(do('verify', token=user['idToken'], checked=True)) == 'auth/user-not-found'


def test_revoking_ends_sessions(do, identity):
    user = identity.sign_up('a@example.com')
    do('revoke', uid=user['localId'])
    assert int(identity.user(user['localId'])['validSince']) >= claims(user['idToken'])['iat']


def test_session_cookies(do, identity):
    user = identity.sign_up('a@example.com')
    cookie = do('cookie', token=user['idToken'], seconds=600)
    found = do('verifyCookie', token=cookie, checked=True)
    assert found['uid'] == user['localId'] and found['claims']['exp'] == found['claims']['iat'] + 600
    assert refused(do('verify', token=cookie)) == 'auth/argument-error'
    assert refused(do('verifyCookie', token=user['idToken'])) == 'auth/argument-error'
    identity.managed('accounts:update', localId=user['localId'], validSince=str(found['claims']['iat'] + 1))
    assert refused(do('verifyCookie', token=cookie, checked=True)) == 'auth/session-cookie-revoked'


def test_links(do, identity):
    identity.sign_up('a@example.com')
    base = f'http://127.0.0.1:{identity.host.port}/emulator/action'
    if identity.host.mode == 'production':
        base = 'https://id.example.org/__/auth/action'
    url = 'https://www.example.org/next'
    for step, mode in (('resetLink', 'resetPassword'), ('verifyLink', 'verifyEmail'), ('signInLink', 'signIn')):
        link = do(step, email='a@example.com', url=url)
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))
        assert link.startswith(base) and (query['mode'], query['continueUrl']) == (mode, url)
        if step == 'verifyLink':
            identity.do('accounts:update', oobCode=query['oobCode'])
            assert do('getByEmail', email='a@example.com')['verified']
    assert 'mode=verifyAndChangeEmail' in do('changeLink', email='a@example.com', newEmail='b@example.com')
    assert refused(do('signInLink', email='a@example.com', url='nonsense')) == 'auth/invalid-continue-uri'
    if identity.host.mode == 'production':
        assert refused(do('signInLink', email='a@example.com', url='https://evil.example.net/')) == 'auth/unauthorized-continue-uri'


def test_tenants(do, identity):
    tenant = do('createTenant')
    assert do('create', uid='ada', email='a@example.com', tenant=tenant)['tenant'] == tenant
    assert refused(do('get', uid='ada')) == 'auth/user-not-found'
    token = do('customToken', uid='ada', tenant=tenant)
    signed_in = identity.do('accounts:signInWithCustomToken', token=token, tenantId=tenant, returnSecureToken=True)
    assert do('verify', token=signed_in['idToken'], tenant=tenant)['claims']['firebase']['tenant'] == tenant
    other = identity.sign_up('b@example.com')
    assert refused(do('verify', token=other['idToken'], tenant=tenant)) == 'auth/mismatching-tenant-id'
    assert do('tenants', tenantId=tenant) == {'same': True, 'listed': True}
    if identity.host.mode == 'production':
        assert refused(do('create', tenant=tenant)) == 'auth/tenant-not-found'
        assert refused(do('customToken', uid='ada', tenant=tenant)) == 'auth/tenant-not-found'


# -- identity providers and settings

def test_identity_providers(do, identity):
    for tenant in ({}, {'tenant': do('createTenant')}):
        wanted = {'id': 'oidc.work', 'client': 'c', 'issuer': 'https://id.example.org', 'name': 'Work', 'enabled': True, 'code': True}
        assert do('createProvider', **wanted, **tenant) == wanted
        assert refused(do('createProvider', **wanted, **tenant)) == 'auth/configuration-exists'
        assert do('getProvider', id='oidc.work', **tenant) == wanted
        assert do('updateProvider', id='oidc.work', enabled=False, code=False, **tenant) == {**wanted, 'enabled': False, 'code': False}
        do('createProvider', **{**wanted, 'id': 'oidc.z'}, **tenant)
        assert do('listProviders', **tenant) == {'ids': ['oidc.work', 'oidc.z'], 'hasMore': False}
        assert do('listProviders', size=1, **tenant) == {'ids': ['oidc.work'], 'hasMore': True}
        do('deleteProvider', id='oidc.z', **tenant)
        do('deleteProvider', id='oidc.work', **tenant)
        assert refused(do('getProvider', id='oidc.work', **tenant)) == 'auth/configuration-not-found'
        assert refused(do('updateProvider', id='oidc.work', name='x', **tenant)) == 'auth/configuration-not-found'
        assert refused(do('createProvider', id='work', **tenant)) == 'auth/invalid-provider-id'


def test_settings(do, identity):
    place = '/identitytoolkit.googleapis.com/v2/projects/demo-p/config'
    before = identity.ask('GET', place).json
    try:
        assert do('rules', tenantId=do('createTenant')) == {'kept': True}
        assert do('rules') == {'kept': True}
        after = identity.ask('GET', place).json
        assert after['signIn']['phoneNumber'] == {'enabled': True, 'testPhoneNumbers': {'+15555550100': '123456'}}
        assert after['signIn']['email'] == before['signIn']['email'], 'others stay'
        assert refused(do('badNumbers')) == 'auth/invalid-testing-phone-number'
    finally:
        assert identity.ask('PATCH', place, before).status == 200


# -- the service

@pytest.mark.parametrize('method,payload,code,reason', [
    ('accounts:explode', {}, 'unimplemented', 'operation-not-allowed'), ('accounts:signUp', {}, 'unimplemented', 'operation-not-allowed'),
    ('config', {}, 'unimplemented', 'operation-not-allowed'), ('config:update', {}, 'invalid-argument', 'argument-error'),
    ('config:update', {'quota': 1}, 'invalid-argument', 'argument-error'), ('oauthIdpConfigs:get', {}, 'invalid-argument', 'invalid-provider-id'),
    ('accounts:lookup', [], 'invalid-argument', 'argument-error'),
    ('accounts:lookup', {'localId': 'a'}, 'invalid-argument', 'argument-error'),
    ('accounts:update', {'idToken': 'x'}, 'invalid-argument', 'argument-error'),
    ('verifyIdToken', {'idToken': 'x', 'checkrevoked': True}, 'invalid-argument', 'argument-error'),
    ('accounts:batchGet', {'maxResults': -1}, 'invalid-argument', 'invalid-argument'),
    ('tenants:update', {'displayName': 'x'}, 'invalid-argument', 'invalid-tenant-id'),
    ('tenants:delete', {}, 'invalid-argument', 'invalid-tenant-id'), ('tenants:update', {'tenantId': 'x'}, 'invalid-argument', 'argument-error'),
    ('accounts:batchDelete', {'localIds': []}, 'invalid-argument', 'maximum-user-count-exceeded'),
    ('accounts:batchCreate', {'users': []}, 'invalid-argument', 'maximum-user-count-exceeded'),
])
def test_payloads_that_are_none(method, payload, code, reason, raw):
    answer = raw(method, payload)
    assert (answer['refused'], answer['details']) == (code, {'reason': reason}), answer


def test_an_unknown_member_is_named(raw):
    assert raw('verifyIdToken', {'idToken': 'x', 'checkrevoked': True})['message'].startswith(
        'the payload is not valid: verifyIdToken has no member "checkrevoked"; it has checkRevoked, idToken, tenantId')


def test_a_query(raw, do):
    do('import', uids=['a', 'b', 'c'])
    found = raw('accounts:query', {'sortBy': 'USER_EMAIL', 'order': 'DESC', 'limit': 2})
    assert [user['localId'] for user in found['userInfo']] == ['c', 'b']


def test_calls_of_many_functions_at_once(host, do, identity):
    """More calls than may run at the same time are all answered."""
    with ThreadPoolExecutor(12) as pool:
        made = list(pool.map(lambda number: host.result('administerUsers', {'do': 'create', 'uid': f'p{number}'}, timeout=60)['uid'], range(60)))
    assert made == [f'p{number}' for number in range(60)] and len(identity.every_user()) == 60


# -- permission

def test_a_plugin_needs_the_permission_in_production(tmp_path):
    host = Host(tmp_path, ['Conformance'], config={'project': 'demo-p'}).start()
    try:
        with Identity(host) as identity:
            identity.managed('accounts', localId='ada')
            for step in ('get', 'delete', 'customToken'):
                answer = host.result('administerUsers', {'do': step, 'uid': 'ada'})
                assert answer == {'refused': 'auth/insufficient-permission',
                                  'message': 'the plugin Conformance may not call the service auth; name it in auth.plugins of functions.json'}
            assert host.result('usersRaw', {'method': 'accounts:batchGet'})['refused'] == 'permission-denied'
            assert identity.user('ada')
    finally:
        host.stop()


@pytest.mark.parametrize('plugins,allowed', [(['*'], True), (['Other'], False), ([], False)])
def test_the_permission(plugins, allowed, tmp_path):
    host = served(tmp_path, 'development', plugins=plugins).start()
    try:
        assert ('refused' not in host.result('administerUsers', {'do': 'list'})) == allowed
    finally:
        host.stop()
