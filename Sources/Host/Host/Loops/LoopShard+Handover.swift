import Administration
import DatabaseAPI
import EventLoop
import Glibc
import HTTP
import Messaging
import RealtimeDatabase

/// The handover of a loop's connections during an upgrade.
extension LoopShard {
    /// Stops accepting connections and starting requests. Ends event streams, whose clients reconnect by themselves.
    func hold() {
        loop.post { [self] in
            for listener in listeners { listener.close() }
            listeners = []
            router.database.endStreams()
            router.live.endAll()
            router.messaging.endStreams()
            server.holdRequests()
        }
    }

    /// The number of requests that are not answered yet.
    func busyCount() async -> Int {
        await loop.perform { [self] in server.busyCount }
    }

    /// Undoes ``hold()``.
    ///
    /// - Returns: the error of a socket that cannot be listened on.
    func endHold() async -> LoopError? {
        loop.post { [self] in server.endHolding() }
        return await startAccepting()
    }

    /// Passes on every connection, each when its request is answered. Returns when none is left.
    ///
    /// - Parameter receiver: gets each connection, on any thread.
    func release(to receiver: @escaping @Sendable (ConnectionTransfer) -> Void) async {
        await withCheckedContinuation { continuation in release(to: receiver) { continuation.resume() } }
    }

    private func release(to receiver: @escaping @Sendable (ConnectionTransfer) -> Void, completion: @escaping @Sendable () -> Void) {
        loop.post { [self] in
            for socket in sockets { Glibc.close(socket.descriptor) }
            sockets = []
            // Clients that follow the log reconnect.
            router.admin.stop()
            server.releaseConnections { [self] released in
                if released.stream.isTLS { proxy(released, receiver) } else { handOver(released, receiver) }
            } completion: { [self] in
                isReleased = true
                endIfReleased = completion
                endWhenReleased()
            }
        }
    }

    private func handOver(_ released: ReleasedConnection, _ receiver: @Sendable (ConnectionTransfer) -> Void) {
        let stream = released.stream
        defer { stream.close() }
        guard let descriptor = stream.duplicateDescriptor() else { return }
        receiver(ConnectionTransfer(descriptor: descriptor, isProxied: released.isLast, peer: stream.peerAddress, unread: released.unread))
    }

    private func proxy(_ released: ReleasedConnection, _ receiver: @Sendable (ConnectionTransfer) -> Void) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
            return released.stream.close()
        }
        do throws(LoopError) {
            let host = try Stream.adopting(descriptor: ends[0], loop: loop)
            proxies += 1
            _ = ConnectionProxy(client: released.stream, host: host) { [self] in
                proxies -= 1
                endWhenReleased()
            }
            receiver(ConnectionTransfer(descriptor: ends[1], isProxied: true, peer: released.stream.peerAddress, unread: released.unread))
        } catch {
            Glibc.close(ends[1])
            released.stream.close()
        }
    }

    private func endWhenReleased() {
        guard isReleased, proxies == 0, let completion = endIfReleased else { return }
        endIfReleased = nil
        completion()
    }

    /// Takes over a connection of another host.
    func adopt(_ transfer: ConnectionTransfer) {
        loop.post { [self] in
            // Adopting fails if the client has left meanwhile.
            guard let stream = try? Self.stream(transfer, loop) else { return }
            stream.setPeerAddress(transfer.peer)
            server.adopt(ReleasedConnection(stream: stream, unread: transfer.unread, isLast: transfer.isProxied))
        }
    }

    private static func stream(_ transfer: ConnectionTransfer, _ loop: EventLoop) throws(LoopError) -> Stream {
        try transfer.isProxied
            ? Stream.adopting(descriptor: transfer.descriptor, loop: loop)
            : Stream.adopting(connection: transfer.descriptor, loop: loop)
    }
}
