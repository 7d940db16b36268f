import AdminProtocol
import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import Logs
import WorkerProtocol

/// A worker that is a process of its own. The child keeps a reference to it until the process has ended.
final class ProcessWorker: Worker {
    /// The time limit for loading a library and reading its manifest.
    static let loadMilliseconds: UInt64 = 10_000

    private let child: WorkerChild
    private let lane: HomeLane
    private var loadCompletion: ((ProcessWorker, Result<[UInt8], PluginRefusal>) -> Void)?
    private var watch: Timer?
    private var killReason: String?
    private var isStopSent = false
    private var budget: LogBudget
    /// The last fatal error that Swift's runtime printed.
    private var fatalMessage: String?
    private var loopWatch = LoopWatch()

    /// - Parameter loaded: called once, with the manifest or with the reason for a failure.
    init(
        artifact: Artifact, child: WorkerChild, settings: PoolSettings, dispatcher: Dispatcher, isDebugged: Bool = false,
        loaded: @escaping (ProcessWorker, Result<[UInt8], PluginRefusal>) -> Void
    ) {
        self.child = child
        loadCompletion = loaded
        budget = LogBudget(bytesPerSecond: dispatcher.limits.logBytesPerSecond)
        let identity = WorkerIdentity(
            artifact: artifact, pid: child.pid, seed: child.seed, concurrency: settings.concurrency, records: child.records)
        lane = HomeLane(identity, page: child.page, channel: child.channel, dispatcher: dispatcher)
        super.init(identity, home: lane, dispatcher: dispatcher)
        child.owner = self
        (self.isDebugged, isHeld) = (isDebugged, isDebugged)
        var head = ByteBuffer()
        let readable = dispatcher.limits.readable + [settings.outgoing.certificateAuthority].compactMap { $0 }
        for word in [artifact.path, dispatcher.directory(for: artifact), artifact.displayName, settings.outgoing.text] + readable {
            head.append(word)
            head.append(0)
        }
        var body = ByteBuffer()
        for entry in settings.environment {
            body.append(entry)
            body.append(0)
        }
        child.channel.outbox.append(
            frame: FrameHeader(.load, value: settings.memoryBytes, detail: (dispatcher.limits.isSandboxed ? 1 : 0) | (isDebugged ? 2 : 0)),
            head: head.bytes, body: body.bytes)
        child.channel.frameIsWhole()
        if !isDebugged { startWatch(Self.loadMilliseconds, reason: "it did not load within \(Self.loadMilliseconds / 1000) s") }
    }

    // MARK: Ending

    override func drain() {
        guard !isStopSent, state < .ended else { return }
        isStopSent = true
        enter(.draining)
        lane.send(FrameHeader(.stop))
        startWatch(dispatcher.limits.drainMilliseconds, reason: "it did not end within \(dispatcher.limits.drainMilliseconds / 1000) s")
    }

    override func kill(reason: String) {
        guard state < .ended else { return }
        killReason = killReason ?? reason
        takeNoMore()
        child.kill()
    }

    /// Closes the worker's room, because it cannot answer calls that arrive between the kill and its end.
    private func takeNoMore() {
        if state == .ready { pool?.workerIsLost(self) }
    }

    // MARK: Signs of life

    override func lookForLife(now: UInt64) -> UInt64 {
        // The kernel still writes its memory into a file.
        if dispatcher.limits.coreDumps != nil, child.page.crash != nil { return 0 }
        lane.trimUnread()
        return loopWatch.look(pageSight, framesSent: identity.framesSent, now: now)
    }

    private var pageSight: WorkerPage.Sight { child.page.sight(lanes: identity.laneCount) }

    /// The last known state: of the last check while the worker runs, of its page once it has ended.
    private var sight: WorkerPage.Sight { state < .ended ? loopWatch.last ?? pageSight : pageSight }

    override var current: InvocationID? {
        let sight = sight
        // A crash on a thread of the plugin's own was not caused by the call on the loop.
        if state == .ended, child.page.crash?.isOnLoop == false { return nil }
        return sight.isInPlugin && sight.invocation.rawValue != 0 ? sight.invocation : nil
    }

