import EventLoop
import Logging
import SQLite
import Store

/// The single writer of the store of apps, on a thread of its own.
final class AppCheckWriter: StoreWriter<AppCheckStore> {
    private let path: String
    private let clock: @Sendable () -> Int64
    private lazy var upkeepTimer = Timer(loop: loop) { [unowned self] in keepUp() }
    private static let upkeepMilliseconds: UInt64 = 60_000

    init(loop: EventLoop, path: String, clock: @escaping @Sendable () -> Int64, log: Logger) {
        self.path = path
        self.clock = clock
        super.init(
            loop: loop, log: log,
            words: StoreWords(
                metadata: ["store": "apps"], cannotOpen: "the store of apps cannot be opened", mustReopen: "the store of apps must be opened again",
                writeFailed: "App Check cannot be stored", worksAgain: "App Check can be stored again"))
    }

    override func openContent() throws(StoreError) -> AppCheckStore { try AppCheckStore(path: path, clock: clock) }

    override func didOpen(_ store: AppCheckStore) {
        upkeepTimer.start(afterMilliseconds: Self.upkeepMilliseconds, repeatMilliseconds: Self.upkeepMilliseconds)
    }

    override func didLose(_ error: StoreError) { upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: 1000) }

    override func willCommit(_ store: AppCheckStore) -> Bool { store.hasChanges }

    override func didCommit(_ store: AppCheckStore, nanoseconds: UInt64?) { store.noteState() }

    override func didRollBack(_ store: AppCheckStore) { store.noteState() }

    /// Runs `operation` as a part of the current transaction, and answers when that is durable.
    func perform<Answer: Sendable>(
        _ operation: @Sendable (AppCheckStore) throws(AppCheckFailure) -> Answer, answer: @escaping @Sendable (Result<Answer, AppCheckError>) -> Void
    ) {
        inTransaction({ _ in answer(.failure(.unavailable)) }) { store throws(StoreError) in
            let result: Result<Answer, AppCheckError>
            do throws(AppCheckFailure) {
                result = .success(try store.atomically(operation))
            } catch {
                switch error {
                case .refused(let refusal): result = .failure(refusal)
                case .store(let failure): throw StoreError(failure)
                }
            }
            batch.answer(on: loop) { failure in answer(failure == nil ? result : .failure(.unavailable)) }
        }
    }

    private func keepUp() {
        startAgain()
        inTransaction({ _ in }) { store throws(StoreError) in
            do throws(AppCheckFailure) {
                let isBehind = try store.removeExpired()
                upkeepTimer.start(afterMilliseconds: isBehind ? 10 : Self.upkeepMilliseconds, repeatMilliseconds: Self.upkeepMilliseconds)
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
