"""The language of cases/auth.json: hosts for its configurations, templates, minted tokens, and what is expected of answers."""

import base64
import concurrent.futures
import hashlib
import hmac
import json
import pathlib
import re
import urllib.parse
import uuid

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from app_attest import FakeApple
from hearth import Host, library, merged
from identity import APP_CHECK, EVERY_WAY, Clock, Identity, addresses
from identity_answers import check_errors, closing, find, holds, only, operand, text, totp
from identity_providers import FakeFacebook, decoded
from tokens import SigningKey, base64url
from wire import Wire, request_bytes

FILE = pathlib.Path(__file__).parents[1] / 'Conformance/cases/auth.json'
CASES = json.loads(FILE.read_text())
VARIABLES = CASES['variables']
# Long enough that limits of attempts, codes and cached keys of one case are forgotten in the next.
BETWEEN_CASES = 7300
PEM = rb'-----BEGIN [A-Z ]*PRIVATE KEY-----.+?-----END [A-Z ]*PRIVATE KEY-----'
KEYS_PATH = '/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com'

# The changes of cases: (case, profile or None for both, number of the step from 0, change of the step, reason).
OVERRIDES = [
    ('C13', None, 1, {'expect': {'absent': ['$.requests[0]']}},
     'an empty array as a subset says nothing: the file means that Facebook was not asked'),
    ('R03', 'emulator', 2, {'expect': {'errorOneOf': ['INVALID_REFRESH_TOKEN']}},
     'section 10.1, 10: the emulator says INVALID_REFRESH_TOKEN'),
]


def every_run():
    """Each case in each of its profiles."""
    return [(profile, case) for profile in CASES['profiles'] for case in CASES['cases'] if profile in case['profiles']]


def steps_of(profile, case):
    """The steps of a case with the changes of OVERRIDES."""
    steps = [dict(step) for step in case['steps']]
    for name, where, number, change, _ in OVERRIDES:
        if name == case['id'] and where in (None, profile):
            steps[number] = merged(steps[number], change)
    return steps


def configuration(profile, wanted, facebook_url, folder, keys, apple):
    """The functions.json for a case's configuration, which is already merged over the default one."""
    (folder / 'sa-key-1.pem').write_bytes(public_pem(keys['sa-key-1']))
    (folder / 'apple-root.pem').write_bytes(apple.root_pem)
    auth = {
        'signIn': {**EVERY_WAY, **wanted['signIn']}, 'emailPrivacyConfig': wanted['emailPrivacyConfig'], 'mfa': wanted['mfa'],
        'serviceAccounts': [{'email': VARIABLES['saEmail'], 'publicKey': str(folder / 'sa-key-1.pem')}],
    }
    facebook = wanted['facebook']
    if facebook:
        auth['facebook'] = {
            'appId': facebook['appId'], 'appSecret': facebook['appSecret'], 'graphUrl': facebook_url,
            'jwksUrls': [url.replace('${fakeBase}', facebook_url) for url in facebook['jwksUrls']],
            'issuers': facebook['issuers'], 'trustEmail': facebook['trustEmail'], 'timeoutSeconds': facebook['timeoutMs'] / 1000}
    if 'rateLimit' in wanted:
        auth['rateLimit'] = {{'windowSec': 'windowSeconds'}.get(name, name): value for name, value in wanted['rateLimit'].items()}
    if 'nativeApps' in wanted:
        auth['nativeApps'] = wanted['nativeApps']
    if 'limits' in wanted:
        auth['limits'] = wanted['limits']
    if profile == 'strict':
        auth |= {'apiKeys': [VARIABLES['apiKey']], 'testHooks': wanted['testHooks']}
    check = {'projectNumber': wanted['projectNumber'], 'apps': [VARIABLES['appId']]}
    if 'debugTokens' in wanted['appCheck']:
        check['debugTokens'] = wanted['appCheck']['debugTokens']
    if 'enforceOnAuth' in wanted['appCheck']:
        check['enforceOnAuth'] = wanted['appCheck']['enforceOnAuth']
    if 'appAttest' in wanted['appCheck']:
        attest = wanted['appCheck']['appAttest']
        check['appAttest'] = {'teamId': attest['teamId'], 'bundleId': attest['bundleId'], 'rootCertificate': str(folder / 'apple-root.pem')}
    return {'project': wanted['project'], 'auth': auth, 'appCheck': check}


