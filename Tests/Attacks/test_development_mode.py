"""Attack: using a developer's host from another machine, from a web page, and through a proxy.

Who may say `owner`, and who may show a token without a signature, is decided alike for every part of the host.
"""

import json
import subprocess

import pytest

from databases import OWNER, Database
from hearth import BINARY, Host, callable_headers
from live import Live
from tokens import app_check_claims, id_claims, unsigned
from wire import Wire

RULES = {'rules': {'mine': {'$uid': {'.read': 'auth.uid == $uid', '.write': 'auth.uid == $uid'}}}}
TOKEN = unsigned(id_claims('ada'))

# Each is asked as `owner`: method, target, headers beside the credential, body.
SURFACES = {
    'database header': ('GET', '/.json', OWNER, ''),
    'database auth': ('GET', '/.json?auth=owner', {}, ''),
    'database access_token': ('GET', '/.json?access_token=owner', {}, ''),
    'database override': ('GET', '/.json?auth_variable_override=null', OWNER, ''),
    'database stream': ('GET', '/.settings/profile.json', {**OWNER, 'Accept': 'text/event-stream'}, ''),
    'rules without preflight': ('POST', '/.settings/rules.json?auth=owner&x-http-method-override=PUT', {'Content-Type': 'text/plain'},
                                json.dumps(RULES)),
    'jsonp': ('GET', '/.json?auth=owner&callback=steal', {}, ''),
    'administration': ('GET', '/_/api/functions', OWNER, ''),
    'upload': ('PUT', f'/_/api/artifacts/{"0" * 64}?offset=0', OWNER, 'code'),
    'backup': ('POST', '/_/api/backup', OWNER, ''),
    'messages': ('GET', '/_messaging/v1/projects/demo-hearth/devices', OWNER, ''),
    'accounts': ('POST', '/_messaging/v1/projects/demo-hearth/credentials', OWNER, '{}'),
    'control': ('POST', '/_messaging/v1/control/reset', OWNER, '{}'),
}

FOREIGN = {
    'host of a rebound name': ({}, 'attacker.example:5001', 'host'),
    'host that begins like this machine': ({}, '127.0.0.1.attacker.example', 'host'),
    'host that ends like this machine': ({}, 'notlocalhost', 'host'),
    'address for all interfaces': ({}, '0.0.0.0:5001', 'host'),
    'origin': ({'Origin': 'https://attacker.example'}, None, 'web pages'),
    'origin without name': ({'Origin': 'null'}, None, 'web pages'),
    'origin that begins like this machine': ({'Origin': 'http://localhost.attacker.example'}, None, 'web pages'),
    'script of another site': ({'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors'}, None, 'web pages'),
    'proxy': ({'X-Forwarded-For': '203.0.113.9'}, None, 'proxy'),
    'proxy by RFC 7239': ({'Forwarded': 'for=203.0.113.9'}, None, 'proxy'),
    'proxy that names itself': ({'Via': '1.1 proxy'}, None, 'proxy'),
}

LOCAL = [
    ({}, None), ({}, 'localhost'), ({}, 'LOCALHOST:1'), ({}, 'demo-hearth.localhost:5001'), ({}, '127.5.6.7:80'), ({}, '[::1]:5001'),
    ({'Origin': 'http://localhost:3000'}, None), ({'Origin': 'http://127.0.0.1:8080', 'Sec-Fetch-Site': 'cross-site'}, None),
    ({'Origin': 'http://[::1]:3000'}, 'localhost:5001'), ({'Sec-Fetch-Site': 'none'}, None), ({'Sec-Fetch-Site': 'same-site'}, None),
]


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp('development'), ['Conformance'], mode='development').start()
    with Database(host, 'demo-hearth-default-rtdb') as database:
        database.use_rules(RULES)
        database.put('/.json', {'mine': {'ada': 'hers'}})
    yield host
    host.stop()


def own_address():
    """An address of this machine by which other machines reach it."""
    found = subprocess.run(['hostname', '-I'], capture_output=True, text=True, check=True).stdout.split()
    address = next((text for text in found if '.' in text), None)
    assert address, 'this test needs a machine with an IPv4 address beside 127.0.0.1'
    return address


