import EventLoop
import RealtimeDatabase
import Tree

/// A place of a namespace with its streams on this loop.
final class EventTopic {
    let namespace: Namespace
    let path: Path
    private let loop: EventLoop
    private var clients: [EventStreamClient] = []
    private var listening: Namespace.Listening?
    private var hasEnded = false

    init(_ namespace: Namespace, _ path: Path, loop: EventLoop) {
        self.namespace = namespace
        self.path = path
        self.loop = loop
        namespace.listen(
            path, on: loop,
            ready: { [self] result in
                switch result {
                case .success(let listening):
                    guard !hasEnded else { return listening.end() }
                    self.listening = listening
                    for client in clients { client.begin() }
                case .failure(let error):
                    for client in clients { client.refuse(error) }
                }
            },
            news: { [weak self] news in self?.hear(news) })
    }

    var isEmpty: Bool { clients.isEmpty }

    /// Adds a client. It begins immediately, or when the namespace has started to report changes.
    func add(_ client: EventStreamClient) {
        clients.append(client)
        if listening != nil { client.begin() }
    }

    func remove(_ client: EventStreamClient) { clients.removeAll { $0 === client } }

    /// Reports changes of places. For clients that have begun.
    func watch(_ places: [WatchedPlace], since commit: UInt64, news: @escaping (WatchNews) -> Void) -> Namespace.Watching? {
        listening?.watch(places, since: commit, on: loop, news: news)
    }

    /// Stops listening.
    func end() {
        hasEnded = true
        listening?.end()
    }

    private func hear(_ news: ListenerNews) {
        guard !hasEnded else { return }
        switch news {
        case .rulesChanged:
            for client in clients { client.rejudge() }
        case .changed(let change):
            let stopwatch = namespace.profile.stopwatch()
            let told = tell(change)
            guard let stopwatch, told.clients > 0 else { return }
            namespace.profile.record(Operation(broadcastAt: change.path, bytes: told.bytes, listeners: told.clients, stopwatch))
        }
    }

    /// - Returns: the number of clients to which the change is sent, and of bytes. Queries record theirs themselves.
    private func tell(_ change: TreeChange) -> (clients: Int, bytes: Int) {
        var told = (clients: 0, bytes: 0)
        var value: EventFrame?
        var export: EventFrame?
        for client in clients {
            guard !client.isQuery else {
                client.refresh()
                continue
            }
            let frame: EventFrame
            if client.form == .value {
                frame = value ?? EventFrame(change, path, .value)
                value = frame
            } else {
                frame = export ?? EventFrame(change, path, .export)
                export = frame
            }
            guard client.receive(frame) else { continue }
            told.clients += 1
            told.bytes += frame.bytes.count
        }
        return told
    }
}

/// A change in the form for the streams of a place.
struct EventFrame {
    var bytes: [UInt8]
    var commit: UInt64

    init(_ change: TreeChange, _ path: Path, _ form: JSONForm) {
        bytes = EventFrames.frames(of: change, for: path, form: form)
        commit = change.commit
    }
}
