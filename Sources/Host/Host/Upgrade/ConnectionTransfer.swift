import EventLoop
import Glibc
import HTTP

/// A connection on its way to the host that takes over.
struct ConnectionTransfer: Sendable {
    /// The socket; the holder's to close.
    var descriptor: Int32
    /// Whether a host of before still stands in between, because the client speaks TLS with it.
    var isProxied: Bool
    /// The client's address and port.
    var peer: String
    /// What was read of the next request.
    var unread: [UInt8]

    /// The message that carries it, without the descriptor.
    var bytes: [UInt8] {
        let name = Array(peer.utf8.prefix(255))
        return UpgradeMessage.connection.bytes([isProxied ? 1 : 0, UInt8(name.count)] + name + unread)
    }

    /// What a message carries; nil where it cannot be understood.
    init?(_ message: MessageChannel.Message) {
        let bytes = message.bytes
        guard message.descriptors.count == 1, bytes.count >= 3, bytes.count >= 3 + Int(bytes[2]) else { return nil }
        descriptor = message.descriptors[0]
        isProxied = bytes[1] == 1
        peer = String(decoding: bytes[3..<(3 + Int(bytes[2]))], as: UTF8.self)
        unread = Array(bytes[(3 + Int(bytes[2]))...])
    }

    init(descriptor: Int32, isProxied: Bool, peer: String, unread: [UInt8]) {
        self.descriptor = descriptor
        self.isProxied = isProxied
        self.peer = peer
        self.unread = unread
    }
}

/// Stands between a client that speaks TLS with this host and the host that answers it now.
final class ConnectionProxy: StreamHandler {
    private let client: Stream
    private let host: Stream
    private let ended: () -> Void
    private var hasEnded = false

    /// Carries bytes both ways from now on.
    ///
    /// - Parameter ended: called once, when the connection is closed.
    init(client: Stream, host: Stream, ended: @escaping () -> Void) {
        self.client = client
        self.host = host
        self.ended = ended
        client.handler = self
        host.handler = self
        client.startReading()
        host.startReading()
    }

    private func other(_ stream: Stream) -> Stream { stream === client ? host : client }

    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        let target = other(stream)
        target.write(bytes)
        if target.isCongested { stream.pauseReading() }
    }

    func streamDidEnd(_ stream: Stream) {
        other(stream).finish()
        // The answering host has said everything; what the client may still send is of no use.
        if stream === host { closeWhenSent() }
    }

    private func closeWhenSent() {
        client.loop.endOfTurn { [self] in
            if client.pendingBytes == 0 { client.close() }
        }
    }

    func streamDidDrain(_ stream: Stream) { other(stream).startReading() }

    func stream(_ stream: Stream, didFail error: LoopError) {}

    func streamDidClose(_ stream: Stream) {
        guard !hasEnded else { return }
        hasEnded = true
        other(stream).close()
        ended()
    }
}
