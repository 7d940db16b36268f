"""HTTP/1.1 at the level of bytes: sends exactly the given bytes, and keeps received ones unchanged."""

import json
import socket
import zlib
from dataclasses import dataclass, field


@dataclass
class Response:
    """An answer. `headers` has the pairs in the order sent; `header` looks one up, ignoring case."""

    status: int
    reason: str
    version: str
    headers: list
    body: bytes = b''
    chunks: list = field(default_factory=list)

    def header(self, name):
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(values) < 2, f'{name} was sent {len(values)} times: {values}'
        return values[0] if values else None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()

    @property
    def is_chunked(self):
        return (self.header('Transfer-Encoding') or '').lower() == 'chunked'


class Ended(Exception):
    """The peer closed the connection before the answer was complete."""


class Wire:
    """A connection."""

    def __init__(self, port, host='127.0.0.1', tls=None, timeout=30, receive_buffer=None, source=None):
        self.authority = f'{host}:{port}'
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((host, port))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname='localhost')
        self.buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Closes the connection with a TCP reset, as if the client had crashed."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\x01\0\0\0\0\0\0\0')
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def send_request(self, method, target, headers=(), body=b'', host=None):
        self.send(request_bytes(method, target, headers, body, host or self.authority))

    def request(self, method, target, headers=(), body=b'', host=None):
        self.send_request(method, target, headers, body, host)
        return self.response(method)

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise Ended(f'closed after {bytes(self.buffer[:200])!r}')
        self.buffer += data

    def read_until(self, mark):
        while mark not in self.buffer:
            self._more()
        end = self.buffer.index(mark)
        piece = bytes(self.buffer[:end])
        del self.buffer[:end + len(mark)]
        return piece

    def read_exactly(self, count):
        while len(self.buffer) < count:
            self._more()
        piece = bytes(memoryview(self.buffer)[:count])
        del self.buffer[:count]
        return piece

    def read_to_end(self):
        try:
            while True:
                self._more()
        except (Ended, ConnectionResetError):
            piece, self.buffer = bytes(self.buffer), bytearray()
            return piece

    def head(self):
        """Reads a status line and headers. Interim answers are returned too."""
        lines = self.read_until(b'\r\n\r\n').decode('latin-1').split('\r\n')
        version, status, reason = (lines[0] + ' ').split(' ', 2)
        pairs = [line.split(':', 1) for line in lines[1:]]
        return Response(int(status), reason.strip(), version, [(name, value.strip()) for name, value in pairs])

    def response(self, method='GET'):
        """Reads a complete answer, skipping interim ones."""
        answer = self.head()
        while 100 <= answer.status < 200:
            answer = self.head()
        if method == 'HEAD' or answer.status in (204, 304):
            return answer
        if answer.is_chunked:
            answer.chunks = list(self.chunks())
            answer.body = b''.join(answer.chunks)
        elif answer.header('Content-Length') is not None:
            answer.body = self.read_exactly(int(answer.header('Content-Length')))
        else:
            answer.body = self.read_to_end()
        return answer

    def chunks(self):
        """Yields the chunks of a chunked body until its end."""
        while True:
            size = int(self.read_until(b'\r\n').split(b';')[0], 16)
            data = self.read_exactly(size + 2)
            assert data.endswith(b'\r\n'), data[-20:]
            if size == 0:
                return
            yield data[:-2]

    def frames(self):
        """Yields the frames of an event stream: the texts before each blank line. Call head() first."""
        text = b''
        for chunk in self.chunks():
            text += chunk
            while b'\n\n' in text:
                frame, text = text.split(b'\n\n', 1)
                yield frame.decode()
        assert text == b'', f'the stream ended within a frame: {text!r}'


def request_bytes(method, target, headers=(), body=b'', host='127.0.0.1'):
    """A request as bytes. Adds Host, and Content-Length if there is a body or the method usually has one."""
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
    names = {name.lower() for name, _ in pairs}
    if 'host' not in names:
        pairs.insert(0, ('Host', host))
    payload = body if isinstance(body, bytes) else body.encode()
    if not names & {'content-length', 'transfer-encoding'} and (payload or method in ('POST', 'PUT', 'PATCH')):
        pairs.append(('Content-Length', str(len(payload))))
    lines = [f'{method} {target} HTTP/1.1', *(f'{name}: {value}' for name, value in pairs)]
    return '\r\n'.join(lines).encode() + b'\r\n\r\n' + payload


def event_values(stream):
    """The JSON values in the data frames of an event stream. Skips comments; anything else is an error."""
    assert stream.endswith(b'\n\n'), f'no blank line at the end: {stream[-40:]!r}'
    values = []
    for frame in stream.decode().split('\n\n')[:-1]:
        if frame.startswith(':'):
            continue
        assert frame.startswith('data: '), f'not a data frame: {frame!r}'
        assert '\n' not in frame, f'more than one line in a frame: {frame!r}'
        values.append(json.loads(frame[6:]))
    return values


def gzipped(data):
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush()
