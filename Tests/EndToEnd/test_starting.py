"""The requirements of a host before it serves: its data directory for itself, and its plugins."""

import contextlib
import shlex
import subprocess

from processes import until


def test_calls_while_plugins_load_are_unavailable(prepare):
    """A plugin whose entry hangs keeps the host loading until its patience ends."""
    host = prepare(['Conformance', 'entry_hangs']).spawn()

    def answer():
        with contextlib.suppress(OSError):
            return host.request('GET', '/_/ready')
        return None

    ready = until(answer, 'the host listens')
    assert ready.status == 503
    call = host.callable('echo', 1, headers={'Origin': 'https://a.test'})
    assert (call.status, call.header('Retry-After'), call.header('Access-Control-Allow-Origin')) == (503, '1', 'https://a.test')
    assert host.request('GET', '/_/health').status == 200
    until(host.is_ready, 'the plugin that hangs is given up', 30)
    assert host.result('echo', 1) == 1
    host.until_logged('entry_hangs')


def refusal(host):
    """The message of a second host on the data directory."""
    ended = subprocess.run(
        [host.command()[0], 'serve', '--config', 'other.json', '--data-dir', host.data, '--port', '0'], cwd=host.folder, text=True,
        capture_output=True, timeout=60)
    assert ended.returncode == 1
    return ended.stderr


def test_a_second_host_leaves_the_data_directory_alone(launch):
    """It would take what the first one serves for what was deleted, and its databases."""
    host = launch(['Conformance'])
    (host.folder / 'other.json').write_text('{"project": "demo-other", "plugins": {}}')
    kept = sorted((host.data / 'artifacts').iterdir()), (host.data / 'deployed.json').read_bytes()
    assert f'{host.data} is used by another host, process {host.pid}; stop it, or name another directory with --data-dir' in refusal(host)
    assert kept == (sorted((host.data / 'artifacts').iterdir()), (host.data / 'deployed.json').read_bytes())
    assert host.result('echo', 1) == 1
    # A killed host no longer has it.
    host.process.kill()
    host.process.wait(10)
    host.process = None
    host.start()
    assert host.result('echo', 2) == 2


def test_too_few_open_files(prepare):
    """A host that could accept no connection does not start."""
    host = prepare([])
    command = f'ulimit -n 100 && exec {shlex.join(map(str, host.command()))}'
    ended = subprocess.run(['bash', '-c', command], cwd=host.folder, text=True, capture_output=True, timeout=60)
    assert ended.returncode == 1
    assert 'this process may have 100 open files; at least 128 are needed' in ended.stderr


def test_an_admin_token_that_others_could_read(launch):
    host = launch([])
    host.stop()
    (host.data / 'admin-token').chmod(0o644)
    host.start()
    assert (host.data / 'admin-token').stat().st_mode & 0o777 == 0o600


def test_a_data_directory_that_is_a_file(prepare):
    host = prepare([])
    (host.folder / 'file').write_text('')
    command = [host.command()[0], 'serve', '--config', 'functions.json', '--data-dir', 'file', '--port', '0']
    ended = subprocess.run(command, cwd=host.folder, text=True, capture_output=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr == 'hearth: the data directory file is not a directory; remove the file, or name another with --data-dir\n'
