"""Events in the certificate's folder: only another certificate or key is read again."""

import os

import pytest

from certificates import make_certificate
from processes import until
from secure_host import TLS, Secure

RELOADED = 'the certificate was reloaded'


@pytest.fixture
def secure(prepare):
    return Secure(prepare(config=TLS)).start()


def renew(secure, name):
    """Another certificate; it must be used. Returns how often certificates were read again so far."""
    make_certificate(secure.folder, name)
    until(lambda: name in secure.subject(), f'the certificate of {name} is used')
    return secure.host.log.count(RELOADED)


def test_a_log_in_the_folder(secure):
    """Lines are written to it all the time, also while a certificate is renewed."""
    with open(secure.folder / 'access.log', 'a', buffering=1) as log:
        for _ in range(150):
            log.write('a request\n')
            (secure.folder / 'touched').touch()
            secure.call('1')
        assert RELOADED not in secure.host.log
        make_certificate(secure.folder, 'renewed')

        def renewed():
            log.write('a request\n')
            return 'renewed' in secure.subject()
        until(renewed, 'the new certificate is used')
    assert secure.host.log.count(RELOADED) == 1


def test_one_line_tells_of_all_loops(prepare):
    secure = Secure(prepare(config={'server': {**TLS['server'], 'loops': 3}})).start()
    renew(secure, 'renewed')
    assert renew(secure, 'again') <= 2
    (secure.folder / 'cert.pem').write_text('nonsense')
    secure.host.until_logged('the certificate could not be reloaded')
    assert renew(secure, 'third') <= 3
    assert secure.host.log.count('the certificate could not be reloaded') == 1


def test_a_certificate_that_is_only_touched(secure):
    for name in ('cert.pem', 'key.pem'):
        os.utime(secure.folder / name)
        contents = (secure.folder / name).read_bytes()
        (secure.folder / 'same').write_bytes(contents)
        (secure.folder / 'same').replace(secure.folder / name)
    for _ in range(50):
        secure.call('1')
    # Later events have been processed too.
    assert renew(secure, 'renewed') == 1


@pytest.fixture
def linked(prepare):
    """The files are links, as the tools that renew certificates make them: to a folder's link that is replaced."""
    def make(layout):
        host = prepare(config=TLS)
        for version in ('v1', 'v2'):
            (host.folder / 'store' / version).mkdir(parents=True)
            make_certificate(host.folder / 'store' / version, f'localhost-{version}')
        secure = Secure(host)
        layout(host.folder)
        host.is_ready = lambda: ready(secure)
        host.start()
        return secure
    return make


def ready(secure):
    try:
        return 'v1' in secure.subject()
    except OSError:
        return False


def link(target, path):
    """Replaces a link in one step."""
    path.with_name('.link').symlink_to(target)
    path.with_name('.link').replace(path)


def test_a_link_of_a_folder_that_is_replaced(linked):
    """The links are those of Kubernetes: cert.pem -> ..data/cert.pem, ..data -> the version."""
    def layout(folder):
        link('store/v1', folder / '..data')
        for name in ('cert.pem', 'key.pem'):
            link(f'..data/{name}', folder / name)
    secure = linked(layout)
    link('store/v2', secure.folder / '..data')
    until(lambda: 'v2' in secure.subject(), 'the new certificate is used')
    assert secure.host.log.count(RELOADED) == 1


def test_files_behind_links(linked):
    """The links stay, and what they lead to is replaced in its own folder."""
    def layout(folder):
        for name in ('cert.pem', 'key.pem'):
            link(f'store/v1/{name}', folder / name)
    secure = linked(layout)
    store = secure.folder / 'store'
    for name in ('key.pem', 'cert.pem'):
        (store / 'v2' / name).replace(store / 'v1' / name)
    until(lambda: 'v2' in secure.subject(), 'the new certificate is used')
