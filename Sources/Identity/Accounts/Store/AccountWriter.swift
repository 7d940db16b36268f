import EventLoop
import Logging
import RealtimeDatabase
import SQLite
import Store

/// The single writer of the store of users, on a thread of its own. All requests of a turn share a transaction.
final class AccountWriter: StoreWriter<AccountStore> {
    private let path: String
    private let policy: AccountPolicy
    /// The functions that run when users are created or deleted; nil as long as they are not known.
    private var triggers: [UserTrigger]?
    /// Operations that wait until the functions are known.
    private lazy var held = HeldOperations(loop: loop)
    private let figures: UserEventFigures
    private let didRaiseEvents: @Sendable (EventAnnouncement) -> Void
    /// Called with the notices that wait.
    private var didFindNotices: (@Sendable ([SecurityNotice]) -> Void)?
    private lazy var upkeepTimer = Timer(loop: loop) { [unowned self] in keepUp() }
    private static let upkeepMilliseconds: UInt64 = 60_000

    /// - Parameters:
    ///   - triggers: the functions that run when users are created or deleted; nil if they become known later.
    ///   - didRaiseEvents: called with the events of users that wait for functions.
    init(
        loop: EventLoop, path: String, policy: AccountPolicy, triggers: [UserTrigger]?, figures: UserEventFigures, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) {
        self.path = path
        self.policy = policy
        self.triggers = triggers
        self.figures = figures
        self.didRaiseEvents = didRaiseEvents
        super.init(
            loop: loop, log: log,
            words: StoreWords(
                metadata: ["store": "users"], cannotOpen: "the store of users cannot be opened",
                mustReopen: "the store of users must be opened again", writeFailed: "users cannot be stored",
                worksAgain: "users can be stored again"))
    }

    override func openContent() throws(StoreError) -> AccountStore { try AccountStore(path: path, policy: policy) }

    override func didOpen(_ store: AccountStore) throws(StoreError) {
        store.triggers = triggers
        if let pending = try store.outbox.pending() { didRaiseEvents(pending) }
        publish(store)
        upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: Self.upkeepMilliseconds)
    }

    override func didLose(_ error: StoreError) { upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: 1000) }

    override func willCommit(_ store: AccountStore) throws(StoreError) -> Bool {
        guard store.hasChanges else { return false }
        try store.outbox.willCommit()
        return true
    }

    override func didCommit(_ store: AccountStore, nanoseconds: UInt64?) {
        store.noteState()
        if store.hasNewRemoval {
            store.hasNewRemoval = false
            upkeepTimer.start(afterMilliseconds: 1, repeatMilliseconds: Self.upkeepMilliseconds)
        }
        if let announcement = store.outbox.didCommit() { didRaiseEvents(announcement) }
        publish(store)
    }

    override func didRollBack(_ store: AccountStore) { store.noteState() }

    override func renewed(_ store: AccountStore) throws(StoreError) -> AccountStore {
        try store.renewOutbox()
        return store
    }

    /// Runs `operation` as a part of the current transaction, and answers when that is durable.
    func perform<Answer: Sendable>(
        _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> Answer, on answerLoop: EventLoop,
        _ answer: @escaping @Sendable (Result<Answer, AuthError>) -> Void
    ) {
        inTransaction({ _ in answerLoop.post { answer(.failure(.unavailable)) } }) { store throws(StoreError) in
            let result: Result<Answer, AuthError>
            do throws(AccountFailure) {
                result = .success(try store.atomically(operation))
            } catch {
                switch error {
                case .refused(let refusal), .counted(let refusal): result = .failure(refusal)
                // Attempts turn it into an answer before.
                case .undecided: result = .failure(.unavailable)
                case .functionsUnknown:
                    return held.add { [self] isPossible in
                        if isPossible { perform(operation, on: answerLoop, answer) } else { answerLoop.post { answer(.failure(.unavailable)) } }
                    }
                case .store(let failure): throw StoreError(failure)
                case .needsWriter: result = .failure(.unavailable)
                }
            }
            try store.raiseEvents()
            batch.answer(on: answerLoop) { failure in answer(failure == nil ? result : .failure(.unavailable)) }
        }
    }

    /// Removes what has expired, a part in each turn.
    private func keepUp() {
        startAgain()
        inTransaction({ _ in }) { store throws(StoreError) in
            do throws(AccountFailure) {
                let hasTenants = try store.removeTenants()
                let isBehind = try store.removeExpired() || hasTenants
                try announceNotices(store)
                upkeepTimer.start(
                    afterMilliseconds: isBehind ? 10 : Self.upkeepMilliseconds, repeatMilliseconds: Self.upkeepMilliseconds)
            } catch {
                if case .store(let failure) = error { throw StoreError(failure) }
            }
        }
    }

    // MARK: Notices

    /// Sets who sends the notices that wait: those of the process before, and those that could not be sent.
    func use(_ didFindNotices: @escaping @Sendable ([SecurityNotice]) -> Void) {
        self.didFindNotices = didFindNotices
    }

    private func announceNotices(_ store: AccountStore) throws(AccountFailure) {
        guard let didFindNotices else { return }
        let waiting = try store.waitingNotices()
        if !waiting.isEmpty { didFindNotices(waiting) }
    }

    // MARK: Events

    /// Sets the functions that run when users are created or deleted, and performs the operations that have waited for them.
    func use(_ triggers: [UserTrigger]) {
        self.triggers = triggers
        content?.triggers = triggers
        held.end(performing: true)
    }

    /// Announces all waiting events again, for a delivery that has restarted.
    func announcePending() {
        inTransaction({ _ in }) { store throws(StoreError) in
            if let pending = try store.outbox.pending() { didRaiseEvents(pending) }
        }
    }

    /// Runs `body` as a part of the current transaction, and answers when that is durable.
    func withOutbox<Answer: Sendable>(
        _ body: (Outbox) throws(StoreError) -> Answer, on answerLoop: EventLoop,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        inTransaction({ error in answerLoop.post { completion(.failure(error)) } }) { store throws(StoreError) in
            let answer = try body(store.outbox)
            batch.answer(on: answerLoop) { failure in completion(failure.map { .failure($0) } ?? .success(answer)) }
        }
    }

    private func publish(_ store: AccountStore) { figures.counts = store.outbox.counts }

    func close() {
        held.end(performing: false)
        upkeepTimer.stop()
        suspend()
    }

    func end() {
        held.close()
        didFindNotices = nil
        upkeepTimer.close()
        stop()
    }
}
