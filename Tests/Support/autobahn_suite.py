"""The Autobahn test suite, which `scripts/test` installs, and the echo server that it tests."""

import contextlib
import json
import subprocess

from hearth import PRODUCTS, ROOT

PACKAGES = ROOT / '.build-venv/autobahn'
CLIENT = ROOT / 'Tests/Programs/autobahn_client.py'


def python2(*args, timeout):
    """Runs Python 2.7, and returns its output."""
    program = PACKAGES / 'python2.7'
    assert program.exists(), 'the Autobahn test suite is not installed: scripts/test does it, and needs a Python 2.7 with pip'
    done = subprocess.run([program, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def all_cases():
    """The numbers of all cases that the suite has."""
    code = (f'import site; site.addsitedir({str(PACKAGES)!r}); from autobahntestsuite.case import Cases; import json; '
            'print(json.dumps([case.__name__[4:].replace("_", ".") for case in Cases]))')
    return json.loads(python2('-c', code, timeout=60).splitlines()[-1])


@contextlib.contextmanager
def echo_server():
    """An echo server that uses the WebSockets of the host; its URL."""
    with subprocess.Popen([PRODUCTS / 'WebSocketEcho'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f'ws://127.0.0.1:{int(process.stdout.readline())}'
            assert process.poll() is None, 'the echo server has ended'
        finally:
            process.kill()


def run_cases(url, folder, messages, cases, timeout):
    """Runs cases, and returns the result of each by its number."""
    python2(CLIENT, PACKAGES, url, folder, messages, *cases, timeout=timeout)
    return json.loads((folder / 'index.json').read_text())['hearth']
