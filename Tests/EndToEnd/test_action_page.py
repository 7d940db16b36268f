"""The page that links of mails lead to: without scripts, for friends and strangers, with curl and in a browser."""

import contextlib
import html
import json
import re
import subprocess
import urllib.parse

import pytest

from browser import Browser, Page
from identity import API, PASSWORD, refusal, succeeded
from identity_scene import scene_of, stage  # noqa: F401
from local_server import Handler, LocalServer

PAGE = '/__/auth/action'
HOSTILE = '"><script>alert(1)</script>&\'`'
strict = scene_of('strict', testHooks=True)
development = scene_of('emulator')


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp('browser')) as browser:
        yield browser


@pytest.fixture
def page(browser):
    with Page(browser) as page:
        yield page


@pytest.fixture
def application():
    """The page of an application, on an origin of its own."""
    class Answer(Handler):
        def do_GET(self):
            content = b'<!DOCTYPE html><title>app</title><body>app'
            self.send_response(200)
            self.send_header('Content-Type', 'text/html')
            self.send_header('Content-Length', str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with LocalServer(Answer) as server:
        yield server


def link(scene, kind, email, **more):
    """The link of a mail, as an administrator gets it, and its parameters."""
    answer = scene.identity.managed('accounts:sendOobCode', requestType=kind, email=email, returnOobLink=True, **more)
    parts = urllib.parse.urlsplit(answer['oobLink'])
    return answer['oobLink'], dict(urllib.parse.parse_qsl(parts.query)), parts.path


def get(scene, **query):
    return scene.identity.send('GET', f'{PAGE}?{urllib.parse.urlencode(query)}')


def post(scene, **form):
    headers = {'Content-Type': 'application/x-www-form-urlencoded'}
    return scene.identity.send('POST', PAGE, headers, urllib.parse.urlencode(form).encode())


def shown(answer):
    """The text of a page, and the fields of its form."""
    body = answer.body.decode()
    fields = {name: html.unescape(value) for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', body)}
    return html.unescape(re.sub(r'<[^>]+>', ' ', body.split('<body>')[1])), fields


def test_links_of_production_point_to_the_page(strict, development):
    strict.identity.sign_up('ada@example.com')
    for kind, mode in (('PASSWORD_RESET', 'resetPassword'), ('VERIFY_EMAIL', 'verifyEmail'), ('EMAIL_SIGNIN', 'signIn')):
        _, query, path = link(strict, kind, 'ada@example.com', continueUrl='http://localhost/next')
        assert (path, query['mode']) == (PAGE, mode)
    development.identity.sign_up('ada@example.com')
    assert link(development, 'VERIFY_EMAIL', 'ada@example.com')[2] == '/emulator/action'


def test_a_password_is_reset_with_curl(strict):
    """The link is only looked at, as programs that check mails do; then the form is posted."""
    identity = strict.identity
    identity.sign_up('ada@example.com')
    address, query, _ = link(strict, 'PASSWORD_RESET', 'ada@example.com', continueUrl='http://localhost/next?a=1&b=2')
    for _ in range(3):
        text = subprocess.run(['curl', '-sS', address], capture_output=True, text=True, timeout=30, check=True).stdout
        assert 'ada@example.com' in text and '<script' not in text
    assert identity.sign_in('ada@example.com')['email'] == 'ada@example.com'
    _, fields = shown(get(strict, **query))
    assert fields['oobCode'] == query['oobCode'] and fields['continueUrl'] == 'http://localhost/next?a=1&b=2'
    weak = post(strict, **fields, newPassword='short')
    assert weak.status == 400 and 'at least 6 characters' in shown(weak)[0] and shown(weak)[1] == fields
    assert re.findall(r'role="alert">([^<]*)<', weak.body.decode()) == ['This password does not meet the requirements. Choose another one.']
    data = urllib.parse.urlencode({**fields, 'newPassword': 'a new secret'})
    text = subprocess.run(['curl', '-sS', '--data', data, f'http://127.0.0.1:{strict.host.port}{PAGE}'], capture_output=True, text=True,
                          timeout=30, check=True).stdout
    assert 'Your password was changed' in text and 'href="http://localhost/next?a=1&amp;b=2"' in text
    identity.sign_in('ada@example.com', 'a new secret')
    again = post(strict, **fields, newPassword='a third secret')
    assert again.status == 400 and 'not valid' in shown(again)[0]


def test_an_email_is_verified(strict):
    user = strict.identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'VERIFY_EMAIL', 'ada@example.com')
    _, fields = shown(get(strict, **query))
    assert not strict.identity.user(user['localId']).get('emailVerified')
    assert 'was verified' in shown(post(strict, **fields))[0]
    assert strict.identity.user(user['localId'])['emailVerified'] is True


def test_an_email_is_changed_and_restored(strict):
    identity = strict.identity
    user = identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'VERIFY_AND_CHANGE_EMAIL', 'ada@example.com', newEmail='new@example.com')
    text, fields = shown(get(strict, **query))
    assert 'ada@example.com' in text and 'new@example.com' in text
    assert post(strict, **fields).status == 200
    assert identity.user(user['localId'])['email'] == 'new@example.com'
    token = identity.sign_in('new@example.com')['idToken']
    identity.do('accounts:update', idToken=token, email='newer@example.com')
    recovery = identity.codes()[-1]
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(recovery['oobLink']).query))
    assert (recovery['requestType'], query['mode']) == ('RECOVER_EMAIL', 'recoverEmail')
    text, fields = shown(get(strict, **query))
    assert 'becomes new@example.com again' in text and post(strict, **fields).status == 200
    assert identity.user(user['localId'])['email'] == 'new@example.com'


