import AdminProtocol
import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import HTTP
import Logs
import RealtimeDatabase
import WorkerProtocol

/// A worker in a process of its own. The child keeps it alive until that process has ended.
final class ProcessWorker: Worker {
    /// How long a library may take to load and to describe itself.
    static let loadMilliseconds: UInt64 = 10_000

    private let child: WorkerChild
    private var loadCompletion: ((ProcessWorker, Result<[UInt8], PluginRefusal>) -> Void)?
    private var watch: Timer?
    private var killReason: String?
    private var isStopSent = false
    private var budget: LogBudget
    /// The last message of Swift's runtime that a program is to end with.
    private var fatalMessage: String?
    private var unread = UnreadCalls()
    private var loopWatch = LoopWatch()
    private let lifeWatch: DeadlineWatch

    override var pid: Int32 { child.pid }

    /// - Parameter loaded: gets the manifest, or why there is none, once.
    init(
        artifact: Artifact, child: WorkerChild, settings: PoolSettings, dispatcher: Dispatcher,
        loaded: @escaping (ProcessWorker, Result<[UInt8], PluginRefusal>) -> Void
    ) {
        self.child = child
        loadCompletion = loaded
        lifeWatch = dispatcher.lifeWatch
        budget = LogBudget(bytesPerSecond: dispatcher.limits.logBytesPerSecond)
        super.init(artifact: artifact, dispatcher: dispatcher, seed: child.seed)
        child.owner = self
        var head = ByteBuffer()
        for word in [artifact.path, dispatcher.directory(for: artifact), artifact.displayName] + dispatcher.limits.readable {
            head.append(word)
            head.append(0)
        }
        var body = ByteBuffer()
        for entry in settings.environment {
            body.append(entry)
            body.append(0)
        }
        child.outbox.append(
            frame: FrameHeader(.load, value: settings.memoryBytes, detail: dispatcher.limits.isSandboxed ? 1 : 0),
            head: head.bytes, body: body.bytes)
        child.frameIsWhole()
        startWatch(Self.loadMilliseconds, reason: "it did not load within \(Self.loadMilliseconds / 1000) s")
    }

    // MARK: To the worker

    override func send(_ invocation: HostInvocation, id: InvocationID, payload: Span<UInt8>) {
        let start = begin(invocation, id)
        invocation.writeContext(into: &child.outbox)
        finish(start, id, invocation, payload)
    }

    override func sendParked(_ invocation: HostInvocation, id: InvocationID) {
        let start = begin(invocation, id)
        let buffer = invocation.takeParked()
        let parked = buffer.bytes
        child.outbox.append(parked.extracting(0..<invocation.parkedContextSize))
        finish(start, id, invocation, parked.extracting(invocation.parkedContextSize..<parked.count))
    }

    private func begin(_ invocation: HostInvocation, _ id: InvocationID) -> Int {
        let deadline = invocation.deadlineMilliseconds
        let header = FrameHeader(
            .invoke, invocation: id, value: deadline == .max ? 0 : deadline * 1_000_000, function: invocation.function.index,
            detail: invocation.takesChunks ? 1 : 0)
        let start = child.outbox.beginFrame(header)
        child.outbox.append(invocation.function.nameBytes)
        return start
    }

    private func finish(_ start: Int, _ id: InvocationID, _ invocation: HostInvocation, _ payload: Span<UInt8>) {
        let headSize = child.outbox.payloadSize(ofFrameAt: start)
        child.outbox.append(payload)
        child.outbox.finishFrame(start, headSize: headSize)
        child.frameIsWhole()
        let nameSize = invocation.function.nameBytes.count
        unread.append(
            id, frame: child.framesSent, contextSize: headSize - nameSize, from: child.outbox, at: start + FrameHeader.size + nameSize
        ) { child.page.framesReceived }
        lifeWatch.note(dispatcher.loop.nowMilliseconds + LoopWatch.lookMilliseconds)
    }

    override func sendCancel(_ id: InvocationID) { send(FrameHeader(.cancel, invocation: id)) }

    override func acknowledge(_ id: InvocationID, size: Int) {
        send(FrameHeader(.acknowledge, invocation: id, value: UInt64(size)))
    }

    private func send(_ header: FrameHeader) {
        guard state < .ended else { return }
        child.outbox.append(frame: header)
        child.frameIsWhole()
    }

    override func drain() {
        guard !isStopSent, state < .ended else { return }
        isStopSent = true
        state = .draining
        send(FrameHeader(.stop))
        startWatch(dispatcher.limits.drainMilliseconds, reason: "it did not end within \(dispatcher.limits.drainMilliseconds / 1000) s")
    }

    override func kill(reason: String) {
        guard state < .ended else { return }
        killReason = killReason ?? reason
        takeNoMore()
        child.kill()
    }

    /// Its end takes a moment, in which it would be given calls that it cannot answer.
    private func takeNoMore() {
        if state == .ready { pool?.workerIsLost(self) }
    }

    // MARK: Signs of life

    override func lookForLife(now: UInt64) -> UInt64 {
        unread.trim(child.page.framesReceived)
        return loopWatch.look(child.page.sight, framesSent: child.framesSent, now: now)
    }

    /// The last sight: of the last look while the worker lives, of its page once it has ended.
    private var sight: WorkerPage.Sight { state < .ended ? loopWatch.last ?? child.page.sight : child.page.sight }

