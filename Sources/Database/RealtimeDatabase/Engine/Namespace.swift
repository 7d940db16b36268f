public import EventLoop
public import Rules
import Store
import Synchronization
public import Tree

/// A lease of a database of the project: a tree, its rules and its outbox.
///
/// The database stays open until its last lease has ended. Everything that needs it open has a lease: a request that waits for its thread, an
/// answer that is being read, a ``Listening``. A lease ends when its last owner releases it. ``RealtimeDatabase`` creates leases.
///
/// Can be used on every loop. Completions are called on the loop passed with the request, never before the call returns.
public final class Namespace: OutboxAccess {
    /// The leased namespace.
    let open: OpenNamespace

    /// - Parameter open: the namespace, which has already counted the lease.
    init(_ open: OpenNamespace) { self.open = open }

    deinit { open.endLease() }

    /// The name, as in `?ns=`.
    public var name: String { open.name }
    /// The profilers of the namespace.
    package var profile: Profile { open.profile }

    /// Calls `body` on the writer's thread. The lease lasts until then.
    func onWriter(_ body: @escaping @Sendable (NamespaceWriter) -> Void) {
        open.writerThread.post { [self] in body(open.writer.value) }
    }

    /// Calls `body` on the thread of a reader. The lease lasts until then.
    func onReader(_ body: @escaping @Sendable (NamespaceReader) -> Void) {
        open.readers.read { [self] reader in withExtendedLifetime(self) { body(reader) } }
    }

    /// Calls `body` on the thread of each reader, and then `completion` on that of the last one. The lease lasts until then.
    func onEachReader(_ body: @escaping @Sendable (NamespaceReader) -> Void, completion: @escaping @Sendable () -> Void) {
        open.onEachReader(body) { [self] in withExtendedLifetime(self, completion) }
    }

