import EventLoop
import Logging
import Synchronization

@testable import Store

/// A writer on a loop of the test's thread, over a store that fails when it is told to.
final class WriterRun {
    let loop: EventLoop
    let store: FakeStore
    let writer: NumberWriter
    let log = KeptLog()
    let noted = Notes()

    init(failing: [FakeStore.Step: StoreError.Kind] = [:]) throws {
        loop = try EventLoop()
        store = FakeStore()
        store.failing = failing
        writer = NumberWriter(loop: loop, store: store, noted: noted, log: Logger(label: "test") { [log] _ in log })
        turn { $0.start() }
    }

    /// The answers, in order.
    var answers: [String] { noted.all }

    /// Does `body` in a turn of the loop, and then what it has posted.
    func turn(_ body: @escaping (NumberWriter) -> Void) {
        let body = LoopBound({ [writer] in body(writer) }, loop: loop)
        loop.post { body.value() }
        for _ in 1...3 {
            loop.post {}
            loop.runOnce()
        }
    }
}

/// Texts in order, from any thread.
final class Notes: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

/// Writes numbers.
final class NumberWriter: StoreWriter<NumberWriter.Numbers> {
    /// The numbers that were put so far, as a content remembers them.
    final class Numbers: StoreContent {
        var seen: [Int]
        let transactions: any TransactionalStore

        init(_ store: FakeStore) {
            seen = store.committed
            transactions = store
        }
    }

    private let fake: FakeStore
    private let noted: Notes
    private var hasChanges = false
    private(set) var openings = 0
    private(set) var closings = 0
    private(set) var losses = 0

    init(loop: EventLoop, store: FakeStore, noted: Notes, log: Logger) {
        fake = store
        self.noted = noted
        super.init(
            loop: loop, log: log,
            words: StoreWords(
                metadata: [:], cannotOpen: "cannot open", mustReopen: "must reopen", writeFailed: "write failed", worksAgain: "works again"))
    }

    func put(_ number: Int) {
        let answer = { @Sendable [noted] (failure: StoreError?) in noted.add(failure.map { "\(number) \($0.kind)" } ?? "\(number)") }
        inTransaction(answer) { content throws(StoreError) in
            batch.answer(on: loop, answer)
            content.seen.append(number)
            do throws(StoreError) { try fake.put(number) } catch {
                // The answer of this one is the refusal's.
                batch = CommitBatch()
                throw error
            }
            hasChanges = true
        }
    }

    override func openContent() throws(StoreError) -> Numbers {
        openings += 1
        try fake.check(.open)
        return Numbers(fake)
    }

    override func willCommit(_ content: Numbers) throws(StoreError) -> Bool {
        defer { hasChanges = false }
        return hasChanges
    }

    override func renewed(_ content: Numbers) throws(StoreError) -> Numbers {
        try fake.check(.open)
        return Numbers(fake)
    }

    override func didLose(_ error: StoreError) { losses += 1 }
    override func willClose(_ content: Numbers) { closings += 1 }
}

/// A list of numbers as a store.
final class FakeStore: TransactionalStore {
    /// The operations that can fail.
    enum Step { case open, put, commit, checkpoint }

    var failing: [Step: StoreError.Kind] = [:]
    var committed: [Int] = []
    private var pending: [Int] = []
    private(set) var isInTransaction = false
    private(set) var commits = 0
    var report = CheckpointReport()
    private(set) var occasions: [CheckpointOccasion] = []
    /// The results of emptying the log, in order.
    var emptyings: [Bool] = []

    func check(_ step: Step) throws(StoreError) {
        if let kind = failing[step] { throw StoreError(kind, "\(step) fails") }
    }

    func begin() { isInTransaction = true }

    func put(_ number: Int) throws(StoreError) {
        try check(.put)
        pending.append(number)
    }

    func commit() throws(StoreError) {
        try check(.commit)
        committed += pending
        pending = []
        commits += 1
        isInTransaction = false
    }

    func rollback() {
        pending = []
        isInTransaction = false
    }

    func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport {
        occasions.append(occasion)
        try check(.checkpoint)
        return report
    }

    func emptyLog() -> Bool { emptyings.removeFirst() }

    var sizeBytes: Int { 0 }
}

/// The lines of a log, with their metadata but the reasons.
final class KeptLog: LogHandler {
    private let kept = Notes()

    var lines: [String] { kept.all }

    func log(event: LogEvent) {
        let more = (event.metadata ?? [:]).filter { $0.key != "reason" }.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }
        kept.add("\(event.message)\(more.joined())")
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
}
