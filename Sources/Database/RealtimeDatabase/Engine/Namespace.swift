public import EventLoop
public import Rules
import Synchronization
public import Tree

/// One database of the project: a tree, its rules, its outbox.
///
/// It can be asked from every loop. Answers come back on the loop that is named with the question, never before the call
/// returns.
///
/// It stays open for as long as somebody holds it, as everything does that is under way: a question that waits for its thread, an
/// answer that is still read, a ``Listening``. ``RealtimeDatabase`` closes one that nobody else holds.
public final class Namespace: OutboxAccess {
    /// Its name, as in `?ns=`.
    public let name: String
    /// Tells it from others that the same name had or will have.
    let id: UInt64
    /// When it was last asked for, as the database counts.
    let lastUse: Atomic<UInt64>
    /// Who profiles it.
    let profile: Profile
    private let quiet: QuietMark
    private let isStopped = Mutex(false)
    private let lastFigures = Mutex(TotalFigures())
    private let writerThread: NamespaceThread
    private let writer: LoopBound<NamespaceWriter>
    private let readers: NamespaceReaders
    private let writerReference: WriterReference

    /// - Parameters:
    ///   - id: also when it was asked for first.
    ///   - prepare: called on the writer's thread before anything is opened; it may take its time.
    init(
        id: UInt64, storage: any StorageEngine, settings: NamespaceSettings, triggers: NamespaceTriggers, prepare: @escaping @Sendable () -> Void
    ) throws(LoopError) {
        name = settings.name
        profile = settings.profile
        self.id = id
        lastUse = Atomic(id)
        let quiet = QuietMark()
        let writerThread = try NamespaceThread()
        let writerReference = WriterReference()
        let readers: NamespaceReaders
        do throws(LoopError) {
            readers = try NamespaceReaders(storage: storage, settings: settings) {
                writerThread.post { writerReference.writer.withLock { $0 }?.value.startAgain() }
            }
        } catch {
            writerThread.end()
            throw error
        }
        let writer = LoopBound(
            NamespaceWriter(loop: writerThread.loop, storage: storage, settings: settings, quiet: quiet, haste: readers.haste) { rules in
                readers.onEach { $0.use(rules) }
            }, loop: writerThread.loop)
        writerReference.writer.withLock { $0 = writer }
        self.writerThread = writerThread
        self.readers = readers
        self.writerReference = writerReference
        self.writer = writer
        self.quiet = quiet
        writerThread.post {
            prepare()
            writer.value.use(triggers)
            writer.value.logEmptying.makeWay = { bytes in
                readers.onEach {
                    $0.makeWayForLog(bytes: bytes)
                } completion: {
                    writerThread.post { writer.value.emptyLogSoon() }
                }
            }
            writer.value.logEmptying.isOver = { readers.onEach { $0.logIsEmptied() } }
            writer.value.start()
        }
    }

    func onWriter(_ body: @escaping @Sendable (NamespaceWriter) -> Void) {
        writerThread.post { [self] in body(writer.value) }
    }

    func onReader(_ body: @escaping @Sendable (NamespaceReader) -> Void) {
        readers.quick.thread.post { [self] in body(readers.quick.reader.value) }
    }

    /// Has `body` called on the thread of each reader, and then `completion` on the last one's.
    func onEachReader(_ body: @escaping @Sendable (NamespaceReader) -> Void, completion: @escaping @Sendable () -> Void) {
        readers.onEach(body) { [self] in withExtendedLifetime(self, completion) }
    }

    /// Whether scans of many rows end at once.
    var isInHaste: Bool {
        get { readers.haste.isSet }
        set { readers.haste.isSet = newValue }
    }

