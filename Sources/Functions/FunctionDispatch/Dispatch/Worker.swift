import AdminProtocol
import Configuration
import EventLoop
import HearthBytes
import HTTP
import Logs
import WorkerProtocol

/// One instance of an artifact: a process, or the host's own where isolation is off. Belongs to the dispatcher's loop.
package class Worker {
    /// States in the order in which they come.
    enum State: Comparable {
        /// The plugin is being loaded.
        case starting
        /// Takes invocations.
        case ready
        /// Answers what it has and takes nothing new.
        case draining
        /// Gone.
        case ended
    }

    /// What it runs.
    final let artifact: Artifact
    /// The pool that it belongs to until it has ended; none while an artifact is probed. A pool keeps its workers until then,
    /// and so is not counted for each call.
    final unowned(unsafe) var pool: WorkerPool?
    final var state = State.starting
    /// Whether its loop is known not to turn: it gets no calls meanwhile.
    final var isBlocked = false
    /// Why it was ended, where that is because its loop was blocked.
    final var blockage: Blockage?
    /// Whether it was ready when it ended or was killed, which its pool has counted as a crash.
    final var isLost = false
    final let dispatcher: Dispatcher
    private let seed: UInt64
    /// Its plugin's share of the memory budget.
    final let share: MemoryShare
    /// About what a service call takes beside its payload.
    static let serviceCallBytes = 1024
    /// Takes the beginning and the end of each invocation, where that is wanted.
    final let invocationLog: FunctionLog?
    /// Invocations that it has not answered.
    final private(set) var inFlight = 0
    /// When it last had nothing to do, in loop milliseconds.
    final var idleSinceMilliseconds: UInt64 = 0
    /// When it was wanted, in nanoseconds of the loop's clock.
    final var startedNanoseconds: UInt64 = 0

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var generation: UInt64 = 0
    private var recent = RecentInvocations()

    /// A slot is kept until the worker answers, also when the invocation is over: only then is its room free.
    struct Slot {
        var id = InvocationID(rawValue: 0)
        var invocation: HostInvocation?
        /// When the worker was told to stop working on it; 0 while somebody waits.
        var overdueSinceMilliseconds: UInt64 = 0
    }

    /// A function that kept a worker's loop from turning until the worker was ended.
    struct Blockage {
        /// The invocation that did not return; nil where that is not known.
        var culprit: InvocationID?
        /// Its function.
        var function: String?
        /// `workers.blockedLoopSeconds`.
        var seconds: Double
    }

    /// - Parameter seed: makes the names of its invocations its own.
    init(artifact: Artifact, dispatcher: Dispatcher, seed: UInt64) {
        self.artifact = artifact
        self.dispatcher = dispatcher
        self.seed = seed
        share = dispatcher.memory.share(ofPlugin: artifact.name)
        invocationLog = dispatcher.functionLog.tellsInvocations ? dispatcher.functionLog : nil
    }

    // MARK: What a subclass does

    /// Hands an invocation to the plugin.
    func send(_ invocation: HostInvocation, id: InvocationID, payload: Span<UInt8>) {}
    /// Hands over one that waited, taking the context and payload that it keeps.
    func sendParked(_ invocation: HostInvocation, id: InvocationID) {}
    /// Tells the plugin that nobody waits.
    func sendCancel(_ id: InvocationID) {}
    /// Tells the plugin that chunks were taken.
    func acknowledge(_ id: InvocationID, size: Int) {}
    /// Lets it finish what it has, then end.
    func drain() {}
    /// Ends it now.
    func kill(reason: String) {}
    /// Looks whether its loop turns.
    ///
    /// - Returns: for how many milliseconds it has given no sign of life.
    func lookForLife(now: UInt64) -> UInt64 { 0 }
    /// Gives it no more calls until its loop turns again.
    ///
    /// - Returns: the calls that it has not begun, and never will.
    func takeOutOfService() -> [HostInvocation] { [] }
    /// The process id; the host's own where isolation is off.
    var pid: Int32 { 0 }
    /// The invocation whose code it runs now, or ran when it ended; nil where it waits, or runs code of no invocation.
    var current: InvocationID? { nil }
    /// Describes why its loop does not turn.
    var hindrance: String { "it does not read what it is sent" }

    // MARK: Slots

    /// Takes an invocation and hands it to the plugin.
    final func start(_ invocation: HostInvocation, payload: Span<UInt8>) {
        let id = occupy(invocation)
        send(invocation, id: id, payload: payload)
    }

    /// Takes one out of the queue.
    final func startParked(_ invocation: HostInvocation) {
        let id = occupy(invocation)
        let function = invocation.function
        function.figures.waited(
            nanoseconds: function.pool.loop.nowNanoseconds &- invocation.startedNanoseconds, isColdStart: invocation.isColdStart)
        sendParked(invocation, id: id)
    }

    private func occupy(_ invocation: HostInvocation) -> InvocationID {
        generation += 1
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        let id = InvocationID(slot: slot, generation: generation)
        slots[slot].id = id
        slots[slot].invocation = invocation
        slots[slot].overdueSinceMilliseconds = 0
        inFlight += 1
        let function = invocation.function
        recent.append(RecentInvocations.Entry(id: id, trace: invocation.trace, version: function.version, function: function.index))
        if let log = invocationLog { log.recordBeginning(origin(of: id, function: function.index)) }
        invocation.state = .running(WorkerPlace(worker: self, id: id))
        return id
    }

    /// The invocation that `id` names, unless its slot is somebody else's by now or nobody waits for it.
    @inline(__always)
    final func invocation(_ id: InvocationID) -> HostInvocation? {
        guard id.slot < slots.count, slots[id.slot].id == id else { return nil }
        return slots[id.slot].invocation
    }

    /// Whose line it is that an invocation of this worker writes, also shortly after it was answered; `UInt32.max` where the function is
    /// not known.
    final func origin(of id: InvocationID, function: UInt32) -> LogOrigin {
        var origin = LogOrigin(artifact: artifact.version, plugin: artifact.name, pid: pid)
        origin.function = dispatcher.functionName(of: artifact, index: function)
        guard id.rawValue != 0 else { return origin }
        origin.invocation = name(of: id).description
        guard let recent = recent.find(id) else { return origin }
        origin.version = recent.version
        origin.trace = recent.trace?.id
        return origin
    }

    private func tellEnd(_ id: InvocationID, _ invocation: HostInvocation?, isAnswered: Bool) {
        guard let log = invocationLog, let invocation, invocation.startedNanoseconds != 0 else { return }
        log.recordEnd(
            origin(of: id, function: invocation.function.index),
            nanoseconds: EventLoop.monotonicNanoseconds() &- invocation.startedNanoseconds, isAnswered: isAnswered)
    }

    /// Where in a trace an invocation is, also shortly after it was answered.
    final func trace(of id: InvocationID) -> TraceContext? { recent.find(id)?.trace }

    final func cancel(_ id: InvocationID) {
        guard id.slot < slots.count, slots[id.slot].id == id, slots[id.slot].overdueSinceMilliseconds == 0 else { return }
        slots[id.slot].overdueSinceMilliseconds = max(1, pool?.loop.nowMilliseconds ?? 1)
        tellEnd(id, slots[id.slot].invocation, isAnswered: false)
        slots[id.slot].invocation = nil
        sendCancel(id)
        pool?.workerWasToldToStop()
    }

    /// The worker has answered `id`: hands the answer on where somebody waits, and gives the room to the next.
    final func didAnswer(_ id: InvocationID, _ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        guard id.slot < slots.count, slots[id.slot].id == id else { return }
        var invocation: HostInvocation?
        swap(&invocation, &slots[id.slot].invocation)
        release(id.slot)
        if let invocation, case .running = invocation.state {
            tellEnd(id, invocation, isAnswered: true)
            invocation.end(Self.outcome(kind, head: head, body: body, invocation))
            invocation.didAnswer(kind, head: head, body: body)
        }
        pool?.workerHasRoom(self)
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

    /// The worker has begun an answer.
    final func didStartResponse(_ id: InvocationID, head: Span<UInt8>) {
        guard let invocation = invocation(id) else { return }
        invocation.statusClass = ResponseDescription.statusClass(head)
        invocation.didStartResponse(head: head)
    }

    private func release(_ slot: Int) {
        slots[slot] = Slot()
        freeSlots.append(slot)
        inFlight -= 1
        if inFlight == 0 { idleSinceMilliseconds = pool?.loop.nowMilliseconds ?? 0 }
    }

    /// Takes back an invocation that it will not begin; nil if the caller has gone.
    final func takeBack(_ id: InvocationID) -> HostInvocation? {
        guard id.slot < slots.count, slots[id.slot].id == id else { return nil }
        let invocation = slots[id.slot].invocation
        release(id.slot)
        invocation?.state = .new
        return invocation
    }

    /// Fails everything that it has, because it has ended or will in a moment.
    final func failAll() {
        let open = slots
        slots = []
        freeSlots = []
        inFlight = 0
        for slot in open {
            guard let invocation = slot.invocation, case .running = invocation.state else { continue }
            let failure = failure(of: slot.id)
            invocation.end(InvocationOutcome(failure.code))
            invocation.didFail(failure)
        }
    }

    private func failure(of id: InvocationID) -> InvocationFailure {
        guard let blockage else { return .workerEnded }
        if id == blockage.culprit { return .hasBlockedInstance(function: blockage.function ?? "", seconds: blockage.seconds) }
        return .instanceWasBlocked(function: blockage.function, seconds: blockage.seconds)
    }

    // MARK: Deadlines

    /// Fails what is due.
    ///
    /// - Returns: the earliest deadline that is left.
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

    /// How many invocations hold their room although nobody has waited for them for `milliseconds`.
    final func overdueCount(now: UInt64, longerThan milliseconds: UInt64) -> Int {
        slots.count { $0.overdueSinceMilliseconds > 0 && now > $0.overdueSinceMilliseconds + milliseconds }
    }

    /// The one invocation in it, where there is just one: what the process itself writes is put down to it.
    final var onlyInvocation: HostInvocation? {
        inFlight == 1 ? slots.first { $0.id.rawValue != 0 }?.invocation : nil
    }

    /// The name of invocation `id` in logs.
    final func name(of id: InvocationID) -> InvocationName { InvocationName(workerSeed: seed, invocation: id) }

    /// The number of the function of invocation `id` within its plugin, also shortly after it was answered.
    final func functionIndex(of id: InvocationID) -> UInt32? { recent.find(id)?.function }

    /// The name of the function of invocation `id`, also shortly after the answer.
    final func functionName(of id: InvocationID) -> String? {
        functionIndex(of: id).flatMap { dispatcher.functionName(of: artifact, index: $0) }
    }

    /// The invocations that it works on.
    final var openInvocations: [HostInvocation] { slots.compactMap(\.invocation) }
}
