import EventLoop

/// How often things happen, counted in windows of a minute, an hour and a second (spec messaging 6.7).
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

    /// Counts a send of a project; how long to wait where there were too many.
    mutating func countProject(_ project: String, limit: Int, now: Int64) -> Int? {
        guard limit > 0 else { return nil }
        turn(to: now)
        projects[project, default: 0] += 1
        return projects[project, default: 0] > limit ? Int(60 - now / 1000 % 60) : nil
    }

    /// Counts a message for a device; how long to wait where there were too many.
    mutating func countDevice(_ device: Int64, perMinute: Int, perHour: Int, now: Int64) -> Int? {
        guard perMinute > 0 || perHour > 0 else { return nil }
        turn(to: now)
        devicesInMinute[device, default: 0] += 1
        devicesInHour[device, default: 0] += 1
        if perHour > 0, devicesInHour[device, default: 0] > perHour { return Int(3600 - now / 1000 % 3600) }
        return perMinute > 0 && devicesInMinute[device, default: 0] > perMinute ? Int(60 - now / 1000 % 60) : nil
    }

    /// Counts changes of subscriptions; whether there were not too many.
    mutating func countSubscriptions(_ project: String, _ count: Int, limit: Int, now: Int64) -> Bool {
        guard limit > 0 else { return true }
        turn(to: now)
        // One call is let in whole: the next has to wait.
        defer { subscriptions[project, default: 0] += count }
        return subscriptions[project, default: 0] < limit
    }

    /// Counts a call that anybody may make; how long to wait where there were too many, of all callers or from this address.
    mutating func countCall(from address: NetworkAddress, perMinute: Int, perAddress: Int, now: Int64) -> Int? {
        guard perMinute > 0 || perAddress > 0 else { return nil }
        turn(to: now)
        // One address does not use up what there is for all: what it is refused does not count. Addresses are counted one by one as long as
        // there are not too many to keep.
        if perAddress > 0, callsFrom.count < Self.addressesMax || callsFrom[address] != nil {
            let count = callsFrom[address, default: 0]
            guard count < perAddress else { return Int(60 - now / 1000 % 60) }
            callsFrom[address] = count + 1
        }
        calls += 1
        return perMinute > 0 && calls > perMinute ? Int(60 - now / 1000 % 60) : nil
    }

    private static let addressesMax = 100_000

    /// Whether no call was refused in this minute before.
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
