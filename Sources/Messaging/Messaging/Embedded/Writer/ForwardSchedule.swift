import DequeModule

/// Decides for which device the next message is sent to a push service.
///
/// Services take turns, so that a slow or unreachable one does not delay messages for others. Each service has a limit of concurrent requests.
/// All services that have not just answered in time share another, small limit. Messages wait in the store; the schedule knows only their
/// devices.
struct ForwardSchedule {
    /// A push service, identified by the domain of its addresses.
    struct Service: Hashable {
        var platform: DevicePlatform
        var name: String
    }

    /// The outcome of an attempt, for the state of the service.
    enum Outcome {
        /// The service answered in time.
        case answered
        /// The service answered late, or with an error of its own.
        case struggled
        /// The service could not be reached, or did not answer.
        case failed
    }

    private struct State {
        /// The waiting devices in order.
        var devices: Deque<Int64> = []
        var underWay = 0
        /// Whether the last attempt was answered in time.
        var isGood = false
        /// The number of consecutive attempts without an answer.
        var failures = 0
        /// When its back-off ends, in monotonic milliseconds.
        var restsUntil: UInt64 = 0

        var isEmpty: Bool { devices.isEmpty }
        var width: Int { isGood ? ForwardSchedule.goodWidth : failures == 0 ? ForwardSchedule.poorWidth : 1 }
    }

    /// The most concurrent requests: in all; to a service that answers in time; to all others together; to one of the others.
    static let widthMax = 100
    static let goodWidth = 50
    static let poorWidthMax = 25
    static let poorWidth = 4
    /// The most services to remember that have no waiting devices.
    private static let idleMax = 10_000

    private var services: [Service: State] = [:]
    /// The services with waiting devices, in the order of their turns: those that answer in time, and the others. Services in back-off are
    /// in neither list.
    private var good: Deque<Service> = []
    private var poor: Deque<Service> = []
    private var parked: [Service] = []
    /// When the first back-off of a parked service ends.
    private var parkedUntil: UInt64 = .max
    /// The waiting devices.
    private var waiting: Set<Int64> = []
    private(set) var underWay = 0
    private var poorUnderWay = 0
    /// The devices whose last message was not accepted: the number of attempts, and the end of their back-off.
    private var resting: [Int64: (attempts: Int, until: UInt64)] = [:]

    /// Whether the timer is needed: a device is waiting, or a device or service is in back-off.
    var needsTimer: Bool { !resting.isEmpty || good.count + poor.count + parked.count > 0 }

    // MARK: Waiting devices

    /// Adds a device with a message for a service. Does nothing if the device is already waiting, or is in back-off.
    mutating func add(_ device: Int64, _ service: Service, now: UInt64) {
        if let rest = resting[device], rest.until > now { return }
        guard waiting.insert(device).inserted else { return }
        if services[service] == nil { forgetIdle() }
        if services[service]?.isEmpty ?? true { append(service, services[service] ?? State(), now) }
        services[service, default: State()].devices.append(device)
    }

    /// Removes and returns the next device with its service; nil if no request may start now.
    mutating func next(now: UInt64) -> (device: Int64, service: Service)? {
        guard underWay < Self.widthMax else { return nil }
        if parkedUntil <= now { unpark(now) }
        // At most two services of this list can have reached their limit.
        if let found = takeFirst(of: \.good, now) { return found }
        return poorUnderWay < Self.poorWidthMax ? takeFirst(of: \.poor, now) : nil
    }

    /// Takes a device of the first service in a list that may start a request. Moves services that belong in another list.
    private mutating func takeFirst(of list: WritableKeyPath<Self, Deque<Service>>, _ now: UInt64) -> (device: Int64, service: Service)? {
        var index = 0
        while index < self[keyPath: list].count {
            let service = self[keyPath: list][index]
            // By index, since a copy of the state would make the next change copy all waiting devices.
            guard let place = services.index(forKey: service) else {
                self[keyPath: list].remove(at: index)
                continue
            }
            guard services.values[place].isGood == (list == \.good), services.values[place].restsUntil <= now else {
                self[keyPath: list].remove(at: index)
                append(service, services.values[place], now)
                continue
            }
            guard services.values[place].underWay < services.values[place].width else {
                index += 1
                continue
            }
            self[keyPath: list].remove(at: index)
            guard let device = services.values[place].devices.popFirst() else { continue }
            waiting.remove(device)
            if !services.values[place].isEmpty { append(service, services.values[place], now) }
            return (device, service)
        }
        return nil
    }

