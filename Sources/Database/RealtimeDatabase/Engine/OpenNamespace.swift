import EventLoop
import Store
import Synchronization

/// The threads and files of an open namespace, from its opening to ``stop()``.
///
/// Requests use it through leases (``Namespace``). ``RealtimeDatabase`` closes one without leases. References without a lease, for figures or
/// for stopping, do not keep it open.
final class OpenNamespace: Sendable {
    /// The name, as in `?ns=`.
    let name: String
    /// Distinguishes it from earlier and later ones with the same name.
    let id: UInt64
    /// The time of the last request, in the database's count of requests.
    let lastUse: Atomic<UInt64>
    /// The profilers of the namespace.
    let profile: Profile
    /// The number of leases (``Namespace``). The first one is created only under the database's lock.
    private let leases = Atomic(0)
    private let quiet: QuietMark
    private let isStopped = Mutex(false)
    private let lastFigures = Mutex(TotalFigures())
    let writerThread: NamespaceThread
    let writer: LoopBound<NamespaceWriter>
    let readers: NamespaceReaders
    private let writerReference: WriterReference

    /// - Parameters:
    ///   - id: also the time of the first request.
    ///   - prepare: called on the writer's thread before anything is opened. It may take long.
    init(
        id: UInt64, storage: any StorageEngine, settings: NamespaceSettings, triggers: NamespaceTriggers, prepare: @escaping @Sendable () -> Void
    ) throws(LoopError) {
        name = settings.name
        profile = settings.profile
        self.id = id
        lastUse = Atomic(id)
        let quiet = QuietMark()
        let newest = CommitNumber()
        let hashes = HashCache()
        let writerThread = try NamespaceThread()
        let writerReference = WriterReference()
        let readers: NamespaceReaders
        do throws(LoopError) {
            readers = try NamespaceReaders(storage: storage, settings: settings, newest: newest, hashes: hashes) {
                writerThread.post { writerReference.writer.withLock { $0 }?.value.publishRulesAgain() }
            }
        } catch {
            writerThread.end()
            throw error
        }
        let writer = LoopBound(
            NamespaceWriter(
                loop: writerThread.loop, storage: storage, settings: settings, quiet: quiet, newest: newest, hashes: hashes,
                haste: readers.haste
            ) {
                readers.use($0)
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

    // MARK: Leases

    /// Creates a lease. Called under the database's lock, so that none is created after the decision to close the namespace.
    func lease() -> Namespace {
        leases.add(1, ordering: .relaxed)
        return Namespace(self)
    }

    func endLease() { leases.subtract(1, ordering: .releasing) }

    /// Whether a request, a listener or an answer that is being read needs the namespace.
    var isLeased: Bool { leases.load(ordering: .acquiring) > 0 }

    // MARK: Threads

    func onWriter(_ body: @escaping @Sendable (NamespaceWriter) -> Void) {
        writerThread.post { [self] in body(writer.value) }
    }

    /// Calls `body` on the thread of each reader, and then `completion` on that of the last one.
    func onEachReader(_ body: @escaping @Sendable (NamespaceReader) -> Void, completion: @escaping @Sendable () -> Void) {
        readers.onEach(body, completion: completion)
    }

    /// Whether scans of many rows end immediately.
    var isInHaste: Bool {
        get { readers.haste.isSet }
        set { readers.haste.isSet = newValue }
    }

    // MARK: Stopping

    /// Whether no work is left for earlier writes.
    var isQuiet: Bool { quiet.isSet }

    /// Commits the current transaction, and closes files and threads. All later requests are refused. Returns when this is done, even if another
    /// caller has begun it.
    func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            // The connection that is closed last empties the log, so it must be the writing one.
            readers.end { [self] reader in
                reader.stop()
                lastFigures.withLock { $0.reader.merge(reader.figures) }
            }
            lastFigures.withLock { $0.reader.merge(readers.pointFigures) }
            onWriter { [self] writer in
                writer.end()
                lastFigures.withLock { $0.writer = writer.currentFigures }
            }
            writerThread.end()
            writerReference.writer.withLock { $0 = nil }
        }
    }

    /// The figures of the namespace after it was stopped.
    var figures: TotalFigures { lastFigures.withLock { $0 } }
}

/// A reference to the writer, through which readers request the rules.
private final class WriterReference: Sendable {
    let writer = Mutex<LoopBound<NamespaceWriter>?>(nil)
}
