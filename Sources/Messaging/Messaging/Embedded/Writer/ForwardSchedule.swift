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
        /// The waiting devices in order. Those before `head` are done.
        var devices: [Int64] = []
        var head = 0
        var underWay = 0
        /// Whether the last attempt was answered in time.
        var isGood = false
        /// The number of consecutive attempts without an answer.
        var failures = 0
        /// When its back-off ends, in monotonic milliseconds.
        var restsUntil: UInt64 = 0

        var isEmpty: Bool { head == devices.count }
        var width: Int { isGood ? ForwardSchedule.goodWidth : failures == 0 ? ForwardSchedule.poorWidth : 1 }

        mutating func take() -> Int64 {
            let device = devices[head]
            head += 1
            if head > 64, head * 2 > devices.count {
                devices.removeFirst(head)
                head = 0
            }
            return device
        }
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
    private var good = Turns()
    private var poor = Turns()
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
        var state = services[service] ?? State()
        if state.isEmpty { append(service, state, now) }
        state.devices.append(device)
        services[service] = state
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
    private mutating func takeFirst(of list: WritableKeyPath<Self, Turns>, _ now: UInt64) -> (device: Int64, service: Service)? {
        var index = 0
        while index < self[keyPath: list].count {
            let service = self[keyPath: list][index]
            guard var state = services[service] else {
                self[keyPath: list].remove(at: index)
                continue
            }
            guard state.isGood == (list == \.good), state.restsUntil <= now else {
                self[keyPath: list].remove(at: index)
                append(service, state, now)
                continue
            }
            guard state.underWay < state.width else {
                index += 1
                continue
            }
            let device = state.take()
            services[service] = state
            waiting.remove(device)
            self[keyPath: list].remove(at: index)
            if !state.isEmpty { append(service, state, now) }
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
        } else if !poor.remove(ticket.service) {
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

/// Push services in the order of their turns. Removal near the front does not move the rest.
private struct Turns {
    private var services: [ForwardSchedule.Service] = []
    private var head = 0

    var count: Int { services.count - head }

    subscript(index: Int) -> ForwardSchedule.Service { services[head + index] }

    mutating func append(_ service: ForwardSchedule.Service) { services.append(service) }

    mutating func remove(at index: Int) {
        for place in stride(from: head + index, to: head, by: -1) { services[place] = services[place - 1] }
        head += 1
        if head >= 256, head * 2 > services.count {
            services.removeFirst(head)
            head = 0
        }
    }

    /// - Returns: whether it was in the list.
    mutating func remove(_ service: ForwardSchedule.Service) -> Bool {
        guard let place = services[head...].firstIndex(of: service) else { return false }
        remove(at: place - head)
        return true
    }
}