def test_a_taken_email(strict):
    strict.identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'VERIFY_AND_CHANGE_EMAIL', 'ada@example.com', newEmail='new@example.com')
    strict.identity.sign_up('new@example.com')
    answer = post(strict, **shown(get(strict, **query))[1])
    assert answer.status == 400 and 'Another account' in shown(answer)[0]


def test_a_code_serves_its_own_mode_only(strict):
    strict.identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'VERIFY_EMAIL', 'ada@example.com')
    for mode in ('resetPassword', 'recoverEmail', 'verifyAndChangeEmail', 'revertSecondFactorAddition', 'nonsense', ''):
        assert get(strict, **{**query, 'mode': mode}).status == 400
        assert post(strict, mode=mode, oobCode=query['oobCode'], newPassword='a new secret').status == 400
    assert post(strict, mode='verifyEmail', oobCode=query['oobCode']).status == 200


def test_hostile_parameters(strict):
    strict.identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'VERIFY_EMAIL', 'ada@example.com')
    for name in ('mode', 'oobCode', 'lang', 'continueUrl', 'tenantId', 'apiKey'):
        for value in (HOSTILE, 'x' * 5000, '\0', '%zz'):
            answer = get(strict, **{**query, name: value})
            assert b'<script' not in answer.body and HOSTILE.encode() not in answer.body, name
            assert answer.status in (200, 400)
    for address in ('https://evil.test/', 'javascript:alert(1)', 'https://localhost.evil.test/', '//evil.test', 'http://localhost@evil.test/',
                    'data:text/html,x', 'http://localhost\\@evil.test'):
        text = get(strict, **{**query, 'continueUrl': address}).body.decode()
        assert 'evil' not in text and 'javascript:' not in text and 'data:' not in text
    odd = f'http://localhost/{HOSTILE}'.replace(' ', '')
    text = get(strict, **{**query, 'continueUrl': odd}).body.decode()
    assert f'value="{html.escape(odd).replace("&#x27;", "&#39;").replace("`", "&#96;")}"' in text
    for method in ('PUT', 'DELETE', 'PATCH'):
        assert strict.identity.send(method, f'{PAGE}?{urllib.parse.urlencode(query)}').status == 404


def test_the_policy_of_the_page(strict):
    strict.identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'PASSWORD_RESET', 'ada@example.com')
    for answer in (get(strict, **query), get(strict, mode='verifyEmail', oobCode='wrong')):
        policy = answer.header('content-security-policy')
        assert policy.startswith("default-src 'none'; style-src 'sha256-") and 'script-src' not in policy and 'unsafe' not in policy
        for part in ("form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"):
            assert part in policy
        assert answer.header('x-content-type-options') == 'nosniff' and answer.header('referrer-policy') == 'no-referrer'
        assert answer.header('cache-control') == 'no-store' and answer.header('access-control-allow-origin') is None


