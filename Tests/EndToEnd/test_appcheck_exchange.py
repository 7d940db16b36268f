"""App Check: proofs that a client is the app are exchanged for tokens, which functions, the database and servers accept."""

import base64
import concurrent.futures
import contextlib
import http.server
import json
import os
import stat
import threading
import urllib.parse

import pytest

from app_attest import DEVELOPMENT, FakeApple
from commands import Commands
from hearth import Host
from identity import APP_CHECK, Identity
from identity_providers import decoded

APP = '1:12345:ios:abcdef0123456789'
WEB_APP = '1:12345:web:abcdef0123456789'
SECRET = '11111111-2222-4333-8444-555555555555'


class FakeRecaptcha:
    """A server that verifies the answers of captchas."""

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers by the name of the token."""

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length'])).decode()
                if self.path == '/enterprise':
                    return self.assess(json.loads(body)['event'])
                form = urllib.parse.parse_qs(body)
                outer.forms.append(form)
                token = form['response'][0]
                status = 500 if token == 'rc-5xx' else 200
                good = {'success': True, 'score': 0.9, 'hostname': 'localhost'}
                answer = {'rc-good': {**good, 'action': 'fire_app_check'}, 'rc-page': {**good, 'action': 'app_check'},
                          'rc-login': {**good, 'action': 'login'}, 'rc-none': good, 'rc-lowscore': {'success': True, 'score': 0.1},
                          'rc-secret': {'success': False, 'error-codes': ['invalid-input-secret']}}.get(token, {'success': False})
                return self.answer(answer, status)

            def assess(self, event):
                """Answers as Enterprise, whose token names its action."""
                outer.events.append(event)
                action = event['token'].removeprefix('for ')
                self.answer({'tokenProperties': {'valid': True, 'action': action}, 'riskAnalysis': {'score': 0.9}})

            def answer(self, answer, status=200):
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.forms, self.events = [], []
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f'http://127.0.0.1:{self.server.server_port}/recaptcha/siteverify'

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class AppCheck(Identity):
    """A client of App Check."""

    def exchange(self, verb, app=APP, **body):
        answer = self.ask('POST', f'{APP_CHECK}/v1/projects/demo-p/apps/{app}:{verb}', body, {})
        return answer.status, json.loads(answer.body)

    def consume(self, token, headers=None):
        answer = self.ask('POST', f'{APP_CHECK}/v1beta/projects/demo-p:verifyAppCheckToken', {'appCheckToken': token}, headers)
        return answer.status, json.loads(answer.body)

    def challenge(self):
        status, answer = self.exchange('generateAppAttestChallenge')
        assert (status, answer['ttl']) == (200, '300s')
        return base64.b64decode(answer['challenge'])


@pytest.fixture(scope='module')
def apple():
    return FakeApple('TEAM123456', 'com.example.app')


@pytest.fixture(scope='module')
def captcha():
    with contextlib.closing(FakeRecaptcha()) as captcha:
        yield captcha


@pytest.fixture(scope='module', params=['development', 'production'])
def check(request, apple, captcha, tmp_path_factory):
    folder = tmp_path_factory.mktemp('check')
    (folder / 'root.pem').write_bytes(apple.root_pem)
    (folder / 'secret.txt').write_text('captcha-secret\n')
    settings = {'projectNumber': '12345', 'apps': [APP, WEB_APP], 'debugTokens': [SECRET],
                'appAttest': {'teamId': 'TEAM123456', 'bundleId': 'com.example.app', 'rootCertificate': str(folder / 'root.pem')},
                'recaptcha': {'secretFile': str(folder / 'secret.txt'), 'url': captcha.url, 'hostnames': ['localhost']},
                'recaptchaEnterprise': {'apiKeyFile': str(folder / 'secret.txt'), 'url': captcha.url.replace('recaptcha/siteverify', 'enterprise'),
                                        'siteKey': 'site', 'actions': ['chat']}}
    with served(folder, request.param, settings) as host, AppCheck(host) as check:
        yield check


@contextlib.contextmanager
def served(folder, mode, settings):
    host = Host(folder, mode=mode, config={'project': 'demo-p', 'appCheck': settings}).start()
    try:
        yield host
    finally:
        host.stop()


def test_a_debug_token(check):
    status, answer = check.exchange('exchangeDebugToken', debug_token=SECRET)
    assert (status, answer['ttl']) == (200, '3600s')
    header, claims = decoded(answer['token'])[:2]
    assert (header['alg'], header['typ']) == ('RS256', 'JWT')
    assert claims['iss'] == 'https://firebaseappcheck.googleapis.com/12345' and claims['aud'] == ['projects/12345', 'projects/demo-p']
    assert claims['sub'] == APP and claims['exp'] == claims['iat'] + 3600 and 'jti' not in claims
    keys = json.loads(check.ask('GET', f'{APP_CHECK}/v1/jwks', headers={}).body)['keys']
    assert header['kid'] in [key['kid'] for key in keys]
    limited = decoded(check.exchange('exchangeDebugToken', debugToken=SECRET, limitedUse=True)[1]['token'])[1]
    assert limited['jti'] and limited['exp'] == limited['iat'] + 300


def test_keys_are_private(check):
    check.exchange('exchangeDebugToken', debugToken=SECRET)
    assert stat.S_IMODE(os.stat(check.host.data / 'users/app-check.keys').st_mode) == 0o600


@pytest.mark.parametrize('verb, body, status', [
    ('exchangeDebugToken', {'debugToken': '22222222-2222-4333-8444-555555555555'}, 403), ('exchangeDebugToken', {}, 400),
    ('exchangeDebugToken', {'debugToken': 1}, 400), ('exchangeCustomToken', {'customToken': 'a.b.c'}, 403),
    ('exchangeDeviceCheckToken', {'deviceToken': 'YQ=='}, 400), ('exchangePlayIntegrityToken', {'playIntegrityToken': 'x'}, 400),
    ('exchangeSomething', {}, 404)])
def test_refusals(check, verb, body, status):
    answer = check.exchange(verb, **body)
    assert (answer[0], answer[1]['error']['code']) == (status, status)


def test_unknown_apps_and_projects(check):
    assert check.exchange('exchangeDebugToken', app='1:12345:ios:unknown', debugToken=SECRET)[0] == 404
    assert check.ask('POST', f'{APP_CHECK}/v1/projects/other/apps/{APP}:exchangeDebugToken', {'debugToken': SECRET}, {}).status == 404
    assert check.ask('POST', f'/content-firebaseappcheck.googleapis.com/v1/projects/12345/apps/{APP}:exchangeDebugToken', {'debugToken': SECRET},
                     {}).status == 200
    assert check.ask('POST', f'/v1/projects/12345/apps/{APP}:exchangeDebugToken', {'debugToken': SECRET}, {}).status == 200


def test_a_token_is_consumed_once(check):
    token = check.exchange('exchangeDebugToken', debugToken=SECRET, limitedUse=True)[1]['token']

    def consume(_):
        with AppCheck(check.host) as other:
            return other.consume(token)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(consume, range(16)))
    assert {status for status, _ in answers} == {200}
    assert [answer for _, answer in answers].count({}) == 1
    assert check.consume(token) == (200, {'alreadyConsumed': True})
    assert check.consume('garbage')[0] == 403
    assert check.consume(token, headers={})[0] == 401
    assert check.consume(token, headers={'Authorization': 'Bearer wrong'})[0] == 401


def test_app_attest(check, apple):
    key, challenge = apple.new_key(), check.challenge()
    body = {'keyId': key.identifier, 'attestationStatement': key.attestation(challenge), 'challenge': base64.b64encode(challenge).decode()}
    status, answer = check.exchange('exchangeAppAttestAttestation', **body)
    assert status == 200 and answer['appCheckToken']['ttl'] == '3600s'
    assert check.exchange('exchangeAppAttestAttestation', **body)[0] == 403, 'a challenge is used once'
    artifact = base64.b64decode(answer['artifact'])

    def assertion(counter, challenge=None, signer=key):
        fresh = check.challenge()
        return check.exchange('exchangeAppAttestAssertion', artifact=answer['artifact'], challenge=base64.b64encode(fresh).decode(),
                              assertion=signer.assertion(artifact, challenge or fresh, counter))[0]

    assert [assertion(1), assertion(1), assertion(3), assertion(2)] == [200, 403, 200, 403]
    assert assertion(9, challenge=b'other') == 403
    assert assertion(9, signer=apple.new_key()) == 403


def test_app_attest_refuses(check, apple):
    def attest(key, **options):
        challenge = check.challenge()
        return check.exchange('exchangeAppAttestAttestation', keyId=key.identifier, challenge=base64.b64encode(challenge).decode(),
                              attestationStatement=key.attestation(challenge, **options))[0]

    assert attest(FakeApple('TEAM123456', 'com.example.app').new_key()) == 403, 'another root'
    assert attest(apple.new_key(app=bytes(32))) == 403, 'another app'
    assert attest(apple.new_key(aaguid=DEVELOPMENT)) == 403, 'an app under development'
    assert attest(apple.new_key(), counter=1) == 403


def test_recaptcha_enterprise(check, captcha):
    actions = {'chat': 200, 'login': 403, '': 403}
    assert {action: check.exchange('exchangeRecaptchaEnterpriseToken', app=WEB_APP, recaptcha_enterprise_token=f'for {action}')[0]
            for action in actions} == actions
    assert captcha.events[-1] == {'token': 'for ', 'siteKey': 'site', 'expectedAction': 'chat'}


def test_recaptcha(check, captcha):
    assert check.exchange('exchangeRecaptchaV3Token', recaptcha_v3_token='rc-good')[0] == 400, 'no page has the id of this app'
    assert check.exchange('exchangeRecaptchaV3Token', app=WEB_APP, recaptcha_v3_token='rc-good')[0] == 200
    assert captcha.forms[-1]['secret'] == ['captcha-secret']
    assert check.exchange('exchangeRecaptchaV3Token', app=WEB_APP, recaptcha_v3_token='rc-lowscore')[0] == 403
    assert check.exchange('exchangeRecaptchaV3Token', app=WEB_APP, recaptcha_v3_token='rc-bad')[0] == 403
    # A token that a page has got for something else is no proof.
    actions = {'rc-page': 200, 'rc-login': 403, 'rc-none': 403}
    assert {token: check.exchange('exchangeRecaptchaV3Token', app=WEB_APP, recaptcha_v3_token=token)[0] for token in actions} == actions
    # Clients that get 403 stop for a day: the server's trouble is no rejection.
    assert check.exchange('exchangeRecaptchaV3Token', app=WEB_APP, recaptcha_v3_token='rc-5xx')[0] == 503
    assert check.exchange('exchangeRecaptchaV3Token', app=WEB_APP, recaptcha_v3_token='rc-secret')[0] == 503


def test_pages_may_ask(check):
    asked = check.send('OPTIONS', f'{APP_CHECK}/v1/projects/demo-p/apps/{APP}:exchangeDebugToken',
                       {'Origin': 'https://app.example', 'Access-Control-Request-Headers': 'content-type,x-firebase-client'})
    assert asked.status == 204 and asked.header('access-control-allow-origin') == 'https://app.example'


def test_registered_apps_and_debug_tokens(check):
    if check.host.mode == 'production':
        assert check.ask('GET', f'{APP_CHECK}/v1/projects/demo-p/apps', headers={'Authorization': 'Bearer owner'}).status == 401
    app = '1:12345:web:registered'
    place = f'{APP_CHECK}/v1/projects/demo-p/apps'
    assert check.exchange('exchangeDebugToken', app=app, debugToken=SECRET)[0] == 404
    assert check.ask('POST', place, {'appId': app, 'displayName': 'Web'}).status == 200
    assert app in [known['appId'] for known in json.loads(check.ask('GET', place).body)['apps']]
    made = json.loads(check.ask('POST', f'{place}/{app}/debugTokens', {'displayName': 'laptop'}).body)
    assert check.exchange('exchangeDebugToken', app=app, debugToken=made['token'])[0] == 200
    assert check.exchange('exchangeDebugToken', debugToken=made['token'])[0] == 403, 'a token of another app'
    listed = check.ask('GET', f'{place}/{app}/debugTokens').body.decode()
    assert made['name'] in listed and made['token'] not in listed
    stored = b''.join(path.read_bytes() for path in (check.host.data / 'users').glob('app-check.sqlite*'))
    assert made['token'].lower().encode() not in stored.lower()
    assert check.ask('DELETE', f'{APP_CHECK}/v1/{made["name"]}').status == 200
    assert check.exchange('exchangeDebugToken', app=app, debugToken=made['token'])[0] == 403
    assert check.ask('DELETE', f'{place}/{app}').status == 200
    assert check.exchange('exchangeDebugToken', app=app, debugToken=SECRET)[0] == 404


def test_tokens_survive_a_restart(tmp_path):
    with served(tmp_path, 'production', {'projectNumber': '12345', 'apps': [APP], 'debugTokens': [SECRET]}) as host:
        with AppCheck(host) as check:
            token = check.exchange('exchangeDebugToken', debugToken=SECRET)[1]['token']
        host.stop()
        host.start()
        with AppCheck(host) as check:
            assert check.consume(token) == (200, {})
            assert decoded(check.exchange('exchangeDebugToken', debugToken=SECRET)[1]['token'])[0]['kid'] == decoded(token)[0]['kid']


def test_debug_tokens_of_production_need_a_setting(tmp_path):
    with served(tmp_path, 'production', {'projectNumber': '12345', 'apps': [APP]}) as host, AppCheck(host) as check:
        assert check.exchange('exchangeDebugToken', debugToken=SECRET)[0] == 400
        # The command that adds one says so.
        added = Commands(host, tmp_path / 'here').run('appcheck:debug-tokens', APP, '--add', 'laptop')
        assert added.status == 0 and len(added.output.strip()) == 36
        assert added.error == 'warning: this host exchanges no debug tokens; set appCheck.debugProvider to true in functions.json\n'


def test_debug_tokens_that_are_exchanged_need_no_warning(tmp_path):
    with served(tmp_path, 'production', {'projectNumber': '12345', 'apps': [APP], 'debugProvider': True}) as host, AppCheck(host) as check:
        added = Commands(host, tmp_path / 'here').run('appcheck:debug-tokens', APP, '--add', 'laptop')
        assert (added.status, added.error) == (0, '')
        assert check.exchange('exchangeDebugToken', debugToken=added.output.strip())[0] == 200


def test_functions_accept_tokens_and_count_their_use(check):
    token = check.exchange('exchangeDebugToken', debugToken=SECRET, limitedUse=True)[1]['token']
    assert check.host.callable('enforcesAppCheck', {}, app=token).status == 200
    assert check.host.callable('enforcesAppCheck', {}).status == 401
    assert check.host.callable('consumesAppCheck', {}, app=token).status == 200
    assert check.consume(token) == (200, {'alreadyConsumed': True}), 'functions and servers count together'