    override var hindrance: String {
        let sight = sight
        guard sight.isInPlugin else { return "it does not read what it is sent" }
        guard let function = functionName(of: sight.invocation) else { return "code outside of calls blocks its event loop" }
        return "\"\(function)\" blocks its event loop"
    }

    override func takeUnread() -> [HostInvocation] { lane.takeUnread() }

    // MARK: Lanes

    override func attachLanes(_ lanes: [PoolLaneReference]) {
        for (descriptor, lane) in zip(child.takeLaneSockets(), lanes) {
            lane.post { [identity, page = child.page] in $0.attach(identity, page: page, descriptor: descriptor) }
        }
    }

    override func laneDidBreak() {
        guard state < .ended else { return }
        takeNoMore()
        child.kill()
    }

    private func startWatch(_ milliseconds: UInt64, reason: String) {
        watch = Timer(loop: dispatcher.loop) { [unowned self] in
            watch = nil
            kill(reason: reason)
        }
        watch?.start(afterMilliseconds: milliseconds)
    }

    // MARK: Loading

    private func didLoad(_ result: Result<[UInt8], PluginRefusal>) {
        guard let completion = loadCompletion else { return }
        loadCompletion = nil
        watch = nil
        if case .success = result, !isHeld { enter(.ready) }
        completion(self, result)
    }

    /// Describes for the log why the process ended; nil if the host had asked it to.
    private func describe(_ ending: ChildProcess.Ending) -> String? {
        if child.tookTooMuchMemory { return "it took more memory than it may" }
        if let killReason { return killReason }
        if isStopSent, ending.signal == 0, ending.status == 0 { return nil }
        return CrashWords.describe(ending, child.page.crash, message: fatalMessage)
    }

    /// The invocation that caused a crash: the one on the loop, or else the only one in the worker.
    private var culprit: InvocationID? {
        current ?? identity.onlyInvocation
    }

    /// Logs the crash.
    ///
    /// - Parameter told: called with the logged text; not called without a report.
    private func tellCrash(told: ((CrashNotice) -> Void)? = nil) {
        guard let crash = child.page.crash else { return }
        let culprit = culprit
        let origin = self.origin(of: culprit ?? InvocationID(rawValue: 0), function: culprit.flatMap { functionIndex(of: $0) } ?? .max)
        dispatcher.crashLog.tell(CrashLog.Crash(report: crash, origin: origin, artifact: artifact, message: fatalMessage, told: told))
    }
}

extension ProcessWorker: WorkerChildOwner {
    func child(_ child: WorkerChild, received header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>) {
        switch header.kind {
        case .answer:
            pool?.workerHasAnswered()
            lane.didReceiveAnswer(header, head: head, body: body)
        case .chunk, .startResponse: lane.didReceiveAnswer(header, head: head, body: body)
        case .serviceCall: callService(header, head: head, payload: body)
        case .resumed: pool?.workerIsBack(self)
        case .loaded: didLoad(.success(body.array()))
        case .refused where loadCompletion != nil:
            let reason = PluginRefusal(body.string())
            killReason = reason.description
            didLoad(.failure(reason))
            child.kill()
        default: kill(reason: "it sent a frame that a worker does not send, or not after it has loaded its library")
        }
    }

    private func callService(_ header: FrameHeader, head: Span<UInt8>, payload: Span<UInt8>) {
        guard let call = ServiceCall(header, head: head, payload: payload, on: lane) else {
            return kill(reason: "it sent a malformed service call")
        }
        let hold = MemoryHold(dispatcher.memory.services, share, bytes: payload.count + ServiceCall.overheadBytes)
        dispatcher.services.handle(call) { [lane, hold] answer in
            withExtendedLifetime(hold) { lane.answerService(header.value, answer) }
        }
    }

    func memory(for child: WorkerChild) -> MemoryCharge { MemoryCharge(dispatcher.memory.services, share) }

    func childMayGoOn(_ child: WorkerChild) -> Bool { !share.isFull }