def test_the_policy_for_passwords_is_shown(strict):
    options = {'minPasswordLength': 10, 'containsUppercaseCharacter': True, 'containsNumericCharacter': True}
    policy = {'passwordPolicyEnforcementState': 'ENFORCE', 'passwordPolicyVersions': [{'customStrengthOptions': options}]}
    path = f'{API}/v2/projects/{strict.identity.project}/config?updateMask=passwordPolicyConfig'
    strict.identity.sign_up('ada@example.com')
    succeeded(strict.identity.ask('PATCH', path, {'passwordPolicyConfig': policy}), 'config')
    try:
        _, query, _ = link(strict, 'PASSWORD_RESET', 'ada@example.com')
        text, fields = shown(get(strict, **query))
        assert 'at least 10 characters' in text and 'an upper-case letter' in text and 'a digit' in text and 'lower-case' not in text
        assert post(strict, **fields, newPassword='onlysmallletters').status == 400
        assert post(strict, **fields, newPassword='Letters and 1').status == 200
    finally:
        succeeded(strict.identity.ask('PATCH', path, {'passwordPolicyConfig': {'passwordPolicyEnforcementState': 'OFF'}}), 'config')


@pytest.mark.parametrize('language,word', [('de', 'zurücksetzen'), ('fr-CA', 'Réinitialiser'), ('es', 'Restablecer'), ('pt_BR', 'Redefinir'),
                                           ('ja', '再設定'), ('tlh', 'Reset'), ('', 'Reset')])
def test_languages(strict, language, word):
    strict.identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'PASSWORD_RESET', 'ada@example.com')
    assert word in shown(get(strict, **{**query, 'lang': language}))[0]
    accepted = strict.identity.send('GET', f'{PAGE}?{urllib.parse.urlencode({**query, "lang": ""})}', {'Accept-Language': language or 'en'})
    assert word in shown(accepted)[0]


def test_a_second_factor_that_a_stranger_added(strict):
    identity = strict.identity
    path = f'{API}/v2/projects/{identity.project}/config?updateMask=mfa'
    succeeded(identity.ask('PATCH', path, {'mfa': {'state': 'ENABLED', 'enabledProviders': ['PHONE_SMS']}}), 'config')
    user = identity.sign_up('ada@example.com')
    enrolled = identity.enroll_phone(user, name=f'phone {HOSTILE}')
    code = identity.codes()[-1]
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(code['oobLink']).query))
    assert (code['requestType'], query['mode']) == ('REVERT_SECOND_FACTOR_ADDITION', 'revertSecondFactorAddition') and 'newEmail' not in code
    inspected = identity.do('accounts:resetPassword', oobCode=code['oobCode'])
    assert inspected['requestType'] == code['requestType'] and inspected['mfaInfo']['phoneInfo'] == '+*******0123'
    answer = get(strict, **query)
    text, fields = shown(answer)
    assert HOSTILE in text and b'<script' not in answer.body
    assert post(strict, **fields).status == 200
    assert 'mfaInfo' not in identity.user(user['localId'])
    assert identity.refresh(enrolled['refreshToken']).status == 400, 'the stranger is signed out'
    assert get(strict, **query).status == 400


def test_the_hand_over_of_a_sign_in(strict):
    _, query, _ = link(strict, 'EMAIL_SIGNIN', 'ada@example.com', continueUrl='http://localhost/finish?x=1#part')
    answer = get(strict, **query)
    parts = urllib.parse.urlsplit(answer.header('location'))
    passed = dict(urllib.parse.parse_qsl(parts.query))
    assert answer.status == 303 and (parts.netloc, parts.path, parts.fragment) == ('localhost', '/finish', 'part')
    assert passed['oobCode'] == query['oobCode'] and passed['mode'] == 'signIn' and passed['x'] == '1' and 'continueUrl' not in passed
    for address in ('', 'https://evil.test/', 'javascript:alert(1)'):
        assert get(strict, **{**query, 'continueUrl': address}).status == 400
    assert post(strict, **query).status == 400


# In a browser

def test_a_password_is_reset_in_a_browser_without_scripts(strict, page, application):
    strict.identity.sign_up('ada@example.com')
    address, _, _ = link(strict, 'PASSWORD_RESET', 'ada@example.com', continueUrl=f'{application.url}/next')
    page.go(address)
    assert page.run("document.activeElement.name") == 'newPassword' and page.run('document.scripts.length') == 0
    page.type('from the browser')
    page.press_enter()
    page.until("document.getElementById('done') !== null")
    strict.identity.sign_in('ada@example.com', 'from the browser')
    page.run("document.getElementById('continue').click()")
    page.until("document.title === 'app' && location.pathname === '/next'")
    assert not page.errors


