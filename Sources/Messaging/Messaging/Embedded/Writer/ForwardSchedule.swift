/// Decides which device's messages are handed to a push service next.
///
/// Services take messages in turns, so that one that is slow or gone keeps nobody else's messages waiting: each has a share of what is under
/// way at one time, and all that have not just answered in good time have a small one together. A message waits in the store; here only its
/// device is known.
struct ForwardSchedule {
    /// A push service, named by the domain of its address.
    struct Service: Hashable {
        var platform: DevicePlatform
        var name: String
    }

    /// How an attempt ended, as far as the service is concerned.
    enum Outcome {
        /// It answered, and that soon.
        case answered
        /// It answered late, or with an error of its own.
        case struggled
        /// It could not be reached, or did not answer.
        case failed
    }

    private struct State {
        /// Devices in their order; those before `head` have had their turn.
        var devices: [Int64] = []
        var head = 0
        var underWay = 0
        /// Whether the last attempt was answered in good time.
        var isGood = false
        /// Attempts in a row that were not answered.
        var failures = 0
        /// Monotonic milliseconds.
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

    /// Messages under way at one time; to one service that answers in good time; to all that do not, and to one of them.
    static let widthMax = 100
    static let goodWidth = 50
    static let poorWidthMax = 25
    static let poorWidth = 4
    /// Services that are remembered while nothing waits for them.
    private static let idleMax = 10_000

    private var services: [Service: State] = [:]
    /// Services for which a device waits, in their turns: those that answer in good time, and the others. A service that rests is in neither.
    private var good = Turns()
    private var poor = Turns()
    private var parked: [Service] = []
    /// When the first parked service has rested.
    private var parkedUntil: UInt64 = .max
    /// Devices that wait for their turn.
    private var waiting: Set<Int64> = []
    private(set) var underWay = 0
    private var poorUnderWay = 0
    /// Devices whose last message was not taken: how often, and until when they rest.
    private var resting: [Int64: (attempts: Int, until: UInt64)] = [:]

    /// Whether anything waits for a moment to come.
    var needsTimer: Bool { !resting.isEmpty || good.count + poor.count + parked.count > 0 }

    // MARK: What waits

    /// A message of a device waits for a service. Does nothing for a device that waits already, or rests.
    mutating func add(_ device: Int64, _ service: Service, now: UInt64) {
        if let rest = resting[device], rest.until > now { return }
        guard waiting.insert(device).inserted else { return }
        if services[service] == nil { forgetIdle() }
        var state = services[service] ?? State()
        if state.isEmpty { append(service, state, now) }
        state.devices.append(device)
        services[service] = state
    }

    /// The next device whose turn it is, with its service; nil where none may go now.
    mutating func next(now: UInt64) -> (device: Int64, service: Service)? {
        guard underWay < Self.widthMax else { return nil }
        if parkedUntil <= now { unpark(now) }
        // At most two of these have all that they may have.
        if let found = takeFirst(of: \.good, now) { return found }
        return poorUnderWay < Self.poorWidthMax ? takeFirst(of: \.poor, now) : nil
    }

    /// Takes the first service of a list that may go, and moves those that do not belong there any more.
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

    // MARK: What is under way

    /// A ticket for a message that is under way.
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
        // Of several attempts that were under way together, the first says how long the service is left alone.
        case .failed where state.restsUntil <= now:
            state.failures += 1
            state.restsUntil = now + RetryTimes.wait(attempt: state.failures - 1)
        case .failed: break
        }
        services[ticket.service] = state
        // It has waited among those that share a small part.
        guard state.isGood, ticket.isPoor, !state.isEmpty else { return }
        if let place = parked.firstIndex(of: ticket.service) {
            parked.remove(at: place)
        } else if !poor.remove(ticket.service) {
            return
        }
        good.append(ticket.service)
    }

    // MARK: Devices that rest

    /// A device's message was not taken: nothing is handed on for it until it has rested.
    ///
    /// - Parameter asked: seconds that its service asked for.
    /// - Returns: for how many milliseconds.
    mutating func rest(_ device: Int64, asked: Int?, now: UInt64) -> UInt64 {
        // Of several messages that were under way together, the first says how long.
        if let rest = resting[device], rest.until > now { return rest.until - now }
        let attempts = resting[device]?.attempts ?? 0
        let wait = RetryTimes.wait(attempt: attempts, asked: asked)
        resting[device] = (attempts + 1, now + wait)
        return wait
    }

    /// A device's message was taken, or is given up.
    mutating func didSettle(_ device: Int64) { resting[device] = nil }

    /// Devices that have rested enough, some of them.
    func rested(now: UInt64, limit: Int) -> [Int64] {
        var found: [Int64] = []
        for (device, rest) in resting where rest.until <= now && !waiting.contains(device) {
            found.append(device)
            if found.count == limit { break }
        }
        return found
    }

    /// Whether the last message of a device was not taken.
    func isFailing(_ device: Int64) -> Bool { resting[device] != nil }

    // MARK: Upkeep

    /// Bounds the number of services: registrations of strangers name them.
    private mutating func forgetIdle() {
        guard services.count >= Self.idleMax + good.count + poor.count + parked.count else { return }
        services = services.filter { !$0.value.isEmpty || $0.value.underWay > 0 }
    }
}

/// Push services in their turns. What is near the front is removed without moving the rest.
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

    /// - Returns: whether it was there.
    mutating func remove(_ service: ForwardSchedule.Service) -> Bool {
        guard let place = services[head...].firstIndex(of: service) else { return false }
        remove(at: place - head)
        return true
    }
}