class Stage:
    """The surroundings of the cases: a fake Facebook, keys, and one host for each configuration and profile."""

    def __init__(self, folder):
        self.folder, self.hosts = folder, {}
        self.facebook = FakeFacebook(CASES['fakeFacebook']['tokens'])
        self.keys = {**self.facebook.keys, 'sa-key-1': SigningKey('sa-key-1'), 'attacker-key': SigningKey('attacker-key')}
        self.apple = FakeApple('TEAM123456', 'com.example.app')

    def close(self):
        self.facebook.close()
        try:
            for host, _ in self.hosts.values():
                host.stop()
        finally:
            for host, clock in self.hosts.values():
                host.abandon()
                clock.close()

    def host(self, profile, case):
        """The host for a case, with no users, and a clock that is later than all that earlier cases have left."""
        wanted = merged(CASES['defaultConfig'], case.get('config', {}))
        # One host with functions and hooks serves all cases that do not say otherwise, but none may see the emulator's routes that must not.
        key = json.dumps([profile, wanted], sort_keys=True)
        if key not in self.hosts:
            folder = self.folder / f'host-{len(self.hosts)}'
            folder.mkdir(exist_ok=True)
            clock = Clock(folder / 'clock')
            config = configuration(profile, wanted, self.facebook.url, folder, self.keys, self.apple)
            plugins = {'Callers': {'library': library('callers')}} if 'functions' in wanted else ()
            mode = 'development' if profile == 'emulator' else 'production'
            self.hosts[key] = Host(folder, plugins, mode=mode, config=config, env=clock.variables).start(), clock
        host, clock = self.hosts[key]
        clock.advance(BETWEEN_CASES)
        self.facebook.reset()
        with Identity(host, source=next(addresses)) as identity:
            if profile == 'emulator':
                settings = {'signIn': wanted['signIn'], 'emailPrivacyConfig': wanted['emailPrivacyConfig']}
                identity.ask('DELETE', f'/emulator/v1/projects/{identity.project}/accounts')
                identity.ask('PATCH', f'/emulator/v1/projects/{identity.project}/config', settings)
            else:
                identity.empty()
        return host, clock