def test_a_link_signs_in_in_a_browser(strict, page, application):
    """The link of the mail leads through the page to the application, whose script finishes."""
    base = f'http://127.0.0.1:{strict.host.port}{API}/v1'
    key = strict.identity.key
    page.go(application.url)
    call = "(path, body) => fetch(%s + path + '?key=' + %s, {method: 'POST', headers: {'Content-Type': 'application/json'}, " \
           "body: JSON.stringify(body)}).then(answer => answer.json())" % (json.dumps(base), json.dumps(key))
    asked = {'requestType': 'EMAIL_SIGNIN', 'email': 'ada@example.com', 'continueUrl': f'{application.url}/finish', 'canHandleCodeInApp': True}
    assert page.run(f"({call})('/accounts:sendOobCode', {json.dumps(asked)})")['email'] == 'ada@example.com'
    page.go(strict.identity.codes()[-1]['oobLink'])
    page.until("document.title === 'app' && location.pathname === '/finish'")
    done = page.run(f"({call})('/accounts:signInWithEmailLink', {{email: 'ada@example.com', "
                    "oobCode: new URLSearchParams(location.search).get('oobCode')})")
    assert done['isNewUser'] is True and done['email'] == 'ada@example.com'


def test_a_second_factor_in_a_browser(strict, page, application):
    identity = strict.identity
    path = f'{API}/v2/projects/{identity.project}/config?updateMask=mfa'
    succeeded(identity.ask('PATCH', path, {'mfa': {'state': 'ENABLED', 'enabledProviders': ['PHONE_SMS']}}), 'config')
    identity.enroll_phone(identity.sign_up('ada@example.com'))
    page.go(application.url)
    call = "(path, body) => fetch(%s + path + '?key=' + %s, {method: 'POST', headers: {'Content-Type': 'application/json'}, " \
           "body: JSON.stringify(body)}).then(answer => answer.json())" % (
               json.dumps(f'http://127.0.0.1:{strict.host.port}{API}'), json.dumps(identity.key))
    first = page.run(f"({call})('/v1/accounts:signInWithPassword', {json.dumps({'email': 'ada@example.com', 'password': PASSWORD})})")
    assert 'idToken' not in first and first['mfaInfo'][0]['phoneInfo'] == '+*******0123'
    pending = {'mfaPendingCredential': first['mfaPendingCredential'], 'mfaEnrollmentId': first['mfaInfo'][0]['mfaEnrollmentId'],
               'phoneSignInInfo': {'recaptchaToken': 'x'}}
    started = page.run(f"({call})('/v2/accounts/mfaSignIn:start', {json.dumps(pending)})")['phoneResponseInfo']
    proof = {'sessionInfo': started['sessionInfo'], 'code': identity.text_code()}
    finish = {'mfaPendingCredential': first['mfaPendingCredential'], 'phoneVerificationInfo': proof}
    assert page.run(f"({call})('/v2/accounts/mfaSignIn:finalize', {json.dumps(finish)})")['idToken'].count('.') == 2


def test_no_frame_shows_the_page(strict, page, application):
    strict.identity.sign_up('ada@example.com')
    address, _, _ = link(strict, 'VERIFY_EMAIL', 'ada@example.com')
    page.go(application.url)
    page.run(f"new Promise(done => {{ const frame = document.createElement('iframe'); frame.onload = frame.onerror = done; "
             f"frame.src = {json.dumps(address)}; document.body.append(frame); }})")
    frames = page.do('Page.getFrameTree')['frameTree']['childFrames']
    assert all(not frame['frame']['url'].startswith('http://127.0.0.1') for frame in frames) or \
        all('unreachableUrl' in frame['frame'] for frame in frames)


def test_refused_accounts(strict):
    """A tenant that does not exist says no more than a wrong code."""
    with contextlib.suppress(AssertionError):
        strict.identity.sign_up('ada@example.com')
    _, query, _ = link(strict, 'VERIFY_EMAIL', 'ada@example.com')
    answers = [get(strict, **{**query, 'tenantId': 'none'}), get(strict, **{**query, 'oobCode': 'wrong'})]
    assert [shown(answer)[0] for answer in answers][0] == shown(answers[1])[0]
    assert refusal(strict.identity.post('accounts:update', oobCode='wrong')).startswith('INVALID_OOB_CODE')