    func childLeftFrameUnfinished(_ child: WorkerChild) { kill(reason: "it began a message to the host and did not finish it") }

    func child(_ child: WorkerChild, logged header: LogRecordHeader, message: Span<UInt8>, fields: Span<UInt8>) {
        if header.source == .standardError, let fatal = CrashWords.fatalMessage(in: message) { fatalMessage = fatal }
        guard budget.admits(LogBudget.size(header.source, message, fields), now: dispatcher.loop.nowMilliseconds) else { return }
        record(header.source, level: header.level, id: header.invocation, function: header.function, message: message, fields: fields)
    }

    func child(_ child: WorkerChild, printed line: Span<UInt8>, source: LogSource) {
        if source == .standardError, let fatal = CrashWords.fatalMessage(in: line) { fatalMessage = fatal }
        guard budget.admits(LogBudget.size(source, line, line.extracting(0..<0)), now: dispatcher.loop.nowMilliseconds) else { return }
        var id = InvocationID(rawValue: 0)
        var function = UInt32.max
        if let only = identity.onlyInvocation {
            id = only
            function = functionIndex(of: only) ?? .max
        }
        let level: UInt8 = source == .standardError ? 5 : 2
        record(source, level: level, id: id, function: function, message: line, fields: line.extracting(0..<0))
    }

    private func record(
        _ source: LogSource, level: UInt8, id: InvocationID, function: UInt32, message: Span<UInt8>, fields: Span<UInt8>
    ) {
        let dropped = budget.takeDropped()
        var origin = self.origin(of: id, function: function)
        origin.stream =
            switch source {
            case .logger: nil
            case .standardOutput: .output
            case .standardError: .error
            }
        if dropped > 0 { dispatcher.functionLog.recordDropped(origin, bytes: dropped, perSecond: budget.bytesPerSecond) }
        dispatcher.functionLog.record(origin, level: level, message: message, fields: fields)
    }

    func childDidGoDeaf(_ child: WorkerChild) { takeNoMore() }

    func child(_ child: WorkerChild, ended ending: ChildProcess.Ending) {
        let wasStarting = state == .starting
        enter(.ended)
        lane.channel = nil
        watch = nil
        let reason = describe(ending)
        let isCrash = killReason == nil && ending.signal != 0
        let isTold = isCrash && !child.tookTooMuchMemory && child.page.crash.map { Int($0.signal) } == ending.signal
        if isCrash, let dumps = dispatcher.coreDumps { dumps.collect(of: artifact, pid: pid) }
        // In development, callers wait for the names of the calls.
        let isAwaited = isTold && !wasStarting && dispatcher.limits.tellsCallersOfCrashes && pool != nil
        if isAwaited {
            tellCrash { [self] in
                crash = $0
                pool?.workerDidEnd(self, reason: reason, isTold: true)
            }
        } else if isCrash {
            tellCrash()
        }
        let dropped = budget.takeDropped()
        if dropped > 0 {
            let origin = self.origin(of: InvocationID(rawValue: 0), function: .max)
            dispatcher.functionLog.recordDropped(origin, bytes: dropped, perSecond: budget.bytesPerSecond)
        }
        if wasStarting {
            let text = PluginRefusal("\(artifact.displayName): ended while it was being loaded: \(reason ?? "exit status 0")")
            didLoad(.failure(text))
        }
        if !isAwaited { pool?.workerDidEnd(self, reason: reason, isTold: isTold) }
    }
}

/// The lane for the dispatcher's loop in a worker process.
private final class HomeLane: ChannelLane {
    private let lifeWatch: DeadlineWatch

    init(_ identity: WorkerIdentity, page: WorkerPage, channel: FrameChannel, dispatcher: Dispatcher) {
        lifeWatch = dispatcher.lifeWatch
        super.init(identity, number: 0, page: page, loop: dispatcher.loop, log: dispatcher.functionLog)
        self.channel = channel
    }

    override func didSend() { lifeWatch.note(loop.nowMilliseconds + LoopWatch.lookMilliseconds) }
}
