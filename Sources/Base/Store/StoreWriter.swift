public import EventLoop
public import Logging

/// The single writer of a store: group commit, failures, upkeep of the log. A class for each kind of store inherits from it.
///
/// All requests that arrive in one turn of its loop form one transaction, which commits at the end of the turn. Meanwhile the requests of the
/// next turn collect. Answers and announcements wait in a ``CommitBatch`` until the transaction is durable.
///
/// `Content` is the open store, with all objects that its user has built on it. It belongs to the thread of the loop, like the writer.
open class StoreWriter<Content: StoreContent> {
    /// The loop on which all methods are called.
    public let loop: EventLoop
    /// The answers and announcements of this turn's transaction.
    public final var batch = CommitBatch()
    /// Whether this turn has an open transaction.
    public private(set) final var isInTransaction = false
    /// How a log that snapshots have made too long is emptied.
    public final var logEmptying = LogEmptying()
    /// Logs each different failure once.
    public let log: Logger
    let words: StoreWords
    private var state = State.notOpened
    /// When opening was last attempted, in the loop's milliseconds.
    private var lastAttempt: UInt64 = 0
    private var trouble: TroubleReport
    var upkeepTrouble: TroubleReport
    /// The reason why the log cannot be moved, if the disk is full.
    var logIsStuck: StoreError?
    /// Whether a snapshot is known to hold back checkpoints.
    var isHeldBack = false
    private(set) lazy var logTimer = Timer(loop: loop) { [unowned self] in emptyLog() }
    private lazy var idleTimer = Timer(loop: loop) { [unowned self] in checkpointWhenIdle() }

    private enum State {
        case notOpened
        case open(Content)
        /// Opening has failed. It is attempted again when the store is needed, but not immediately.
        case failed(StoreError)
        case suspended
        case stopped
    }

    /// The time after which opening is attempted again.
    final var retryMilliseconds: UInt64 = 250
    private static var idleMilliseconds: UInt64 { 200 }

    /// A writer whose store is not open yet.
    public init(loop: EventLoop, log: Logger, words: StoreWords) {
        self.loop = loop
        self.log = log
        self.words = words
        trouble = TroubleReport(log, words.metadata)
        upkeepTrouble = TroubleReport(log, words.metadata)
    }

    // MARK: The user's part

    /// Opens the store and builds the content on it.
    open func openContent() throws(StoreError) -> Content { throw StoreError(.other, "this writer opens nothing") }

    /// Reads the user's state from the open store. After an error the store is closed and opened again later.
    open func didOpen(_ content: Content) throws(StoreError) {}

    /// Adds the last changes of a turn to its transaction.
    ///
    /// - Returns: whether anything has changed. Otherwise the transaction is rolled back, but counts as durable.
    open func willCommit(_ content: Content) throws(StoreError) -> Bool { true }

    /// Called when the transaction is durable, before the answers are sent.
    ///
    /// - Parameter nanoseconds: the duration of the commit; nil if there was nothing to commit.
    open func didCommit(_ content: Content, nanoseconds: UInt64?) {}

    /// Sends the answers of a transaction.
    ///
    /// - Parameter failure: the reason why it is not durable; nil if it is.
    open func deliver(_ answers: inout CommitBatch, failure: StoreError?) { answers.deliver(failure: failure) }

    /// Called when all answers of a transaction have been sent.
    ///
    /// - Parameter hasChanges: whether there was anything to commit.
    open func didDeliver(_ content: Content, hasChanges: Bool) {}

    /// Called when the transaction has failed and was rolled back, before the answers are sent.
    open func didRollBack(_ content: Content) {}

    /// Replaces the content after a rollback, when all answers have been sent: the old content may have cached uncommitted state.
    open func renewed(_ content: Content) throws(StoreError) -> Content { content }

    /// Called when the store cannot be used until it is opened again.
    open func didLose(_ error: StoreError) {}

    /// Called before the content is released and the store is closed.
    open func willClose(_ content: Content) {}

    // MARK: Opening and closing

    /// The open store. Nil before it is opened, after a failure, and when it is closed.
    public final var content: Content? { if case .open(let content) = state { content } else { nil } }

    /// The reason why there is no content.
    public final var failure: StoreError {
        switch state {
        case .notOpened, .open: StoreError(.stopped, "the store is not open yet")
        case .failed(let error): error
        case .suspended: StoreError(.suspended, "another process has the store")
        case .stopped: StoreError(.stopped, "the store is closed")
        }
    }

    /// Whether the store is closed until ``resume()``, or permanently.
    public final var isClosed: Bool {
        switch state {
        case .notOpened, .open, .failed: false
        case .suspended, .stopped: true
        }
    }

    /// Whether the store has failed since it last worked.
    public final var hasTrouble: Bool { trouble.isTrouble }

    /// Opens the store, unless it is open or closed. If that fails, all requests are refused until it can be opened.
    public final func start() {
        guard content == nil, !isClosed else { return }
        lastAttempt = loop.nowMilliseconds
        do throws(StoreError) {
            let opened = try openContent()
            state = .open(opened)
            try didOpen(opened)
        } catch {
            lose(error, words.cannotOpen)
        }
    }

