"""Every case of cases/messaging.json against the real program: validation, sending, topics, registration, delivery."""

import contextlib
import json
import pathlib
import re
import urllib.parse

import pytest

from hearth import Host
from messaging import OWN, SCOPE, Messaging, Receiver, assertion

CASES = json.loads((pathlib.Path(__file__).parent / 'cases/messaging.json').read_text())
PROJECT, FIXTURES = CASES['defaults']['project'], CASES['fixtures']
OTHER = 'other-project'
# The names of the specification's knobs in functions.json.
KNOBS = {
    'topicPayloadLimit': lambda value: {'limits': {'topicPayloadBytes': value}},
    'payloadLimit': lambda value: {'limits': {'payloadBytes': value}},
    'maxPending': lambda value: {'limits': {'pendingMessages': value}},
    'maxCollapseKeys': lambda value: {'limits': {'collapseKeys': value}},
    'maxTopicsPerDevice': lambda value: {'limits': {'topicsPerDevice': value}},
    'devOwnerToken': lambda value: {'ownerToken': value},
    **{name: (lambda value, name=name: {name: value})
       for name in ('reservedKeys', 'collapseNotifications', 'uninstall', 'inactiveAfterDays', 'tokenExpiryDays')},
}


@pytest.fixture(scope='module')
def services(tmp_path_factory):
    """One host for each configuration that a case asks for."""
    made = {}

    def find(knobs):
        key = json.dumps(knobs, sort_keys=True)
        if key not in made:
            settings = {'projectNumber': CASES['defaults']['project_number'], 'projects': [OTHER], 'ownerToken': False}
            for name, value in knobs.items():
                settings |= KNOBS[name](value)
            folder = tmp_path_factory.mktemp('messaging')
            made[key] = Service(Host(folder, [], mode='development', config={'project': PROJECT, 'messaging': settings}).start())
        return made[key]

    yield find
    for service in made.values():
        service.admin.close()
        service.host.stop()


class Service:
    """A host with credentials of each kind that cases name."""

    def __init__(self, host):
        self.host = host
        self.admin = admin = Messaging(host, PROJECT)
        self.account = admin.account()
        self.values = {
            'good': admin.access_token(self.account),
            'cloud_platform': admin.access_token(self.account, 'https://www.googleapis.com/auth/cloud-platform'),
            'wrong_scope': admin.access_token(self.account, 'https://www.googleapis.com/auth/firebase.database'),
            'other_project': admin.access_token(admin.account(project=OTHER)),
            'token_uri': self.account['token_uri'], 'api_key': 'a-key', 'vapid_public': 'a-public-key',
        }
        admin.control('clock', advance_seconds=-7200)
        self.values['expired'] = admin.access_token(self.account)
        admin.control('clock', advance_seconds=7200)
        answer = admin.ask('POST', f'/v1/projects/{PROJECT}/installations', {}, headers={'x-goog-api-key': 'a-key'})
        self.values['fis_token'] = answer.json['authToken']['token']

    def fill(self, value, repetition=1):
        """A case's value with what it stands for."""
        if isinstance(value, str):
            return re.sub(r'\{\{(\w+)\}\}', lambda match: str({**self.values, 'i': repetition}[match[1]]), value)
        if isinstance(value, list):
            return [self.fill(item, repetition) for item in value]
        if not isinstance(value, dict):
            return value
        if '$repeat' in value:
            return value['$repeat'][0] * value['$repeat'][1]
        if '$list' in value:
            return [self.fill(value['$list'][0], repetition)] * value['$list'][1]
        if '$jwt' in value:
            claims = self.fill(value['$jwt'])
            return assertion(self.account, self.admin.now(), aud=claims['aud'], scope=claims.get('scope', SCOPE), iat=claims['iat'],
                             exp=claims['exp'], tamper=bool(claims.get('$tamper')))
        return {key: self.fill(item, repetition) for key, item in value.items()}


