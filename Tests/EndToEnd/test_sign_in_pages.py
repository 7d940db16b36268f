"""The pages of popup and redirect: what they refuse, and a sign-in through each of them in a browser."""

import contextlib
import itertools
import json
import urllib.parse

import pytest

from browser import Browser, Page
from identity import API, APP_CHECK, succeeded
from identity_providers import FakeIssuer
from identity_scene import scene_of, stage  # noqa: F401
from local_server import Handler, LocalServer
from processes import until
from websocket import WebSocket

KEY, APP = 'fake-api-key', '[DEFAULT]'
STORED = f'firebase:redirectEvent:{KEY}:{APP}'
# Two profiles of the same host.
development, strict = scene_of('emulator'), scene_of('strict')
DEBUG_TOKEN = '11111111-2222-4333-8444-555555555555'
guarded = scene_of('strict', appCheck={'debugTokens': [DEBUG_TOKEN], 'enforceOnAuth': 'ENFORCE'})


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp('browser')) as browser:
        yield browser


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


@pytest.fixture
def page(browser):
    with Page(browser) as page:
        yield page


def url(scene, path, **query):
    return f'http://127.0.0.1:{scene.host.port}{path}?{urllib.parse.urlencode(query)}'


def get(scene, path, **query):
    return scene.identity.send('GET', f'{path}?{urllib.parse.urlencode(query)}')


def entry(application, provider='facebook.com', kind='signInViaRedirect', **more):
    return {'apiKey': KEY, 'appName': APP, 'authType': kind, 'providerId': provider, 'eventId': '77',
            'redirectUrl': f'{application.url}/back', **more}


def stored_event(page, scene, path):
    """The event that the frame of an application would find."""
    page.go(url(scene, path, apiKey=KEY, appName=APP))
    return json.loads(page.run(f'sessionStorage[{json.dumps(STORED)}] || "null"'))


def signed_in(scene, event):
    body = {'requestUri': event['urlResponse'], 'sessionId': event['sessionId'], 'returnSecureToken': True, 'returnIdpCredential': True}
    return succeeded(scene.identity.post('accounts:signInWithIdp', **body), 'signInWithIdp')


def fill_in(page, email):
    page.run("document.querySelector('.js-new-account').click()")
    for name, text in (('email-input', email), ('display-name-input', 'Ada <b>&"\'')):
        act = f"field.value = {json.dumps(text)}; field.dispatchEvent(new Event('input'));"
        page.run(f"(function (field) {{ {act} }})(document.getElementById('{name}'))")
    page.run("document.getElementById('sign-in').click()")


def test_refusals_of_development(development):
    for path in ('/emulator/auth/handler', '/__/auth/handler'):
        for query in ({}, {'apiKey': KEY}, {'providerId': 'p'}):
            answer = get(development, path, **query)
            assert answer.status == 400 and 'error' in answer.json['authEmulator']
        answer = get(development, path, apiKey=KEY, providerId='p', redirectUrl='javascript:alert(1)')
        assert answer.status == 400
    assert get(development, '/__/auth/other').status == 404
    assert development.identity.send('POST', '/__/auth/handler').status == 404


def test_production_has_no_widget_and_no_open_redirect(strict):
    for path in ('/emulator/auth/handler', '/emulator/auth/iframe'):
        assert get(strict, path, apiKey=KEY, providerId='facebook.com').status == 404
    for address in ('https://evil.test/', 'https://localhost.evil.test/', 'javascript:alert(1)', '//localhost', 'http://localhost@evil.test/'):
        answer = get(strict, '/__/auth/handler', apiKey=KEY, providerId='facebook.com', redirectUrl=address)
        assert answer.status == 400 and 'authorized domain' in answer.json['error']['message'] and b'mulator' not in answer.body
    assert get(strict, '/__/auth/handler', apiKey=KEY, providerId='facebook.com', redirectUrl='http://localhost:1/').status == 200


def test_policies(strict, development):
    for scene in (strict, development):
        for path in ('/__/auth/handler', '/__/auth/iframe'):
            answer = get(scene, path, apiKey=KEY, providerId='facebook.com', appName=APP)
            policy = answer.header('content-security-policy')
            assert "default-src 'none'" in policy and 'unsafe' not in policy and "base-uri 'none'" in policy
            assert ("frame-ancestors 'none'" in policy) == path.endswith('handler')
            assert answer.header('x-content-type-options') == 'nosniff' and answer.header('referrer-policy') == 'no-referrer'
            assert answer.header('access-control-allow-origin') is None


