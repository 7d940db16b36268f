"""Whom the system lets go first: the host's loops and workers that serve, before everything that computes."""

import os
import subprocess
import sys

from processes import children, until

PREFERRED = os.SCHED_OTHER | os.SCHED_RESET_ON_FORK
LOOPS = 2
CONFIG = {'server': {'loops': LOOPS}, 'workers': {'prewarmed': 1}}
# What a user without privileges cannot do, root may not be able to either.
WITHOUT_PRIVILEGE = ['setpriv', '--bounding-set=-sys_nice'] if os.geteuid() == 0 else []


def of_threads(pid):
    """The policy and the nice value of each thread."""
    return [(os.sched_getscheduler(int(thread)), os.getpriority(os.PRIO_PROCESS, int(thread))) for thread in os.listdir(f'/proc/{pid}/task')]


def preferred(host):
    """What those threads of the host have that go first."""
    return [thread for thread in of_threads(host.pid) if thread[0] == PREFERRED]


def nice_of_loops():
    """What they get here: -10 where that is allowed and nobody has chosen another value."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    return -10 if own == 0 and subprocess.run([sys.executable, '-c', 'import os; os.nice(-1)'], stderr=subprocess.DEVNULL).returncode == 0 else own


def processes_with_a_spare_one(host):
    """The policies and nice values of the worker that serves and of the one in reserve, once both have begun."""
    until(lambda: len(children(host.pid)) == 2, 'a worker serves and one is in reserve')
    return sorted(of_threads(child.pid)[0] for child in children(host.pid))


def test_loops_go_before_everything_else(launch):
    host = launch(config=CONFIG)
    assert host.result('echo', 1) == 1
    assert preferred(host) == [(PREFERRED, nice_of_loops())] * LOOPS


def test_a_worker_goes_first_once_it_serves(launch):
    host = launch(config=CONFIG)
    assert host.result('echo', 1) == 1
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert processes_with_a_spare_one(host) == [(os.SCHED_OTHER, own), (PREFERRED, own)]


def test_a_host_without_privileges_serves_as_well(prepare):
    host = prepare(config=CONFIG)
    command = host.command()
    host.command = lambda: [*WITHOUT_PRIVILEGE, *command]
    host.start()
    assert host.result('echo', 1) == 1
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert preferred(host) == [(PREFERRED, own)] * LOOPS
    assert processes_with_a_spare_one(host) == [(os.SCHED_OTHER, own), (PREFERRED, own)]


def test_a_chosen_nice_value_stays(prepare):
    host = prepare(config=CONFIG)
    command = host.command()
    host.command = lambda: ['nice', '-n', '3', *command]
    host.start()
    assert host.result('echo', 1) == 1
    chosen = min(os.getpriority(os.PRIO_PROCESS, 0) + 3, 19)
    assert preferred(host) == [(PREFERRED, chosen)] * LOOPS
    assert processes_with_a_spare_one(host) == [(os.SCHED_OTHER, chosen), (PREFERRED, chosen)]


def test_a_chosen_policy_stays(prepare):
    host = prepare(config=CONFIG)
    command = host.command()
    host.command = lambda: ['chrt', '--batch', '0', *command]
    host.start()
    assert host.result('echo', 1) == 1
    assert {policy for policy, _ in of_threads(host.pid)} == {os.SCHED_BATCH}
    assert {policy for policy, _ in processes_with_a_spare_one(host)} == {os.SCHED_BATCH}


def test_workers_may_not_go_before_the_host(launch):
    host = launch(config=CONFIG)
    assert host.result('echo', 1) == 1
    for child in children(host.pid):
        with open(f'/proc/{child.pid}/limits') as file:
            line = next(line for line in file if line.startswith('Max nice priority'))
        assert line.split()[-2:] == ['0', '0']
