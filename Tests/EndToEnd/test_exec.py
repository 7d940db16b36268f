"""`hearth exec`: a host for the time of a command, and nothing left of it however that ends."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess

import pytest

import processes
from commands import Commands
from hearth import BINARY, ROOT, library
from processes import until
from tokens import PROJECT


@pytest.fixture
def project(tmp_path):
    """A project with one plugin, and a folder for what is temporary that must be empty in the end."""
    scratch = tmp_path / 'scratch'
    scratch.mkdir()
    folder = tmp_path / 'project'
    folder.mkdir()
    (folder / 'functions.json').write_text(json.dumps({'project': PROJECT, 'plugins': {'Conformance': {'library': library('Conformance')}}}))
    commands = Commands(None, folder, TMPDIR=str(scratch))
    commands.scratch = scratch
    yield commands
    until(lambda: not os.listdir(scratch), f'no folder is left: {os.listdir(scratch)}')
    until(lambda: not of_project(scratch), f'no process is left: {of_project(scratch)}')


def of_project(scratch):
    """The processes that stem from an exec: all of them know its folder for temporary files, or are a host or worker on it."""
    found = []
    for process in processes.every_process():
        with contextlib.suppress(OSError):
            line = processes.command_line(process.pid)
            if process.is_zombie:
                continue
            if processes.environment(process.pid).get('TMPDIR') == str(scratch) or any(str(scratch) in word for word in line):
                found.append((process.pid, line))
    return found


def shell(script):
    return ['exec', '--', 'sh', '-c', script]


@pytest.mark.parametrize('status', [0, 1, 7, 255])
def test_the_status_of_the_command(project, status):
    outcome = project.run(*shell(f'exit {status}'))
    assert (outcome.status, outcome.output, outcome.error) == (status, '', '')


@pytest.mark.parametrize('sig', [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_the_status_of_a_command_that_a_signal_ends(project, sig):
    assert project.run(*shell(f'kill -{sig.value} $$')).status == 128 + sig


def test_what_the_command_finds_in_its_environment(project):
    names = ['FIREBASE_DATABASE_EMULATOR_HOST', 'FIREBASE_AUTH_EMULATOR_HOST', 'FUNCTIONS_EMULATOR_HOST', 'CLOUD_TASKS_EMULATOR_HOST',
             'HEARTH_URL', 'HEARTH_TOKEN', 'GCLOUD_PROJECT', 'GOOGLE_CLOUD_PROJECT', 'OF_MY_OWN']
    outcome = project.run(*shell('for name in ' + ' '.join(names) + '; do printenv $name; done'), OF_MY_OWN='kept', HEARTH_URL='http://elsewhere')
    database, auth, functions, tasks, url, token, project_name, other_name, own = outcome.output.split()
    assert re.fullmatch(r'127\.0\.0\.1:\d+', database)
    assert database == auth == functions == tasks
    assert url == f'http://{database}'
    assert len(token) > 20
    assert (project_name, other_name, own) == (PROJECT, PROJECT, 'kept')


def test_the_command_reaches_functions_and_data(project):
    call = (f'curl -s "$HEARTH_URL/{PROJECT}/us-central1/echo" -H "Content-Type: application/json" -d \'{{"data": 5}}\'; '
            f'{BINARY} database:set /a --data 1 --force --token "$HEARTH_TOKEN" && {BINARY} database:get /a')
    outcome = project.run(*shell(call))
    assert outcome.status == 0, outcome.error
    assert outcome.output.split('\n')[0].startswith('{"result":5}')
    assert outcome.output.strip().endswith('1')


def test_standard_streams_are_the_commands_own(project):
    outcome = project.run('exec', '--', 'sh', '-c', 'cat; echo wrong >&2', given='what is given')
    assert (outcome.output, outcome.error) == ('what is given', 'wrong\n')


def test_data_is_new_each_time_or_kept(project):
    assert project.run(*shell(f'{BINARY} database:set /a --data 1 --force')).status == 0
    assert project.run(*shell(f'{BINARY} database:get /a')).output.strip() == 'null'
    kept = project.folder / 'kept'
    assert project.run('exec', '--data-dir', kept, '--', BINARY, 'database:set', '/a', '--data', '1', '--force').status == 0
    assert project.run('exec', '--data', kept, '--', BINARY, 'database:get', '/a').output.strip() == '1'


def test_import(project):
    (project.folder / 'data.json').write_text('{"users": {"ada": {"born": 1815}}}')
    outcome = project.run('exec', '--import', 'data.json', '--', BINARY, 'database:get', '/users/ada/born')
    assert (outcome.output.strip(), outcome.error) == ('1815', '')


@pytest.mark.parametrize('content', [None, '{"a": '])
def test_import_of_what_is_no_json(project, content):
    if content:
        (project.folder / 'data.json').write_text(content)
    outcome = project.run('exec', '--import', 'data.json', '--', 'echo', 'not reached')
    assert 'data.json' in outcome.sentence
    assert outcome.output == ''


@pytest.mark.parametrize('name,status', [('no-such-command', 127), ('./no-such-file', 127), ('./functions.json', 126)])
def test_a_command_that_cannot_be_run(project, name, status):
    outcome = project.run('exec', '--', name)
    assert outcome.status == status
    assert outcome.error.count('\n') == 1
    assert name in outcome.error


@pytest.mark.parametrize('arguments', [['exec'], ['exec', '--'], ['exec', '--nonsense', '--', 'true'], ['exec', 'true'],
                                       ['exec', '--mode', 'x', '--', 'true']])
def test_wrong_arguments(project, arguments):
    outcome = project.run(*arguments)
    assert outcome.status == 64
    assert outcome.error


def test_a_plugin_that_is_not_built(project):
    (project.folder / 'functions.json').write_text(json.dumps({'project': PROJECT, 'plugins': {'Greeter': {'product': 'Greeter'}}}))
    outcome = project.run('exec', '--', 'echo', 'not reached')
    assert 'swift build -c release --no-color-diagnostics --product Greeter' in outcome.sentence
    assert outcome.output == ''


def test_a_configuration_with_a_mistake(project):
    (project.folder / 'functions.json').write_text('{"project": 5}')
    assert 'functions.json' in project.run('exec', '--', 'echo', 'not reached').sentence
    assert 'nowhere.json' in project.run('exec', '--config', 'nowhere.json', '--', 'echo', 'not reached').sentence


def test_log(project):
    assert project.run('exec', '--log', 'host.log', '--', 'true').status == 0
    assert 'Hearth serves' in (project.folder / 'host.log').read_text()
    assert 'Hearth serves' in project.run('exec', '--log', '-', '--', 'true').error


def test_processes_that_the_command_leaves_are_ended(project):
    outcome = project.run(*shell('setsid sleep 1000 & (trap "" TERM; sleep 1000) & exit 3'))
    assert outcome.status == 3


def started(project, script, first='', **options):
    """An exec whose command has said something."""
    process = project.start(*shell(f'{first}echo begun; {script}'), **options)
    assert process.stdout.readline() == b'begun\n'
    return process


@contextlib.contextmanager
def not_ignored(sig):
    """A shell cannot catch what was ignored when it began, as SIGHUP is in a run that `nohup` started."""
    before = signal.signal(sig, signal.SIG_DFL)
    yield
    signal.signal(sig, before)


@pytest.mark.parametrize('sig', [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command(project, sig):
    with not_ignored(sig):
        process = started(project, 'while :; do sleep 0.05; done', first=f'trap "echo caught; exit 9" {sig.value}; ')
    process.send_signal(sig)
    assert process.communicate(timeout=30)[0] == b'caught\n'
    assert process.returncode == 9


def test_a_signal_ends_a_command_that_does_not_care(project):
    process = started(project, 'exec sleep 1000')
    process.terminate()
    assert process.wait(30) == 128 + signal.SIGTERM


def test_a_signal_before_the_host_serves(project):
    process = project.start(*shell('echo not reached; sleep 1000'))
    until(lambda: processes.children(process.pid), 'it has begun')
    process.terminate()
    output = process.communicate(timeout=30)[0]
    assert process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)
    assert output in (b'', b'not reached\n')


def family(project, process):
    """Everything that an exec has started, once its host has workers."""
    return until(lambda: len(found := processes.descendants(process.pid)) >= 4 and found, 'host, worker and command run')


def test_exec_itself_is_killed(project):
    process = started(project, 'setsid sleep 1000 & sleep 1000')
    all_of_it = family(project, process)
    process.kill()
    process.wait(10)
    until(lambda: not any(one.lives() for one in all_of_it), 'everything ends')


def test_the_process_behind_it_is_killed(project):
    process = started(project, 'setsid sleep 1000 & sleep 1000')
    all_of_it = family(project, process)
    keeper = next(one for one in processes.children(process.pid) if '--lifeline' in processes.command_line(one.pid))
    os.kill(keeper.pid, signal.SIGKILL)
    assert process.wait(30) == 128 + signal.SIGKILL
    until(lambda: not any(one.lives() for one in all_of_it), 'everything ends')


def test_its_process_group_is_killed(project):
    process = subprocess.Popen([BINARY, *shell('echo begun; setsid sleep 1000 & sleep 1000')], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               cwd=project.folder, env=project.environment({}), start_new_session=True)
    assert process.stdout.readline() == b'begun\n'
    all_of_it = family(project, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
    until(lambda: not any(one.lives() for one in all_of_it), 'everything ends')


def test_what_a_massacre_leaves_is_removed_by_the_next(project):
    process = started(project, 'exec sleep 1000')
    all_of_it = family(project, process)
    keeper = next(one for one in processes.children(process.pid) if '--lifeline' in processes.command_line(one.pid))
    for one in [process.pid, keeper.pid]:
        os.kill(one, signal.SIGSTOP)
    for one in [process.pid, keeper.pid, *(one.pid for one in all_of_it)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    process.wait(10)
    left = list(project.scratch.iterdir())
    assert len(left) == 1
    assert project.run('exec', '--', 'true').status == 0
    assert list(project.scratch.iterdir()) == left, 'it is too young to be taken for abandoned'
    os.utime(left[0], (0, 0))
    assert project.run('exec', '--', 'true').status == 0
    assert list(project.scratch.iterdir()) == []


def test_the_host_is_killed(project):
    process = started(project, 'read line; echo still here; exit 4', stdin=subprocess.PIPE)
    all_of_it = family(project, process)
    host = next(one for one in all_of_it if 'serve' in processes.command_line(one.pid))
    os.kill(host.pid, signal.SIGKILL)
    # Its first thread is a zombie before its last one has ended, and only then is its end seen.
    until(lambda: processes.look(host.pid) is None, 'the end of the host is seen')
    output, error = process.communicate(b'\n', timeout=30)
    assert (process.returncode, output) == (4, b'still here\n')
    assert b'the host ended' in error


def test_control_c_reaches_the_command_once(project):
    """On a terminal the command is in the foreground: it reads the input and gets Control-C."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(project.folder)
        # As above: a run in the background ignores it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        script = 'n=0; trap "n=\\$((n+1)); echo caught \\$n" INT; echo begun; read a; read b; echo got $a $b; exit 5'
        os.execve(BINARY, [str(BINARY), *shell(script)], project.environment({}))
    shown = b''

    def until_shown(text):
        nonlocal shown
        while text not in shown:
            shown += os.read(terminal, 4096)

    until_shown(b'begun')
    os.write(terminal, b'\x03')
    until_shown(b'caught 1')
    os.write(terminal, b'one\ntwo\n')
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 4096):
            shown += piece
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5, shown
    assert b'caught 2' not in shown


def test_the_examples_of_the_project(project):
    """exec at the project's own root, as the pages show it."""
    done = subprocess.run([BINARY, 'exec', '--config', ROOT / 'functions.json', '--', 'sh', '-c', 'curl -sf "$HEARTH_URL/_/ready"'],
                          capture_output=True, env=project.environment({}), timeout=60, check=False)
    assert (done.returncode, json.loads(done.stdout)) == (0, {'status': 'ready'}), done.stderr
