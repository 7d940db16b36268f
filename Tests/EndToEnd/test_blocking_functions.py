"""Functions that decide about sign-ups, sign-ins and messages while these wait: input, changes, refusals, deadlines, and other requests meanwhile."""

import json
import re
import threading

import pytest

from blocking import CODE, REFUSED, GatedHost
from commands import Commands
from databases import Database
from hearth import ROOT, Host
from identity import PASSWORD, Identity, claims, refusal, sign_in_host, succeeded
from processes import until
from tokens import PROJECT


@pytest.fixture(scope='module', params=[1, 2], ids=['one loop', 'two loops'])
def host(tmp_path_factory, request):
    """The tests share this host; each has its own users."""
    host = GatedHost(tmp_path_factory.mktemp('gated'), server={'loops': request.param}).start()
    try:
        yield host
        host.stop()
    finally:
        host.abandon()


@pytest.fixture
def own(tmp_path):
    """Makes a host for one test."""
    hosts = []

    def make(**more):
        hosts.append(GatedHost(tmp_path / f'host{len(hosts)}', **more))
        return hosts[-1].start()
    yield make
    for host in hosts:
        host.abandon()


@pytest.fixture
def identity(host):
    with Identity(host) as identity:
        yield identity


def users(identity, email):
    return identity.managed('accounts:lookup', email=[email]).get('users', [])


def refused_sign_up(identity, email, status=400):
    return identity.refused('accounts:signUp', status, email=email, password=PASSWORD, returnSecureToken=True)


# -- what they are given

def test_the_event_of_a_sign_up(host, identity):
    headers = {'User-Agent': 'test/1', 'X-Firebase-Locale': 'fr'}
    answer = identity.post('accounts:signUp', headers, email='told@example.com', password=PASSWORD, displayName='Ada')
    uid = succeeded(answer, 'signUp')['localId']
    [create] = host.asked('gate', 'told@example.com')
    [sign_in] = host.asked('door', 'told@example.com')
    for event, kind, is_new in ((create, 'beforeCreate', True), (sign_in, 'beforeSignIn', False)):
        assert event['type'] == f'providers/cloud.auth/eventTypes/user.{kind}:password' and event['authType'] == 'USER'
        assert event['ipAddress'].startswith('127.') and event['userAgent'] == 'test/1' and event['locale'] == 'fr'
        assert event['resource'] == f'projects/{PROJECT}' and 'credential' not in event
        assert event['additionalUserInfo'] == {'providerId': 'password', 'isNewUser': is_new}
        assert event['user']['uid'] == uid and event['user']['email'] == 'told@example.com' and event['user']['displayName'] == 'Ada'
        assert 'hash' not in json.dumps(event).lower()
    assert create['id'] != sign_in['id']


def test_credentials_are_those_that_the_function_asks_for(host, identity):
    token = json.dumps({'sub': '9', 'email': 'cred@example.com', 'email_verified': True, 'name': 'Eve'})
    succeeded(identity.with_provider('google.com', id_token=token, access_token='an-access-token'), 'provider')
    [create], [sign_in] = (host.asked(function, 'cred@example.com') for function in ('gate', 'door'))
    assert create['type'].endswith(':google.com') and create['additionalUserInfo']['profile']['email'] == 'cred@example.com'
    assert 'idToken' not in create.get('credential', {}) and 'accessToken' not in sign_in.get('credential', {})
    assert sign_in['credential']['idToken'] and sign_in['credential']['providerId'] == 'google.com'


def test_anonymous_custom_and_administrators_users_are_not_asked_about(host, identity):
    before = len(host.asked())
    identity.sign_up()
    identity.do('accounts:signInWithCustomToken', token=json.dumps({'uid': 'custom'}), returnSecureToken=True)
    identity.managed('accounts', localId='made', email='refuse-create.made@example.com', password=PASSWORD)
    assert len(host.asked()) == before
    identity.sign_in('refuse-create.made@example.com')
    assert len(host.asked()) == before + 1


