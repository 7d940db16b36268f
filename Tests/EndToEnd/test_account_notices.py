"""Mails and text messages of sign-in, with a mail server and an endpoint on this machine."""

import contextlib
import re
import sqlite3
import subprocess

import pytest

from certificates import make_certificate
from identity import API, Identity, sign_in_host
from mail_server import MailServer, TextService
from processes import until

SENDER = 'no-reply@example.org'


@pytest.fixture(scope='module')
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp('certificates')
    make_certificate(folder)
    return folder


@contextlib.contextmanager
def running(folder, auth, mode='production', **options):
    host = sign_in_host(folder / 'host', mode, {'auth': auth}, **options)
    try:
        host.start()
        with Identity(host) as identity:
            yield identity
    finally:
        host.stop()


def mail_settings(server, **more):
    return {'host': '127.0.0.1', 'port': server.port, 'security': 'none', 'from': SENDER, 'pauseSeconds': 0.05, 'timeoutSeconds': 10, **more}


def reset(identity, address='ada@example.org', language='en'):
    return identity.post('accounts:sendOobCode', {'X-Firebase-Locale': language}, requestType='PASSWORD_RESET', email=address)


def link(mail):
    return re.search(r'https?://\S+', mail.text)[0]


def code(mail):
    return re.search(r'oobCode=([^&\s]+)', mail.text)[1]


def test_a_mail_resets_a_password(tmp_path):
    with MailServer() as server, running(tmp_path, {
            'mail': mail_settings(server, fromName='Häuser'), 'notices': {'applicationName': 'Häuser'}}) as identity:
        identity.sign_up('ada@example.org')
        assert reset(identity, language='de-DE').status == 200
        mail = server.wait()[0]
        assert (mail.sender, mail.recipients) == (SENDER, ['ada@example.org'])
        assert mail.message['Subject'] == 'Passwort für Häuser zurücksetzen'
        assert str(mail.message['From']) == f'Häuser <{SENDER}>' and mail.message['To'] == 'ada@example.org'
        assert mail.message['Content-Language'] == 'de' and mail.message['Date'].datetime and mail.message['Message-ID']
        assert 'ada@example.org' in mail.text and 'mode=resetPassword' in link(mail)
        identity.do('accounts:resetPassword', oobCode=code(mail), newPassword='another secret')
        identity.sign_in('ada@example.org', 'another secret')


def test_an_unknown_address_gets_no_mail(tmp_path):
    with MailServer() as server, running(tmp_path, {'mail': mail_settings(server)}) as identity:
        identity.sign_up('ada@example.org')
        assert reset(identity, 'nobody@example.org').status == 200
        reset(identity)
        assert [mail.recipients for mail in server.wait()] == [['ada@example.org']]


@pytest.mark.parametrize('security', ['starttls', 'tls'])
def test_user_and_encryption(tmp_path, certificates, security):
    (tmp_path / 'password').write_text('pass wörd\n')
    settings = {
        'security': security, 'user': 'hearth', 'passwordFile': str(tmp_path / 'password'),
        'certificateAuthority': str(certificates / 'cert.pem')}
    with MailServer(certificates, is_tls=security == 'tls', password=('hearth', 'pass wörd')) as server, \
            running(tmp_path, {'mail': mail_settings(server, **settings)}) as identity:
        identity.sign_up('ada@example.org')
        reset(identity)
        mail = server.wait()[0]
        assert mail.is_encrypted and mail.user == 'hearth'


def test_nothing_is_sent_without_encryption(tmp_path, certificates):
    settings = {'security': 'starttls', 'user': 'hearth', 'passwordVariable': 'MAIL_SECRET', 'attempts': 1}
    with MailServer(offers_tls=False, password=('hearth', 'secret')) as server, \
            running(tmp_path, {'mail': mail_settings(server, **settings)}, env={'MAIL_SECRET': 'secret'}) as identity:
        identity.sign_up('ada@example.org')
        reset(identity)
        until(lambda: 'was not sent' in identity.host.log_path.read_text(), 'the mail is given up')
        assert server.mails == [] and not any(command.upper().startswith(('AUTH', 'MAIL')) for command in server.commands)


def test_an_unknown_certificate_is_refused(tmp_path, certificates):
    with MailServer(certificates) as server, \
            running(tmp_path, {'mail': mail_settings(server, security='starttls', attempts=1)}) as identity:
        identity.sign_up('ada@example.org')
        reset(identity)
        until(lambda: 'was not sent' in identity.host.log_path.read_text(), 'the mail is given up')
        assert server.mails == []


def test_a_busy_server_is_tried_again(tmp_path):
    with MailServer() as server, running(tmp_path, {'mail': mail_settings(server)}) as identity:
        server.answers = [451, None, 421]
        identity.sign_up('ada@example.org')
        reset(identity)
        mails = server.wait(attempts=4)
        assert len(mails) == 1
        assert identity.host.log_path.read_text().count('waits for another attempt') == 3


