"""Scheduling priorities: the host's loops and serving workers run before everything that computes."""

import os
import subprocess
import sys

import pytest

from processes import until

PREFERRED = os.SCHED_OTHER | os.SCHED_RESET_ON_FORK
IN_TURN = os.SCHED_BATCH | os.SCHED_RESET_ON_FORK
PROCESSORS = len(os.sched_getaffinity(0))
# How a host may be started. What a user without privileges cannot do, root may not be able to either.
WITHOUT_PRIVILEGE = ['setpriv', '--bounding-set=-sys_nice'] if os.geteuid() == 0 else []
# The same as `LimitNICE=-10` in the unit. Without CAP_SYS_RESOURCE the limit cannot be raised, and the host has the limit of the test.
RAISED_LIMIT = ['prlimit', '--nice=30:30']
IN_THE_UNIT = [*(RAISED_LIMIT if subprocess.run([*RAISED_LIMIT, 'true'], stderr=subprocess.DEVNULL).returncode == 0 else []), *WITHOUT_PRIVILEGE]


def of_threads(pid):
    """The policy and the nice value of each thread."""
    return [(os.sched_getscheduler(int(thread)), os.getpriority(os.PRIO_PROCESS, int(thread))) for thread in os.listdir(f'/proc/{pid}/task')]


def own_nice():
    return os.getpriority(os.PRIO_PROCESS, 0)


def nice_of_loops(*prefix):
    """The expected values: -10 if that is allowed for children of `prefix` and no other value was chosen."""
    may_raise = subprocess.run([*prefix, sys.executable, '-c', 'import os; os.nice(-10)'], stderr=subprocess.DEVNULL).returncode == 0
    return -10 if own_nice() == 0 and may_raise else own_nice()


def started_by(prepare, *prefix, loops=1):
    """A host that another program starts, once a worker serves."""
    host = prepare(config={'server': {'loops': loops}, 'workers': {'prewarmed': 1}})
    command = host.command()
    host.command = lambda: [*prefix, *command]
    host.start()
    assert host.result('echo', 1) == 1
    return host


def of_loops(host, policy, loops=1):
    """The values of those threads of the host that have this policy, once each loop has had a turn."""
    def found():
        return [thread for thread in of_threads(host.pid) if thread[0] == policy]
    until(lambda: len(found()) >= loops, 'the loops have it')
    return found()


def workers(host):
    """The policies and nice values of the prewarmed worker and the one that serves."""
    until(lambda: len(host.workers()) == 2, 'a worker serves and one is prewarmed')
    return sorted(of_threads(worker.pid)[0] for worker in host.workers())


def until_workers(host, policies):
    """Waits until the workers have these policies: a new one sets its own."""
    until(lambda: workers(host) == policies, f'the policies of the workers are {policies}')


def limit_of(pid):
    """The soft and the hard limit of what it may raise itself to."""
    with open(f'/proc/{pid}/limits') as file:
        return next(line for line in file if line.startswith('Max nice priority')).split()[-2:]


@pytest.mark.parametrize('prefix', [[], WITHOUT_PRIVILEGE, IN_THE_UNIT], ids=['here', 'without-privilege', 'in-the-unit'])
def test_loops_and_serving_workers_go_first_as_far_as_they_may(prepare, prefix):
    host = started_by(prepare, *prefix)
    assert of_loops(host, PREFERRED) == [(PREFERRED, nice_of_loops(*prefix))]
    until_workers(host, [(os.SCHED_OTHER, own_nice()), (PREFERRED, own_nice())])
    for worker in host.workers():
        until(lambda pid=worker.pid: limit_of(pid) == ['0', '0'], 'a worker has no right to raise itself')


def test_a_chosen_nice_value_stays(prepare):
    host = started_by(prepare, 'nice', '-n', '3')
    chosen = min(own_nice() + 3, 19)
    assert of_loops(host, PREFERRED) == [(PREFERRED, chosen)]
    until_workers(host, [(os.SCHED_OTHER, chosen), (PREFERRED, chosen)])


def test_a_chosen_policy_stays(prepare):
    host = started_by(prepare, 'chrt', '--batch', '0')
    assert {policy for policy, _ in of_threads(host.pid)} == {os.SCHED_BATCH}
    assert {policy for policy, _ in workers(host)} == {os.SCHED_BATCH}


def test_loops_that_can_occupy_every_processor_have_no_priority(prepare):
    loops = max(PROCESSORS, 2)
    host = started_by(prepare, 'taskset', '-c', ','.join(map(str, sorted(os.sched_getaffinity(0)))), loops=loops)
    policy = PREFERRED if PROCESSORS > 1 else IN_TURN
    assert of_loops(host, policy, loops) == [(policy, own_nice())] * loops


def test_more_loops_than_processors_take_turns(prepare):
    loops = PROCESSORS + 1
    host = started_by(prepare, loops=loops)
    assert of_loops(host, IN_TURN, loops) == [(IN_TURN, own_nice())] * loops
    until_workers(host, [(os.SCHED_OTHER, own_nice()), (IN_TURN, own_nice())])
