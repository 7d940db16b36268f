"""The command line as users see it: program, arguments, output and exit status."""

import json
import os
import pty
import select
import subprocess
import time
from dataclasses import dataclass

from hearth import BINARY


@dataclass
class Outcome:
    """The output of a command, and its exit status."""

    status: int
    output: str
    error: str

    @property
    def json(self):
        return json.loads(self.output)

    @property
    def sentence(self):
        """The error message of a failed command, which is one line."""
        lines = self.error.strip().splitlines()
        assert self.status == 1, (self.status, self.output, self.error)
        assert len(lines) == 1, self.error
        assert lines[0].startswith('hearth: '), lines[0]
        return lines[0].removeprefix('hearth: ')


class Commands:
    """Runs commands against a host, as its administrator, in a separate folder."""

    def __init__(self, host, folder, url=None, **variables):
        self.host, self.folder = host, folder
        self.url = url or (f'http://127.0.0.1:{host.port}' if host else None)
        self.variables = {'HEARTH_DATA': str(host.data), **variables} if host else variables
        folder.mkdir(exist_ok=True)

    def environment(self, variables):
        found = {'PATH': '/usr/bin:/bin', 'HOME': str(self.folder), 'TERM': 'xterm', **self.variables, **variables}
        if self.url:
            found.setdefault('HEARTH_URL', self.url)
        return {name: value for name, value in found.items() if value is not None}

    def start(self, *arguments, stdin=subprocess.DEVNULL, **variables):
        return subprocess.Popen([BINARY, *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                env=self.environment(variables))

    def run(self, *arguments, given='', seconds=120, **variables):
        done = subprocess.run([BINARY, *map(str, arguments)], input=given.encode(), capture_output=True, cwd=self.folder, timeout=seconds,
                              env=self.environment(variables), check=False)
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def succeeds(self, *arguments, **options):
        outcome = self.run(*arguments, **options)
        assert outcome.status == 0, (outcome.output, outcome.error)
        return outcome.output

    def result(self, *arguments, **options):
        """The result of a successful command with `--json`."""
        said = json.loads(self.succeeds(*arguments, '--json', **options))
        assert said['status'] == 'success'
        return said['result']

    def on_terminal(self, *arguments, answers='', more_answers='', prompt='[y/N]', seconds=60, **variables):
        """Runs a command on a terminal and types `answers` when asked; returns its status and its output.

        `more_answers` are for the second question. `prompt` is the end of a question.
        """
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(BINARY, [str(BINARY), *map(str, arguments)], self.environment(variables))
        shown, asked, end = b'', 0, time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            if answers and shown.count(prompt.encode()) > asked:
                os.write(terminal, answers.encode())
                asked, answers, more_answers = asked + 1, more_answers, ''
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode(errors='replace')
