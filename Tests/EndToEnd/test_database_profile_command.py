"""hearth database:profile: what it counts, how it ends, what it says when it cannot."""

import contextlib
import json
import signal

import pytest

from commands import Commands
from databases import Database
from hearth import Host
from processes import look, until


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path / 'host', [], mode='development').start()
    yield host
    host.stop()


@pytest.fixture
def hearth(host, tmp_path):
    return Commands(host, tmp_path / 'here')


@pytest.fixture
def database(host):
    with Database(host, 'profiled') as database:
        database.use_rules({'rules': {'open': {'.read': True}}})
        yield database


class Profile:
    """A command that records."""

    def __init__(self, hearth, *arguments):
        self.process = hearth.start('database:profile', '--instance', 'profiled', *arguments)
        assert self.process.stderr.readline() == b'Profiling. Ctrl-C ends it.\n'

    def ends(self, said=''):
        """Its output when it ends, with this text on standard error."""
        output, error = self.process.communicate(timeout=60)
        assert (self.process.returncode, error.decode()) == (0, said)
        return output.decode()

    def ends_with(self, host):
        """Its output when the host ends, which reports all operations first."""
        host.begin_stop()
        return self.ends(f'hearth: the host at http://127.0.0.1:{host.port} has disconnected; the profile ends here\n')


@contextlib.contextmanager
def profiling(hearth, *arguments):
    profile = Profile(hearth, *arguments)
    try:
        yield profile
    finally:
        profile.process.kill()
        profile.process.communicate()


def counts(rows):
    return {row['path']: row['count'] for row in rows}


def test_the_report(hearth, database, host):
    with profiling(hearth) as profile:
        database.put('/open/a.json', {'b': 1})
        database.get('/open/a.json')
        assert database.send('GET', '/closed.json').status == 401
        assert database.ask('GET', '/open.json', query={'orderBy': '"name"'}).status == 400
        with database.stream('/open.json') as stream:
            stream.put()
            database.put('/open/a.json', 2)
            assert stream.put() == ('/a', 2)
        said = profile.ends_with(host)
    head, *sections = said.split('\n\n')
    assert head.splitlines()[0].split()[1:3] == ['operations', 'in'] and 'streams began' in head
    titles = [section.splitlines()[0] for section in sections]
    assert titles == ['Reads', 'Writes', 'Broadcasts', 'Queries without an index']
    rows = {section.splitlines()[0]: [line.split() for line in section.splitlines()[2:]] for section in sections}
    assert [row for row in rows['Reads'] if row[0] == '/closed'][0][-3:] == ['1', '0', 'B']
    assert rows['Writes'][0][:2] == ['/open/a', '2']
    assert rows['Queries without an index'] == [['/open', 'name', '1']]


def test_the_report_for_programs(hearth, database, host):
    with profiling(hearth, '--json') as profile:
        for number in range(3):
            database.put(f'/n/{number}.json', 'text')
        assert database.send('GET', '/n.json').status == 401
        said = json.loads(profile.ends_with(host))
    report = said['result']
    assert (said['status'], report['operations'], report['lost'], report['connects'], report['broadcasts']) == ('success', 4, 0, 0, [])
    assert counts(report['writes']) == {'/n/0': 1, '/n/1': 1, '/n/2': 1}
    assert [(row['path'], row['denied'], row['bytes']) for row in report['reads']] == [('/n', 1, 0)]
    assert all(row['millis'] >= 0 and row['pendingTime'] >= 0 for row in report['writes'])


@pytest.mark.parametrize('options, shown', [
    ([], {'/users/$wildcard/name': 30, '/few/1': 1, '/few/2': 1}),
    (['--no-collapse'], {**{f'/users/{number}/name': 1 for number in range(30)}, '/few/1': 1, '/few/2': 1}),
], ids=['collapsed', 'each'])
def test_many_places_beside_each_other(options, shown, hearth, database, host):
    with profiling(hearth, '--json', *options) as profile:
        for number in range(30):
            database.put(f'/users/{number}/name.json', 'x')
        for number in (1, 2):
            database.put(f'/few/{number}.json', 'x')
        assert counts(json.loads(profile.ends_with(host))['result']['writes']) == shown


def test_raw(hearth, database):
    with profiling(hearth, '--raw') as profile:
        database.put('/a.json', 1)
        first = json.loads(profile.process.stdout.readline())
        assert (first['name'], first['path'], first['allowed']) == ('rest-write', ['a'], True)
        profile.process.send_signal(signal.SIGINT)
        assert profile.ends() == ''


@pytest.mark.parametrize('sig', [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_asked_to(sig, hearth, database):
    with profiling(hearth) as profile:
        profile.process.send_signal(sig)
        assert profile.ends() == '0 operations in 0 ms\n'


def test_it_goes_on_after_a_shell_has_stopped_it(hearth, database, host):
    with profiling(hearth, '--json') as profile:
        profile.process.send_signal(signal.SIGSTOP)
        until(lambda: look(profile.process.pid).state == 'T', 'the command is stopped')
        profile.process.send_signal(signal.SIGCONT)
        until(lambda: look(profile.process.pid).state != 'T', 'the command goes on')
        database.put('/a.json', 1)
        assert counts(json.loads(profile.ends_with(host))['result']['writes']) == {'/a': 1}


def test_it_ends_by_itself(hearth, database):
    with profiling(hearth, '--duration', '1') as profile:
        assert profile.ends() == '0 operations in 0 ms\n'


def test_what_is_refused(hearth, database):
    assert 'Unauthorized' in hearth.run('database:profile', '--token', 'nonsense').sentence
    assert 'cannot be a namespace' in hearth.run('database:profile', '--instance', 'a.b').sentence
    for wrong in (['--duration', '0'], ['--raw', '--json'], ['--duration', 'soon']):
        assert hearth.run('database:profile', *wrong).status == 64


def test_nobody_is_there(hearth, host, database):
    host.begin_stop()
    until(lambda: host.process.poll() is not None, 'the host has gone')
    assert hearth.run('database:profile').status == 1
