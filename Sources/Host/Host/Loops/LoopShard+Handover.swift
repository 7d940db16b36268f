import Administration
import EventLoop
import Glibc
import HTTP
import Messaging
import RealtimeDatabase

/// How a loop's connections change hands.
extension LoopShard {
    /// Accepts nothing and begins no request from now on; event streams end, since their clients come again by themselves.
    func hold() {
        loop.post { [self] in
            for listener in listeners { listener.close() }
            listeners = []
            router.database.endStreams()
            router.messaging.endStreams()
            server.holdRequests()
        }
    }

    /// How many requests are not answered yet.
    func countBusy(_ completion: @escaping @Sendable (Int) -> Void) {
        loop.post { [self] in completion(server.busyCount) }
    }

    /// Goes on as before ``hold()``.
    ///
    /// - Parameter completion: hears why not, where a socket cannot be listened on.
    func endHold(_ completion: @escaping @Sendable (LoopError?) -> Void) {
        loop.post { [self] in server.endHolding() }
        startAccepting(completion)
    }

    /// Gives away every connection, each once its request is answered.
    ///
    /// - Parameters:
    ///   - receiver: gets each, on any thread.
    ///   - completion: called when none is left.
    func release(to receiver: @escaping @Sendable (ConnectionTransfer) -> Void, completion: @escaping @Sendable () -> Void) {
        loop.post { [self] in
            for socket in sockets { Glibc.close(socket.descriptor) }
            sockets = []
            // Whoever follows the log comes again.
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

    /// Goes on with a connection of another host.
    func adopt(_ transfer: ConnectionTransfer) {
        loop.post { [self] in
            // One that cannot be adopted has gone meanwhile.
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
