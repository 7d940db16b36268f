import Accounts
import Synchronization

/// Hands stored notices to the sender, each once at a time, and removes those that were sent from the store.
final class NoticeOutbox: Sendable {
    private enum Fate {
        case underWay
        case paused(until: ContinuousClock.Instant)
    }

    /// The time after which a notice is tried again that could not be sent with all attempts.
    private static let pause = Duration.seconds(600)

    private let accounts: AccountService
    private let send: @Sendable (SecurityNotice, @escaping @Sendable (Bool) -> Void) async -> Void
    private let fates = Mutex<[Int64: Fate]>([:])

    /// - Parameter send: queues a notice, and calls the function with whether it need not be sent again.
    init(
        accounts: AccountService, send: @escaping @Sendable (SecurityNotice, @escaping @Sendable (Bool) -> Void) async -> Void
    ) {
        self.accounts = accounts
        self.send = send
    }

    /// Sends those of the notices that are not under way. Thread-safe.
    func send(_ notices: [SecurityNotice]) {
        let due = notices.filter { notice in
            fates.withLock { fates in
                switch fates[notice.id] {
                case .underWay: return false
                case .paused(let until) where until > .now: return false
                case .paused, nil:
                    fates[notice.id] = .underWay
                    return true
                }
            }
        }
        for notice in due {
            Task { await send(notice) { [self] isDone in end(notice.id, isDone) } }
        }
    }

    private func end(_ id: Int64, _ isDone: Bool) {
        guard isDone else { return fates.withLock { $0[id] = .paused(until: .now + Self.pause) } }
        Task {
            do throws(AuthError) {
                try await accounts.perform { store throws(AccountFailure) in try store.removeNotice(id) }
                fates.withLock { $0[id] = nil }
            } catch {
                // It was sent: while the store cannot forget it, this process must not send it again.
            }
        }
    }
}
