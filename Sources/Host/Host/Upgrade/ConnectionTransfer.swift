import EventLoop
import Glibc
import HTTP

/// A connection that is passed to the host that takes over.
struct ConnectionTransfer: Sendable {
    /// The socket. Its owner has to close it.
    var descriptor: Int32
    /// Whether a former host still proxies it, because that host has the TLS session with the client.
    var isProxied: Bool
    /// The client's address and port.
    var peer: String
    /// The bytes of the next request that were already read.
    var unread: [UInt8]

    /// The message with the connection, except for the descriptor.
    var bytes: [UInt8] {
        let name = Array(peer.utf8.prefix(255))
        return UpgradeMessage.connection.bytes([isProxied ? 1 : 0, UInt8(name.count)] + name + unread)
    }

    /// Parses a message; nil if it is malformed.
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

/// Proxies a connection between a client that has a TLS session with this host and the host that answers it now.
final class ConnectionProxy: StreamHandler {
    private let client: Stream
    private let host: Stream
    private let ended: () -> Void
    private var hasEnded = false

    /// Starts to pass bytes in both directions.
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
        // The host has sent everything. Further data of the client is not needed.
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
