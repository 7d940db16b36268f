import AdminProtocol
import Configuration
import EventLoop
import HearthBytes
import HTTP
import WorkerProtocol

/// The invocations of one loop of the host in one worker. Belongs to that loop.
///
/// Subclasses pass them to the plugin: through a socket, or by a direct call if the plugin runs inside the host.
class InvocationLane {
    final let identity: WorkerIdentity
    /// The index of the lane in its worker; 0 is the dispatcher's loop.
    final let number: Int
    final let loop: EventLoop
    /// The worker, for the lane of the dispatcher's loop; nil on other lanes, and when the worker is gone.
    final unowned(unsafe) var worker: Worker?
    /// Logs the start and the end of each invocation; nil if that is turned off.
    private let log: FunctionLog?
    private let record: LaneRecord
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var generation: UInt64 = 0
    /// The scope of service calls outside of invocations.
    private let workerScope = CallScope()

    /// A slot is used until the worker answers, even if the invocation has ended before: only then is its room free.
    private struct Slot {
        var id = InvocationID(rawValue: 0)
        var invocation: HostInvocation?
        /// Whether the worker was asked to stop the invocation, because its answer is no longer awaited.
        var isStopped = false
        /// The scope of its service calls; nil before the first one.
        var scope: CallScope?
    }

    init(_ identity: WorkerIdentity, number: Int, loop: EventLoop, log: FunctionLog) {
        self.identity = identity
        self.number = number
        self.loop = loop
        self.log = log.tellsInvocations ? log : nil
        record = identity.records[number]
    }

    // MARK: Overridden by subclasses

    /// Passes an invocation to the plugin.
    func send(_ invocation: HostInvocation, id: InvocationID, payload: Span<UInt8>) {}
    /// Passes an invocation that waited to the plugin, and removes its stored context and payload.
    func sendParked(_ invocation: HostInvocation, id: InvocationID) {}
    /// Asks the plugin to stop an invocation, because its answer is no longer awaited.
    func sendCancel(_ id: InvocationID) {}
    /// Acknowledges chunks to the plugin.
    func acknowledge(_ id: InvocationID, size: Int) {}
    /// Called when the worker has answered, so that there is room for another invocation.
    ///
    /// - Parameter isLast: whether the worker has no invocation left.
    func didGiveRoom(isLast: Bool) {
        if let worker { worker.pool?.workerHasRoom(worker) }
    }
    /// Called when the worker was asked to stop an invocation, which uses its room until the worker answers.
    func didStop(_ id: InvocationID) { worker?.didStop(id) }
    /// Called when the worker has answered an invocation that it was asked to stop.
    func didFinishStopped(_ id: InvocationID) { worker?.didFinishStopped(id) }

    // MARK: Slots

    /// Passes an invocation to the plugin. The caller has taken room for it.
    final func start(_ invocation: HostInvocation, payload: Span<UInt8>) {
        let id = occupy(invocation)
        send(invocation, id: id, payload: payload)
    }

    /// Passes an invocation that waited to the plugin. The caller has taken room for it.
    final func startParked(_ invocation: HostInvocation) {
        let id = occupy(invocation)
        invocation.didWait(now: loop.nowNanoseconds)
        sendParked(invocation, id: id)
    }

    private func occupy(_ invocation: HostInvocation) -> InvocationID {
        generation += 1
        let place = freeSlots.popLast() ?? slots.count
        if place == slots.count { slots.append(Slot()) }
        let id = InvocationID(slot: place * identity.laneCount + number, generation: generation)
        slots[place] = Slot(id: id, invocation: invocation)
        let function = invocation.function
        record.begin(RecentInvocations.Entry(id: id, trace: invocation.trace, version: function.version, function: function.index))
        log?.recordBeginning(identity.origin(of: id, function: function.name))
        invocation.state = .running(InvocationPlace(lane: self, id: id))
        return id
    }

    /// The index of an invocation's slot; nil if the slot is used by another invocation now.
    @inline(__always)
    private func place(of id: InvocationID) -> Int? {
        let count = identity.laneCount
        let place = count == 1 ? id.slot : id.slot / count
        guard place < slots.count, slots[place].id == id, id.rawValue != 0 else { return nil }
        return place
    }

    /// The invocation with this id; nil if its answer is no longer awaited.
    @inline(__always)
    final func invocation(_ id: InvocationID) -> HostInvocation? {
        guard let place = place(of: id) else { return nil }
        return slots[place].invocation
    }

    /// The scope of the service calls of invocation `id`; of the worker for 0.
    final func callScope(_ id: InvocationID) -> CallScope {
        guard id.rawValue != 0 else { return workerScope }
        guard let place = place(of: id), !slots[place].isStopped else { return .over }
        if let scope = slots[place].scope { return scope }
        let scope = CallScope()
        slots[place].scope = scope
        return scope
    }

    /// The invocations whose answers are awaited.
    final var openInvocations: [HostInvocation] { slots.compactMap(\.invocation) }

    private func tellEnd(_ id: InvocationID, _ invocation: HostInvocation?, isAnswered: Bool) {
        guard let log, let invocation, invocation.startedNanoseconds != 0 else { return }
        log.recordEnd(
            identity.origin(of: id, function: invocation.function.name),
            nanoseconds: EventLoop.monotonicNanoseconds() &- invocation.startedNanoseconds, isAnswered: isAnswered)
    }