    /// What functions' events are delivered from.
    public func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        onWriter { $0.withOutbox(body, on: loop, completion: completion) }
    }

    /// Writes; all writes that arrive together are made durable together, in the order in which they were asked for.
    public func write(_ request: WriteRequest, on loop: EventLoop, completion: @escaping (WriteOutcome) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        let stopwatch = profile.stopwatch()
        onWriter { [self] in $0.write(request, stopwatch, of: self, on: loop, answer: answer) }
    }

    /// Reads the newest committed state.
    public func read(_ request: ReadRequest, on loop: EventLoop, completion: @escaping (ReadOutcome) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        let stopwatch = profile.stopwatch()
        guard request.mayTakeLong else { return onReader { [self] in $0.read(request, stopwatch, of: self, on: loop, answer: answer) } }
        readers.slowLane.post { [self] in $0.readInTurn(request, stopwatch, of: self, on: loop, answer: answer) }
    }

    // MARK: Listening

    /// Tells of every write that is committed from now on and touches `path`, what is above it or below it.
    ///
    /// A read that is begun after `ready` was called sees a state from which the news lead on: skip those whose commit is
    /// not above the read's.
    public func listen(
        _ path: Path, on loop: EventLoop, ready: @escaping (Listening) -> Void, news: @escaping (ListenerNews) -> Void
    ) {
        let handler = LoopBound(news, loop: loop)
        let answer = LoopBound(ready, loop: loop)
        onWriter { [self] writer in
            let id = writer.listen(path, loop: loop, handler: handler)
            // What was written before, in this turn, is not told: a read that begins now would not see it either.
            writer.afterTurn(on: loop) { answer.value(Listening(namespace: self, path: path, id: id)) }
        }
    }

    /// A listener's registration.
    public struct Listening: Sendable {
        let namespace: Namespace
        let path: Path
        let id: UInt64

        /// Ends it. News that are on their way may still arrive.
        public func end() {
            namespace.onWriter { [path, id] in $0.unlisten(id, path: path) }
        }
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

    /// Puts rules in force, for good; `completion` hears why not where that fails.
    public func setRules(_ rules: RuleSet, fileMark: [UInt8]? = nil, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { writer in
            writer.setRules(rules, fileMark: fileMark) { error in loop.post { answer.value(error) } }
        }
    }

    /// What rules say of a request, without doing it: those in force, or `rules`.
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
    func permission(_ request: ReadRequest, on loop: EventLoop, completion: @escaping (Result<ReadPermission, DatabaseError>) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onReader { [self] reader in
            reader.permission(request, of: self) { result in loop.post { answer.value(result) } }
        }
    }

    /// A request that rules are asked about.
    public enum JudgedRequest: Sendable {
        case read(ReadRequest)
        case write(WriteRequest)
    }

    // MARK: Settings and triggers

    /// The value of a setting of the namespace's own; nil where it was never set.
    public func setting(_ name: String, on loop: EventLoop, completion: @escaping ([UInt8]?) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { writer in
            writer.setting(name) { value in loop.post { answer.value(value) } }
        }
    }

    /// Keeps a setting for good, or forgets it.
    public func setSetting(_ name: String, _ value: [UInt8]?, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        onWriter { writer in
            writer.setSetting(name, value) { error in loop.post { answer.value(error) } }
        }
    }

    /// From now on writes raise events for these functions.
    func useTriggers(_ triggers: NamespaceTriggers) {
        onWriter { $0.use(triggers) }
    }

    // MARK: Stopping

    /// Whether nothing is left to be done for what was written.
    var isQuiet: Bool { quiet.isSet }

    /// Commits what has arrived, gives back files and threads. Everything that is asked afterwards is refused. Returns when that is
    /// done, also where it was begun elsewhere.
    func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            // The last connection to close leaves nothing in the log; it has to be the one that writes.
            readers.end { [self] reader in
                reader.stop()
                lastFigures.withLock { $0.reader.merge(reader.figures) }
            }
            onWriter { [self] writer in
                writer.stop()
                lastFigures.withLock { $0.writer = writer.currentFigures }
            }
            writerThread.end()
            writerReference.writer.withLock { $0 = nil }
        }
    }

    /// What it has counted, once it is stopped.
    var figures: TotalFigures { lastFigures.withLock { $0 } }
}

/// The writer, as its readers ask it for the rules.
private final class WriterReference: Sendable {
    let writer = Mutex<LoopBound<NamespaceWriter>?>(nil)
}
