import EventLoop
import HTTP

/// The connected devices of one loop, with any kind of connection.
final class DeviceStreams {
    let loop: EventLoop
    let backend: EmbeddedBackend
    private var clients: [ObjectIdentifier: any DeviceClient] = [:]
    private var isStopped = false
    private lazy var heart = Timer(loop: loop) { [unowned self] in
        for client in clients.values { client.beat() }
    }

    /// The interval of heartbeats on each connection (spec messaging 6.8).
    private static let beatMilliseconds: UInt64 = 15_000

    init(loop: EventLoop, backend: EmbeddedBackend) {
        self.loop = loop
        self.backend = backend
    }

    /// Adds a client. Returns false if the host is stopping.
    func join(_ client: any DeviceClient) -> Bool {
        guard !isStopped else { return false }
        if clients.isEmpty { heart.start(afterMilliseconds: Self.beatMilliseconds, repeatMilliseconds: Self.beatMilliseconds) }
        clients[ObjectIdentifier(client)] = client
        return true
    }

    func leave(_ client: any DeviceClient) {
        guard clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
        if clients.isEmpty { heart.stop() }
    }

    /// Ends all connections and accepts no new ones.
    func stop() {
        isStopped = true
        endAll()
    }

    /// Ends all connections. The devices connect again.
    func endAll() {
        for client in clients.values { client.stop() }
    }
}

/// A connection of a device, on its loop.
protocol DeviceClient: AnyObject {
    /// Sends a heartbeat.
    func beat()
    /// Ends the connection, because the host is stopping.
    func stop()
}