    /// Asks the worker to stop an invocation, because its answer is no longer awaited.
    final func cancel(_ id: InvocationID) {
        guard let place = place(of: id), !slots[place].isStopped else { return }
        slots[place].isStopped = true
        tellEnd(id, slots[place].invocation, isAnswered: false)
        slots[place].invocation = nil
        slots[place].scope?.end()
        sendCancel(id)
        didStop(id)
    }

    /// Passes the worker's answer to its invocation, if that is still awaited, and frees the room.
    final func didAnswer(_ id: InvocationID, _ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        guard let place = place(of: id) else { return }
        var invocation: HostInvocation?
        swap(&invocation, &slots[place].invocation)
        let isLast = release(place)
        if let invocation, case .running = invocation.state {
            tellEnd(id, invocation, isAnswered: true)
            invocation.end(Self.outcome(kind, head: head, body: body, invocation))
            invocation.didAnswer(kind, head: head, body: body)
        }
        didGiveRoom(isLast: isLast)
    }

    @inline(__always)
    private static func outcome(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>, _ invocation: HostInvocation) -> InvocationOutcome {
        switch kind {
        case .result: InvocationOutcome(.ok)
        case .error: InvocationOutcome(CallableError(functionError: body).code)
        case .response: InvocationOutcome(statusClass: ResponseDescription.statusClass(head))
        case .end: InvocationOutcome(statusClass: invocation.statusClass)
        }
    }

    /// Handles the start of a streamed answer.
    final func didStartResponse(_ id: InvocationID, head: Span<UInt8>) {
        guard let invocation = invocation(id) else { return }
        invocation.statusClass = ResponseDescription.statusClass(head)
        invocation.didStartResponse(head: head)
    }

    /// Frees a slot and its room.
    ///
    /// - Returns: whether the worker has no invocation left.
    @inline(__always)
    private func release(_ place: Int) -> Bool {
        let slot = slots[place]
        slots[place] = Slot()
        freeSlots.append(place)
        record.end(slot.id)
        slot.scope?.end()
        if slot.isStopped { didFinishStopped(slot.id) }
        return identity.room.give(now: loop.nowMilliseconds) == 0
    }

    /// Takes back an invocation that the worker will not start; nil if its answer is no longer awaited.
    final func takeBack(_ id: InvocationID) -> HostInvocation? {
        guard let place = place(of: id) else { return nil }
        let invocation = slots[place].invocation
        _ = release(place)
        invocation?.state = .new
        return invocation
    }

    /// Fails all invocations of the lane, because the worker has ended.
    ///
    /// - Returns: the functions whose answers were awaited.
    final func failAll(_ cause: EndCause?) -> Set<String> {
        let open = slots
        slots = []
        freeSlots = []
        workerScope.end()
        var functions: Set<String> = []
        for slot in open where slot.id.rawValue != 0 {
            record.end(slot.id)
            slot.scope?.end()
            _ = identity.room.give(now: loop.nowMilliseconds)
            guard let invocation = slot.invocation, case .running = invocation.state else { continue }
            functions.insert(invocation.function.name)
            let failure = cause?.failure(of: slot.id) ?? .workerEnded
            invocation.end(InvocationOutcome(failure.code))
            invocation.didFail(failure)
        }
        return functions
    }

    /// Fails the invocations that are past their deadline.
    ///
    /// - Returns: the earliest remaining deadline.
    final func expire(now: UInt64) -> UInt64 {
        var next = UInt64.max
        for slot in slots {
            guard let invocation = slot.invocation else { continue }
            if invocation.deadlineMilliseconds <= now {
                invocation.fail(.deadlineExceeded(seconds: invocation.function.options.timeoutSeconds))
            } else {
                next = min(next, invocation.deadlineMilliseconds)
            }
        }
        return next
    }
}

/// The place of a running invocation: a slot of a lane.
struct InvocationPlace {
    /// A lane empties its slots before it is released, so this reference need not be counted.
    unowned(unsafe) let lane: InvocationLane
    let id: InvocationID
}

/// The cause of a worker's end, if its callers are to know it.
enum EndCause: Sendable {
    case blockage(Blockage)
    /// In development mode only.
    case crash(CrashNotice)

    /// The failure of an invocation of the worker.
    func failure(of id: InvocationID) -> InvocationFailure {
        switch self {
        case .blockage(let blockage): blockage.failure(of: id)
        case .crash(let crash): .crashed(crash)
        }
    }
}

/// The reason for ending a worker whose event loop was blocked.
struct Blockage: Sendable {
    /// The invocation that blocked it; nil if unknown.
    var culprit: InvocationID?
    /// The function of this invocation.
    var function: String?
    /// The value of `workers.blockedLoopSeconds`.
    var seconds: Double

    /// The failure of an invocation of the worker.
    func failure(of id: InvocationID) -> InvocationFailure {
        id == culprit ? .hasBlockedInstance(function: function ?? "", seconds: seconds) : .instanceWasBlocked(function: function, seconds: seconds)
    }
}
