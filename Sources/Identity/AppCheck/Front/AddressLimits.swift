import Synchronization

/// Counts what each client's address asks for in a window of time, such as challenges: no client can take the room of all others.
final class AddressLimits: Sendable {
    /// The most addresses that are counted at a time; those beyond share the limit of the whole host only.
    static let addressesMax = 10_000

    private struct Window {
        var ends: Int
        var count: Int
    }

    private let perAddress: Int
    private let seconds: Int
    private let windows = Mutex<[String: Window]>([:])

    init(perAddress: Int, seconds: Int) {
        self.perAddress = perAddress
        self.seconds = seconds
    }

    /// Challenges, in the time in which one can be used. Many devices may share an address, and each asks about once an hour.
    static func ofChallenges() -> AddressLimits { AddressLimits(perAddress: 500, seconds: Int(AppCheckStore.challengeSeconds)) }

    /// New keys of devices. A device makes one when the app is installed.
    static func ofKeys() -> AddressLimits { AddressLimits(perAddress: 200, seconds: 3600) }

    /// The number of addresses that are counted.
    var addresses: Int { windows.withLock { $0.count } }

    /// Counts a request. Returns whether the address may have what it asks for.
    func count(_ address: String, now: Int) -> Bool {
        let ends = now + seconds
        return windows.withLock { windows in
            // A window that ends later is of a clock that was wrong.
            if let window = windows[address], window.ends > now, window.ends <= ends {
                guard window.count < perAddress else { return false }
                windows[address]?.count += 1
                return true
            }
            if windows.count >= Self.addressesMax { windows = windows.filter { $0.value.ends > now && $0.value.ends <= ends } }
            if windows.count < Self.addressesMax { windows[address] = Window(ends: ends, count: 1) }
            return true
        }
    }
}