class CaseRun:
    """One case in one profile."""

    def __init__(self, stage, profile, case):
        self.stage, self.profile, self.case = stage, profile, case
        self.host, self.clock = stage.host(profile, case)
        self.source, self.steps = next(addresses), steps_of(profile, case)
        secret = 'owner' if profile == 'emulator' else (self.host.data / 'admin-token').read_text().strip()
        plain = ('apiKey', 'project', 'projectNumber', 'appId', 'fbAppId', 'fbAppSecret', 'saEmail')
        self.values = {**{name: VARIABLES[name] for name in plain}, 'admin': f'Bearer {secret}', 'fakeBase': stage.facebook.url}
        self.key = stage.apple.new_key()
        self.lazy = {
            'authJwks': lambda: self.get(KEYS_PATH), 'appCheckJwks': lambda: self.get(f'{APP_CHECK}/v1/jwks'),
            'authKid': lambda: decoded(self.values['uId'])[0].get('kid', 'none'), 'attestKeyId': lambda: self.key.identifier,
        }

    def get(self, path):
        with Wire(self.host.port, source=self.source) as wire:
            answer = wire.request('GET', path)
        assert answer.status == 200, f'{path}: {answer.status} {answer.body!r}'
        return answer.json

    def run(self):
        for number, step in enumerate(self.steps):
            self.clock.advance(step.get('advance', 0))
            sent = self.request(step)
            answers = self.answers(step, sent)
            where = f"step {number}: {sent[1][:3000].decode(errors='replace')}"
            try:
                for name, path in step.get('capture', {}).items():
                    found = find(answers[0].json, path)
                    assert found, f'{path} is missing in {answers[0].body!r}'
                    self.values[name] = found[0]
                self.check(step['expect'], answers)
            except Exception as problem:
                problem.add_note(where)
                problem.add_note(f'answer: {[(answer.status, answer.body[:1500]) for answer in answers[:2]]}')
                raise

    # Sending

    def request(self, step):
        """The port and the bytes of a step's request."""
        port = self.stage.facebook.port if step.get('target') == 'facebook' else self.host.port
        headers = {name: self.fill(value) for name, value in step['headers'].items()}
        # This product serves functions without the first part of that path.
        path = self.fill(step['path']).removeprefix('/functions')
        body = b''
        if 'form' in step:
            headers['Content-Type'] = 'application/x-www-form-urlencoded'
            body = urllib.parse.urlencode(self.fill(step['form'])).encode()
        elif 'rawBody' in step:
            body = step['rawBody'].encode()
        elif 'rawBodyRepeat' in step:
            parts = step['rawBodyRepeat']
            body = (parts['prefix'] + parts['char'] * parts['count'] + parts['suffix']).encode()
        elif 'body' in step:
            body = json.dumps(self.fill(step['body'])).encode()
        return port, request_bytes(step['method'], path, headers, body, f'127.0.0.1:{port}')

    def answers(self, step, sent):
        port, data = sent

        def once(_):
            source = None if step.get('target') == 'facebook' else self.source
            with Wire(port, source=source) as wire:
                wire.send(data)
                return wire.response(step['method'])

        if 'parallel' in step:
            with concurrent.futures.ThreadPoolExecutor(step['parallel']) as pool:
                return list(pool.map(once, range(step['parallel'])))
        return [once(None) for _ in range(step.get('repeat', 1))]

    # Templates

    def fill(self, value):
        """A value of a case with what its templates stand for."""
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        if not isinstance(value, str):
            return value
        pieces, start = [], 0
        while (begin := value.find('${', start)) >= 0:
            end = closing(value, begin + 2)
            pieces += [value[start:begin], self.evaluate(value[begin + 2:end])]
            if (begin, end) == (0, len(value) - 1):
                return pieces[1]
            start = end + 1
        return ''.join(map(str, [*pieces, value[start:]]))

    def evaluate(self, expression):
        if match := re.fullmatch(r'now([+-]\d+)?', expression):
            return self.clock.now() + int(match[1] or 0)
        kind, _, rest = expression.partition(':')
        if kind == 'string':
            return str(self.evaluate(rest))
        if expression == 'uuid':
            return str(uuid.uuid4())
        if kind in ('sha256hex', 'sha256HEX'):
            digest = hashlib.sha256(rest.encode()).hexdigest()
            return digest if kind == 'sha256hex' else digest.upper()
        if kind == 'urlenc':
            return urllib.parse.quote(rest, safe='')
        if kind == 'repeat':
            character, count = rest.split(':')
            return character * int(count)
        if kind == 'totp':
            return totp(self.value(rest), self.clock.now())
        if kind == 'attest':
            return self.key.attestation(base64.b64decode(self.value(rest)))
        if kind == 'assert':
            artifact, challenge, counter = rest.split(',')
            return self.key.assertion(base64.b64decode(self.value(artifact)), base64.b64decode(self.value(challenge)), int(counter))
        return self.value(rest if kind == 'capture' else expression)

    def value(self, name):
        if name not in self.values:
            assert name in self.lazy or name in self.case.get('mint', {}), f'{name} was not captured'
            self.values[name] = self.lazy[name]() if name in self.lazy else self.mint(self.case['mint'][name])
        return self.values[name]

    def mint(self, wanted):
        header, claims, sign = self.fill(wanted['header']), self.fill(wanted['claims']), wanted['sign']
        text = '.'.join(base64url(json.dumps(part).encode()) for part in (header, claims))
        if sign == 'none':
            return f'{text}.'
        if sign.startswith('hs256-with-public-pem:'):
            return f'{text}.{base64url(hmac.new(public_pem(self.signer(sign.partition(":")[2])), text.encode(), hashlib.sha256).digest())}'
        private = self.signer(sign).private
        return f'{text}.{base64url(private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}'

    def signer(self, name):
        return ActiveKey(self.host, self.value('authKid')) if name == 'auth-active-key' else self.stage.keys[name]

    # Checking

    def check(self, expect, answers):
        if 'expectCounts' in expect:
            statuses = [str(answer.status) for answer in answers]
            assert {status: statuses.count(status) for status in set(statuses)} == expect['expectCounts']
        if 'expectAbsentCount' in expect:
            for path, count in expect['expectAbsentCount'].items():
                assert sum(not find(answer.json, path) for answer in answers) == count, path
        for answer in answers:
            if 'status' in expect:
                assert answer.status == expect['status'], f"{answer.status}, expected {expect['status']}"
            self.check_one(self.fill({key: value for key, value in expect.items() if key != 'jwt'}), answer)
            for path, wanted in expect.get('jwt', {}).items():
                self.check_token(only(find(answer.json, path), path), self.fill(wanted))
            self.check_signature(answer)

    def check_one(self, expect, answer):
        check_errors(expect, answer)
        document = answer.json if answer.body[:1] in (b'{', b'[') else None
        if 'body' in expect:
            assert holds(document, expect['body']), f"expected {expect['body']}"
        for path in expect.get('absent', []):
            assert not find(document, path), f'{path} is there'
        for path, pattern in expect.get('matches', {}).items():
            found = find(document, path)
            assert found and all(re.search(pattern, text(value)) for value in found), f'{path}: {found} does not match {pattern}'
        for path, kind in expect.get('types', {}).items():
            assert isinstance(only(find(document, path), path), {'string': str, 'number': (int, float), 'object': dict, 'array': list}[kind]), path
        for path, wanted in expect.get('containsAll', {}).items():
            assert set(wanted) <= set(find(document, path)), f'{path}: {find(document, path)}'
        for name, is_equal in (('equal', True), ('notEqual', False)):
            for left, right in expect.get(name, []):
                assert (operand(document, left) == operand(document, right)) == is_equal, f'{name}: {left}, {right}'
        for path, most in expect.get('maxCount', {}).items():
            assert len(find(document, path)) <= most, f'{path}: {len(find(document, path))}'
        for part in expect.get('bodyNotContains', []):
            assert part.encode() not in answer.body, f'{part} is in the answer'
        for name, pattern in expect.get('responseHeaders', {}).items():
            assert re.search(pattern, answer.header(name) or ''), f'{name}: {answer.header(name)}'

    def check_token(self, token, wanted):
        header, claims = decoded(token)
        assert holds(header, wanted.get('header', {})), f"header {header}, expected {wanted['header']}"
        assert holds(claims, wanted.get('claims', {})), f"claims {claims}, expected {wanted['claims']}"
        for name in wanted.get('absent', []):
            assert name not in claims, f'{name} is in {claims}'
        if 'lifetime' in wanted:
            assert claims['exp'] - claims['iat'] == wanted['lifetime'], claims
        if 'sameClaimAs' in wanted:
            other = decoded(wanted['sameClaimAs']['token'])[1]
            for name in wanted['sameClaimAs']['claims']:
                assert claims[name] == other[name], f'{name}: {claims[name]}, was {other[name]}'
        if 'verify' in wanted:
            verified(token, wanted['verify'])

    def check_signature(self, answer):
        """Every ID token has the form of its profile, whatever the case says."""
        if answer.body[:1] != b'{':
            return
        for token in [answer.json.get(name) for name in ('idToken', 'id_token') if answer.json.get(name)]:
            if self.profile == 'strict':
                verified(token, self.value('authJwks'))
            else:
                assert decoded(token)[0] == {'alg': 'none', 'typ': 'JWT'} and token.endswith('.'), decoded(token)[0]