    /// Opens the store if it failed some time ago.
    ///
    /// - Returns: whether it was attempted.
    @discardableResult
    public final func startAgain() -> Bool {
        switch state {
        case .notOpened: break
        case .failed: guard loop.nowMilliseconds >= lastAttempt + retryMilliseconds else { return false }
        case .open, .suspended, .stopped: return false
        }
        start()
        return true
    }

    private func lose(_ error: StoreError, _ what: String) {
        giveUpContent()
        state = .failed(error)
        lastAttempt = loop.nowMilliseconds
        trouble.failed(what, error)
        didLose(error)
    }

    private func giveUpContent() {
        if let content { willClose(content) }
    }

    /// Commits the current transaction and closes the store until ``resume()``.
    public final func suspend() {
        commit()
        idleTimer.stop()
        giveUpContent()
        state = .suspended
    }

    /// Allows the store to be opened again after ``suspend()``.
    public final func resume() {
        if case .suspended = state { state = .notOpened }
    }

    /// Commits the current transaction and closes the store permanently.
    public final func stop() {
        commit()
        idleTimer.close()
        logTimer.close()
        logEmptying = LogEmptying()
        giveUpContent()
        state = .stopped
    }

    // MARK: The transaction of a turn

    /// Runs `body` as a part of this turn's transaction. Calls `refuse` if that fails, and then all requests of the turn are refused.
    public final func inTransaction(_ refuse: (StoreError) -> Void, _ body: (Content) throws(StoreError) -> Void) {
        if content == nil { startAgain() }
        guard let content else { return refuse(failure) }
        do throws(StoreError) {
            if !isInTransaction {
                try requireMovableLog(content)
                try content.transactions.begin()
                isInTransaction = true
                loop.endOfTurn { [self] in commit() }
            }
            try body(content)
        } catch {
            abandon(error)
            refuse(error)
        }
    }

    /// Moves a log that could not be moved because the disk is full. As long as that fails, no transaction begins: the log would take the room that
    /// the move needs.
    private func requireMovableLog(_ content: Content) throws(StoreError) {
        guard logIsStuck != nil else { return }
        checkpoint(.full, content.transactions)
        if let logIsStuck { throw logIsStuck }
    }

    /// Commits the transaction of this turn, if there is one.
    public final func commit() {
        guard isInTransaction, let content else { return }
        let store = content.transactions
        var nanoseconds: UInt64?
        do throws(StoreError) {
            if try willCommit(content) {
                let start = EventLoop.monotonicNanoseconds()
                try store.commit()
                nanoseconds = EventLoop.monotonicNanoseconds() - start
            } else {
                store.rollback()
            }
        } catch {
            return abandon(error)
        }
        isInTransaction = false
        didCommit(content, nanoseconds: nanoseconds)
        deliver(&batch, failure: nil)
        if nanoseconds != nil { trouble.succeeded(words.worksAgain) }
        didDeliver(content, hasChanges: nanoseconds != nil)
        guard nanoseconds != nil else { return }
        checkpoint(.committed, store)
        idleTimer.start(afterMilliseconds: Self.idleMilliseconds)
    }

    /// Rolls the current transaction back, and informs all requests in it.
    private func abandon(_ error: StoreError) {
        trouble.failed(words.writeFailed, error)
        isInTransaction = false
        guard let content else { return deliver(&batch, failure: error) }
        content.transactions.rollback()
        didRollBack(content)
        deliver(&batch, failure: error)
        if error.kind == .full { checkpoint(.full, content.transactions) }
        do throws(StoreError) {
            state = .open(try renewed(content))
        } catch {
            lose(error, words.mustReopen)
        }
    }

    /// Logs a failure of the store outside of a transaction.
    public final func report(_ what: String, _ error: StoreError) { trouble.failed(what, error) }

    private func checkpointWhenIdle() {
        // A continuing upkeep of the user commits soon.
        guard !isInTransaction, let content else { return }
        checkpoint(.idle, content.transactions)
    }
}

/// An open store with all objects that its user has built on it.
public protocol StoreContent: AnyObject {
    /// The store itself.
    var transactions: any TransactionalStore { get }
}

/// The texts of a writer's log lines.
public struct StoreWords: Sendable {
    /// Names the store in each line.
    public var metadata: Logger.Metadata
    /// Opening has failed.
    public var cannotOpen: String
    /// The store does not work after a failed write.
    public var mustReopen: String
    /// A transaction has failed.
    public var writeFailed: String
    /// A transaction is durable, after failures.
    public var worksAgain: String

    /// The texts for one kind of store.
    public init(metadata: Logger.Metadata, cannotOpen: String, mustReopen: String, writeFailed: String, worksAgain: String) {
        self.metadata = metadata
        self.cannotOpen = cannotOpen
        self.mustReopen = mustReopen
        self.writeFailed = writeFailed
        self.worksAgain = worksAgain
    }
}
