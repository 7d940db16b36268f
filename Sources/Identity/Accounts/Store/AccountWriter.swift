import EventLoop
import Logging
import SQLite
import Store

/// The single writer of the store of users, on a thread of its own. All requests of a turn share a transaction.
final class AccountWriter: StoreWriter<AccountStore> {
    private let path: String
    private let policy: AccountPolicy
    private lazy var upkeepTimer = Timer(loop: loop) { [unowned self] in keepUp() }
    private static let upkeepMilliseconds: UInt64 = 60_000

    init(loop: EventLoop, path: String, policy: AccountPolicy, log: Logger) {
        self.path = path
        self.policy = policy
        super.init(
            loop: loop, log: log,
            words: StoreWords(
                metadata: ["store": "users"], cannotOpen: "the store of users cannot be opened",
                mustReopen: "the store of users must be opened again", writeFailed: "users cannot be stored",
                worksAgain: "users can be stored again"))
    }

    override func openContent() throws(StoreError) -> AccountStore { try AccountStore(path: path, policy: policy) }

    override func didOpen(_ store: AccountStore) {
        upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: Self.upkeepMilliseconds)
    }

    override func didLose(_ error: StoreError) { upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: 1000) }

    override func willCommit(_ store: AccountStore) -> Bool { store.hasChanges }

    override func didCommit(_ store: AccountStore, nanoseconds: UInt64?) { store.noteState() }

    override func didRollBack(_ store: AccountStore) { store.noteState() }

    /// Runs `operation` as a part of the current transaction, and answers when that is durable.
    func perform<Answer: Sendable>(
        _ operation: @Sendable (AccountStore) throws(AccountFailure) -> Answer, on answerLoop: EventLoop,
        _ answer: @escaping @Sendable (Result<Answer, AuthError>) -> Void
    ) {
        inTransaction({ _ in answerLoop.post { answer(.failure(.unavailable)) } }) { store throws(StoreError) in
            let result: Result<Answer, AuthError>
            do throws(AccountFailure) {
                result = .success(try store.atomically(operation))
            } catch {
                switch error {
                case .refused(let refusal), .counted(let refusal): result = .failure(refusal)
                case .store(let failure): throw StoreError(failure)
                case .needsWriter: result = .failure(.unavailable)
                }
            }
            batch.answer(on: answerLoop) { failure in answer(failure == nil ? result : .failure(.unavailable)) }
        }
    }

    /// Removes what has expired, a part in each turn.
    private func keepUp() {
        startAgain()
        inTransaction({ _ in }) { store throws(StoreError) in
            do throws(AccountFailure) {
                let isBehind = try store.removeExpired()
                upkeepTimer.start(
                    afterMilliseconds: isBehind ? 10 : Self.upkeepMilliseconds, repeatMilliseconds: Self.upkeepMilliseconds)
            } catch {
                if case .store(let failure) = error { throw StoreError(failure) }
            }
        }
    }

    func close() {
        upkeepTimer.stop()
        suspend()
    }

    func end() {
        upkeepTimer.close()
        stop()
    }
}
