import Logging
import Store
import Synchronization

/// Reads the store from snapshots, on several threads at a time. Reads wait neither for the writer nor for the disk to which it writes.
final class AccountReaders: Sendable {
    private let path: String
    private let policy: AccountPolicy
    private let slots: [Slot]
    private let next = Atomic<Int>(0)
    private let trouble: Mutex<TroubleReport>
    private let hasTrouble = Atomic<Bool>(false)

    /// A lookup touches pages all over the file, so all of it is mapped, up to the most that SQLite maps: a million users have 600 MB. With
    /// 64 MiB, a lookup among a million took 1.6 times as long as one among a thousand.
    private static let settings: StoreSettings = {
        var settings = StoreSettings()
        settings.readerMappedBytes = 0x7FFF_0000
        return settings
    }()

    /// A connection that is opened when it is first needed, for one thread at a time.
    private final class Slot: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        var snapshots: StoreReader?
        var seal = FactorSeal()
        var isClosed = false
    }

    /// - Parameter count: reads at the same time; 0 for a store in memory, which only the writer has.
    init(path: String, policy: AccountPolicy, count: Int, log: Logger) {
        self.path = path
        self.policy = policy
        trouble = Mutex(TroubleReport(log, ["store": "users"]))
        slots = (0..<count).map { _ in Slot() }
    }

    /// Runs `operation` on the newest committed state. Blocks, so call it off the loops.
    ///
    /// - Returns: nil if the writer has to run it: the store is not open, this connection has failed, or something must be changed first.
    func read<Answer: Sendable>(_ operation: @Sendable (AccountReader) throws(AccountFailure) -> Answer) -> Result<Answer, AuthError>? {
        guard !slots.isEmpty else { return nil }
        let first = next.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
        for offset in 0..<slots.count {
            let slot = slots[(first + offset) % slots.count]
            if let result = slot.state.withLockIfAvailable({ state in run(operation, &state) }) { return result }
        }
        return slots[first % slots.count].state.withLock { state in run(operation, &state) }
    }

    private func run<Answer: Sendable>(
        _ operation: @Sendable (AccountReader) throws(AccountFailure) -> Answer, _ state: inout State
    ) -> Result<Answer, AuthError>? {
        guard !state.isClosed else { return nil }
        do throws(StoreError) {
            if state.snapshots == nil {
                state.seal = try policy.openSeal()
                state.snapshots = try StoreReader(path, .accounts, Self.settings)
            }
            guard let snapshots = state.snapshots else { return nil }
            try snapshots.beginSnapshot()
            defer { snapshots.endSnapshot() }
            do throws(AccountFailure) {
                let answer = try operation(AccountReader(snapshots.connection, policy, state.seal))
                succeeded()
                return .success(answer)
            } catch {
                switch error {
                case .refused(let refusal), .counted(let refusal): return .failure(refusal)
                case .needsWriter, .functionsUnknown, .undecided: return nil
                case .store(let failure): throw StoreError(failure)
                }
            }
        } catch {
            // Before the writer has made the store, there is nothing to read.
            if StoreFiles.isFile(path) { failed(error) }
            state.snapshots = nil
            return nil
        }
    }

    // MARK: Trouble

    /// The writer serves reads that fail here, which is slower: without a line in the log nobody would know why.
    private func failed(_ error: StoreError) {
        hasTrouble.store(true, ordering: .relaxed)
        trouble.withLock { $0.failed("users are read by the writer, because a reader has failed", error) }
    }

    private func succeeded() {
        guard hasTrouble.exchange(false, ordering: .relaxed) else { return }
        trouble.withLock { $0.succeeded("users are read by readers again") }
    }

    /// Closes the connections, and opens none until ``open()``.
    func close() {
        for slot in slots {
            slot.state.withLock { state in
                state.snapshots = nil
                state.isClosed = true
            }
        }
    }

    /// Lets connections be opened again.
    func open() {
        for slot in slots { slot.state.withLock { $0.isClosed = false } }
    }
}