def test_tenants(host, identity):
    identity.do('accounts:signUp', email='tenant@example.com', password=PASSWORD, tenantId='blue', returnSecureToken=True)
    [create] = host.asked('gate', 'tenant@example.com')
    assert create['tenantId'] == 'blue' == create['user']['tenantId'] and create['resource'] == f'projects/{PROJECT}/tenants/blue'


# -- what they decide

def test_refusals(host, identity):
    assert refused_sign_up(identity, 'refuse-create@example.com') == REFUSED
    assert users(identity, 'refuse-create@example.com') == []
    # The user is created, as at the original; each sign-in is refused.
    assert refused_sign_up(identity, 'refuse-signin@example.com') == REFUSED
    [user] = users(identity, 'refuse-signin@example.com')
    assert identity.refused('accounts:signInWithPassword', email='refuse-signin@example.com', password=PASSWORD) == REFUSED
    assert 'lastLoginAt' not in users(identity, 'refuse-signin@example.com')[0] or user['lastLoginAt'] == user['createdAt']
    assert refused_sign_up(identity, 'block-create@example.com').startswith('CAPTCHA_CHECK_FAILED')
    assert users(identity, 'block-create@example.com') == []


def test_changes_before_the_creation(host, identity):
    made = identity.sign_up('changed-create@example.com')
    [user] = users(identity, 'changed-create@example.com')
    assert (user['displayName'], user['photoUrl'], user['emailVerified']) == ('Given', 'https://example.com/p.png', True)
    assert json.loads(user['customAttributes']) == {'role': 'staff'} and user['localId'] == made['localId']
    token = claims(made['idToken'])
    assert token['role'] == 'staff' and token['name'] == 'Given' and 'session' not in token
    # The function for sign-ins has seen the changed user.
    [sign_in] = host.asked('door', 'changed-create@example.com')
    assert sign_in['user']['displayName'] == 'Given' and sign_in['user']['uid'] == made['localId']


def test_session_claims_stay_through_refreshes(host, identity):
    identity.sign_up('changed-signin@example.com')
    signed_in = identity.sign_in('changed-signin@example.com')
    token = claims(signed_in['idToken'])
    # A claim of the session wins over one of the user.
    assert token['session'] == 'yes' and token['role'] == 'guest'
    count = len(host.asked('door', 'changed-signin@example.com'))
    refreshed = identity.refreshed(signed_in['refreshToken'])
    again = claims(identity.refreshed(refreshed['refresh_token'])['id_token'])
    assert again['session'] == 'yes' and again['role'] == 'guest'
    assert len(host.asked('door', 'changed-signin@example.com')) == count
    assert json.loads(users(identity, 'changed-signin@example.com')[0]['customAttributes']) == {'role': 'staff'}


def test_disabled_users(host, identity):
    assert refused_sign_up(identity, 'disabled-create@example.com') == 'USER_DISABLED'
    assert users(identity, 'disabled-create@example.com')[0]['disabled'] is True
    assert host.asked('door', 'disabled-create@example.com') == []
    identity.managed('accounts', email='disabled-signin@example.com', password=PASSWORD)
    assert identity.refused('accounts:signInWithPassword', email='disabled-signin@example.com', password=PASSWORD) == 'USER_DISABLED'
    assert users(identity, 'disabled-signin@example.com')[0]['disabled'] is True


@pytest.mark.parametrize(('word', 'status', 'message'), [
    ('garbage', 500, CODE + '((Response body is not an object.))'),
    ('mistyped', 500, CODE + '((disabled must be a boolean.))'),
    ('reserved', 400, 'FORBIDDEN_CLAIM : iss'),
    ('large', 400, 'CLAIMS_TOO_LARGE'),
])
def test_wrong_answers_refuse(host, identity, word, status, message):
    email = f'{word}-create@example.com'
    assert refused_sign_up(identity, email, status) == message
    assert users(identity, email) == []
    identity.managed('accounts', email=f'{word}-signin@example.com', password=PASSWORD)
    assert identity.refused('accounts:signInWithPassword', status, email=f'{word}-signin@example.com', password=PASSWORD) == message


