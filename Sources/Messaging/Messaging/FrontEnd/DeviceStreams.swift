import EventLoop
import HTTP

/// The connected devices of one loop, however they are connected.
final class DeviceStreams {
    let loop: EventLoop
    let backend: EmbeddedBackend
    private var clients: [ObjectIdentifier: any DeviceClient] = [:]
    private var isStopped = false
    private lazy var heart = Timer(loop: loop) { [unowned self] in
        for client in clients.values { client.beat() }
    }

    /// Every connection shows that it lives this often (spec messaging 6.8).
    private static let beatMilliseconds: UInt64 = 15_000

    init(loop: EventLoop, backend: EmbeddedBackend) {
        self.loop = loop
        self.backend = backend
    }

    /// Lets a client in, unless the host is stopping.
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

    /// Ends every connection.
    func stop() {
        isStopped = true
        endAll()
    }

    /// Ends every connection; the devices come again.
    func endAll() {
        for client in clients.values { client.stop() }
    }
}

/// A connected device on its loop.
protocol DeviceClient: AnyObject {
    /// Shows that the connection lives.
    func beat()
    /// The host is on its way out.
    func stop()
}
