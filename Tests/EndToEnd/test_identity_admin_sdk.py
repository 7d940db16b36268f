"""The Admin SDK for Python, unmodified, as the administrator of users: led to the host by its environment only, in both modes."""

import base64
import hashlib
import hmac
import itertools
import json
import time

import firebase_admin
import pytest
from firebase_admin import auth, credentials, exceptions, tenant_mgt

from google_gateway import GoogleGateway
from identity import PASSWORD, Identity, claims, sign_in_host

numbers = itertools.count()
OWN = 'https://api.example.org'


class World:
    """A host in one mode, an app of the SDK, and a client of the sign-in."""

    def __init__(self, mode, folder, patch):
        # The host name of the requests is that of the service which the SDK knows. Links need the host's own.
        config = {'auth': {'publicUrl': OWN}} if mode == 'production' else {}
        self.mode, self.host = mode, sign_in_host(folder, mode, config).start()
        self.identity = Identity(self.host)
        self.gateway = GoogleGateway(folder, self.host.port)
        for name, value in self.gateway.environment.items():
            patch.setenv(name, value)
        if mode == 'development':
            patch.setenv('FIREBASE_AUTH_EMULATOR_HOST', f'127.0.0.1:{self.host.port}')
        self.account = self.identity.service_account()
        key = folder / 'key.json'
        key.write_text(json.dumps(self.account))
        self.app = firebase_admin.initialize_app(credentials.Certificate(str(key)), name=f'identity-{mode}')

    def close(self):
        firebase_admin.delete_app(self.app)
        self.gateway.close()
        self.identity.close()
        self.host.stop()