def test_reserved_session_claims(host, identity):
    identity.managed('accounts', email='session-reserved-signin@example.com', password=PASSWORD)
    answer = identity.post('accounts:signInWithPassword', email='session-reserved-signin@example.com', password=PASSWORD)
    assert refusal(answer, 400).startswith('FORBIDDEN_CLAIM')


def test_late_and_crashed_functions_refuse(host, identity):
    assert refused_sign_up(identity, 'late-create@example.com', 500) == CODE + '((Deadline exceeded making request to beforeCreate.))'
    assert refused_sign_up(identity, 'crash-create@example.com', 500).startswith(CODE + '((Failed to make request to beforeCreate')
    assert users(identity, 'late-create@example.com') == [] == users(identity, 'crash-create@example.com')
    identity.sign_up('after-crash@example.com')


# -- messages

def test_mails(host, identity):
    sent = {'requestType': 'EMAIL_SIGNIN', 'continueUrl': 'http://localhost'}
    identity.do('accounts:sendOobCode', email='fine@example.com', **sent)
    [event] = host.asked('mails', 'fine@example.com')
    assert event['emailType'] == 'EMAIL_SIGN_IN' and event['user'] is None and event['authType'] == 'UNAUTHENTICATED'
    assert event['additionalUserInfo'] == {'email': 'fine@example.com', 'isNewUser': False}
    assert event['type'] == 'providers/cloud.auth/eventTypes/user.beforeSendEmail'
    assert identity.refused('accounts:sendOobCode', email='refuse-mail@example.com', **sent) == REFUSED
    assert identity.refused('accounts:sendOobCode', email='block-mail@example.com', **sent).startswith('CAPTCHA_CHECK_FAILED')
    codes = succeeded(identity.ask('GET', f'/emulator/v1/projects/{PROJECT}/oobCodes'), 'codes')['oobCodes']
    assert [code['email'] for code in codes if code['email'].endswith('-mail@example.com')] == []
    identity.sign_up('reset@example.com')
    identity.do('accounts:sendOobCode', email='reset@example.com', requestType='PASSWORD_RESET')
    assert host.asked('mails', 'reset@example.com')[0]['emailType'] == 'PASSWORD_RESET'


def test_text_messages(host, identity):
    identity.do('accounts:sendVerificationCode', phoneNumber='+15555550101')
    [event] = host.asked('texts', '+15555550101')
    assert event['smsType'] == 'SIGN_IN_OR_SIGN_UP'
    assert identity.refused('accounts:sendVerificationCode', phoneNumber='+15555550199') == REFUSED
    codes = succeeded(identity.ask('GET', f'/emulator/v1/projects/{PROJECT}/verificationCodes'), 'codes')['verificationCodes']
    assert '+15555550199' not in [code['phoneNumber'] for code in codes]


def test_each_way_to_sign_in(host, identity):
    sent = identity.do('accounts:sendVerificationCode', phoneNumber='+15555550102')
    codes = succeeded(identity.ask('GET', f'/emulator/v1/projects/{PROJECT}/verificationCodes'), 'codes')['verificationCodes']
    code = next(code['code'] for code in codes if code['sessionInfo'] == sent['sessionInfo'])
    identity.do('accounts:signInWithPhoneNumber', sessionInfo=sent['sessionInfo'], code=code)
    assert [host.asked(function, '+15555550102')[0]['type'].split(':')[1] for function in ('gate', 'door')] == ['phone', 'phone']
    identity.do('accounts:sendOobCode', email='bylink@example.com', requestType='EMAIL_SIGNIN', continueUrl='http://localhost')
    codes = succeeded(identity.ask('GET', f'/emulator/v1/projects/{PROJECT}/oobCodes'), 'codes')['oobCodes']
    code = next(code['oobCode'] for code in codes if code['email'] == 'bylink@example.com')
    identity.do('accounts:signInWithEmailLink', email='bylink@example.com', oobCode=code)
    [create] = host.asked('gate', 'bylink@example.com')
    assert create['type'].endswith(':emailLink') and create['additionalUserInfo']['providerId'] == 'password'