def reason(answer):
    """The message of an error, whatever its protocol."""
    error = answer.json['error']
    return error if isinstance(error, str) else error['message']


def is_rules_upload(surface):
    return surface == 'rules without preflight'


@pytest.mark.parametrize('surface', SURFACES)
def test_owner_is_refused_to_strangers(surface, host):
    method, target, credential, body = SURFACES[surface]
    for name, (headers, authority, words) in FOREIGN.items():
        answer = host.request(method, target, {**credential, **headers}, body, authority)
        assert answer.status == 401, (name, answer.status, answer.body)
        assert '"owner"' in reason(answer) and words in reason(answer), (name, reason(answer))
    with Database(host, 'demo-hearth-default-rtdb') as database:
        assert json.loads(database.ask('GET', '/.settings/rules.json').body) == RULES


@pytest.mark.parametrize('headers, authority', LOCAL, ids=str)
def test_programs_and_pages_of_this_machine_stay_in(headers, authority, host):
    for surface in ['database header', 'database auth', 'administration', 'messages', 'rules without preflight']:
        method, target, credential, body = SURFACES[surface]
        if authority and authority.startswith('demo-hearth.'):
            target = target.replace('.json?', '.json?ns=demo-hearth-default-rtdb&')
        answer = host.request(method, target, {**credential, **headers}, body, authority)
        assert answer.status == 200, (surface, answer.status, answer.body)


@pytest.mark.parametrize('name', FOREIGN)
def test_unsigned_tokens_are_refused_to_strangers(name, host):
    headers, authority, words = FOREIGN[name]
    for target, credential in [('/mine/ada.json', {'Authorization': f'Bearer {TOKEN}'}), (f'/mine/ada.json?auth={TOKEN}', {})]:
        answer = host.request('GET', target, {**credential, **headers}, host=authority)
        assert answer.status == 401 and 'without a signature' in reason(answer) and words in reason(answer), answer.body
    for token, app in [(TOKEN, None), (None, unsigned(app_check_claims()))]:
        function = 'requiresAuth' if token else 'enforcesAppCheck'
        answer = host.request('POST', host.path(function), [*callable_headers(token, app), *headers.items()], '{"data":null}', authority)
        assert answer.status == 401 and 'without a signature' in reason(answer), answer.body
    host.until_logged('Callable request verification failed.*without a signature')


@pytest.mark.parametrize('headers, authority', LOCAL, ids=str)
def test_unsigned_tokens_of_this_machine_count(headers, authority, host):
    answer = host.request('GET', '/mine/ada.json?ns=demo-hearth-default-rtdb', {'Authorization': f'Bearer {TOKEN}', **headers}, host=authority)
    assert (answer.status, answer.json) == (200, 'hers')
    call = host.request('POST', host.path('requiresAuth'), [*callable_headers(TOKEN), *headers.items()], '{"data":null}', authority)
    assert call.status == 200, call.body


def test_the_admin_token_counts_from_everywhere(host):
    token = (host.data / 'admin-token').read_text().strip()
    for headers, authority, _ in FOREIGN.values():
        answer = host.request('GET', '/.json', {'Authorization': f'Bearer {token}', **headers}, host=authority)
        assert answer.status == 200
        assert host.request('GET', '/_/api/functions', {'Authorization': f'Bearer {token}', **headers}, host=authority).status == 200


class Open(Host):
    """A host that other machines reach."""

    def command(self):
        command = super().command()
        command[command.index('--host') + 1] = '0.0.0.0'
        return command

    def ask_from(self, address, method, target, headers=(), body='', authority=None):
        """Asks by an address of this machine; the host sees that address as the client's."""
        with Wire(self.port, address) as wire:
            return wire.request(method, target, headers, body, authority or f'localhost:{self.port}')


@pytest.fixture
def open_host(tmp_path):
    hosts = []

    def make(*args):
        hosts.append(Open(tmp_path / f'host-{len(hosts)}', [], mode='development', args=args).start())
        return hosts[-1]

    yield make
    for host in hosts:
        host.stop()


