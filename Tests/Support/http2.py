"""HTTP/2 at the level of frames: sends exactly the given frames, right or wrong, and keeps the received ones."""

import contextlib
import json
import socket
import struct
from dataclasses import dataclass, field

import hpack

from hearth import callable_headers
from wire import Ended

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITY_FLAG = 0x1, 0x1, 0x4, 0x8, 0x20
(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL,
 COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM) = range(12)
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = range(1, 7)


@dataclass
class Frame:
    type: int
    flags: int
    stream: int
    payload: bytes

    @property
    def code(self):
        """The error code of RST_STREAM or GOAWAY."""
        return struct.unpack('>I', self.payload[-4:] if self.type == RST_STREAM else self.payload[4:8])[0]

    @property
    def last_stream(self):
        return struct.unpack('>I', self.payload[:4])[0]

    def settings(self):
        return dict(struct.unpack('>HI', self.payload[start:start + 6]) for start in range(0, len(self.payload), 6))


@dataclass
class Answer:
    """The answer on a stream, as far as it has come."""

    headers: list = field(default_factory=list)
    interim: list = field(default_factory=list)
    body: bytes = b''
    is_ended: bool = False
    reset: int | None = None

    def header(self, name):
        values = [value for key, value in self.headers if key == name]
        assert len(values) < 2, f'{name} was sent {len(values)} times: {values}'
        return values[0] if values else None

    @property
    def status(self):
        return int(self.header(':status')) if self.headers else None

    @property
    def json(self):
        return json.loads(self.body)


def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def settings_payload(pairs):
    return b''.join(struct.pack('>HI', key, value) for key, value in dict(pairs).items())


def literal(fields):
    """A block of fields that leaves the tables of the compression alone."""
    def text(value):
        size = len(value)
        assert size < 127 + 128
        return (bytes([size]) if size < 127 else bytes([127, size - 127])) + value.encode()
    return b''.join(b'\0' + text(name) + text(value) for name, value in fields)


