public import EventLoop
public import Logging
public import RealtimeDatabase
public import Store
import Synchronization

/// The users of a host: a store with a writer on a thread of its own, and readers. Can be used from every loop and task.
///
///     let user = try await accounts.read(on: loop) { store in try store.user("uid", tenant: "") }
///     try await accounts.perform(on: loop) { store in try store.delete(uid: "uid", tenant: "") }
public final class AccountService: Sendable {
    /// The constant settings.
    public let policy: AccountPolicy
    /// The numbers of events of users that wait for functions.
    public let eventFigures = UserEventFigures()
    private let thread: LoopThread
    private let writer: LoopBound<AccountWriter>
    private let readers: AccountReaders
    /// Reads at the same time: as many as the pool for blocking work has threads.
    private static let readersMax = 4

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - path: the database's file, in an existing folder; `:memory:` for a store in memory.
    ///   - isSuspended: whether the store stays closed until ``resume()``.
    ///   - awaitsFunctions: whether operations that create or delete users wait until ``useTriggers(_:)`` is called.
    ///   - didRaiseEvents: called, on any thread, with events of users that wait for functions.
    public init(
        path: String, policy: AccountPolicy, isSuspended: Bool = false, awaitsFunctions: Bool = false, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void = { _ in }
    ) throws(LoopError) {
        let thread = try LoopThread()
        self.thread = thread
        self.policy = policy
        let writer = LoopBound(
            AccountWriter(
                loop: thread.loop, path: path, policy: policy, triggers: awaitsFunctions ? nil : [], figures: eventFigures, log: log,
                didRaiseEvents: didRaiseEvents),
            loop: thread.loop)
        self.writer = writer
        readers = AccountReaders(path: path, policy: policy, count: path == StoreFile.inMemory ? 0 : Self.readersMax, log: log)
        if isSuspended { readers.close() }
        thread.loop.post { if isSuspended { writer.value.close() } else { writer.value.start() } }
    }

    /// Runs an operation that only reads. It sees everything that was answered before, and waits for no write.
    ///
    /// - Parameter loop: the loop of the caller.
    public func read<Answer: Sendable>(
        on loop: EventLoop, _ operation: @escaping @Sendable (AccountReader) throws(AccountFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        let readers = readers
        if let result = await loop.offload({ readers.read(operation) }) { return try result.get() }
        return try await perform(on: loop) { store throws(AccountFailure) in try operation(store) }
    }

    /// Runs an operation. Returns when its changes are durable; a refusal changes nothing.
    ///
    /// - Parameter loop: the loop of the caller.
    public func perform<Answer: Sendable>(
        on loop: EventLoop, _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        let result: Result<Answer, AuthError> = await withCheckedContinuation { continuation in
            thread.loop.post { [writer] in
                writer.value.perform(operation, on: loop) { continuation.resume(returning: $0) }
            }
        }
        return try result.get()
    }

    /// Attempts an operation about which functions may decide. Without the decision that it needs, it changes nothing.
    ///
    /// - Parameter loop: the loop of the caller.
    public func attempt<Answer: Sendable>(
        on loop: EventLoop, _ pass: BlockingPass, _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> Answer
    ) async throws(AuthError) -> BlockingAttempt<Answer> {
        let question = Mutex<BlockingQuestion?>(nil)
        do throws(AuthError) {
            return .done(
                try await perform(on: loop) { store throws(AccountFailure) in
                    store.pass = pass
                    defer { store.pass = nil }
                    do throws(AccountFailure) { return try operation(store) } catch {
                        if case .undecided(let asked) = error { question.withLock { $0 = asked } }
                        throw error
                    }
                })
        } catch {
            guard let asked = question.withLock({ $0 }) else { throw error }
            return .undecided(asked)
        }
    }

    /// Sets who sends the notices that wait. Called on any thread, a second after the store was opened and every minute, also with notices that are
    /// being sent.
    public func useNotices(_ didFind: @escaping @Sendable ([SecurityNotice]) -> Void) {
        thread.loop.post { [writer] in writer.value.use(didFind) }
    }

    /// Runs an operation for a task that belongs to no loop.
    public func perform<Answer: Sendable>(
        _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        try await perform(on: thread.loop, operation)
    }

    /// Closes the store for another process, until ``resume()``.
    ///
    /// - Parameter completion: called on any thread.
    public func suspend(completion: @escaping @Sendable () -> Void) {
        thread.loop.post { [writer, readers] in
            readers.close()
            writer.value.close()
            completion()
        }
    }

    /// Opens the store again.
    public func resume() {
        thread.loop.post { [writer, readers] in
            writer.value.resume()
            writer.value.start()
            readers.open()
        }
    }

    /// Commits what has arrived and closes the store. Nothing is answered afterwards.
    public func stop() {
        readers.close()
        thread.loop.post { [writer] in writer.value.end() }
        thread.join()
    }
}

/// The events of users, for the delivery to functions.
extension AccountService: OutboxAccess {
    /// The name under which events of users are announced.
    public var name: String { Outbox.users }

    /// Sets the functions that run when users are created or deleted.
    public func useTriggers(_ triggers: [UserTrigger]) {
        thread.loop.post { [writer] in writer.value.use(triggers) }
    }

    /// Announces all waiting events again, for a delivery that has restarted.
    public func announcePending() {
        thread.loop.post { [writer] in writer.value.announcePending() }
    }

    public func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        thread.loop.post { [writer] in writer.value.withOutbox(body, on: loop, completion: completion) }
    }
}
