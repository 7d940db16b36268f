import Synchronization

/// Counts the challenges of each client's address, in the time in which a challenge can be used: no client can take the room of all others.
final class ChallengeLimits: Sendable {
    /// Many devices may share an address, and each asks about once an hour.
    static let perAddress = 500
    /// The most addresses that are counted at a time; those beyond share the limit of the whole host only.
    static let addressesMax = 10_000

    private struct Window {
        var ends: Int
        var count: Int
    }

    private let windows = Mutex<[String: Window]>([:])

    /// The number of addresses that are counted.
    var addresses: Int { windows.withLock { $0.count } }

    /// Counts a challenge. Returns whether the address may have it.
    func count(_ address: String, now: Int) -> Bool {
        windows.withLock { windows in
            if let window = windows[address], window.ends > now {
                guard window.count < Self.perAddress else { return false }
                windows[address]?.count += 1
                return true
            }
            if windows.count >= Self.addressesMax { windows = windows.filter { $0.value.ends > now } }
            if windows.count < Self.addressesMax { windows[address] = Window(ends: now + Int(AppCheckStore.challengeSeconds), count: 1) }
            return true
        }
    }
}
