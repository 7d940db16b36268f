import EventLoop

/// Counts events per second, minute and hour for the rate limits (spec messaging 6.7).
struct SendRates {
    private var minute: Int64 = -1
    private var hour: Int64 = -1
    private var second: Int64 = -1
    private var projects: [String: Int] = [:]
    private var devicesInMinute: [Int64: Int] = [:]
    private var devicesInHour: [Int64: Int] = [:]
    private var subscriptions: [String: Int] = [:]
    private var calls = 0
    private var callsFrom: [NetworkAddress: Int] = [:]
    private var isRefusing = false

    /// Counts a send of a project. Returns the seconds to wait if the limit is exceeded.
    mutating func countProject(_ project: String, limit: Int, now: Int64) -> Int? {
        guard limit > 0 else { return nil }
        turn(to: now)
        projects[project, default: 0] += 1
        return projects[project, default: 0] > limit ? Int(60 - now / 1000 % 60) : nil
    }

    /// Counts a message for a device. Returns the seconds to wait if a limit is exceeded.
    mutating func countDevice(_ device: Int64, perMinute: Int, perHour: Int, now: Int64) -> Int? {
        guard perMinute > 0 || perHour > 0 else { return nil }
        turn(to: now)
        devicesInMinute[device, default: 0] += 1
        devicesInHour[device, default: 0] += 1
        if perHour > 0, devicesInHour[device, default: 0] > perHour { return Int(3600 - now / 1000 % 3600) }
        return perMinute > 0 && devicesInMinute[device, default: 0] > perMinute ? Int(60 - now / 1000 % 60) : nil
    }

    /// Counts changes of subscriptions. Returns false if the limit is exceeded.
    mutating func countSubscriptions(_ project: String, _ count: Int, limit: Int, now: Int64) -> Bool {
        guard limit > 0 else { return true }
        turn(to: now)
        // A call is accepted or refused as a whole. Its changes count for the next one.
        defer { subscriptions[project, default: 0] += count }
        return subscriptions[project, default: 0] < limit
    }

    /// Counts an anonymous call. Returns the seconds to wait if the limit is exceeded, for all callers or for this address.
    mutating func countCall(from address: NetworkAddress, perMinute: Int, perAddress: Int, now: Int64) -> Int? {
        guard perMinute > 0 || perAddress > 0 else { return nil }
        turn(to: now)
        // Calls that are refused because of their address do not count for the common limit, so that one address cannot use it up. Addresses are
        // counted separately up to a maximal number of them.
        if perAddress > 0, callsFrom.count < Self.addressesMax || callsFrom[address] != nil {
            let count = callsFrom[address, default: 0]
            guard count < perAddress else { return Int(60 - now / 1000 % 60) }
            callsFrom[address] = count + 1
        }
        calls += 1
        return perMinute > 0 && calls > perMinute ? Int(60 - now / 1000 % 60) : nil
    }

    private static let addressesMax = 100_000

    /// Whether no call was refused in this minute before. Notes the refusal.
    mutating func isFirstRefusalOfMinute() -> Bool {
        defer { isRefusing = true }
        return !isRefusing
    }

    private mutating func turn(to now: Int64) {
        if now / 1000 != second {
            second = now / 1000
            subscriptions = [:]
        }
        if now / 60_000 != minute {
            minute = now / 60_000
            projects = [:]
            devicesInMinute = [:]
            calls = 0
            callsFrom = [:]
            isRefusing = false
        }
        if now / 3_600_000 != hour {
            hour = now / 3_600_000
            devicesInHour = [:]
        }
    }
}