class Frames:
    """A connection of a client, with wide windows unless it gives settings of its own."""

    def __init__(self, port, settings=None, tls=None, timeout=30, receive_buffer=None, source=None, preface=PREFACE, acknowledges=True):
        self.authority = f'127.0.0.1:{port}'
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect(('127.0.0.1', port))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname='localhost')
        self.buffer = bytearray()
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.next_stream, self.acknowledges = 1, acknowledges
        self.answers, self.seen, self.remote_settings = {}, [], None
        # Bytes of the bodies of streams, and the windows that the host has opened beyond the first ones.
        self.sent, self.opened = {}, {}
        self.block = b''
        if preface and settings is None:
            self.raw(preface + frame(SETTINGS, 0, 0, settings_payload({INITIAL_WINDOW_SIZE: 1 << 30})))
            self.widen()
        elif preface:
            self.raw(preface + frame(SETTINGS, 0, 0, settings_payload(settings)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    # -- sending

    def raw(self, data):
        self.socket.sendall(data)

    def send(self, kind, flags=0, stream=0, payload=b''):
        self.raw(frame(kind, flags, stream, payload))

    def fields(self, method='GET', path='/_/health', headers=(), scheme='http', authority=None):
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        return [(':method', method), (':scheme', scheme), (':authority', authority or self.authority), (':path', path),
                *((name.lower(), value) for name, value in pairs)]

    def encoded(self, fields):
        return self.encoder.encode(fields, huffman=True)

    def open(self, fields, flags=END_STREAM | END_HEADERS, stream=None):
        """Sends the head of a request, and returns its stream."""
        if stream is None:
            stream = self.next_stream
        self.next_stream = max(self.next_stream, stream + 2)
        self.send(HEADERS, flags, stream, self.encoded(fields))
        return stream

    def start(self, method, path, headers=(), body=None, **options):
        """Sends a request without waiting for its answer, and returns its stream."""
        stream = self.open(self.fields(method, path, headers, **options), END_HEADERS | (0 if body else END_STREAM))
        for begin in range(0, len(body or b''), 16384):
            piece = body[begin:begin + 16384]
            self.send(DATA, END_STREAM if begin + 16384 >= len(body) else 0, stream, piece)
        return stream

    def upload(self, stream, body, ends=True):
        """Sends a body as far as the windows of the host admit it, until the answer begins."""
        self.until(lambda: self.remote_settings is not None)
        answer = self.answers.setdefault(stream, Answer())
        sent, self.sent[stream] = 0, 0
        while sent < len(body) and not answer.headers and answer.reset is None:
            windows = [65535 + self.opened.get(0, 0) - sum(self.sent.values()),
                       self.remote_settings[INITIAL_WINDOW_SIZE] + self.opened.get(stream, 0) - self.sent[stream]]
            size = min(16384, len(body) - sent, *windows)
            if size <= 0:
                self.read_frame()
                continue
            self.send(DATA, END_STREAM if ends and sent + size == len(body) else 0, stream, body[sent:sent + size])
            sent += size
            self.sent[stream] += size

    def call(self, host, name, data=None, headers=()):
        return self.start('POST', host.path(name), [*callable_headers(), *headers], json.dumps({'data': data}).encode())

    def ping(self, payload=b'12345678'):
        """Sends a ping and reads until it is answered: everything sent before was handled then."""
        self.send(PING, 0, 0, payload)
        self.until(lambda: any(one.type == PING and one.flags & ACK and one.payload == payload for one in self.seen), keeps=False)

    def widen(self, count=1 << 30, stream=0):
        self.send(WINDOW_UPDATE, 0, stream, struct.pack('>I', count))

    # -- receiving

    def read_frame(self):
        self._fill(9)
        size = int.from_bytes(self.buffer[:3], 'big')
        self._fill(9 + size)
        read = Frame(self.buffer[3], self.buffer[4], struct.unpack('>I', self.buffer[5:9])[0] & 0x7FFFFFFF, bytes(self.buffer[9:9 + size]))
        del self.buffer[:9 + size]
        self.seen.append(read)
        self._note(read)
        return read

    def _fill(self, count):
        while len(self.buffer) < count:
            data = self.socket.recv(65536)
            if not data:
                raise Ended(f'closed after {[(one.type, one.stream) for one in self.seen[-5:]]}')
            self.buffer += data

    def _note(self, read):
        answer = self.answers.setdefault(read.stream, Answer()) if read.stream else None
        if read.type == SETTINGS and not read.flags & ACK:
            self.remote_settings = read.settings()
            if self.acknowledges:
                self.send(SETTINGS, ACK)
        elif read.type == PING and not read.flags & ACK and self.acknowledges:
            self.send(PING, ACK, 0, read.payload)
        elif read.type in (HEADERS, CONTINUATION):
            self.block += read.payload
            if read.flags & END_HEADERS:
                fields, self.block = self.decoder.decode(self.block), b''
                if fields[0] == (':status', '100'):
                    answer.interim.append(fields)
                else:
                    answer.headers = answer.headers or fields
            answer.is_ended |= read.type == HEADERS and bool(read.flags & END_STREAM)
        elif read.type == DATA:
            answer.body += read.payload
            answer.is_ended |= bool(read.flags & END_STREAM)
        elif read.type == WINDOW_UPDATE:
            self.opened[read.stream] = self.opened.get(read.stream, 0) + int.from_bytes(read.payload, 'big')
        elif read.type == RST_STREAM:
            answer.reset = read.code

    def until(self, condition, keeps=True):
        while not condition():
            self.read_frame()
        if not keeps:
            self.seen = [one for one in self.seen if one.type != PING]

    def answer(self, stream):
        """Reads until the stream's answer is complete, or the stream is reset."""
        answer = self.answers.setdefault(stream, Answer())
        self.until(lambda: answer.is_ended or answer.reset is not None)
        return answer

    def head(self, stream):
        """Reads until the head of the stream's answer has come."""
        answer = self.answers.setdefault(stream, Answer())
        self.until(lambda: answer.headers or answer.reset is not None)
        return answer

    def request(self, method, path, headers=(), body=None, **options):
        return self.answer(self.start(method, path, headers, body, **options))

    def result(self, host, name, data=None):
        answer = self.answer(self.call(host, name, data))
        assert answer.status == 200, f'{answer.status} {answer.body!r}'
        return answer.json['result']

    def ending(self):
        """Reads to the end of the connection; the code of the last GOAWAY, or None."""
        with contextlib.suppress(Ended, ConnectionResetError, BrokenPipeError):
            while True:
                self.read_frame()
        codes = [one.code for one in self.seen if one.type == GOAWAY]
        return codes[-1] if codes else None

