import EventLoop
import SQLite
import Store

extension MessagingWriter {
    /// The most rows of each kind to handle in a turn of the loop.
    private static let rowsMax = 500
    /// The most owners to keep of devices that have unregistered.
    private static let goneMax = 100_000

    /// Deletes what has expired: waiting messages, old outcomes, registrations without contact, idempotency keys.
    func keepUp() {
        inTurn({ _ in }) { store throws(SQLiteError) in
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
