import EventLoop
import SQLite

extension MessagingWriter {
    /// How much is tidied up in one turn of the loop.
    private static let rowsMax = 500
    /// Installations whose devices have unregistered that are remembered.
    private static let goneMax = 100_000

    /// Lets go of what is over: waiting messages, old outcomes, registrations that nobody has heard of, keys of sends.
    func keepUp() {
        inTransaction({ _ in }) { store throws(SQLiteError) in
            let now = clock.now
            var isBehind = false
            let expired = try store.expired(at: now, limit: Self.rowsMax)
            for (id, message) in expired {
                if let device = try store.device(id: id) {
                    try settle(message, device, .expired, store, now)
                } else if try store.removePending(id, message) {
                    try store.addRemaining(message, -1)
                }
            }
            isBehind = expired.count == Self.rowsMax
            let history = now - Int64(settings.historySeconds) * 1000
            if try store.removeDone(sentBefore: history, limit: Self.rowsMax) == Self.rowsMax { isBehind = true }
            let unseen = now - Int64(settings.tokenExpiryDays) * 86_400_000
            let gone = try store.devices(unseenSince: unseen, limit: Self.rowsMax)
            for device in gone where links[device.id] == nil { try remove(device, store) }
            if try store.removeGone(before: unseen, keeping: Self.goneMax, limit: Self.rowsMax) >= Self.rowsMax { isBehind = true }
            try store.removeKeys(before: now - Self.idempotencyMilliseconds)
            upkeepTimer.start(afterMilliseconds: isBehind ? 10 : 60_000, repeatMilliseconds: 60_000)
        }
    }
}
