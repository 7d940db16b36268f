"""Starts the release binary with its own configuration, port and data folder, and stops it by its process id."""

import atexit
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import processes
from processes import until, whole_lines
from tokens import PROJECT
from wire import Ended, Wire

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCTS = pathlib.Path(os.environ.get('HEARTH_PRODUCTS', ROOT / '.build/release'))
BINARY = PRODUCTS / 'hearth'
REGION = 'us-central1'


def _unclaimed_ports():
    """Yields ports that no other test process uses, in this run or another. They are below the kernel's ephemeral range. A block of ports is
    claimed by an abstract socket name, which is visible in the same network namespace as the ports, and disappears with this process."""
    first_ephemeral = int(pathlib.Path('/proc/sys/net/ipv4/ip_local_port_range').read_text().split()[0])
    for block in range(20000, first_ephemeral if first_ephemeral > 21000 else 60000, 100):
        with socket.socket(socket.AF_UNIX) as claim, contextlib.suppress(OSError):
            claim.bind(f'\0hearth-tests-ports-{block}')
            yield from range(block, block + 100)
            # The ports of this block stay claimed until the process ends.
            claim.detach()
    raise RuntimeError('there are no ports left for another host')


_ports = _unclaimed_ports()


def free_port():
    while True:
        port = next(_ports)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(('127.0.0.1', port))
            return port


def library(name, **defines):
    """The path of a plugin: built by the package, or compiled here from C with these definitions."""
    source = ROOT / f'Tests/Plugins/C/{name}.c'
    return compiled(source, tuple(defines.items())) if source.exists() else str(PRODUCTS / f'lib{name}.so')