def test_second_factors(host, identity):
    identity.ask('PATCH', f'/identitytoolkit.googleapis.com/v2/projects/{PROJECT}/config?updateMask=mfa',
                 {'mfa': {'state': 'ENABLED', 'enabledProviders': ['PHONE_SMS']}})
    identity.managed('accounts', email='changed-signin.mfa@example.com', password=PASSWORD, emailVerified=True,
                     mfaInfo=[{'phoneInfo': '+15555550103'}])
    pending = identity.do('accounts:signInWithPassword', email='changed-signin.mfa@example.com', password=PASSWORD)
    credential = pending['mfaPendingCredential']
    assert host.asked('door', 'signin.mfa@example.com') == []
    started = succeeded(identity.post('accounts/mfaSignIn:start', version='v2', mfaPendingCredential=credential,
                                      mfaEnrollmentId=pending['mfaInfo'][0]['mfaEnrollmentId'], phoneSignInInfo={}), 'start')
    assert host.asked('texts', '+15555550103')[0]['smsType'] == 'MULTI_FACTOR_SIGN_IN'
    session = started['phoneResponseInfo']['sessionInfo']
    codes = succeeded(identity.ask('GET', f'/emulator/v1/projects/{PROJECT}/verificationCodes'), 'codes')['verificationCodes']
    code = next(code['code'] for code in codes if code['sessionInfo'] == session)
    done = succeeded(identity.post('accounts/mfaSignIn:finalize', version='v2', mfaPendingCredential=credential,
                                   phoneVerificationInfo={'sessionInfo': session, 'code': code}), 'finalize')
    [event] = host.asked('door', 'signin.mfa@example.com')
    assert event['secondFactor'] == 'phone' and event['type'].endswith(':password')
    token = claims(done['idToken'])
    assert token['session'] == 'yes' and token['firebase']['sign_in_second_factor'] == 'phone'


# -- others meanwhile

def test_a_slow_function_holds_up_nobody_else(own):
    host, results = own(), []
    with Identity(host) as identity:
        identity.managed('accounts', email='hold-signin.slow@example.com', password=PASSWORD)

        def sign_in():
            with Identity(host) as other:
                results.append(other.sign_in('hold-signin.slow@example.com'))
        thread = threading.Thread(target=sign_in)
        thread.start()
        until(lambda: host.asked('door', 'hold-signin.slow@example.com'), 'the slow call')
        for number in range(10):
            identity.sign_up(f'meanwhile{number}@example.com')
            identity.managed('accounts:lookup', email=[f'meanwhile{number}@example.com'])
        assert results == []
        release(host)
        thread.join()
        assert claims(results[0]['idToken'])['held'] is True
    host.stop()


def release(host):
    """Lets the functions answer that hold their answers."""
    for folder in host.data.glob('workers/*'):
        (folder / 'release').touch()


def test_a_user_who_changes_meanwhile_is_judged_again(own):
    host, results = own(), []
    with Identity(host) as identity:
        identity.managed('accounts', localId='held', email='hold-signin@example.com', password=PASSWORD)

        def sign_in():
            with Identity(host) as other:
                results.append(other.sign_in('hold-signin@example.com'))
        thread = threading.Thread(target=sign_in)
        thread.start()
        until(lambda: host.asked('door', 'hold-signin@example.com'), 'the call')
        identity.managed('accounts:update', localId='held', displayName='Renamed')
        release(host)
        thread.join()
        assert claims(results[0]['idToken'])['held'] is True
        assert [event['user'].get('displayName') for event in host.asked('door', 'hold-signin@example.com')] == [None, 'Renamed']
    host.stop()


# -- production

