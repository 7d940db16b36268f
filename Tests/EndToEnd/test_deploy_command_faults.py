"""`hearth deploy` where things go wrong between it and the host: what it does then, what it says, and that nothing is lost.

The host is one that only knows deployments (Tests/Support/deploy_host.py), and does wrong what the test says.
"""

import contextlib
import hashlib
import json
import os
import signal
import threading

import pytest

from commands import Commands
from deploy_host import TOKEN, DeployHost, Dropped, library, refusal
from processes import until


class Project:
    """A folder with a functions.json, and the commands that are run in it."""

    def __init__(self, folder, host):
        self.folder, self.host = folder, host
        self.hearth = Commands(None, folder, url=host.url, HEARTH_TOKEN=TOKEN)
        self.config = {'project': 'demo', 'plugins': {}}
        self.write(Chat=library('hello', 'chat-send', 'chat-read'))

    def write(self, **libraries):
        for plugin, data in libraries.items():
            (self.folder / f'lib{plugin}.so').write_bytes(data)
            self.config['plugins'][plugin] = {'library': f'lib{plugin}.so'}
        (self.folder / 'functions.json').write_text(json.dumps(self.config))

    def deploy(self, *arguments, **options):
        return self.hearth.run('deploy', *arguments, **options)

    def deploys(self, *arguments):
        return self.hearth.result('deploy', *arguments)

    def versions(self):
        return {name: known['version'] for name, known in self.host.functions.items()}


@pytest.fixture
def host():
    with contextlib.closing(DeployHost()) as made:
        yield made


@pytest.fixture
def project(tmp_path, host):
    return Project(tmp_path, host)


def actions(result):
    return {change['function']: change['action'] for change in result['changes']}


# -- uploads

def test_what_the_host_has_is_not_sent_again(project, host):
    assert set(actions(project.deploys()).values()) == {'create'}
    assert 'put' in host.steps()
    host.requests.clear()
    project.config['functions'] = {'hello': {'timeoutSeconds': 5}}
    project.write()
    assert actions(project.deploys()) == {'hello': 'update', 'chat-send': 'unchanged', 'chat-read': 'unchanged'}
    assert 'put' not in host.steps()


def test_a_large_library_goes_in_pieces(project, host):
    project.write(Chat=library('hello', more=18 << 20))
    project.deploys()
    pieces = host.bodies('put')
    assert [piece['offset'] for piece in pieces] == [sum(before['length'] for before in pieces[:index]) for index in range(len(pieces))]
    assert len(pieces) > 2
    assert all(piece['length'] <= 8 << 20 for piece in pieces)


def test_an_upload_that_is_cut_goes_on_where_it_was(project, host):
    data = library('hello', more=18 << 20)
    project.write(Chat=data)
    host.fail('receive', 1 << 20, None, 3 << 20, 64 << 10)
    host.fail('after put', None, Dropped)
    project.deploys()
    # Every byte was stored once.
    assert host.stored == len(data)


def test_an_upload_that_was_killed_goes_on_where_it_was(project, host):
    data = library('hello', more=18 << 20)
    project.write(Chat=data)
    entered, go = threading.Event(), threading.Event()
    host.fail('receive', None, None, lambda: entered.set() or go.wait(30) and None)
    process = project.hearth.start('deploy')
    assert entered.wait(30)
    process.kill()
    process.communicate()
    go.set()
    before = host.stored
    assert 0 < before < len(data)
    project.deploys()
    until(lambda: host.stored >= len(data), 'all of it was stored')
    assert host.stored <= len(data) + (8 << 20)
    assert project.versions() == {'hello': 1}


def test_a_piece_that_begins_elsewhere_is_sent_from_where_the_host_is(project, host):
    project.write(Chat=library('hello', more=9 << 20))
    host.fail('put', (409, refusal('ABORTED', 'the piece begins elsewhere', receivedBytes=0)))
    assert actions(project.deploys()) == {'hello': 'create'}