def test_a_host_that_others_reach_takes_no_owner_and_says_so(open_host):
    host = open_host()
    assert 'WARNING: development mode, and other machines reach this host' in host.banner
    assert '--development-tokens' in host.banner
    host.until_logged('development mode, and other machines reach this host')
    for address in ['127.0.0.1', own_address()]:
        for target in ['/.json', '/_/api/functions', '/_messaging/v1/projects/demo-hearth/devices']:
            answer = host.ask_from(address, 'GET', target, OWNER)
            assert answer.status == 401 and '--development-tokens' in reason(answer), answer.body
        token = host.ask_from(address, 'GET', '/.json', {'Authorization': f'Bearer {TOKEN}'})
        assert token.status == 401 and '--development-tokens' in reason(token)


def test_owner_that_is_asked_for_counts_from_this_machine(open_host):
    host = open_host('--development-tokens', 'loopback')
    assert 'WARNING' in host.banner
    assert host.ask_from('127.0.0.1', 'GET', '/.json', OWNER).status == 200
    for target in ['/.json', '/_/api/functions', '/_messaging/v1/projects/demo-hearth/devices']:
        answer = host.ask_from(own_address(), 'GET', target, OWNER)
        assert answer.status == 401 and f'came from {own_address()}' in reason(answer), answer.body


def test_owner_that_is_asked_for_from_a_network_counts_there(open_host):
    host = open_host('--development-tokens', 'network')
    assert 'everybody who reaches this port can do everything' in host.banner
    address = own_address()
    for authority in [f'{address}:{host.port}', 'hearth:5001', f'localhost:{host.port}']:
        assert host.ask_from(address, 'GET', '/.json', OWNER, authority=authority).status == 200
    # Pages of names that anybody can register stay out, and what a page can ask for without a preflight.
    for headers, authority in [({}, 'attacker.example'), ({'Origin': 'https://attacker.example'}, f'{address}:{host.port}')]:
        assert host.ask_from(address, 'GET', '/.json', {**OWNER, **headers}, authority=authority).status == 401
    assert host.ask_from(address, 'GET', '/.json?auth=owner', authority=f'{address}:{host.port}').status == 401
    # An unsigned token in the header counts, so that the rules decide.
    judged = host.ask_from(address, 'GET', '/.json', {'Authorization': f'Bearer {TOKEN}'}, authority=f'{address}:{host.port}')
    assert 'Permission denied' in judged.text
    for name in ['auth', 'access_token']:
        refused = host.ask_from(address, 'GET', f'/.json?{name}={TOKEN}&callback=f', authority=f'{address}:{host.port}')
        assert refused.status == 401 and 'A token without a signature counts from this machine only' in refused.text


def test_the_option_is_for_development_mode(tmp_path):
    (tmp_path / 'functions.json').write_text('{"project": "demo-hearth"}')
    ended = subprocess.run([str(BINARY), 'serve', '--mode', 'production', '--development-tokens', 'network'], cwd=tmp_path, check=False,
                           capture_output=True, text=True, timeout=30)
    assert ended.returncode != 0 and '--development-tokens is for --mode development' in ended.stderr


def test_the_refusal_of_another_address_says_what_helps(host, open_host):
    """The emulator of Android reaches this machine as 10.0.2.2."""
    with Live(host.port, 'android', host='10.0.2.2:5001') as live:
        status, text = live.ask('auth', cred=TOKEN)
        assert status == 'invalid_token' and 'for the host "10.0.2.2:5001": only localhost, ' in text
        assert '127.0.0.0/8 and [::1] count' in text and '--development-tokens network' in text
        assert 'numeric address' not in text
    network = open_host('--development-tokens', 'network')
    with Live(network.port, 'android', host='10.0.2.2:5001') as live:
        assert live.ask('auth', cred=TOKEN)[0] == 'ok'
    answer = network.ask_from('127.0.0.1', 'GET', '/.json', OWNER, authority='attacker.example')
    assert 'only localhost, numeric addresses and names without a dot count' in reason(answer)
    answer = network.ask_from('127.0.0.1', 'GET', '/.json?auth=owner', authority='10.0.2.2:5001')
    assert 'Authorization field' in answer.text and '--development-tokens' not in answer.text
