"""A host that is killed at every step of a deployment: afterwards the old state is there or the new one, and nothing else."""

import contextlib
import itertools
import json
import pathlib
import subprocess

import pytest

from deploys import Deploys, plugin
from hearth import compiled
from processes import until
from wire import Ended

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / 'Support'


class Stops:
    """Kills a host at a step of its choice."""

    def __init__(self, folder, data):
        self.control, self.orders = folder / 'stop-at', itertools.count(1)
        self.variables = {
            'LD_PRELOAD': compiled(SUPPORT / 'stop_at.c', ()), 'STOP_FOLDER': str(data), 'STOP_CONTROL': str(self.control)}

    def at(self, step):
        fresh = self.control.with_suffix('.new')
        fresh.write_text(f'{next(self.orders)} {step}')
        fresh.rename(self.control)

    def never(self):
        self.control.unlink(missing_ok=True)


def with_stops(prepare, plugins, tmp_path):
    host = prepare(plugins)
    stops = Stops(tmp_path, host.data)
    host.variables.update(stops.variables)
    return host, stops


def restart(host):
    """After the host was killed."""
    assert host.process.wait(20) == -9
    until(lambda: not host.survivors([], host.process.pid), 'its workers have ended')
    host.process = None
    host.start()


def survives(host):
    """Whether the host goes on. It may be killed at a step that follows its readiness."""
    with contextlib.suppress(AssertionError):
        return host.is_ready()
    return False


def versions(host, *names):
    answers = {name: host.callable(name) for name in names}
    return {name: answer.json['result']['version'] if answer.status == 200 else answer.status for name, answer in answers.items()}


def check_folders(host, deploys):
    """The deployed files exist, and no others."""
    named = {version['artifact'] for name in deploys.functions for version in deploys.versions(name)}
    named |= {sight['artifact'] for sight in json.loads((host.data / 'deployed.json').read_text())['state']['local'].values()}
    expected = {f'{name}{ending}' for name in named for ending in ('.so', '.json')}
    until(lambda: {path.name for path in (host.data / 'artifacts').iterdir()} == expected, 'the libraries are those of the versions')
    assert not list(host.data.glob('*.new'))


@pytest.mark.timeout(300)
def test_a_deployment_that_is_killed_at_every_step(prepare, tmp_path):
    host, stops = with_stops(prepare, {}, tmp_path)
    host.start()
    deploys = Deploys(host)
    names = ('one', 'two', 'three')
    first = {'Things': plugin(1, 'one', 'two'), 'Others': plugin(1, 'three')}
    second = {'Things': plugin(2, 'one'), 'Others': plugin(2, 'three')}
    deploys.deploy(first)
    old, new = {'one': 1, 'two': 1, 'three': 1}, {'one': 2, 'two': 404, 'three': 2}
    assert versions(host, *names) == old
    seen = set()
    for step in itertools.count():
        stops.at(step)
        done = False
        with contextlib.suppress(Ended, OSError):
            deploys.deploy(second, removes=True)
            done = True
        stops.never()
        if done and survives(host):
            break
        restart(host)
        state = versions(host, *names)
        assert state in (old, new), (step, state)
        seen.add(json.dumps(state))
        check_folders(host, deploys)
        if state == new:
            deploys.deploy(first, force=True)
            assert versions(host, *names) == old
    assert step > 20, step
    assert len(seen) == 2, 'some steps are before the switch, and some after it'
    assert versions(host, *names) == new
    check_folders(host, deploys)


@pytest.mark.timeout(300)
def test_a_first_start_that_is_killed_at_every_step(prepare, tmp_path):
    """The next one starts, with a token that is whole; one that was there is the one that counts."""
    for step in itertools.count():
        host, stops = with_stops(prepare, {}, tmp_path)
        stops.at(step)
        host.spawn()
        with contextlib.suppress(AssertionError):
            until(host.is_ready, 'the host is ready', 30)
        stops.never()
        if survives(host):
            break
        assert host.process.wait(10) == -9
        host.process = None
        token = host.data / 'admin-token'
        before = token.read_text() if token.exists() else None
        host.start()
        assert before in (None, token.read_text()), step
        assert len(token.read_text()) == 43 and token.stat().st_mode & 0o777 == 0o600, step
        assert Deploys(host).functions == {}, step
        host.stop()
        assert not list(host.data.glob('*.new')), step
    assert step > 10, step


@pytest.mark.timeout(300)
def test_a_local_deployment_that_is_killed_at_every_step(prepare, tmp_path):
    host, stops = with_stops(prepare, {'Things': {'library': plugin(1, 'one', 'two')}}, tmp_path)
    host.start()
    deploys = Deploys(host)
    assert versions(host, 'one', 'two') == {'one': 1, 'two': 1}
    for number, step in enumerate(itertools.count(), start=2):
        host.write_config({'Things': {'library': plugin(2 + step % 2, 'one', 'two')}}, {})
        host.stop()
        before = json.loads((host.data / 'deployed.json').read_text())
        stops.at(step)
        host.spawn()
        with contextlib.suppress(subprocess.TimeoutExpired, AssertionError):
            until(host.is_ready, 'the host is ready', 30)
        stops.never()
        if survives(host):
            break
        assert host.process.wait(10) == -9
        host.process = None
        after = json.loads((host.data / 'deployed.json').read_text())
        assert after == before or after['state']['revision'] == before['state']['revision'] + 1, step
        host.start()
        assert versions(host, 'one', 'two') == {'one': 2 + step % 2, 'two': 2 + step % 2}
        check_folders(host, deploys)
    assert number > 10


@pytest.mark.parametrize('act', [
    lambda deploys: deploys.roll_back('one', to=1), lambda deploys: deploys.split('one', v1=40, v2=60), lambda deploys: deploys.delete('one'),
], ids=['rollback', 'split', 'delete'])
def test_an_act_on_one_function_that_is_killed_at_every_step(act, prepare, tmp_path):
    host, stops = with_stops(prepare, {}, tmp_path)
    host.start()
    deploys = Deploys(host)
    for version in (1, 2):
        deploys.deploy({'Things': plugin(version, 'one', 'two')})

    def traffic():
        return {name: function['traffic'] for name, function in deploys.functions.items()}
    before = traffic()
    for step in itertools.count():
        stops.at(step)
        done = False
        with contextlib.suppress(Ended, OSError):
            act(deploys)
            done = True
        stops.never()
        if done:
            break
        restart(host)
        check_folders(host, deploys)
        if traffic() != before:
            break
    assert step > 2
    assert traffic() != before
    assert len(deploys.history) == 3