def test_pieces_that_were_not_of_this_library_are_sent_anew(project, host):
    data = library('hello', more=1 << 20)
    project.write(Chat=data)
    host.pieces[hashlib.sha256(data).hexdigest()] = bytearray(b'something else that was left behind')
    assert actions(project.deploys()) == {'hello': 'create'}
    assert host.steps().count('complete') == 2


def test_a_host_that_never_takes_the_library(project, host):
    host.fail('complete', *[(400, refusal('INVALID_ARGUMENT', 'no space is left for libraries'))] * 5)
    assert 'no space is left for libraries' in project.deploy().sentence
    assert host.revision == 1


def test_a_library_that_the_host_lost_is_sent_again(project, host):
    host.fail('after complete', lambda: host.complete.clear())
    assert set(actions(project.deploys()).values()) == {'create'}
    assert host.steps().count('complete') == 2


def test_a_library_that_is_lost_before_the_switch(project, host):
    host.fail('after plan', lambda: host.complete.clear())
    assert set(actions(project.deploys()).values()) == {'create'}
    assert host.steps().count('put') == 2
    assert host.revision == 2


def test_a_library_that_the_host_loses_each_time(project, host):
    host.fail('after complete', *[lambda: host.complete.clear()] * 100)
    assert project.deploy().sentence == 'the library of Chat is not here'
    assert host.revision == 1


def test_a_dry_run_that_the_host_refuses(project, host):
    """The host has no library of a dry run, which is not why it refuses."""
    host.fail('plan', (400, refusal('INVALID_ARGUMENT', 'a secret is missing')))
    project.host.complete.clear()
    assert project.deploy().sentence == 'a secret is missing'
    assert host.steps().count('plan') == 1


# -- others that deploy

def test_another_deployment_in_between(project, host):
    host.fail('after plan', lambda: host.serve('Other', 'theirs') or setattr(host, 'revision', 7))
    outcome = project.deploy()
    assert outcome.status == 0, outcome.error
    assert 'planned again' in outcome.output
    assert host.steps().count('plan') == 2
    assert host.revision == 8
    assert [request['expectedRevision'] for request in host.bodies('deploy')] == [1, 7]


def test_others_that_always_come_first(project, host):
    host.fail('deploy', *[(409, refusal('ABORTED', 'the functions changed'))] * 100)
    assert 'other deployments' in project.deploy().sentence
    assert host.revision == 1


def test_the_same_deletions_are_not_asked_for_again(project, host):
    host.serve('Chat', 'old')
    host.fail('after plan', lambda: setattr(host, 'revision', 7))
    status, shown = project.hearth.on_terminal('deploy', answers='y\n')
    assert status == 0, shown
    assert shown.count('[y/N]') == 1
    assert sorted(host.functions) == ['chat-read', 'chat-send', 'hello']


def test_other_deletions_are_asked_for(project, host):
    host.serve('Chat', 'old')
    host.fail('after plan', lambda: setattr(host, 'revision', 7) or host.serve('Chat', 'older'))
    status, shown = project.hearth.on_terminal('deploy', answers='y\n', more_answers='n\n')
    assert status == 0, shown
    assert shown.count('[y/N]') == 2
    assert {'old', 'older'} < set(host.functions)


# -- answers that do not come

def test_an_answer_to_the_switch_that_is_lost(project, host):
    host.fail('after deploy', Dropped)
    assert set(actions(project.deploys()).values()) == {'create'}
    assert len(host.deployments) == 1
    assert project.versions() == {'hello': 1, 'chat-send': 1, 'chat-read': 1}


def test_a_switch_that_did_not_arrive(project, host):
    host.fail('deploy', Dropped, Dropped)
    project.deploys()
    assert len(host.deployments) == 1


def test_plans_that_break_off(project, host):
    host.fail('plan', Dropped, (503, refusal('UNAVAILABLE', 'the host is starting')))
    project.deploys()
    assert len(host.deployments) == 1


def test_a_host_that_is_gone_at_the_switch(project, host):
    host.fail('deploy', *[Dropped] * 100)
    sentence = project.deploy().sentence
    assert 'not known' in sentence
    assert 'functions:list' in sentence