@functools.cache
def compiled(source, defines):
    folder = tempfile.mkdtemp(prefix='hearth-plugin-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = f'{folder}/lib{source.stem}.so'
    flags = ['-shared', '-fPIC', '-Wall', '-Werror', '-I', ROOT / 'SDK/Sources/CHearth/include', *(f'-D{key}={value}' for key, value in defines)]
    subprocess.run(['gcc', *flags, source, '-o', target], check=True)
    return target


def merged(first, second):
    """`second` merged over `first`, recursively."""
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return second
    return {**first, **{key: merged(first.get(key), value) for key, value in second.items()}}


class Host:
    """A running host."""

    def __init__(self, folder, plugins=('Conformance',), mode='production', keys=None, config=None, args=(), env=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.mode, self.keys = free_port(), mode, keys
        self.data, self.log_path = self.folder / 'data', self.folder / 'host.log'
        self.config_path = self.folder / 'functions.json'
        self.arguments, self.variables = list(args), dict(env or {})
        self.process, self.banner, self.is_stopping = None, '', False
        self.write_config(plugins, config or {})

    def write_config(self, plugins, more):
        named = plugins if isinstance(plugins, dict) else {name: {'library': library(name)} for name in plugins}
        config = {'project': PROJECT, 'region': REGION, 'plugins': named}
        if self.keys:
            config['auth'] = {'keys': {'jwksFile': self.key_file('id-keys.json', self.keys.id)}}
            config['appCheck'] = {'keys': {'jwksFile': self.key_file('app-keys.json', self.keys.app)}}
        self.config = merged(config, more)
        self.config_path.write_text(json.dumps(self.config, indent=2))

    def key_file(self, name, *keys):
        path = self.folder / name
        path.write_text(json.dumps({'keys': [key.jwk for key in keys]}))
        return str(path)

    # -- life

    def command(self):
        return [str(BINARY), 'serve', '--config', str(self.config_path), '--host', '127.0.0.1', '--port', str(self.port),
                '--data', str(self.data), '--mode', self.mode, *self.arguments]

    def spawn(self):
        """Starts the process and does not wait for it."""
        self.is_stopping = False
        environment = {'PATH': '/usr/bin:/bin', 'HOME': str(self.folder), 'LANG': 'C.UTF-8', **self.variables}
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=environment, cwd=self.folder, start_new_session=True)
        return self

    def start(self):
        before = len(self.log)
        self.spawn()
        until(self.is_ready, 'the host answers /_/ready', 30)
        # One loop can answer before another has shown the banner.
        until(lambda: 'Hearth serves' in self.log[before:], 'the banner is shown')
        self.banner = self.log
        return self

    def is_ready(self):
        assert self.process.poll() is None, f'the host ended with {self.process.returncode}: {self.log[-2000:]}'
        with contextlib.suppress(OSError, Ended):
            return self.request('GET', '/_/ready', timeout=5).status == 200
        return False

    def begin_stop(self, sig=signal.SIGTERM):
        """Sends the signal. Requests that have started may finish."""
        self.is_stopping = True
        self.process.send_signal(sig)

    def stop(self, sig=signal.SIGTERM, seconds=30):
        """Stops the host as a service manager does, and checks that no processes or control groups are left."""
        if self.process is None:
            return
        family = processes.descendants(self.process.pid)
        if self.process.poll() is None and not self.is_stopping:
            self.begin_stop(sig)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.abandon()
            raise AssertionError(f'still running {seconds} s after {sig.name}: {self.log[-2000:]}') from None
        self.process, pid = None, self.process.pid
        until(lambda: not self.survivors(family, pid), f'no process outlives the host: {self.survivors(family, pid)}')
        groups = processes.memory_groups(pid)
        assert groups == [], f'control groups outlive the host: {groups}'
        assert status == 0, f'exit status {status} after {sig.name}: {self.log[-2000:]}'

    def kill(self):
        """Kills the host with SIGKILL, and returns its descendants."""
        family = processes.descendants(self.process.pid)
        self.process.kill()
        self.process.wait(10)
        self.process = None
        return family

    def abandon(self):
        """Kills the remaining processes after a failed test."""
        if self.process is None:
            return
        for process in processes.of_session(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        self.process.wait(10)
        self.process = None

    def survivors(self, family, session):
        return [process for process in [*family, *processes.of_session(session)] if process.lives()]

    @property
    def pid(self):
        return self.process.pid

    def peak_bytes(self):
        """The most memory that the host has had so far."""
        with open(f'/proc/{self.pid}/status', encoding='ascii') as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith('VmHWM:'))

    def workers(self):
        """The living worker processes, including the prewarmed one without a plugin."""
        return [process for process in processes.descendants(self.pid)
                if process.lives() and 'worker' in processes.command_line(process.pid)]

    def loaded_workers(self):
        """The workers that have loaded a plugin."""
        return [process for process in self.workers() if self.plugins_of(process.pid)]

    def plugins_of(self, pid):
        """The plugins that are mapped into a process."""
        mapped = processes.mapped_files(pid)
        return {path for path in mapped if path.endswith('.so') and path.startswith((str(self.folder), str(PRODUCTS)))}

    # -- requests

    def wire(self, **options):
        return Wire(self.port, **options)

    def request(self, method, target, headers=(), body=b'', host=None, **options):
        with self.wire(**options) as wire:
            return wire.request(method, target, headers, body, host)

    def path(self, name):
        return f"/{self.config['project']}/{REGION}/{name}"

    def callable(self, name, data=None, token=None, app=None, headers=(), **options):
        pairs = [*callable_headers(token, app), *(headers.items() if isinstance(headers, dict) else headers)]
        return self.request('POST', self.path(name), pairs, json.dumps({'data': data}), **options)

    def result(self, name, data=None, **options):
        """The result of a call that must succeed."""
        answer = self.callable(name, data, **options)
        assert answer.status == 200, f'{answer.status} {answer.body!r}'
        return answer.json['result']

    # -- log

    @property
    def log(self):
        """The log's whole lines: a line without an end is still being written, and is left out."""
        return ''.join(f'{line}\n' for line in whole_lines(self.log_path))

    def noted(self, plugins='*'):
        """The events that functions noted in their workers' folders so far, in order of the workers."""
        return [json.loads(line) for path in sorted(self.data.glob(f'workers/{plugins}/events.jsonl')) for line in whole_lines(path)]

    def until_logged(self, pattern, seconds=20):
        """Waits for a log line that matches, and returns it."""
        def found():
            return next((line for line in self.log.splitlines() if re.search(pattern, line)), None)
        return until(found, f'a log line with {pattern!r}', seconds)


def callable_headers(token=None, app=None):
    headers = [('Content-Type', 'application/json')]
    if token is not None:
        headers.append(('Authorization', f'Bearer {token}'))
    if app is not None:
        headers.append(('X-Firebase-AppCheck', app))
    return headers


def error_body(status, message, **more):
    return {'error': {'message': message, 'status': status, **more}}


BAD_REQUEST = error_body('INVALID_ARGUMENT', 'Bad Request')
UNAUTHENTICATED = error_body('UNAUTHENTICATED', 'Unauthenticated')
INTERNAL = error_body('INTERNAL', 'INTERNAL')
