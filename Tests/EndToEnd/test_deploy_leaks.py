"""Many deployments in a row leave no process, file or descriptor behind."""

import threading

import pytest

from deploys import Deploys, Refused, plugin
from hearth import library
from processes import descriptors, steady, until

COUNT = 100


def folders(host):
    return {name: sorted(path.name for path in (host.data / name).iterdir()) for name in ('artifacts', 'uploads', 'workers')}


@pytest.mark.timeout(300)
@pytest.mark.parametrize('loops', [1, 2])
def test_a_hundred_deployments(loops, launch):
    host = launch({}, config={'server': {'loops': loops}})
    deploys = Deploys(host)
    libraries = [plugin(version, 'one', 'two') for version in (1, 2, 3)]
    deploys.deploy({'Things': libraries[0]})

    def turn(number):
        deploys.deploy({'Things': libraries[number % 3]}, only=['functions:one'] if number % 2 else None)
        assert host.result('one')['version'] == number % 3 + 1

    def settled():
        return len(host.workers()) <= 3 and len(folders(host)['workers']) <= 2
    for number in range(1, 13):
        turn(number)
    until(settled, 'old workers have ended')
    before = steady(lambda: (len(descriptors(host.pid)), len(host.workers())), 'descriptors and workers')
    for number in range(13, COUNT + 1):
        turn(number)
    until(settled, 'old workers have ended')
    until(lambda: (len(descriptors(host.pid)), len(host.workers())) <= before, 'descriptors and processes are those of before')
    until(lambda: len(folders(host)['artifacts']) == 6 and not folders(host)['uploads'], 'no library too many')
    assert len(deploys.versions('one')) == 10
    assert len(deploys.history) == 100
    assert deploys.history[0]['deployment'] == COUNT + 1


def test_refused_deployments_leave_nothing(launch):
    host = launch({})
    deploys = Deploys(host)
    deploys.deploy({'Things': plugin(1, 'one')})
    host.result('one')
    until(lambda: len(host.workers()) == 2, 'a prewarmed worker is there')
    before = steady(lambda: (folders(host), len(descriptors(host.pid)), len(host.workers())), 'folders, descriptors and workers')
    for name in ('wrong_version', 'missing_entry', 'entry_crashes', 'duplicate_names', 'null_entry') * 2:
        with pytest.raises(Refused):
            deploys.deploy({'Things': library(name)})

    def now():
        found = folders(host)
        # An uploaded and refused library may be needed again in another attempt with other options.
        return {**found, 'uploads': []}, len(descriptors(host.pid)), len(host.workers())
    until(lambda: now() == before, 'everything is as before')
    assert len(folders(host)['uploads']) == 5


def test_old_versions_are_forgotten(launch):
    """The newest ten stay, and the one that a rollback goes to; their libraries stay with them."""
    host = launch({})
    deploys = Deploys(host)
    libraries = [plugin(version, 'one') for version in range(1, 16)]
    for path in libraries[:14]:
        deploys.deploy({'Things': path})

    def numbers():
        def stored():
            return {path.name.split('.')[0] for path in (host.data / 'artifacts').iterdir()}
        until(lambda: stored() == {version['artifact'] for version in deploys.versions('one')}, 'the libraries are those of the versions')
        return [version['version'] for version in deploys.versions('one')]
    assert numbers() == list(range(14, 4, -1))
    deploys.roll_back('one', to=5)
    deploys.deploy({'Things': libraries[14]})
    assert numbers() == list(range(15, 4, -1))
    assert deploys.roll_back('one')['to'] == 5
    assert host.result('one')['version'] == 5


def test_deployments_while_callers_come_and_go(launch):
    """Connections that end in the middle of a switch hold on to no worker."""
    host = launch({}, config={'workers': {'idleSeconds': 1}})
    deploys = Deploys(host)
    libraries = [plugin(version, 'one') for version in (1, 2)]
    deploys.deploy({'Things': libraries[0]})
    stopping = threading.Event()

    def come_and_go():
        while not stopping.is_set():
            with host.wire() as wire:
                wire.send_request('POST', host.path('one'), {'Content-Type': 'application/json'}, '{"data":"slow"}')
                stopping.wait(0.01)
    callers = [threading.Thread(target=come_and_go) for _ in range(4)]
    for caller in callers:
        caller.start()
    for number in range(10):
        deploys.deploy({'Things': libraries[(number + 1) % 2]})
    stopping.set()
    for caller in callers:
        caller.join(20)
    until(lambda: not host.loaded_workers(), 'all workers have ended', 30)
    assert host.result('one')['version'] in (1, 2)