    override var current: InvocationID? {
        let sight = sight
        // A crash on a thread of the plugin's own is none of what the loop ran.
        if state == .ended, child.page.crash?.isOnLoop == false { return nil }
        return sight.isInPlugin && sight.invocation.rawValue != 0 ? sight.invocation : nil
    }

    override var hindrance: String {
        let sight = sight
        guard sight.isInPlugin else { return "it does not read what it is sent" }
        guard let function = functionName(of: sight.invocation) else { return "code of no call blocks its event loop" }
        return "\"\(function)\" blocks its event loop"
    }

    override func takeOutOfService() -> [HostInvocation] {
        isBlocked = true
        var taken: [HostInvocation] = []
        var names: [UInt8] = []
        unread.takeAll(after: child.page.holdCalls()) { id, contextSize, contextAndPayload in
            withUnsafeBytes(of: id.rawValue) { names.append(contentsOf: $0) }
            guard let invocation = takeBack(id) else { return }
            invocation.parkedContextSize = contextSize
            swap(&invocation.parked, &contextAndPayload)
            taken.append(invocation)
        }
        if state < .ended {
            child.outbox.append(frame: FrameHeader(.resume), head: [UInt8]().span, body: names.span)
            child.frameIsWhole()
        }
        return taken
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
        if case .success = result { state = .ready }
        completion(self, result)
    }

    /// What became of the process, in words for a log.
    private func describe(_ ending: ChildProcess.Ending) -> String? {
        if child.tookTooMuchMemory { return "it took more memory than it may" }
        if let killReason { return killReason }
        if isStopSent, ending.signal == 0, ending.status == 0 { return nil }
        return CrashWords.describe(ending, child.page.crash, message: fatalMessage)
    }

    /// The invocation blamed for a crash: the one that the loop ran, or the only open one.
    private var culprit: InvocationID? {
        if let current { return current }
        guard let only = onlyInvocation, case .running(let place) = only.state else { return nil }
        return place.id
    }

    private func tellCrash() {
        guard let crash = child.page.crash else { return }
        let culprit = culprit
        let origin = self.origin(of: culprit ?? InvocationID(rawValue: 0), function: culprit.flatMap { functionIndex(of: $0) } ?? .max)
        dispatcher.crashLog.tell(CrashLog.Crash(report: crash, origin: origin, artifact: artifact, message: fatalMessage))
    }
}

extension ProcessWorker: WorkerChildOwner {
    func child(_ child: WorkerChild, received header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>) {
        switch header.kind {
        case .answer:
            pool?.workerHasAnswered()
            didAnswer(header.invocation, AnswerKind(rawValue: header.detail) ?? .error, head: head, body: body)
        case .chunk: invocation(header.invocation)?.didReceiveChunk(body)
        case .startResponse: didStartResponse(header.invocation, head: head)
        case .serviceCall: callService(header, head: head, payload: body)
        case .resumed: pool?.workerIsBack(self)
        case .loaded: didLoad(.success(body.array()))
        case .refused:
            let reason = PluginRefusal(body.string())
            killReason = reason.description
            didLoad(.failure(reason))
            child.kill()
        default: kill(reason: "it sent a frame that only the host sends")
        }
    }

    private func callService(_ header: FrameHeader, head: Span<UInt8>, payload: Span<UInt8>) {
        let words = head.array().split(separator: 0, omittingEmptySubsequences: false)
        guard words.count == 3 else { return kill(reason: "it sent a malformed service call") }
        let hold = MemoryHold(dispatcher.memory.services, share, bytes: payload.count + Self.serviceCallBytes)
        let caller = invocation(header.invocation)
        let call = ServiceCall(
            artifact: artifact, service: String(decoding: words[0], as: UTF8.self), method: String(decoding: words[1], as: UTF8.self),
            payload: payload.array(), chain: caller?.chain ?? EventChain(), trace: trace(of: header.invocation))
        dispatcher.services.handle(call) { [weak self, hold] answer in
            withExtendedLifetime(hold) { self?.answerService(header.value, answer) }
        }
    }

    private func answerService(_ number: UInt64, _ answer: ServiceAnswer) {
        guard state < .ended else { return }
        let answer = answer.body.count <= FrameHeader.bodySizeMax ? answer : Self.answerTooLarge
        child.outbox.append(
            frame: FrameHeader(.serviceAnswer, value: number, detail: answer.succeeded ? 1 : 0), head: [UInt8]().span, body: answer.body.span)
        child.frameIsWhole()
    }

    private static let answerTooLarge = ServiceAnswer.failure(
        .resourceExhausted, "the answer has more than \(FrameHeader.bodySizeMax >> 20) MiB, which is what a message to a function carries")

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
        if let only = onlyInvocation, case .running(let place) = only.state {
            id = place.id
            function = only.function.index
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
        state = .ended
        watch = nil
        let reason = describe(ending)
        let isCrash = killReason == nil && ending.signal != 0
        let isTold = isCrash && !child.tookTooMuchMemory && child.page.crash.map { Int($0.signal) } == ending.signal
        if isCrash { tellCrash() }
        let dropped = budget.takeDropped()
        if dropped > 0 {
            let origin = self.origin(of: InvocationID(rawValue: 0), function: .max)
            dispatcher.functionLog.recordDropped(origin, bytes: dropped, perSecond: budget.bytesPerSecond)
        }
        if wasStarting {
            let text = PluginRefusal("\(artifact.displayName): ended while it was being loaded: \(reason ?? "exit status 0")")
            didLoad(.failure(text))
        }
        pool?.workerDidEnd(self, reason: reason, isTold: isTold)
    }
}
