"""A WebSocket client that works frame by frame (RFC 6455), and compresses messages if asked to (RFC 7692)."""

import base64
import json
import os
import struct
import zlib

from wire import Wire

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
COMPRESSED = 0x40
# A message, as both sides compress it, leaves this out at its end.
TAIL = b'\0\0\xff\xff'


def deflated(payload, window_bits=15):
    """A message as it is compressed, without context."""
    stream = zlib.compressobj(wbits=-window_bits)
    data = stream.compress(payload) + stream.flush(zlib.Z_SYNC_FLUSH)
    return data.removesuffix(TAIL)


def inflated(payload, window_bits=15):
    """The content of a compressed message."""
    stream = zlib.decompressobj(wbits=-window_bits)
    return stream.decompress(payload + TAIL) + stream.flush()


class WebSocket:
    """A socket that can also send what the protocol forbids. `extensions` is the offer of compression; if the host agrees, `send` compresses each
    message, and `compressed` counts the messages that came compressed."""

    def __init__(self, port, path, headers=(), subprotocol=None, timeout=20, extensions=None, receive_buffer=None, host=None):
        self.wire = Wire(port, timeout=timeout, receive_buffer=receive_buffer)
        offer = [('Sec-WebSocket-Protocol', subprotocol)] if subprotocol else []
        offer += [('Sec-WebSocket-Extensions', extensions)] if extensions else []
        self.wire.send_request('GET', path, [
            ('Upgrade', 'websocket'), ('Connection', 'keep-alive, Upgrade'), ('Sec-WebSocket-Version', '13'),
            ('Sec-WebSocket-Key', base64.b64encode(os.urandom(16)).decode()), *offer, *headers], host=host)
        self.head = self.wire.head()
        self.compressed = 0
        self.window_bits, self.agreement = 15, self.head.header('Sec-WebSocket-Extensions')
        if self.agreement and 'server_max_window_bits=' in self.agreement:
            self.window_bits = int(self.agreement.split('server_max_window_bits=')[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def send(self, opcode, payload=b'', is_final=True, mask=b'\x11\x22\x33\x44'):
        payload = payload.encode() if isinstance(payload, str) else payload
        if self.agreement and opcode in (TEXT, BINARY) and is_final:
            opcode, payload = opcode | COMPRESSED, deflated(payload)
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + struct.pack('>H', size) if size < 1 << 16 else bytes(
            [0xFF]) + struct.pack('>Q', size)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = int.from_bytes(payload, 'big') ^ int.from_bytes(repeated, 'big')
        self.wire.send(bytes([0x80 * is_final | opcode]) + length + mask + masked.to_bytes(size, 'big'))

    def say(self, **frame):
        self.send(TEXT, json.dumps(frame))

    def frame(self):
        """The next frame as (opcode, payload)."""
        first, second = self.wire.read_exactly(2)
        is_compressed = bool(self.agreement) and first & 0xF0 == 0xC0 and first & 0x0F in (TEXT, BINARY)
        assert (is_compressed or first & 0xF0 == 0x80) and second < 128, (first, second)
        size = second
        if size == 126:
            size, = struct.unpack('>H', self.wire.read_exactly(2))
        elif size == 127:
            size, = struct.unpack('>Q', self.wire.read_exactly(8))
        payload = self.wire.read_exactly(size)
        if is_compressed:
            self.compressed += 1
            payload = inflated(payload, self.window_bits)
        return first & 0x0F, payload

    def hear(self):
        """The next text message, parsed as JSON."""
        opcode, payload = self.frame()
        assert opcode == TEXT, (opcode, payload)
        return json.loads(payload)

    def closed(self):
        """The code of the next frame, which must be a close frame."""
        opcode, payload = self.frame()
        assert opcode == CLOSE, (opcode, payload)
        return struct.unpack('>H', payload[:2])[0] if payload else None