class Run:
    """One case: its devices, what they receive, and the messages that were accepted meanwhile."""

    def __init__(self, service, case):
        self.service, self.admin, self.case = service, service.admin, case
        self.connected, self.frames, self.names = {}, {}, []

    def prepare(self):
        self.admin.control('reset')
        # A second before its time is over, a message is still to be delivered, however busy the machine is.
        self.admin.control('clock', stopped=True)
        setup = self.case['setup']
        for device in setup.get('devices', []):
            fixture = FIXTURES[device['use']]
            self.frames[device['use']] = []
            if fixture.get('registered', True):
                package = fixture.get('package') or fixture.get('bundle') or fixture.get('origin')
                self.admin.register(fixture['platform'], package, fixture['project'], fid=fixture['fid'], token=fixture['token'])
        for topic, names in setup.get('topics', {}).items():
            self.admin.subscribe(topic, [FIXTURES[name]['token'] for name in names])
        for device in setup.get('devices', []):
            if device['state'] != 'offline':
                self.connect(device['use'], device['state'])
        self.steps(setup.get('before', []))
        fault = setup.get('config', {}).get('fault')
        if fault:
            self.admin.control('fault', fault=fault)

    def connect(self, name, state='foreground'):
        self.connected[name] = Receiver(self.service.host, FIXTURES[name]['token'], state)

    def steps(self, steps):
        for step in steps:
            (verb, value), = ((key, item) for key, item in step.items() if key != 'repeat')
            for repetition in range(1, step.get('repeat', 1) + 1):
                getattr(self, f'do_{verb}')(self.service.fill(value, repetition))

    def do_send(self, body):
        self.names.append(self.admin.send(**body))

    def do_advance_s(self, seconds):
        self.settle()
        self.admin.control('clock', advance_seconds=seconds)
        self.service.values['good'] = self.admin.access_token(self.service.account)

    def do_connect(self, name):
        self.connect(name)

    def do_disconnect(self, name):
        self.collect(name)
        self.connected.pop(name).close()

    def do_state(self, change):
        self.connected[change[0]].set_state(change[1])

    def do_ack_all(self, name):
        self.collect(name)
        self.connected[name].acknowledge(*(frame['message_id'] for frame in self.frames[name] if 'message_id' in frame))

    def do_uninstall(self, name):
        self.admin.do('POST', f"{OWN}/projects/{PROJECT}/devices/{FIXTURES[name]['fid']}:uninstall")

    def do_unregister(self, name):
        self.admin.do('DELETE', f"{OWN}/projects/{PROJECT}/devices/{FIXTURES[name]['fid']}")
        if name in self.connected:
            self.connected.pop(name).close()

    def ask(self):
        """The case's request and its answer."""
        request = self.service.fill(self.case['request'])
        body = b''
        if 'raw_body' in request:
            body = request['raw_body']
        elif 'form' in request:
            body = urllib.parse.urlencode(request['form'])
        elif request.get('body') is not None:
            body = json.dumps(request['body'], ensure_ascii=False).encode()
        answer = self.service.host.request(request['method'], request['path'], request.get('headers', {}), body, host=request.get('host'))
        is_real = answer.status == 200 and request['path'].endswith('messages:send') and not (
            isinstance(request.get('body'), dict) and (request['body'].get('validate_only') or request['body'].get('validateOnly')))
        if is_real:
            self.names.append(answer.json['name'])
        return answer

    def settle(self):
        for name in self.names:
            self.admin.settled(name)

    def delivered(self):
        """The messages that every device got, after all have been distributed."""
        self.settle()
        for name in list(self.connected):
            self.collect(name)
        return [{'device': name, **frame} for name, frames in self.frames.items() for frame in frames]

    def collect(self, name):
        """Takes the frames up to one that is sent now: it comes behind all others."""
        self.admin.control('fault')
        fixture = FIXTURES[name]
        mark = self.admin.send({'token': fixture['token'], 'data': {'k': 'last'}, **NOW}, fixture['project'])
        self.frames[name] += self.connected[name].until(lambda frame: frame.get('message_id') == mark.rpartition('/')[2])

    def close(self):
        for receiver in self.connected.values():
            receiver.close()