def test_posted_answers_become_addresses(strict):
    body = urllib.parse.urlencode({'state': 's&x', 'code': 'c', 'user': '{"a":1}', 'other': 'https://evil.test'}).encode()
    form = {'Content-Type': 'application/x-www-form-urlencoded'}
    answer = strict.identity.send('POST', '/__/auth/handler', form, body)
    assert (answer.status, answer.header('location')) == (303, '/__/auth/handler?state=s%26x&code=c&user=%7B%22a%22%3A1%7D')
    assert strict.identity.send('POST', '/__/auth/handler', form, b'code=c').status == 400


@pytest.mark.parametrize('base', ['/emulator/auth', '/__/auth'])
def test_redirect_in_development(development, page, application, base):
    page.go(url(development, f'{base}/handler', **entry(application)))
    assert page.run('document.title') == 'Auth Emulator IDP Login Widget' and page.run('typeof toggleForm') == 'function'
    fill_in(page, 'ada@example.com')
    page.until("document.title === 'app' && location.pathname === '/back'")
    event = stored_event(page, development, f'{base}/iframe')
    assert (event['type'], event['eventId'], event['error'], event['postBody']) == ('signInViaRedirect', '77', None, '')
    user = signed_in(development, event)
    assert (user['email'], user['displayName'], user['isNewUser']) == ('ada@example.com', 'Ada <b>&"\'', True)
    # The account can be chosen now, and its name is text.
    page.go(url(development, f'{base}/handler', **entry(application)))
    assert 'ada@example.com' in page.run("document.querySelector('#accounts-list li').textContent")
    assert page.run("document.querySelectorAll('#accounts-list b').length") == 0
    page.run("document.querySelector('.js-reuse-account').click()")
    page.until("document.title === 'app'")
    again = signed_in(development, stored_event(page, development, f'{base}/iframe'))
    assert again['localId'] == user['localId'] and 'isNewUser' not in again
    assert not page.errors


def test_popup_in_development(development, browser, page, application):
    """The popup finds the frame in the page that has opened it. Google's script is missing here, so the frame keeps the event."""
    page.go(application.url)
    frame = url(development, '/emulator/auth/iframe', apiKey=KEY, appName=APP)
    page.run(f"new Promise(done => {{ const frame = document.createElement('iframe'); frame.onload = done; frame.src = {json.dumps(frame)};"
             ' document.body.append(frame); })')
    popup = url(development, '/emulator/auth/handler', **entry(application, kind='signInViaPopup'))
    page.run(f'window.popup = window.open({json.dumps(popup)}); null')
    target = until(lambda: popups(page), 'the popup')[0]
    with contextlib.closing(attached(browser, target['targetId'])) as window:
        window.until("document.querySelector('.js-new-account') !== null")
        fill_in(window, 'pop@example.com')
        window.go(url(development, '/emulator/auth/iframe', apiKey=KEY, appName=APP))
    event = page_of_frame(page)
    assert event['type'] == 'signInViaPopup'
    assert signed_in(development, event)['email'] == 'pop@example.com'


def popups(page):
    return [found for found in page.do('Target.getTargets')['targetInfos'] if '/emulator/auth/handler' in found['url']]


def attached(browser, target):
    """A window that a page has opened."""
    window = Page.__new__(Page)
    window.browser, window.id = browser, target
    window.numbers, window.errors, window.events = itertools.count(1), [], []
    window.socket = WebSocket(browser.port, f'/devtools/page/{target}', timeout=30)
    for domain in ('Page', 'Runtime'):
        window.do(f'{domain}.enable')
    return window


def page_of_frame(page):
    """The event that the frame in a page has kept."""
    tree = page.do('Page.getFrameTree')['frameTree']['childFrames'][0]['frame']['id']
    context = page.do('Page.createIsolatedWorld', frameId=tree)['executionContextId']
    script = f'sessionStorage[{json.dumps(STORED)}] || "null"'
    return json.loads(page.do('Runtime.evaluate', expression=script, contextId=context, returnByValue=True)['result']['value'])


