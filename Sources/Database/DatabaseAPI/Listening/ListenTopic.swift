import EventLoop
import RealtimeDatabase
import Tree

/// A listener of a topic: an event stream, or a listen of a live connection.
protocol TopicMember: AnyObject {
    /// The position in the topic's list, which the topic sets.
    var topicPlace: Int { get set }
    /// The namespace reports changes from now on.
    func begin()
    /// The namespace cannot report changes.
    func refuse(_ error: DatabaseError)
    /// Other rules are in force.
    func rejudge()
    /// Handles a change of the place.
    ///
    /// - Returns: the number of bytes that are sent for it, now or later; nil if none are, or if they are not known yet.
    func hear(_ change: SharedChange) -> Int?
    /// The result of the query may have changed up to a commit. A listener with an earlier state reads it again.
    func didBecomeOutdated(by commit: UInt64)
    /// Changes of the query's result from a commit on will be reported later; nil if all have been.
    func didBecomeDue(since commit: UInt64?)
}

/// A place of a namespace, or the result of a query, with its listeners on this loop.
final class ListenTopic {
    let namespace: Namespace
    let path: Path
    let query: Query?
    private let loop: EventLoop
    private var members: [any TopicMember] = []
    private var listening: Namespace.Listening?
    private var isFollowed = false
    /// Whether changes are reported by themselves: always for a node. Before that, the first value is held back, so that the changes continue it.
    private(set) var isReady: Bool
    private var hasEnded = false

    init(_ namespace: Namespace, _ path: Path, _ query: Query?, loop: EventLoop) {
        self.namespace = namespace
        self.path = path
        self.query = query
        self.loop = loop
        isReady = query == nil
        namespace.listen(
            path, query: query, on: loop,
            ready: { [self] result in
                switch result {
                case .success(let listening):
                    guard !hasEnded else { return listening.end() }
                    self.listening = listening
                    begin(members[...])
                case .failure(let error):
                    for member in members { member.refuse(error) }
                }
            },
            news: { [weak self] news in self?.hear(news) })
    }

    var isEmpty: Bool { members.isEmpty }

    /// Adds a listener. It begins immediately, or when the namespace has started to report changes.
    func add(_ member: any TopicMember) {
        member.topicPlace = members.count
        members.append(member)
        if listening != nil { member.begin() }
    }

    /// The number of listeners that begin without a pause.
    private static let beginningAtOnce = 16

    /// Makes listeners begin that have waited. Those that have ended meanwhile ignore it.
    private func begin(_ waiting: ArraySlice<any TopicMember>) {
        for member in waiting.prefix(Self.beginningAtOnce) { member.begin() }
        let rest = waiting.dropFirst(Self.beginningAtOnce)
        guard !rest.isEmpty else { return }
        let topic = LoopBound(self, loop: loop), members = LoopBound(rest, loop: loop)
        loop.post { topic.value.begin(members.value) }
    }

    /// Removes a listener. The last one takes its place, so that the cost does not depend on the number of listeners.
    func remove(_ member: any TopicMember) {
        let place = member.topicPlace
        guard members.indices.contains(place), members[place] === member else { return }
        let last = members.removeLast()
        guard last !== member else { return }
        members[place] = last
        last.topicPlace = place
    }

    /// Makes the namespace keep the result of the query, which a listener was allowed to read.
    /// ``TopicMember/didBecomeDue(since:)`` is called when the topic is ready.
    func follow() {
        guard !isFollowed, let listening else { return }
        isFollowed = true
        listening.follow()
    }

    /// Reports changes of places. For listeners that have begun.
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
            for member in members { member.rejudge() }
        case .outdated(let commit):
            for member in members { member.didBecomeOutdated(by: commit) }
        case .due(let commit):
            for member in members { member.didBecomeDue(since: commit) }
        case .settled:
            isReady = isFollowed || query == nil
            for member in members { member.didBecomeDue(since: nil) }
        case .changed(let change):
            let stopwatch = namespace.profile.stopwatch()
            let shared = SharedChange(change, path)
            var (listeners, bytes) = (0, 0)
            for member in members {
                guard let count = member.hear(shared) else { continue }
                listeners += 1
                bytes += count
            }
            guard let stopwatch, listeners > 0 else { return }
            namespace.profile.record(Operation(broadcastAt: change.path, bytes: bytes, listeners: listeners, stopwatch))
        }
    }
}

/// A change for the listeners of a place. Each form of it is made once, when the first listener needs it.
final class SharedChange {
    let change: TreeChange
    private let path: Path
    private var made: [Form: [UInt8]] = [:]

    /// The forms of a change.
    enum Form: Hashable {
        /// Frames of event streams.
        case frames(JSONForm)
        /// A message of live connections.
        case message
        /// A message of live connections for listens of a query's result, without a tag.
        case result
    }

    init(_ change: TreeChange, _ path: Path) {
        self.change = change
        self.path = path
    }

    /// The bytes of a form; empty if the change does not affect the place.
    func bytes(_ form: Form, _ make: (TreeChange, Path) -> [UInt8]) -> [UInt8] {
        if let known = made[form] { return known }
        let bytes = make(change, path)
        made[form] = bytes
        return bytes
    }
}

/// A change in the form for a listener.
struct ChangeMessage {
    var bytes: [UInt8]
    var commit: UInt64
    /// See `TreeChange.since`.
    var since: UInt64?

    /// Whether a listener with the state of a commit can continue with the message.
    func continues(_ state: UInt64) -> Bool { since.map { state <= $0 || state >= commit } ?? true }
}

/// The topics of one loop.
///
/// Listeners of the same place and query share a ``ListenTopic``, so that the namespace reports a change once for each loop, and a message is made
/// once.
final class ListenTopics {
    private let loop: EventLoop
    private var topics: [Key: ListenTopic] = [:]

    private struct Key: Hashable {
        var namespace: String
        var path: Path
        var query: Query?
    }

    init(loop: EventLoop) { self.loop = loop }

    /// Subscribes a listener to the changes of a place, or of the result of a query.
    func join(_ member: any TopicMember, _ namespace: Namespace, _ path: Path, _ query: Query?) -> ListenTopic {
        let key = Key(namespace: namespace.name, path: path, query: query)
        let topic = topics[key] ?? ListenTopic(namespace, path, query, loop: loop)
        topics[key] = topic
        topic.add(member)
        return topic
    }

    /// Ends the subscription of a listener.
    func leave(_ member: any TopicMember, _ topic: ListenTopic) {
        topic.remove(member)
        guard topic.isEmpty else { return }
        topic.end()
        topics[Key(namespace: topic.namespace.name, path: topic.path, query: topic.query)] = nil
    }
}