# A message that is delivered at once or never, whatever the device is.
NOW = {'android': {'ttl': '0s', 'priority': 'high'}, 'webpush': {'headers': {'TTL': '0', 'Urgency': 'high'}},
       'apns': {'headers': {'apns-expiration': '0'}, 'payload': {'aps': {'alert': 'last'}}}}


@pytest.mark.parametrize('case', CASES['cases'], ids=lambda case: case['id'])
def test_case(services, case):
    knobs = {key: value for key, value in case['setup'].get('config', {}).items() if key != 'fault'}
    run = Run(services(knobs), case)
    with contextlib.closing(run):
        run.prepare()
        answer = run.ask()
        check_answer(case['expect'], answer)
        run.steps(case['setup'].get('after', []) + case.get('after', []))
        check_effects(case['expect'], run)


def check_answer(expect, answer):
    assert answer.status == expect['status'], answer.body
    for name, value in expect.get('headers', {}).items():
        assert matches(answer.header(name), value), (name, answer.header(name))
    if 'content_type' in expect:
        assert answer.header('Content-Type').startswith(expect['content_type'])
    if expect.get('not_json'):
        with pytest.raises(json.JSONDecodeError):
            json.loads(answer.body)
    if 'body' in expect:
        assert matches(answer.json, expect['body']), answer.body
    if 'error' in expect:
        check_error(expect, answer.json['error'])


def check_error(expect, error):
    assert matches(error, expect['error']), error
    details = {detail['@type'].rpartition('.')[2]: detail for detail in error.get('details', [])}
    if 'error_code' in expect:
        assert details.get('FcmError', {}).get('errorCode') == expect['error_code'], error
    violations = details.get('BadRequest', {}).get('fieldViolations', [])
    if 'field_violation' in expect:
        assert any(matches(violation, expect['field_violation']) for violation in violations), error
    for wanted in expect.get('field_violations', []):
        wanted = {'field': wanted} if isinstance(wanted, str) else wanted
        assert any(matches(violation, wanted) for violation in violations), error
    if 'counted_bytes' in expect:
        assert any(f"size {expect['counted_bytes']} " in violation['description'] for violation in violations), error


def check_effects(expect, run):
    if 'delivered' in expect:
        check_delivered(expect['delivered'], run.delivered(), expect.get('order') == 'any')
    for topic, names in expect.get('subscribers', {}).items():
        assert run.admin.subscribers(topic) == {FIXTURES[name]['fid'] for name in names}
    if 'counted_bytes' in expect and expect['status'] == 200:
        assert run.admin.message(run.names[-1])['size']['android'] == expect['counted_bytes']


def check_delivered(wanted, frames, in_any_order):
    if isinstance(wanted, dict):
        count = wanted['$count']
        assert sum(frame['device'] == count['device'] and frame['type'] == count['type'] for frame in frames) == count['n'], frames
        return
    assert len(frames) == len(wanted), frames
    if in_any_order:
        for item in wanted:
            assert any(matches(frame, item) for frame in frames), (item, frames)
    else:
        # Per device in order; across devices there is none.
        for name in {item['device'] for item in wanted}:
            own = [frame for frame in frames if frame['device'] == name]
            expected = [item for item in wanted if item['device'] == name]
            assert len(own) == len(expected) and all(map(matches, own, expected)), (expected, own)


def matches(value, wanted):
    """Whether a value matches the expectation of a case: objects as subsets, lists exactly, texts that begin with `re:` as patterns."""
    if isinstance(wanted, str) and wanted.startswith('re:'):
        text = value if isinstance(value, str) else json.dumps(value)
        return re.search(wanted[3:], text) is not None
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(matches, value, wanted))
    if not isinstance(wanted, dict):
        return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)
    if '$exact' in wanted:
        return value == wanted['$exact']
    if '$length' in wanted:
        return len(value) == wanted['$length']
    return isinstance(value, dict) and all(key in value and matches(value[key], item) for key, item in wanted.items())
