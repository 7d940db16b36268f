import EventLoop
import HTTP
import Tree

/// The event streams of one loop.
///
/// Streams of the same place share a ``EventTopic``: the namespace tells the loop once, and a frame is made once.
final class EventStreams {
    let loop: EventLoop
    private let settings: DatabaseFrontEndSettings
    private let countMax: Int
    private var topics: [TopicKey: EventTopic] = [:]
    private var clients: [ObjectIdentifier: EventStreamClient] = [:]
    private var isStopped = false
    private lazy var heart = Timer(loop: loop) { [unowned self] in
        for client in clients.values { client.beat() }
    }

    private struct TopicKey: Hashable {
        var namespace: String
        var path: Path
    }

    init(loop: EventLoop, settings: DatabaseFrontEndSettings, countMax: Int) {
        self.loop = loop
        self.settings = settings
        self.countMax = countMax
    }

    /// Lets a client in.
    func join(_ client: EventStreamClient, _ namespace: Namespace, _ path: Path) throws(RESTError) -> EventTopic {
        guard !isStopped else { throw RESTError(DatabaseError.stopping) }
        guard clients.count < countMax else {
            throw RESTError(.serviceUnavailable, "\(countMax) event streams are open, which is the limit")
        }
        let key = TopicKey(namespace: namespace.name, path: path)
        let topic = topics[key] ?? EventTopic(namespace, path, loop: loop)
        topics[key] = topic
        if clients.isEmpty { heart.start(afterMilliseconds: settings.keepAliveMilliseconds, repeatMilliseconds: settings.keepAliveMilliseconds) }
        clients[ObjectIdentifier(client)] = client
        topic.add(client)
        return topic
    }

    /// Forgets a client.
    func leave(_ client: EventStreamClient, _ topic: EventTopic) {
        guard clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
        if clients.isEmpty { heart.stop() }
        topic.remove(client)
        guard topic.isEmpty else { return }
        topic.end()
        topics[TopicKey(namespace: topic.namespace.name, path: topic.path)] = nil
    }

    /// Ends every stream for good.
    func stop() {
        isStopped = true
        endAll()
    }

    /// Ends every stream; their clients will come again.
    func endAll() {
        for client in clients.values { client.close() }
    }
}