def test_a_frame_takes_events_of_its_own_origin_only(development, page, application):
    page.go(application.url)
    frame = url(development, '/emulator/auth/iframe', apiKey=KEY, appName=APP)
    page.run(f"new Promise(done => {{ const frame = document.createElement('iframe'); frame.onload = done; frame.src = {json.dumps(frame)};"
             ' document.body.append(frame); })')
    message = {'eventType': 'sendAuthEvent', 'eventId': '1', 'data': {'storageKey': f'{KEY}:{APP}', 'authEvent': {'type': 'signInViaPopup'}}}
    page.run(f"frames[0].postMessage({json.dumps(message)}, '*')")
    page.run('new Promise(done => setTimeout(done, 300))')
    assert page_of_frame(page) is None


def test_redirect_in_production(strict, page, application):
    """Through the page of an OpenID Connect issuer, which gives a code."""
    with contextlib.closing(FakeIssuer()) as issuer:
        body = {'clientId': issuer.client_id, 'issuer': issuer.issuer, 'enabled': True, 'clientSecret': issuer.client_secret,
                'responseType': {'code': True}}
        succeeded(strict.identity.ask('POST', f'{API}/v2/projects/demo-p/oauthIdpConfigs?oauthIdpConfigId=oidc.test', body), 'create')
        try:
            page.go(url(strict, '/__/auth/handler', **entry(application, provider='oidc.test')))
            page.until("document.title === 'app' && location.pathname === '/back'")
            event = stored_event(page, strict, '/__/auth/iframe')
            # The address with the code belongs to this session: another's session id does not finish the sign-in.
            wrong = {'requestUri': event['urlResponse'], 'sessionId': '0' * 64, 'returnSecureToken': True}
            assert strict.identity.post('accounts:signInWithIdp', **wrong).status == 400
            assert (event['type'], event['error']) == ('signInViaRedirect', None)
            assert '/authorize' in [request['path'] for request in issuer.requests]
        finally:
            strict.identity.ask('DELETE', f'{API}/v2/projects/demo-p/oauthIdpConfigs/oidc.test')


# Stands for Google's script in a frame: keeps what the frame says to the page around it.
STAND_IN = """
  if (location.pathname.endsWith('/__/auth/iframe')) {
    window.heard = [];
    const parentPage = { register() {}, send(name, message) { window.heard.push(message); } };
    window.gapi = {
      load(name, options) { options.callback(); },
      iframes: { CROSS_ORIGIN_IFRAMES_FILTER: 1, getContext() { return { getParentIframe() { return parentPage; } }; } },
    };
    window.addEventListener('DOMContentLoaded', function () { window.gapi_onload(); });
  }
"""


@pytest.fixture
def company(strict):
    """An issuer that is configured as `oidc.test`, with a code and with an ID token."""
    with contextlib.closing(FakeIssuer()) as issuer:
        for name, kind in (('oidc.test', 'code'), ('oidc.plain', 'idToken')):
            body = {'clientId': issuer.client_id, 'issuer': issuer.issuer, 'enabled': True, 'clientSecret': issuer.client_secret,
                    'responseType': {kind: True}}
            succeeded(strict.identity.ask('POST', f'{API}/v2/projects/demo-p/oauthIdpConfigs?oauthIdpConfigId={name}', body), 'create')
        # The host's clock is ahead.
        token = issuer.token
        issuer.token = lambda **more: token(**{'iat': strict.clock.now(), 'exp': strict.clock.now() + 3600, **more})
        yield issuer
        for name in ('oidc.test', 'oidc.plain'):
            strict.identity.ask('DELETE', f'{API}/v2/projects/demo-p/oauthIdpConfigs/{name}')


