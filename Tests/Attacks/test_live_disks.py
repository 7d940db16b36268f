"""Full disks under the live connection."""

import contextlib

import pytest

from databases import Database
from disks import SmallDisk
from hearth import Host
from live import View, connect
from processes import until
from test_live_faults import DEFAULT, RULES
from tokens import id_claims, unsigned
from wire import Ended

FULL = 'The disk is full: nothing was written. Try again when there is room.'


def test_a_full_disk(tmp_path):
    """A write is refused as over HTTP; listens and reads go on, nobody hears of the refused write, and the client can try again."""
    host = Host(tmp_path, [], mode='development')
    folder = host.data / 'database'
    folder.mkdir(parents=True)
    host.data.chmod(0o700)
    with SmallDisk(folder) as disk:
        host.start()
        try:
            with Database(host, 'disk') as database:
                database.use_rules(RULES)
                the_disk_fills(database, disk)
        finally:
            host.abandon()


def test_a_full_disk_and_a_lost_session(tmp_path):
    """Operations that cannot run yet never run after the next connection's writes: that connection ends until they can."""
    with SmallDisk(tmp_path / 'data', 8) as disk:
        host = Host(tmp_path, [], mode='development').start()
        with Database(host, DEFAULT) as database:
            database.use_rules(RULES)
            first = connect(database)
            first.do('o', p='/open/status', d='offline')
            first.do('p', p='/open/status', d='online')
            disk.fill()
            with connect(database, last=first.session) as again, pytest.raises((Ended, ConnectionError, AssertionError)):
                again.do('p', p='/open/status', d='full')
            disk.make_room()

            def comes_back():
                with contextlib.suppress(Ended, ConnectionError, AssertionError), connect(database, last=first.session) as again:
                    return again.ask('p', p='/open/status', d='online again') == ('ok', '')
            until(comes_back, 'the client is served again')
            database.put('/open/later.json', 1)
            assert database.get('/open/status.json') == 'online again'
            first.cut()
        host.stop()


def test_a_full_disk_when_a_user_signs_out(tmp_path):
    """The user's operations are judged for nobody afterwards, although that could not be stored."""
    with SmallDisk(tmp_path / 'data', 8) as disk:
        host = Host(tmp_path, [], mode='development').start()
        with Database(host, DEFAULT) as database:
            database.use_rules({'rules': {'.read': True, 'users': {'$uid': {'.write': 'auth.uid === $uid'}}}})
            with connect(database) as live:
                live.do('auth', cred=unsigned(id_claims('ada')))
                live.do('o', p='/users/ada', d='ended')
                live.do('p', p='/users/ada', d='here')
                disk.fill()
                live.do('unauth')
                disk.make_room()
            # The end of the next client comes after that of the first.
            with connect(database) as live:
                live.do('gauth', cred='owner')
                live.do('o', p='/users/bob', d='ended')
            until(lambda: database.get('/users/bob.json'), 'the operations have run')
            assert database.get('/users/ada.json') == 'here'
        host.stop()


def the_disk_fills(database, disk):
    text = 'x' * 20_000
    with connect(database) as live, connect(database) as listener:
        view = View('/open/fill')
        view.apply(listener.listen('/open/fill'))
        live.do('o', p='/open/ends', d=1)
        disk.fill()
        done = {}
        for number in range(1000):
            status, reason = live.ask('p', p=f'/open/fill/n{number}', d=text)
            if status != 'ok':
                break
            done[f'n{number}'] = text
        assert (status, reason) == ('unavailable', FULL)
        assert live.ask('m', p='/open/fill', d={'a': text, 'b': text}) == ('unavailable', FULL)
        assert live.ask('p', p='/open/fill/t', d=text, h='') == ('unavailable', FULL)
        assert live.ask('o', p='/open/ends', d=text)[0] == 'unavailable'
        assert (live.do('g', p='/open/fill', q={}) or {}) == done
        listener.do('s', c={})
        assert (view.apply(listener.taken()) or {}) == done
        disk.make_room()
        live.do('p', p='/open/fill/after', d=1)
        view.apply([listener.push()])
        assert view.value == {**done, 'after': 1}