    private mutating func append(_ service: Service, _ state: State, _ now: UInt64) {
        if state.restsUntil > now {
            parked.append(service)
            parkedUntil = min(parkedUntil, state.restsUntil)
        } else if state.isGood {
            good.append(service)
        } else {
            poor.append(service)
        }
    }

    private mutating func unpark(_ now: UInt64) {
        let all = parked
        parked = []
        parkedUntil = .max
        for service in all {
            if let state = services[service] { append(service, state, now) }
        }
    }

    // MARK: Concurrent requests

    /// A request that has started.
    struct Ticket {
        fileprivate var service: Service
        fileprivate var isPoor: Bool
    }

    mutating func begin(_ service: Service) -> Ticket {
        var state = services[service] ?? State()
        let isPoor = !state.isGood
        state.underWay += 1
        services[service] = state
        underWay += 1
        if isPoor { poorUnderWay += 1 }
        return Ticket(service: service, isPoor: isPoor)
    }

    mutating func end(_ ticket: Ticket, _ outcome: Outcome, now: UInt64) {
        underWay -= 1
        if ticket.isPoor { poorUnderWay -= 1 }
        guard var state = services[ticket.service] else { return }
        state.underWay -= 1
        state.isGood = outcome == .answered
        switch outcome {
        case .answered, .struggled:
            state.failures = 0
            state.restsUntil = 0
        // If several concurrent attempts fail, only the first one extends the back-off.
        case .failed where state.restsUntil <= now:
            state.failures += 1
            state.restsUntil = now + RetryTimes.wait(attempt: state.failures - 1)
        case .failed: break
        }
        services[ticket.service] = state
        // The service was waiting among those that share the small limit. Moves it to the others.
        guard state.isGood, ticket.isPoor, !state.isEmpty else { return }
        if let place = parked.firstIndex(of: ticket.service) {
            parked.remove(at: place)
        } else if let place = poor.firstIndex(of: ticket.service) {
            poor.remove(at: place)
        } else {
            return
        }
        good.append(ticket.service)
    }

    // MARK: Back-off of devices

    /// Starts the back-off of a device whose message was not accepted. Nothing is sent for it until the end.
    ///
    /// - Parameter asked: the delay that its service asked for, in seconds.
    /// - Returns: the delay in milliseconds.
    mutating func rest(_ device: Int64, asked: Int?, now: UInt64) -> UInt64 {
        // If several concurrent messages fail, the first one determines the delay.
        if let rest = resting[device], rest.until > now { return rest.until - now }
        let attempts = resting[device]?.attempts ?? 0
        let wait = RetryTimes.wait(attempt: attempts, asked: asked)
        resting[device] = (attempts + 1, now + wait)
        return wait
    }

    /// Ends the back-off of a device whose message was accepted or given up.
    mutating func didSettle(_ device: Int64) { resting[device] = nil }

    /// Devices whose back-off has ended, at most `limit`.
    func rested(now: UInt64, limit: Int) -> [Int64] {
        var found: [Int64] = []
        for (device, rest) in resting where rest.until <= now && !waiting.contains(device) {
            found.append(device)
            if found.count == limit { break }
        }
        return found
    }

    /// Whether the last message of a device was not accepted.
    func isFailing(_ device: Int64) -> Bool { resting[device] != nil }

    // MARK: Upkeep

    /// Limits the number of services, because anonymous registrations name them.
    private mutating func forgetIdle() {
        guard services.count >= Self.idleMax + good.count + poor.count + parked.count else { return }
        services = services.filter { !$0.value.isEmpty || $0.value.underWay > 0 }
    }
}