@pytest.mark.parametrize('provider', ['oidc.test', 'oidc.plain'])
def test_popup_in_production(strict, browser, page, application, company, provider):
    """The popup goes to the issuer and back, and tells the frame in the page that opened it; the page signs in with what the frame says."""
    page.do('Page.addScriptToEvaluateOnNewDocument', source=STAND_IN)
    page.go(application.url)
    frame = url(strict, '/__/auth/iframe', apiKey=KEY, appName=APP)
    page.run(f"new Promise(done => {{ const frame = document.createElement('iframe'); frame.onload = done; frame.src = {json.dumps(frame)};"
             ' document.body.append(frame); })')
    assert heard(page) == [{'type': 'authEvent', 'authEvent': {'type': 'unknown', 'error': {'code': 'auth/no-auth-event'}}}]
    popup = url(strict, '/__/auth/handler', **entry(application, provider=provider, kind='signInViaPopup'))
    page.run(f'window.popup = window.open({json.dumps(popup)}); null')
    event = until(lambda: heard(page)[1:], 'the frame hears of the sign-in')[0]['authEvent']
    assert (event['type'], event['eventId'], event['error']) == ('signInViaPopup', '77', None)
    assert signed_in(strict, event)['federatedId'] == '30001'
    body = {'requestUri': event['urlResponse'], 'sessionId': event['sessionId'], 'returnSecureToken': True}
    assert strict.identity.post('accounts:signInWithIdp', **body).status == 400, 'the answer of the provider serves once'
    page.run('window.popup.close()')
    assert not page.errors


def heard(page):
    """The messages of the frame in a page."""
    tree = page.do('Page.getFrameTree')['frameTree']['childFrames'][0]['frame']['id']
    contexts = [event['params']['context'] for event in page.events if event['method'] == 'Runtime.executionContextCreated']
    context = [context['id'] for context in contexts if context['auxData'] == {'isDefault': True, 'type': 'default', 'frameId': tree}][-1]
    answer = page.do('Runtime.evaluate', expression='JSON.stringify(window.heard)', contextId=context, returnByValue=True)
    return json.loads(answer['result']['value'])


def test_a_popup_whose_user_refuses(strict, page, application, company):
    """The error of the provider reaches the application in the SDK's words."""
    company.authorize = lambda query: (302, b'', {'Location': f"{query['redirect_uri']}?error=access_denied&state={query['state']}"})
    page.go(url(strict, '/__/auth/handler', **entry(application, provider='oidc.test')))
    page.until("document.title === 'app' && location.pathname === '/back'")
    event = stored_event(page, strict, '/__/auth/iframe')
    assert event['error']['code'] == 'auth/user-cancelled' and event['urlResponse'] is None


def test_a_page_of_another_site_does_not_get_the_frame(strict, page, application):
    """Its results are for authorized domains."""
    frame = url(strict, '/__/auth/iframe', apiKey=KEY, appName=APP)
    policy = get(strict, '/__/auth/iframe', apiKey=KEY, appName=APP).header('content-security-policy')
    assert 'frame-ancestors https://localhost:* https://*.localhost:* http://localhost:*' in policy
    page.go(f'data:text/html,<iframe src="{frame}"></iframe>')
    children = page.do('Page.getFrameTree')['frameTree'].get('childFrames', [])
    assert all('unreachableUrl' in child['frame'] or not child['frame']['url'].startswith('http://127') for child in children)


def test_a_provider_that_production_does_not_have(strict, page, application):
    """The handler tells the application, and does not stay."""
    page.go(url(strict, '/__/auth/handler', **entry(application, provider='google.com')))
    page.until("document.title === 'app' && location.pathname === '/back'")
    event = stored_event(page, strict, '/__/auth/iframe')
    assert event['error']['code'] == 'auth/operation-not-allowed' and event['urlResponse'] is None


def test_the_handler_sends_the_app_check_token_of_the_page_before(guarded, page, application):
    """The web SDK puts it into the fragment. With it the request reaches the provider, which production does not have here."""
    path = f'{APP_CHECK}/v1/projects/demo-p/apps/1:12345:ios:abcdef0123456789:exchangeDebugToken?key={KEY}'
    token = succeeded(guarded.identity.ask('POST', path, {'debugToken': DEBUG_TOKEN}, {}), 'exchange')['token']
    for fragment, code in ((f'#fac={token}', 'operation-not-allowed'), ('', 'internal-error')):
        page.go(url(guarded, '/__/auth/handler', **entry(application, provider='google.com')) + fragment)
        page.until("document.title === 'app' && location.pathname === '/back'")
        assert stored_event(page, guarded, '/__/auth/iframe')['error']['code'] == f'auth/{code}'


def test_an_answer_that_this_window_did_not_ask_for(strict, page):
    page.go(url(strict, '/__/auth/handler', state='x', code='stolen'))
    assert page.run('document.body.textContent.trim()') == 'Sign-in failed: it was begun in another window.'
    assert stored_event(page, strict, '/__/auth/iframe') is None