@pytest.fixture(scope='module', params=['development', 'production'])
def world(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        world = World(request.param, tmp_path_factory.mktemp(request.param), patch)
        yield world
        world.close()


@pytest.fixture
def app(world):
    return world.app


@pytest.fixture
def identity(world):
    return world.identity


@pytest.fixture
def email():
    return f'user{next(numbers)}@example.com'


def phone():
    return f'+1555555{next(numbers):04}'


def test_creating_getting_and_deleting(app, email):
    number = phone()
    user = auth.create_user(email=email.upper(), password=PASSWORD, display_name='Ada', phone_number=number,
                            photo_url='https://example.com/a.png', email_verified=True, app=app)
    assert (user.email, user.display_name, user.phone_number, user.email_verified, user.disabled) == (email, 'Ada', number, True, False)
    assert user.user_metadata.creation_timestamp > 1_700_000_000_000
    assert {entry.provider_id for entry in user.provider_data} == {'password', 'phone'}
    for found in (auth.get_user(user.uid, app=app), auth.get_user_by_email(email, app=app), auth.get_user_by_phone_number(number, app=app)):
        assert found.uid == user.uid
    auth.delete_user(user.uid, app=app)
    with pytest.raises(auth.UserNotFoundError):
        auth.get_user(user.uid, app=app)
    with pytest.raises(auth.UserNotFoundError):
        auth.delete_user(user.uid, app=app)


def test_conflicts(app, email):
    number = phone()
    auth.create_user(uid=f'own-{email}', email=email, phone_number=number, app=app)
    with pytest.raises(auth.UidAlreadyExistsError):
        auth.create_user(uid=f'own-{email}', app=app)
    with pytest.raises(auth.EmailAlreadyExistsError):
        auth.create_user(email=email.upper(), app=app)
    with pytest.raises(auth.PhoneNumberAlreadyExistsError):
        auth.create_user(phone_number=number, app=app)


def test_a_user_without_a_sign_in_has_no_time_of_it(world, app):
    if world.mode == 'production':
        user = auth.create_user(app=app)
        assert user.user_metadata.last_sign_in_timestamp is None
        assert user.user_metadata.last_refresh_timestamp is None


def test_updating(app, identity, email):
    user = auth.create_user(email=email, password=PASSWORD, display_name='Ada', photo_url='https://example.com/a.png', app=app)
    changed = auth.update_user(user.uid, display_name=auth.DELETE_ATTRIBUTE, photo_url=auth.DELETE_ATTRIBUTE, email_verified=True,
                               password='another1', app=app)
    assert (changed.display_name, changed.photo_url, changed.email_verified) == (None, None, True)
    assert identity.refused('accounts:signInWithPassword', email=email, password=PASSWORD) in ('INVALID_PASSWORD', 'INVALID_LOGIN_CREDENTIALS')
    assert identity.sign_in(email, 'another1')['localId'] == user.uid
    auth.update_user(user.uid, disabled=True, app=app)
    assert identity.refused('accounts:signInWithPassword', email=email, password='another1').startswith('USER_DISABLED')
    auth.update_user(user.uid, disabled=False, app=app)
    identity.sign_in(email, 'another1')
    with pytest.raises(auth.UserNotFoundError):
        auth.update_user('nobody', display_name='x', app=app)


def test_looking_up_many(app, email):
    number = phone()
    first, second = auth.create_user(email=email, app=app), auth.create_user(phone_number=number, app=app)
    federated = auth.ImportUserRecord(f'fed-{email}', email=f'f{email}', provider_data=[auth.UserProvider('raw-' + email, 'google.com')])
    assert auth.import_users([federated], app=app).success_count == 1
    found = auth.get_users([auth.UidIdentifier(first.uid), auth.EmailIdentifier(email), auth.PhoneIdentifier(number), auth.UidIdentifier('ghost'),
                            auth.ProviderIdentifier('google.com', 'raw-' + email)], app=app)
    assert {user.uid for user in found.users} == {first.uid, second.uid, f'fed-{email}'}
    assert [missing.uid for missing in found.not_found] == ['ghost']


def test_listing(app):
    wanted = {auth.create_user(uid=f'listed-{number:03}', app=app).uid for number in range(25)}
    page = auth.list_users(max_results=10, app=app)
    assert len(page.users) == 10 and page.has_next_page
    uids = [user.uid for user in page.iterate_all()]
    assert uids == sorted(uids) and wanted <= set(uids)
    after = auth.list_users(page_token='listed-010', max_results=5, app=app)
    assert [user.uid for user in after.users] == [f'listed-{number:03}' for number in range(11, 16)]


def test_deleting_many(app):
    uids = [auth.create_user(app=app).uid for _ in range(5)]
    result = auth.delete_users([*uids, 'ghost'], app=app)
    assert (result.success_count, result.failure_count) == (6, 0)
    assert auth.get_users([auth.UidIdentifier(uid) for uid in uids], app=app).users == []


def test_claims(app, identity, email):
    user = auth.create_user(email=email, password=PASSWORD, app=app)
    auth.set_custom_user_claims(user.uid, {'role': 'admin', 'level': 3}, app=app)
    assert auth.get_user(user.uid, app=app).custom_claims == {'role': 'admin', 'level': 3}
    signed_in = identity.sign_in(email)
    assert claims(signed_in['idToken'])['role'] == 'admin'
    auth.set_custom_user_claims(user.uid, None, app=app)
    assert not auth.get_user(user.uid, app=app).custom_claims
    assert 'role' not in claims(identity.refreshed(signed_in['refreshToken'])['id_token'])
    with pytest.raises(ValueError, match='must not exceed 1000 characters'):
        auth.set_custom_user_claims(user.uid, {'key': 'x' * 1000}, app=app)


def test_custom_tokens(app, identity):
    token = auth.create_custom_token('custom-1', {'role': 'x'}, app=app).decode()
    signed_in = identity.do('accounts:signInWithCustomToken', token=token, returnSecureToken=True)
    verified = auth.verify_id_token(signed_in['idToken'], app=app, clock_skew_seconds=5)
    assert (verified['uid'], verified['role'], verified['firebase']['sign_in_provider']) == ('custom-1', 'x', 'custom')
    again = identity.do('accounts:signInWithCustomToken', token=auth.create_custom_token('custom-1', app=app).decode(), returnSecureToken=True)
    assert again['isNewUser'] is False


def test_verifying_and_revoking(app, identity, email):
    user = identity.sign_up(email)
    verified = auth.verify_id_token(user['idToken'], app=app, check_revoked=True, clock_skew_seconds=5)
    assert (verified['uid'], verified['email'], verified['email_verified']) == (user['localId'], email, False)
    # The second in which a token was issued is not revoked.
    time.sleep(1.1)
    auth.revoke_refresh_tokens(user['localId'], app=app)
    auth.verify_id_token(user['idToken'], app=app, clock_skew_seconds=5)
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(user['idToken'], app=app, check_revoked=True, clock_skew_seconds=5)
    fresh = identity.sign_in(email)
    auth.verify_id_token(fresh['idToken'], app=app, check_revoked=True, clock_skew_seconds=5)
    auth.update_user(user['localId'], disabled=True, app=app)
    with pytest.raises(auth.UserDisabledError):
        auth.verify_id_token(fresh['idToken'], app=app, check_revoked=True, clock_skew_seconds=5)


def test_foreign_tokens(app, world, identity, email):
    token = identity.sign_up(email)['idToken']
    with pytest.raises(auth.InvalidIdTokenError):
        auth.verify_id_token('garbage', app=app)
    with pytest.raises(auth.InvalidSessionCookieError):
        auth.verify_session_cookie(token, app=app, clock_skew_seconds=5)
    if world.mode == 'production':
        head, body, signature = token.split('.')
        with pytest.raises(auth.InvalidIdTokenError):
            auth.verify_id_token(f'{head}.{body}.{signature[:-8]}AAAAAAAA', app=app, clock_skew_seconds=5)


def test_session_cookies(app, identity, email):
    user = identity.sign_up(email)
    cookie = auth.create_session_cookie(user['idToken'], expires_in=3600, app=app)
    verified = auth.verify_session_cookie(cookie, app=app, check_revoked=True, clock_skew_seconds=5)
    assert (verified['uid'], verified['email']) == (user['localId'], email)
    assert verified['exp'] - verified['iat'] == 3600
    assert verified['iss'] == f'https://session.firebase.google.com/{identity.project}'
    with pytest.raises(auth.InvalidIdTokenError):
        auth.verify_id_token(cookie, app=app, clock_skew_seconds=5)
    time.sleep(1.1)
    auth.revoke_refresh_tokens(user['localId'], app=app)
    with pytest.raises(auth.RevokedSessionCookieError):
        auth.verify_session_cookie(cookie, app=app, check_revoked=True, clock_skew_seconds=5)
    with pytest.raises(auth.InvalidIdTokenError):
        auth.create_session_cookie('garbage', expires_in=3600, app=app)


def test_action_links(app, identity, world, email):
    auth.create_user(email=email, password=PASSWORD, app=app)
    settings = auth.ActionCodeSettings('http://localhost/after?x=1', handle_code_in_app=True)
    link = auth.generate_password_reset_link(email, settings, app=app)
    assert 'mode=resetPassword' in link and 'continueUrl=' in link
    assert link.startswith(OWN if world.mode == 'production' else 'http://127.0.0.1:')
    reset = identity.do('accounts:resetPassword', oobCode=code_in(link), newPassword='another1')
    assert (reset['email'], reset['requestType']) == (email, 'PASSWORD_RESET')
    identity.sign_in(email, 'another1')
    link = auth.generate_email_verification_link(email, app=app)
    assert identity.do('accounts:update', oobCode=code_in(link))['emailVerified'] is True
    link = auth.generate_sign_in_with_email_link(email, settings, app=app)
    assert 'mode=signIn' in link
    assert identity.do('accounts:signInWithEmailLink', email=email, oobCode=code_in(link))['email'] == email
    with pytest.raises(exceptions.FirebaseError):
        auth.generate_password_reset_link('nobody-at-all@example.com', app=app)


def code_in(link):
    return link.partition('oobCode=')[2].partition('&')[0]


# -- import

def hashed_users():
    """For each kind of hash that an import may bring: its name, its algorithm, and the hash of PASSWORD with a salt."""
    password, salt, key = PASSWORD.encode(), b'salt-of-user', b'signer-key'
    plain = {
        'hmac-sha256': (auth.UserImportHash.hmac_sha256(key), hmac.new(key, password + salt, 'sha256').digest()),
        'hmac-sha512': (auth.UserImportHash.hmac_sha512(key), hmac.new(key, password + salt, 'sha512').digest()),
        'hmac-sha1': (auth.UserImportHash.hmac_sha1(key), hmac.new(key, password + salt, 'sha1').digest()),
        'hmac-md5': (auth.UserImportHash.hmac_md5(key), hmac.new(key, password + salt, 'md5').digest()),
        'sha256': (auth.UserImportHash.sha256(1), hashlib.sha256(salt + password).digest()),
        'sha512': (auth.UserImportHash.sha512(1), hashlib.sha512(salt + password).digest()),
        'sha1': (auth.UserImportHash.sha1(1), hashlib.sha1(salt + password).digest()),
        'md5': (auth.UserImportHash.md5(0), hashlib.md5(salt + password).hexdigest().encode()),
        'pbkdf2-sha256': (auth.UserImportHash.pbkdf2_sha256(1000), hashlib.pbkdf2_hmac('sha256', password, salt, 1000, 64)),
        'pbkdf-sha1': (auth.UserImportHash.pbkdf_sha1(1000), hashlib.pbkdf2_hmac('sha1', password, salt, 1000)),
        'standard-scrypt': (auth.UserImportHash.standard_scrypt(1024, 16, 8, 64), hashlib.scrypt(password, salt=salt, n=1024, r=8, p=16, dklen=64)),
    }
    return [pytest.param(name, algorithm, digest, salt, id=name) for name, (algorithm, digest) in plain.items()]


@pytest.mark.parametrize('name, algorithm, digest, salt', hashed_users())
def test_imported_passwords(app, identity, name, algorithm, digest, salt, world):
    email = f'{name}@example.com'
    record = auth.ImportUserRecord(f'import-{name}', email=email, email_verified=True, password_hash=digest, password_salt=salt)
    result = auth.import_users([record], hash_alg=algorithm, app=app)
    assert (result.success_count, result.failure_count) == (1, 0), [error.reason for error in result.errors]
    assert identity.refused('accounts:signInWithPassword', email=email, password='wrong-password') in (
        'INVALID_PASSWORD', 'INVALID_LOGIN_CREDENTIALS')
    for _ in range(2):
        assert identity.sign_in(email)['localId'] == f'import-{name}'


def test_import_of_the_service_s_own_scrypt(app, identity):
    """The example that the service publishes with its scrypt."""
    algorithm = auth.UserImportHash.scrypt(
        key=base64.b64decode('jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=='),
        salt_separator=base64.b64decode('Bw=='), rounds=8, memory_cost=14)
    record = auth.ImportUserRecord(
        'import-scrypt', email='scrypt@example.com', password_salt=base64.b64decode('42xEC+ixf3L2lw=='),
        password_hash=base64.urlsafe_b64decode('lSrfV15cpx95_sZS2W9c9Kp6i_LVgQNDNC_qzrCnh1SAyZvqmZqAjTdn3aoItz-VHjoZilo78198JAdRuid5lQ=='))
    assert auth.import_users([record], hash_alg=algorithm, app=app).success_count == 1
    assert identity.sign_in('scrypt@example.com', 'user1password')['localId'] == 'import-scrypt'


def test_import_of_everything_else(app):
    metadata = auth.UserMetadata(creation_timestamp=1_500_000_000_000, last_sign_in_timestamp=1_500_000_001_000)
    number = phone()
    record = auth.ImportUserRecord(
        'import-full', email='full@example.com', email_verified=True, display_name='Full', phone_number=number, photo_url='https://example.com/f.png',
        disabled=True, user_metadata=metadata, custom_claims={'role': 'x'},
        provider_data=[auth.UserProvider('g-1', 'google.com', email='full@example.com'), auth.UserProvider('f-1', 'facebook.com')])
    bad = auth.ImportUserRecord('import-bad', email='full@example.com')
    result = auth.import_users([record, bad], app=app)
    assert (result.success_count, result.failure_count) == (1, 1)
    assert result.errors[0].index == 1
    user = auth.get_user('import-full', app=app)
    assert (user.display_name, user.phone_number, user.disabled, user.custom_claims) == ('Full', number, True, {'role': 'x'})
    assert (user.user_metadata.creation_timestamp, user.user_metadata.last_sign_in_timestamp) == (1_500_000_000_000, 1_500_000_001_000)
    assert [entry.provider_id for entry in user.provider_data] == ['google.com', 'facebook.com', 'phone']


def test_exported_passwords_are_no_use_to_a_reader(app, world, email):
    auth.create_user(email=email, password=PASSWORD, app=app)
    found = next(user for user in auth.list_users(app=app).iterate_all() if user.email == email)
    if world.mode == 'production':
        assert found.password_hash and PASSWORD not in base64.b64decode(found.password_hash).decode(errors='replace')


# -- tenants and providers

def test_tenants(app, world, identity, email):
    tenant = tenant_mgt.create_tenant('first-tenant', allow_password_sign_up=True, enable_email_link_sign_in=True, app=app)
    assert (tenant.display_name, tenant.allow_password_sign_up, tenant.enable_email_link_sign_in) == ('first-tenant', True, True)
    assert tenant_mgt.get_tenant(tenant.tenant_id, app=app).display_name == 'first-tenant'
    changed = tenant_mgt.update_tenant(tenant.tenant_id, display_name='second-name', enable_email_link_sign_in=False, app=app)
    assert (changed.display_name, changed.allow_password_sign_up, changed.enable_email_link_sign_in) == ('second-name', True, False)
    others = {tenant_mgt.create_tenant(f'tenant-{number}', app=app).tenant_id for number in range(3)}
    listed = [found.tenant_id for found in tenant_mgt.list_tenants(max_results=2, app=app).iterate_all()]
    assert {tenant.tenant_id, *others} <= set(listed) and listed == sorted(listed)
    client = tenant_mgt.auth_for_tenant(tenant.tenant_id, app=app)
    user = client.create_user(email=email, password=PASSWORD)
    assert user.tenant_id == tenant.tenant_id
    with pytest.raises(auth.UserNotFoundError):
        auth.get_user(user.uid, app=app)
    signed_in = identity.sign_in(email, tenantId=tenant.tenant_id)
    assert client.verify_id_token(signed_in['idToken'], clock_skew_seconds=5)['firebase']['tenant'] == tenant.tenant_id
    other = tenant_mgt.auth_for_tenant(others.pop(), app=app)
    with pytest.raises(tenant_mgt.TenantIdMismatchError):
        other.verify_id_token(signed_in['idToken'], clock_skew_seconds=5)
    custom = client.create_custom_token('custom-tenant').decode()
    answer = identity.do('accounts:signInWithCustomToken', token=custom, tenantId=tenant.tenant_id, returnSecureToken=True)
    assert claims(answer['idToken'])['firebase']['tenant'] == tenant.tenant_id
    tenant_mgt.delete_tenant(tenant.tenant_id, app=app)
    # In development a tenant is made when it is first mentioned.
    if world.mode == 'production':
        with pytest.raises(tenant_mgt.TenantNotFoundError):
            tenant_mgt.get_tenant(tenant.tenant_id, app=app)


def test_providers_of_openid_connect(app):
    created = auth.create_oidc_provider_config('oidc.first', 'client-1', 'https://issuer.example.com', display_name='First', enabled=True,
                                               client_secret='secret', code_response_type=True, id_token_response_type=False, app=app)
    assert (created.provider_id, created.client_id, created.issuer, created.enabled) == ('oidc.first', 'client-1', 'https://issuer.example.com', True)
    assert (created.code_response_type, created.client_secret) == (True, 'secret')
    assert not created.id_token_response_type
    changed = auth.update_oidc_provider_config('oidc.first', display_name='Other', enabled=False, client_id='client-2', app=app)
    assert (changed.display_name, changed.enabled, changed.client_id) == ('Other', False, 'client-2')
    auth.create_oidc_provider_config('oidc.second', 'c', 'https://issuer.example.com', app=app)
    assert {'oidc.first', 'oidc.second'} <= {found.provider_id for found in auth.list_oidc_provider_configs(max_results=1, app=app).iterate_all()}
    auth.delete_oidc_provider_config('oidc.first', app=app)
    with pytest.raises(auth.ConfigurationNotFoundError):
        auth.get_oidc_provider_config('oidc.first', app=app)


def test_providers_of_saml(app, world):
    if world.mode == 'production':
        with pytest.raises(exceptions.InvalidArgumentError, match='Sign-in with SAML is not supported by this host'):
            auth.create_saml_provider_config('saml.first', 'e', 'https://idp.example.com/sso', ['c'], 's', 'https://demo-p.example.com/', app=app)
        return
    created = auth.create_saml_provider_config('saml.first', 'idp-entity', 'https://idp.example.com/sso', ['certificate-1', 'certificate-2'],
                                               'sp-entity', 'https://demo-p.example.com/__/auth/handler', display_name='First', enabled=True, app=app)
    assert (created.idp_entity_id, created.sso_url, created.rp_entity_id) == ('idp-entity', 'https://idp.example.com/sso', 'sp-entity')
    assert created.x509_certificates == ['certificate-1', 'certificate-2']
    changed = auth.update_saml_provider_config('saml.first', x509_certificates=['certificate-3'], enabled=False, app=app)
    assert (changed.x509_certificates, changed.enabled, changed.idp_entity_id) == (['certificate-3'], False, 'idp-entity')
    assert 'saml.first' in {found.provider_id for found in auth.list_saml_provider_configs(app=app).iterate_all()}
    auth.delete_saml_provider_config('saml.first', app=app)
    with pytest.raises(auth.ConfigurationNotFoundError):
        auth.get_saml_provider_config('saml.first', app=app)


def test_nothing_else_was_asked(world):
    """No request went to a name that the gateway does not lead to the host."""
    assert set(world.gateway.asked) <= {'identitytoolkit.googleapis.com', 'www.googleapis.com'}