class ActiveKey:
    """The key with which a host signs ID tokens, read from its data directory."""

    def __init__(self, host, kid):
        for path in sorted(host.data.rglob('*')):
            if path.is_file() and path.stat().st_size < 1 << 16 and b'PRIVATE KEY' in (content := path.read_bytes()):
                for block in re.findall(PEM, content.replace(b'\\n', b'\n'), re.S):
                    self.private = serialization.load_pem_private_key(block, None)
                    if thumbprint(self.private.public_key()).startswith(kid):
                        return
        raise AssertionError(f'no private key of {kid} in {host.data}')


def thumbprint(key):
    """The RFC 7638 thumbprint of an RSA key."""
    numbers = key.public_numbers()
    parts = {'e': base64url(numbers.e.to_bytes(3, 'big')), 'kty': 'RSA', 'n': base64url(numbers.n.to_bytes(key.key_size // 8, 'big'))}
    return base64url(hashlib.sha256(json.dumps(parts, separators=(',', ':')).encode()).digest())


def public_pem(key):
    return key.private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def verified(token, keys):
    """The claims of a token that a key of this JWKS has signed. Times are not checked: they are those of a moved clock."""
    header = decoded(token)[0]
    assert header['alg'] == 'RS256', header
    key = only([key for key in keys['keys'] if key['kid'] == header['kid']], header['kid'])
    return jwt.decode(token, jwt.PyJWK(key).key, ['RS256'], options={
        'verify_exp': False, 'verify_iat': False, 'verify_nbf': False, 'verify_aud': False})
