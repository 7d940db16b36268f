import EventLoop
import RealtimeDatabase
import Synchronization

/// The live connections of all loops. A client that connects again, or polls, may reach another loop than before.
public final class LiveClients: Sendable {
    /// The clients that poll.
    let polls = LivePollTable()
    private let places = Mutex<[DisconnectSession: Place]>([:])

    /// The loop of a connection, and its front end.
    struct Place {
        var loop: EventLoop
        var front: LoopBound<LiveFrontEnd>
    }

    /// A table without clients.
    public init() {}

    func add(_ session: DisconnectSession, at place: Place) { places.withLock { $0[session] = place } }

    func remove(_ session: DisconnectSession) { places.withLock { _ = $0.removeValue(forKey: session) } }

    /// Ends the connection of a session, if it is open.
    ///
    /// - Parameter completion: called on `loop` when all requests that the connection has received are complete.
    func end(_ session: DisconnectSession, on loop: EventLoop, completion: @escaping () -> Void) {
        guard let place = places.withLock({ $0[session] }) else { return completion() }
        let done = LoopBound(completion, loop: loop)
        place.loop.post { place.front.value.end(session) { loop.post { done.value() } } }
    }
}