def test_in_production(tmp_path):
    """Refresh tokens are replaced there, and the session's claims stay; a refused sign-in leaves no session."""
    host = sign_in_host(tmp_path, plugins=['blocking']).start()
    try:
        with Identity(host) as identity:
            assert refused_sign_up(identity, 'refuse-create@example.com') == REFUSED
            identity.sign_up('changed-signin@example.com')
            token = identity.sign_in('changed-signin@example.com')['refreshToken']
            for _ in range(3):
                answer = identity.refreshed(token)
                assert answer['refresh_token'] != token
                token = answer['refresh_token']
                assert claims(answer['id_token'])['session'] == 'yes'
            assert refused_sign_up(identity, 'refuse-signin@example.com') == REFUSED
            assert len(users(identity, 'refuse-signin@example.com')) == 1
            host.kill()
            host.start()
        with Identity(host) as identity:
            assert claims(identity.refreshed(token)['id_token'])['role'] == 'guest'
        host.stop()
    finally:
        host.abandon()


# -- in Swift

def test_the_functions_of_the_page(tmp_path):
    page = (ROOT / 'docs/user-functions.md').read_text()
    source = (ROOT / 'Tests/Plugins/Members/Members.swift').read_text()
    for block in re.findall(r'```swift\nlet functions = Functions {\n(.*?)^}\n```', page, re.DOTALL | re.MULTILINE):
        assert block in source
    host = Host(tmp_path, ['Members'], mode='development').start()
    try:
        with Identity(host) as identity, Database(host, f'{PROJECT}-default-rtdb') as database:
            message = refused_sign_up(identity, 'eve@elsewhere.org')
            assert json.loads(message.split('error: ', 1)[1]) == {'error': {'message': 'Use your work e-mail.', 'status': 'PERMISSION_DENIED'}}
            made = identity.sign_up('ada@example.com', displayName='Ada')
            token = claims(made['idToken'])
            assert token['staff'] is True and token['address'].startswith('127.')
            until(lambda: database.get(f'/profiles/{made["localId"]}.json') == {'name': 'Ada'}, 'the profile')
            assert 'Not to this country.' in identity.refused('accounts:sendVerificationCode', phoneNumber='+15555550100')
            identity.do('accounts:sendVerificationCode', phoneNumber='+4915555550100')
            identity.do('accounts:delete', idToken=made['idToken'])
            until(lambda: database.get('/profiles.json') is None, 'no profile')
        host.stop()
    finally:
        host.abandon()


# -- deployments

def test_they_are_no_endpoints(host, tmp_path):
    assert host.request('POST', f'/{PROJECT}/us-central1/gate', {}, b'{}').status == 404
    commands = Commands(host, tmp_path / 'commands')
    listed = {entry['name']: entry for entry in commands.result('functions:list')['functions']}
    assert listed['gate']['trigger'] == 'providers/cloud.auth/eventTypes/user.beforeCreate' and 'url' not in listed['gate']
    assert (listed['gate']['timeoutSeconds'], listed['mails']['timeoutSeconds']) == (2, 7)
    assert 'called by sign-ins' in commands.run('functions:call', 'gate', 'null').sentence


def test_one_function_of_a_kind_decides(tmp_path):
    host = Host(tmp_path, ['blocking', 'Members'], mode='development').start()
    try:
        # `gate` comes before `onlyOurs`, and `door` before `remember`.
        host.until_logged('onlyOurs: gate runs on providers/cloud.auth/eventTypes/user.beforeCreate already')
        with Identity(host) as identity:
            identity.sign_up('eve@elsewhere.org')
        host.stop()
    finally:
        host.abandon()


def test_a_function_that_cannot_be_loaded_refuses(own):
    host = own()
    whole = host.config
    host.stop()
    for artifact in host.data.glob('artifacts/*.so'):
        artifact.unlink()
    host.config_path.write_text(json.dumps({**whole, 'plugins': {'blocking': {'library': str(host.config_path)}}}))
    host.start()
    with Identity(host) as identity:
        assert refused_sign_up(identity, 'closed@example.com', 500).startswith(CODE + '((Failed to make request')
        # Nobody is asked about these.
        identity.sign_up()
    host.stop()
    host.config_path.write_text(json.dumps({**whole, 'plugins': {}}))
    host.start()
    with Identity(host) as identity:
        identity.sign_up('refuse-create.open@example.com')
    host.stop()
