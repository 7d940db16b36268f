"""Replaces systemd for a service: passes listening sockets, and receives notifications."""

import contextlib
import pathlib
import socket
import sys

from processes import until

# Creates the sockets in its own process, as the protocol requires, and then executes the program.
HANDOVER = '''
import os, socket, sys
split = sys.argv.index('--')
fds = []
for name in sys.argv[2:split]:
    host, _, port = name.rpartition(':')
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, int(port)))
    listening.listen(64)
    fds.append(os.dup(listening.detach()))
spare = [os.dup(fd) for fd in fds]
first = 40
for number, fd in enumerate(spare):
    os.dup2(fd, first + number, inheritable=False)
for number in range(len(fds)):
    os.dup2(first + number, 3 + number, inheritable=True)
os.environ.update(LISTEN_PID=str(os.getpid() + int(sys.argv[1])), LISTEN_FDS=str(len(fds)), LISTEN_FDNAMES=':'.join(['http'] * len(fds)))
os.execv(sys.argv[split + 1], sys.argv[split + 1:])
'''


def with_sockets(command, *addresses, pid_offset=0):
    """A command that executes `command` with sockets that listen on `addresses`."""
    return [sys.executable, '-c', HANDOVER, str(pid_offset), *addresses, '--', *command]


class Notifications:
    """A socket that receives sd_notify messages. Each is a dict, with the sender's `pid`."""

    def __init__(self, path):
        """Binds to a path, or to an abstract name that is written after `@`."""
        self.name = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind('\0' + self.name[1:] if self.name.startswith('@') else self.name)
        self.messages = []

    def close(self):
        self.socket.close()
        with contextlib.suppress(OSError):
            pathlib.Path(self.name).unlink()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self):
        """All messages that have arrived so far."""
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                data, ancillary, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(12))
                message = dict(line.split('=', 1) for line in data.decode().splitlines())
                message['pid'] = int.from_bytes(ancillary[0][2][:4], sys.byteorder)
                self.messages.append(message)
        return self.messages

    def until(self, wanted, seconds=20):
        """Waits for a message that includes all of `wanted`."""
        def found():
            return next((message for message in self.receive() if wanted.items() <= message.items()), None)
        return until(found, f'a notification with {wanted}', seconds)

    def count(self, name):
        return sum(name in message for message in self.receive())

    @property
    def environment(self):
        return {'NOTIFY_SOCKET': self.name}


