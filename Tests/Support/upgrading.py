"""Load during upgrades, and fake programs for the next version."""

import json
import os
import shutil
import signal
import sys
import time

import processes
from hearth import BINARY, Host
from load import Crowd, Load
from wire import Wire

# A fake new version: sends the given refusals, and ends, hangs or refuses as requested. As a witness it hangs, and records whether the data
# that it was given are removed while it is running.
PRETENDER = '''#!{python}
import glob, os, signal, socket, sys, time
channel = socket.socket(fileno=int(os.environ['HEARTH_TAKEOVER']))
channel.setblocking(True)
first, descriptors, _, _ = socket.recv_fds(channel, 65536, 64)
assert first[:1] == b'S' and descriptors
def witness():
    open('witness', 'w').write(str(os.getpid()))
    while glob.glob('data/before-restore-*'): time.sleep(0.001)
    open('taken-away', 'w').close()
    time.sleep(600)
def act(how):
    if how == 'die': os.kill(os.getpid(), signal.SIGKILL)
    if how == 'abort': os.abort()
    if how == 'leave': sys.exit(7)
    if how == 'hang': time.sleep(600)
    if how == 'refuse': channel.send(b'Fthe new one does not want to'); sys.exit(1)
    if how == 'witness': witness()
    if how == 'close': channel.close(); time.sleep(600)
act({before!r})
channel.send(b'P{{"functions":1,"refusals":{refusals}}}')
assert channel.recv(65536) == b'T'
act({after!r})
'''


class Upgradable(Host):
    """A host whose program can be replaced while it runs."""

    def __init__(self, folder, *args, **options):
        super().__init__(folder, *args, **options)
        self.program = self.folder / 'hearth'
        self.install()

    def command(self):
        return [str(self.program), *super().command()[1:]]

    def install(self, text=None, mode=0o755):
        """Replaces the program by the real one, or by a script."""
        new = self.folder / 'hearth.new'
        if text is None:
            shutil.copy(BINARY, new)
        else:
            new.write_bytes(text if isinstance(text, bytes) else text.encode())
        new.chmod(mode)
        os.replace(new, self.program)

    def install_pretender(self, before='', after='', refusals='[]'):
        self.install(PRETENDER.format(python=sys.executable, before=before, after=after, refusals=refusals))

    @property
    def token(self):
        return (self.data / 'admin-token').read_text()

    def upgrade(self, seconds=60, **options):
        """Starts an upgrade and returns the answer of the administration."""
        return self.request('POST', '/_/api/host:upgrade', [('Authorization', f'Bearer {self.token}'), ('Content-Type', 'application/json')],
                            json.dumps({'timeoutSeconds': seconds}), timeout=70, **options)

    def kill(self):
        """Kills the serving process, and the process that was started first."""
        family = processes.descendants(self.process.pid)
        os.kill(self.serving_pid(), signal.SIGKILL)
        self.process.kill()
        self.process.wait(10)
        self.process = None
        return family

    def serving_pid(self):
        """The id of the process that serves now, according to the log of the last upgrade."""
        lines = [json.loads(line) for line in self.log.splitlines() if line.startswith('{') and '"upgraded: the new process serves' in line]
        return int(lines[-1]['process']) if lines else self.pid


class TimedLoad(Load):
    """Load that records the duration of the slowest call."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.slowest = 0.0

    def call(self, wire, is_new):
        begin = time.monotonic()
        outcome = super().call(wire, is_new)
        with self.lock:
            self.slowest = max(self.slowest, time.monotonic() - begin)
        return outcome


class Writers(Crowd):
    """Threads that write 1, 2, 3, ..., each below its own key, and record the acknowledged values."""

    def __init__(self, host, clients=4):
        super().__init__(clients)
        self.host, self.acknowledged, self.problems, self.slowest = host, [0] * clients, [], 0.0

    def run(self, number):
        wire, count = None, 0
        headers = [('Authorization', f'Bearer {self.host.token}'), ('Content-Type', 'application/json')]
        while not self.stopping.is_set():
            wire = wire or Wire(self.host.port, timeout=50)
            begin = time.monotonic()
            try:
                answer = wire.request('PUT', f'/writers/{number}/{count + 1}.json', headers, str(count + 1))
            except Exception as error:  # pylint: disable=broad-except
                self.problems.append(repr(error))
                wire.close()
                wire = None
                continue
            self.slowest = max(self.slowest, time.monotonic() - begin)
            if answer.status != 200:
                self.problems.append((answer.status, answer.text))
                continue
            count += 1
            self.acknowledged[number] = count
            if (answer.header('Connection') or '').lower() == 'close':
                wire.close()
                wire = None
        if wire:
            wire.close()

    def stored(self):
        """The number of stored writes of each client."""
        answer = self.host.request('GET', '/writers.json', [('Authorization', f'Bearer {self.host.token}')])
        found = answer.json or {}
        sizes = []
        for number in range(len(self.acknowledged)):
            numbers = found.get(str(number), {}) if isinstance(found, dict) else found[number] or {}
            sizes.append(len([value for value in (numbers.values() if isinstance(numbers, dict) else numbers) if value is not None]))
        return sizes