def test_a_plugin_that_the_host_refuses(project, host):
    host.fail('plan', (400, refusal('INVALID_ARGUMENT', 'libChat.so: is for another architecture.')))
    outcome = project.deploy()
    assert outcome.sentence == 'libChat.so: is for another architecture'
    assert host.revision == 1


@pytest.mark.parametrize('step', ['list', 'state', 'put', 'complete', 'plan', 'deploy'])
def test_what_is_no_answer_of_a_host(step, project, host):
    host.fail(step, (200, ['not', 'it']))
    assert 'not a Hearth host' in project.deploy().sentence
    assert host.revision == 1


# -- interruptions

STEPS = ['list', 'state', 'receive', 'complete', 'plan']


class Held:
    """A step that waits until it is let go."""

    def __init__(self, host, step):
        self.entered, self.go = threading.Event(), threading.Event()
        host.fail(step, self)

    def __call__(self):
        self.entered.set()
        self.go.wait(60)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['interrupt', 'terminate'])
@pytest.mark.parametrize('step', STEPS)
def test_interrupted(step, number, project, host):
    held = Held(host, step)
    process = project.hearth.start('deploy')
    assert held.entered.wait(30)
    process.send_signal(number)
    output, error = process.communicate(timeout=30)
    held.go.set()
    assert process.returncode == -number
    assert error.decode() == 'hearth: interrupted; nothing was changed\n'
    assert host.functions == {}


def test_interrupted_while_the_host_switches(project, host):
    """A request that was sent cannot be taken back, so its end is awaited."""
    held = Held(host, 'deploy')
    process = project.hearth.start('deploy', '--json')
    assert held.entered.wait(30)
    process.send_signal(signal.SIGINT)
    assert b'waiting for its answer' in process.stderr.readline()
    held.go.set()
    output, error = process.communicate(timeout=30)
    assert process.returncode == 0, error
    assert json.loads(output)['result']['deployment'] == 1


def test_interrupted_twice_while_the_host_switches(project, host):
    held = Held(host, 'deploy')
    process = project.hearth.start('deploy', '--json')
    assert held.entered.wait(30)
    process.send_signal(signal.SIGINT)
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=30)
    held.go.set()
    assert process.returncode == -signal.SIGINT
    assert 'functions:list' in error.decode()
    assert json.loads(output)['status'] == 'error'


def test_interrupted_at_the_question(project, host):
    host.serve('Chat', 'old')
    status, shown = project.hearth.on_terminal('deploy', answers='\x03')
    assert status == -signal.SIGINT
    assert 'nothing was changed' in shown
    assert list(host.functions) == ['old']


def test_interrupted_while_it_builds(project, host, tmp_path):
    """The compiler goes with it."""
    fake = tmp_path / 'toolchain'
    fake.mkdir()
    (fake / 'swift').write_text('#!/bin/sh\necho $$ > "$0.pid"\nexec sleep 600\n')
    (fake / 'swift').chmod(0o755)
    (tmp_path / 'Package.swift').write_text('// nothing is read here\n')
    project.config['plugins'] = {'Chat': {'product': 'Chat'}}
    project.write()
    process = project.hearth.start('deploy', PATH=f'{fake}:/usr/bin:/bin')
    pid_file = fake / 'swift.pid'
    until(lambda: pid_file.exists() and pid_file.read_text().strip(), 'the compiler runs')
    pid = int(pid_file.read_text())
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert 'nothing was changed' in error.decode()
    until(lambda: not os.path.exists(f'/proc/{pid}'), 'the compiler is gone')


def test_output_that_nobody_reads(project, host):
    """A switch that was asked for is not lost because a pager was closed."""
    process = project.hearth.start('deploy')
    process.stdout.close()
    assert process.wait(30) in (0, -signal.SIGPIPE)
    process.stderr.close()


def test_the_times_are_told(project):
    seconds = project.deploys()['seconds']
    assert set(seconds) == {'build', 'upload', 'switch'}
    assert all(value >= 0 for value in seconds.values())
