"""An installation's id is no secret: every registration token begins with it. Who knows it must not get the device's token, its messages or
its topics; and the client SDKs must notice nothing."""

import json

import pytest

from messaging import OWN, Messaging
from tokens import PROJECT

KEY = {'x-goog-api-key': 'AIza-public'}
P256DH = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'
FID = 'cVictimVictimVictim001'
INSTALLATIONS = f'/v1/projects/{PROJECT}/installations'
REGISTRATIONS = f'/v1/projects/{PROJECT}/registrations'


@pytest.fixture
def messaging(launch):
    messaging = Messaging(launch([], mode='production'), PROJECT)
    yield messaging
    messaging.close()


class Installation:
    """A client SDK with its installation."""

    def __init__(self, messaging, fid=FID, **headers):
        self.messaging = messaging
        answer = self.ask('POST', INSTALLATIONS, {'fid': fid, 'authVersion': 'FIS_v2', 'appId': '1:1:web:1', 'sdkVersion': 'w:0.6.4'}, **headers)
        assert answer.status == 200, answer.body
        self.fid, self.refresh_token, self.auth_token = (answer.json[key] for key in ('fid', 'refreshToken', 'authToken'))
        self.auth_token = self.auth_token['token']

    def ask(self, method, path, body=None, **headers):
        """A request without any credential of the administrator's."""
        return self.messaging.host.request(method, path, {**KEY, **headers}, b'' if body is None else json.dumps(body).encode())

    def auth(self):
        return {'x-goog-firebase-installations-auth': f'FIS {self.auth_token}'}

    def register(self, endpoint='https://push.example.com/x', method='POST', path=REGISTRATIONS):
        web = {'origin': 'https://app.example.com', 'endpoint': endpoint, 'p256dh': P256DH, 'auth': 'BTBZMqHH6r4Tts7J_aSIgg',
               'applicationPubKey': P256DH}
        return self.ask(method, path, {'web': web}, **self.auth())

    def renew(self, fid=None):
        return self.ask('POST', f'{INSTALLATIONS}/{fid or self.fid}/authTokens:generate', {}, Authorization=f'FIS_v2 {self.refresh_token}')


def refused(answer):
    assert answer.status == 401, answer.body
    assert answer.json['error']['status'] == 'UNAUTHENTICATED'
    return True


def test_a_registered_id_is_not_given_away(messaging):
    victim = Installation(messaging)
    token = victim.register().json['token']
    thief = Installation(messaging, FID)
    assert thief.fid != FID
    assert thief.register('https://push.example.com/thief').json['token'] != token
    for wanted in (token, FID):
        assert refused(thief.ask('DELETE', f'{REGISTRATIONS}/{wanted}', **thief.auth()))
        assert refused(thief.register(method='PATCH', path=f'{REGISTRATIONS}/{wanted}'))
        assert refused(thief.ask('POST', f'{REGISTRATIONS}/{wanted}/topicSubscriptions/news:subscribe', {}, **thief.auth()))
    assert refused(thief.renew(FID))
    assert refused(thief.ask('DELETE', f'{INSTALLATIONS}/{FID}', Authorization=f'FIS_v2 {thief.refresh_token}'))
    assert victim.register().json['token'] == token


def test_tokens_that_were_asked_for_before_are_of_no_use(messaging):
    """An id is unknown until its device registers: a client that has requested tokens for it before is not its owner."""
    thief, victim = Installation(messaging), Installation(messaging)
    assert thief.fid == victim.fid == FID
    token = victim.register().json['token']
    assert refused(thief.register('https://push.example.com/thief'))
    assert refused(thief.renew())
    for path in (f'{REGISTRATIONS}/{token}', f'{REGISTRATIONS}/{FID}'):
        assert refused(thief.ask('DELETE', path, **thief.auth()))
        assert refused(thief.register(method='PATCH', path=path))
    assert refused(thief.ask('DELETE', f'{INSTALLATIONS}/{FID}', Authorization=f'FIS_v2 {thief.refresh_token}'))
    topic = f'{REGISTRATIONS}/{token}/topicSubscriptions/news'
    assert refused(thief.ask('POST', f'{topic}:subscribe', {}, **thief.auth()))
    assert victim.ask('POST', f'{topic}:subscribe', {}, **victim.auth()).status == 200
    assert refused(thief.ask('POST', f'{topic}:unsubscribe', {}, **thief.auth()))
    assert messaging.subscribers('news') == {FID}


def test_the_id_stays_the_victims_while_it_is_unregistered(messaging):
    thief, victim = Installation(messaging), Installation(messaging)
    first = victim.register().json['token']
    assert victim.ask('DELETE', f'{REGISTRATIONS}/{first}', **victim.auth()).status == 200
    assert refused(thief.register())
    assert Installation(messaging).fid != FID
    assert victim.register().json['token'] != first


def test_a_device_that_a_sender_registered_belongs_to_no_installation(messaging):
    early = Installation(messaging)
    token = messaging.register('web', fid=FID)['token']
    assert refused(early.register()) and refused(early.renew())
    assert Installation(messaging).fid != FID
    assert messaging.do('GET', f'{OWN}/projects/{PROJECT}/devices/{FID}')['token'] == token


def test_ids_of_another_project(launch):
    messaging = Messaging(launch([], config={'messaging': {'projects': ['other']}}), PROJECT)
    Installation(messaging).register()
    answer = messaging.ask('POST', '/v1/projects/other/installations', {'fid': FID}, headers=KEY)
    assert answer.status == 200 and answer.json['fid'] != FID


def test_what_client_sdks_do_goes_on_working(messaging):
    """The answer to each request may be lost, and the request is sent again."""
    lost, browser = Installation(messaging), Installation(messaging)
    assert browser.fid == lost.fid == FID
    token = browser.register().json['token']
    assert browser.register().json['token'] == token, 'the first answer was lost'
    for _ in range(2):
        browser.auth_token = browser.renew().json['token']
        changed = browser.register('https://push.example.com/other', 'PATCH', f'{REGISTRATIONS}/{token}')
        assert changed.json['token'] == token, changed.body
    proven = Installation(messaging, FID, Authorization=f'FIS_v2 {browser.refresh_token}')
    assert proven.fid == FID and proven.register().json['token'] == token
    assert browser.ask('DELETE', f'{INSTALLATIONS}/{FID}', Authorization=f'FIS_v2 {browser.refresh_token}').json == {}
    messaging.host.stop()
    messaging.host.start()
    again = Installation(Messaging(messaging.host, PROJECT))
    assert again.register().status == 200, 'an SDK takes the id that it is answered with'


def test_the_owner_is_known_after_a_restart(messaging):
    thief, victim = Installation(messaging), Installation(messaging)
    token = victim.register().json['token']
    messaging.host.stop()
    messaging.host.start()
    for installation in (thief, victim):
        installation.messaging = Messaging(messaging.host, PROJECT)
    assert refused(thief.register())
    assert victim.register().json['token'] == token