    /// The source from which the events of functions are delivered.
    public func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        onWriter { $0.withOutbox(body, on: loop, completion: completion) }
    }

    /// Writes. All writes that arrive together become durable together, in the order of the calls.
    public func write(_ request: WriteRequest, on loop: EventLoop, completion: @escaping (WriteOutcome) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        let stopwatch = profile.stopwatch()
        onWriter { [self] in $0.write(request, stopwatch, of: self, on: loop, answer: answer) }
    }

    /// Reads a single value of the newest committed state on the calling loop. Nil if the read needs another thread; see
    /// ``read(_:on:completion:)``.
    package func readAtOnce(_ request: ReadRequest, on loop: EventLoop) -> ReadOutcome? {
        guard request.mayBePoint, profile.stopwatch() == nil else { return nil }
        return open.readers.readAtOnce(request, on: loop)
    }

    /// Reads the newest committed state.
    public func read(_ request: ReadRequest, on loop: EventLoop, completion: @escaping (ReadOutcome) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        let stopwatch = profile.stopwatch()
        guard request.mayTakeLong else {
            return open.readers.read { [self] in $0.read(request, stopwatch, of: self, on: loop, answer: answer) }
        }
        open.readers.readInTurn(ReadTurns.QueuedRead(request: request, stopwatch: stopwatch, namespace: self, loop: loop, answer: answer))
    }

    /// Reads the children that a query selects, for a view. Takes turns with other reads that may take long.
    private func read(
        _ query: Query, at path: Path, bytesMax: Int, on loop: EventLoop,
        completion: @escaping ((node: Node, commit: UInt64)?) -> Void
    ) {
        var request = ReadRequest(path, .query(query), principal: .admin)
        request.wantsNode = true
        request.mayLackIndex = true
        request.bytesMax = bytesMax
        read(request, on: loop) { outcome in
            if case .node(let node, let commit) = outcome { completion((node, commit)) } else { completion(nil) }
        }
    }

    // MARK: Listening

    /// Reports every write from now on that is committed and affects `path`, its ancestors or its descendants; with a query, every change of its
    /// result. Of the writes of a client on the same loop it reports before they are acknowledged.
    ///
    /// A read that begins after the call of `ready` sees a state that the news continue. News whose commit is not after that of the read must
    /// be skipped. `ready` gets an error if the process has too few descriptors or threads.
    public func listen(
        _ path: Path, query: Query? = nil, on loop: EventLoop, ready: @escaping (Result<Listening, DatabaseError>) -> Void,
        news: @escaping (ListenerNews) -> Void
    ) {
        let handler = LoopBound(news, loop: loop)
        let answer = LoopBound(ready, loop: loop)
        let place = ChangeFeed.Place(path: path, query: query)
        let read: QueryView.Read = { [self] query, bytesMax, loop, completion in
            self.read(query, at: path, bytesMax: bytesMax, on: loop, completion: completion)
        }
        onWriter { [self] writer in
            writer.listen(place, read: read, on: loop, handler: handler) { result in
                answer.value(result.map { Listening(namespace: self, place: place, id: $0.id, feed: $0.feed) })
            }
        }
    }

    /// The registration of a listener.
    public struct Listening: Sendable {
        let namespace: Namespace
        let place: ChangeFeed.Place
        let id: UInt64
        let feed: FeedThreads.Feed

        /// Ends the registration. News that were already sent may still arrive.
        public func end() {
            namespace.onWriter { [place, id] in $0.unlisten(id, place) }
        }

        /// Makes the namespace keep the result of the query, and says ``ListenerNews/settled`` when it does. To be called once the listener has been
        /// allowed to read it; until then, and if the result is too large to be kept, changes are reported as ``ListenerNews/outdated(_:)``.
        package func follow() { feed.post { [place] in $0.follow(place) } }

        /// Reports whether places have changed since the state of `commit`, which must be one that was read after the listener was ready.
        ///
        /// First says whether they have changed already, and later reports the first change. It arrives before the change itself is reported to
        /// listeners on the same loop.
        package func watch(
            _ places: [WatchedPlace], since commit: UInt64, on loop: EventLoop, news: @escaping (WatchNews) -> Void
        ) -> Watching {
            let watching = Watching(feed)
            let watch = WatchTable.Watch(id: watching.id, places: places, loop: loop, handler: LoopBound(news, loop: loop))
            feed.post { $0.add(watch, since: commit) }
            return watching
        }
    }

    /// The registration of a watch.
    package struct Watching: Sendable {
        fileprivate let id: UInt64
        private let feed: FeedThreads.Feed

        private static let lastID = Atomic<UInt64>(0)

        fileprivate init(_ feed: FeedThreads.Feed) {
            self.feed = feed
            id = Self.lastID.add(1, ordering: .relaxed).newValue
        }

        /// Ends the registration. News that were already sent may still arrive.
        package func end() { feed.post { [id] in $0.remove(watch: id) } }
    }

    // MARK: Rules

    /// The rules in force.
    public func rules(on loop: EventLoop, completion: @escaping (RuleSet) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { writer in
            let rules = writer.rules
            loop.post { answer.value(rules) }
        }
    }

    /// Puts rules in force permanently. `completion` gets the error if that fails.
    public func setRules(_ rules: RuleSet, fileMark: [UInt8]? = nil, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { writer in
            writer.setRules(rules, fileMark: fileMark) { error in loop.post { answer.value(error) } }
        }
    }

    /// Judges a request by the rules in force or by `rules`, without performing it.
    public func judge(
        _ request: JudgedRequest, by rules: RuleSet?, on loop: EventLoop, completion: @escaping (Result<RuleVerdict, DatabaseError>) -> Void
    ) {
        let answer = LoopBound(completion, loop: loop)
        let send: @Sendable (Result<RuleVerdict, DatabaseError>) -> Void = { result in loop.post { answer.value(result) } }
        switch request {
        case .write(let request): onWriter { $0.judge(request, by: rules, answer: send) }
        case .read(let request): onReader { [self] in $0.judge(request, by: rules, of: self, answer: send) }
        }
    }

    /// Whether a read is allowed in the newest committed state.
    package func permission(_ request: ReadRequest, on loop: EventLoop, completion: @escaping (Result<ReadPermission, DatabaseError>) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onReader { [self] reader in
            reader.permission(request, of: self) { result in loop.post { answer.value(result) } }
        }
    }

    /// A request to be judged by rules.
    public enum JudgedRequest: Sendable {
        case read(ReadRequest)
        case write(WriteRequest)
    }

    // MARK: Settings and triggers

    /// The value of the namespace's own setting; nil if it was never set.
    public func setting(_ name: String, on loop: EventLoop, completion: @escaping ([UInt8]?) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { writer in
            writer.setting(name) { value in loop.post { answer.value(value) } }
        }
    }

    /// Stores a setting permanently, or removes it.
    public func setSetting(_ name: String, _ value: [UInt8]?, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { writer in
            writer.setSetting(name, value) { error in loop.post { answer.value(error) } }
        }
    }

    /// Makes writes raise events for these functions from now on.
    func useTriggers(_ triggers: NamespaceTriggers) {
        onWriter { $0.use(triggers) }
    }
}
