import EventLoop
import HTTP
import Tree

/// An event stream that is open.
protocol OpenStream: AnyObject {
    /// Gives a sign of life.
    func beat()
    /// Ends it; the client is to connect again.
    func close()
}

/// The event streams of one loop.
///
/// Streams of the same place share a ``EventTopic``: the namespace tells the loop once, and a frame is made once.
final class EventStreams {
    let loop: EventLoop
    private let settings: DatabaseFrontEndSettings
    private let countMax: Int
    private var topics: [TopicKey: EventTopic] = [:]
    private var open: [ObjectIdentifier: any OpenStream] = [:]
    private var isStopped = false
    private lazy var heart = Timer(loop: loop) { [unowned self] in
        for stream in open.values { stream.beat() }
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

    /// Lets a stream in, if there is room.
    func admit(_ stream: any OpenStream) throws(RESTError) {
        guard !isStopped else { throw RESTError(DatabaseError.stopping) }
        guard open.count < countMax else {
            throw RESTError(.serviceUnavailable, "\(countMax) event streams are open, which is the limit")
        }
        if open.isEmpty { heart.start(afterMilliseconds: settings.keepAliveMilliseconds, repeatMilliseconds: settings.keepAliveMilliseconds) }
        open[ObjectIdentifier(stream)] = stream
    }

    /// Forgets a stream that has ended.
    func dismiss(_ stream: any OpenStream) {
        open[ObjectIdentifier(stream)] = nil
        if open.isEmpty { heart.stop() }
    }

    /// Has a client told of what becomes of a place.
    func join(_ client: EventStreamClient, _ namespace: Namespace, _ path: Path) -> EventTopic {
        let key = TopicKey(namespace: namespace.name, path: path)
        let topic = topics[key] ?? EventTopic(namespace, path, loop: loop)
        topics[key] = topic
        topic.add(client)
        return topic
    }

    /// Tells a client nothing more.
    func leave(_ client: EventStreamClient, _ topic: EventTopic) {
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
        for stream in open.values { stream.close() }
    }
}