def test_a_notice_outlives_the_host(tmp_path):
    """The host is killed while the mail waits for another attempt. It is sent after the next start, once."""
    with MailServer() as server:
        server.answers = [None]
        auth = {'mail': mail_settings(server, pauseSeconds=60), 'publicUrl': 'https://api.example.org'}
        host = sign_in_host(tmp_path / 'host', config={'auth': auth})
        host.start()
        try:
            with Identity(host) as identity:
                user = identity.sign_up('ada@example.org')
                assert identity.ask('POST', f'{API}/v1/accounts:update?key={identity.key}', {'idToken': user['idToken'], 'email': 'eve@example.org'},
                                    {'X-Firebase-Locale': 'de'}).status == 200
            server.wait(0, attempts=1)
            host.kill()
            assert waiting_notices(host) == 1
            secret = b'oobCode='
            assert not any(secret in path.read_bytes() for path in (host.data / 'users').iterdir() if path.is_file())
            host.start()
            mail = server.wait()[0]
            assert mail.recipients == ['ada@example.org'] and 'eve@example.org' in mail.text and 'Hallo' in mail.text
            until(lambda: waiting_notices(host) == 0, 'the notice is forgotten')
            with Identity(host) as identity:
                assert identity.do('accounts:update', oobCode=code(mail))['email'] == 'ada@example.org'
        finally:
            host.stop()
        assert len(server.mails) == 1


def waiting_notices(host):
    with contextlib.closing(sqlite3.connect(f'file:{host.data}/users/users.sqlite?mode=ro', uri=True)) as store:
        return store.execute('SELECT COUNT(*) FROM notice').fetchone()[0]


def test_a_refusal_is_final_and_the_log_keeps_the_secret(tmp_path):
    with MailServer() as server, running(tmp_path, {'mail': mail_settings(server), 'testHooks': True}) as identity:
        server.answers = [550]
        identity.sign_up('ada@example.org')
        reset(identity)
        until(lambda: 'was not sent' in identity.host.log_path.read_text(), 'the mail is given up')
        log = identity.host.log_path.read_text()
        assert 'password-reset' in log and '550' in log
        assert identity.mail_code() not in log and 'ada@example.org' not in log
        reset(identity)
        assert code(server.wait()[0]) == identity.mail_code()
        assert server.attempts == 2


def test_a_server_that_is_down_does_not_hold_the_request(tmp_path):
    with MailServer() as server:
        port = server.port
    settings = {'host': '127.0.0.1', 'port': port, 'security': 'none', 'from': SENDER, 'attempts': 2, 'pauseSeconds': 0.05}
    with running(tmp_path, {'mail': settings}) as identity:
        identity.sign_up('ada@example.org')
        assert reset(identity).status == 200
        until(lambda: 'was not sent' in identity.host.log_path.read_text(), 'the mail is given up')


def test_templates_of_the_operator(tmp_path):
    folder = tmp_path / 'notices' / 'nl'
    folder.mkdir(parents=True)
    (folder / 'password-reset.txt').write_text('Nieuw wachtwoord voor %APP_NAME%\n\nHallo %EMAIL%: %LINK%\n')
    notices = {'templates': str(tmp_path / 'notices'), 'applicationName': 'Huis'}
    with MailServer() as server, running(tmp_path, {'mail': mail_settings(server), 'notices': notices}) as identity:
        identity.sign_up('ada@example.org')
        reset(identity, language='nl')
        mail = server.wait()[0]
        assert mail.message['Subject'] == 'Nieuw wachtwoord voor Huis' and mail.text.startswith('Hallo ada@example.org: http')


def test_a_template_without_link_stops_the_start(tmp_path):
    (tmp_path / 'notices' / 'en').mkdir(parents=True)
    (tmp_path / 'notices' / 'en' / 'sign-in.txt').write_text('Subject\n\nText\n')
    host = sign_in_host(tmp_path / 'host', 'production', {'auth': {'notices': {'templates': str(tmp_path / 'notices')}}})
    answer = subprocess.run(host.command(), capture_output=True, text=True, timeout=30, check=False)
    assert answer.returncode != 0 and 'sign-in.txt does not contain %LINK%' in answer.stdout + answer.stderr


def test_text_messages(tmp_path):
    texts = {'secretVariable': 'TEXTS', 'secretHeader': 'X-Api-Key', 'pauseSeconds': 0.05}
    with TextService() as service, running(tmp_path, {'texts': {'url': f'{service.url}/send', **texts}, 'notices': {'applicationName': 'App'}},
                                           env={'TEXTS': 'top secret'}) as identity:
        service.answers = [503]
        body = {'phoneNumber': '+15555550100', 'recaptchaToken': 'x'}
        answer = identity.ask('POST', f'{API}/v1/accounts:sendVerificationCode?key={identity.key}', body, {'X-Firebase-Locale': 'fr'})
        assert answer.status == 200, answer.body
        first, second = service.wait(2)
        assert first[1] == second[1] and second[0]['X-Api-Key'] == 'top secret'
        message = second[1]
        assert message == {'to': '+15555550100', 'code': message['code'], 'language': 'fr',
                           'text': f"{message['code']} est votre code de validation pour App."}
        identity.do('accounts:signInWithPhoneNumber', sessionInfo=answer.json['sessionInfo'], code=message['code'])
        assert message['code'] not in identity.host.log_path.read_text()


def test_a_password_needs_encryption(tmp_path):
    (tmp_path / 'password').write_text('secret')
    settings = {'host': 'localhost', 'security': 'none', 'user': 'hearth', 'passwordFile': str(tmp_path / 'password'), 'from': SENDER}
    host = sign_in_host(tmp_path / 'host', 'production', {'auth': {'mail': settings}})
    answer = subprocess.run(host.command(), capture_output=True, text=True, timeout=30, check=False)
    assert answer.returncode != 0 and 'a password is not sent without TLS' in answer.stdout + answer.stderr
