import HearthBytes
import CLinux
import EventLoop
import Glibc
import WorkerProtocol

/// A worker: the loop, the plugin and the sockets to the host, one for each of its loops.
///
/// The host starts it as `hearth worker`, sends `load` and then invocations. It exits on request of the host, or when the host has ended.
public final class WorkerProcess {
    private let loop: EventLoop
    private var lanes: [Lane] = []
    private let log: WorkerLog
    private let page: WorkerPage
    private let variables: WorkerLaunchVariables
    /// The control group of the worker and its children; nil if the worker limits itself.
    private let group: ControlGroup?
    private var plugin: Plugin?
    private var outgoing: OutgoingCalls?
    private var open = OpenInvocations()
    private var serviceCalls: [UInt64: ServiceCompletion] = [:]
    private var lastServiceCall: UInt64 = 0
    private var isStopping = false
    /// The function last reported to the log for each slot, to report only changes.
    private var functionOfSlot: [UInt32] = []

    /// Runs the process until the host ends it. Reads its ``WorkerLaunchVariables`` from the environment.
    public static func main() -> Never {
        let variables = WorkerLaunchVariables.given()
        WorkerConfinement.enter(
            host: variables.hostPID, openFiles: UInt64(variables.openFiles), lanes: variables.lanes, coreBytes: UInt64(variables.coreBytes))
        do throws(LoopError) {
            let worker = try WorkerProcess(variables, joinGroup(variables))
            worker.loop.run()
        } catch {
            linux_write_error("hearth worker: \(error)\n")
            _exit(1)
        }
        _exit(0)
    }

    private static func joinGroup(_ variables: WorkerLaunchVariables) -> ControlGroup? {
        let group = variables.groups.group(of: getpid(), hostPID: variables.hostPID)
        let isIn = group?.join() == true
        if !isIn || group?.limit(tasks: variables.tasks) != true { WorkerConfinement.limitTasks(UInt64(variables.tasks)) }
        return isIn ? group : nil
    }

    private init(_ variables: WorkerLaunchVariables, _ group: ControlGroup?) throws(LoopError) {
        self.variables = variables
        self.group = group
        page = try WorkerPage(inherited: WorkerDescriptor.page)
        page.recordCrashes()
        loop = try EventLoop()
        loop.publishProgress(in: page.progress)
        log = WorkerLog(descriptor: WorkerDescriptor.log, loop: loop)
        for number in 0..<variables.lanes {
            let descriptor = number == 0 ? WorkerDescriptor.channel : WorkerDescriptor.lanes + Int32(number - 1)
            lanes.append(Lane(number, try Stream.adopting(descriptor: descriptor, loop: loop), of: self))
        }
        log.captureStandardStreams()
        for lane in lanes { lane.channel.startReading() }
    }

    /// The socket to the loop of the host that an invocation came from.
    private func channel(of invocation: InvocationID) -> Stream { lanes[invocation.lane(of: lanes.count)].channel }

    // MARK: Frames from the host

    fileprivate func receive(_ header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>, on lane: Lane) {
        let mustHold = page.countFrame(lane.number)
        switch header.kind {
        case .invoke where mustHold, .cancel where lane.holds(header.invocation):
            lane.held.append(HeldFrame(header: header, head: head.array(), body: body.array()))
        case .invoke where header.invocation.lane(of: lanes.count) != lane.number: _exit(1)
        case .invoke: invoke(header, context: head, payload: body)
        case .cancel: cancel(header.invocation)
        case .acknowledge:
            if open.acknowledge(header.invocation, size: Int(clamping: header.value)) { plugin?.drained(header.invocation) }
        case .serviceAnswer: serviceCalls.removeValue(forKey: header.value)?(succeeded: header.detail == 1, body)
        case .resume:
            page.reopen(lane.number)
            lane.channel.outbox.append(frame: FrameHeader(.resumed))
            lane.channel.queueFlush()
            goOn(lane, without: body)
        case .load: load(header, head: head, body: body)
        case .stop:
            isStopping = true
            endIfDone()
        default: _exit(1)
        }
    }

    /// Starts the held calls of a lane, except those that the host has moved to other workers.
    private func goOn(_ lane: Lane, without taken: Span<UInt8>) {
        let taken = taken.withUnsafeBytes { bytes in
            Set(stride(from: 0, to: bytes.count & ~7, by: 8).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) })
        }
        let frames = lane.held
        lane.held = []
        for frame in frames where !taken.contains(frame.header.invocation.rawValue) {
            if frame.header.kind == .invoke {
                invoke(frame.header, context: frame.head.span, payload: frame.body.span)
            } else {
                cancel(frame.header.invocation)
            }
        }
        endIfDone()
    }

    private func cancel(_ invocation: InvocationID) {
        open.stopChunks(invocation)
        outgoing?.cancel(invocation)
        if open.contains(invocation) { plugin?.cancel(invocation) }
    }

    private func load(_ header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>) {
        let words = Self.words(head)
        guard plugin == nil, words.count >= 4, let policy = OutgoingPolicy(text: words[3]) else { _exit(1) }
        outgoing = OutgoingCalls(policy, loop: loop)
        for entry in Self.words(body) {
            guard let mark = entry.firstIndex(of: "=") else { continue }
            setenv(String(entry[..<mark]), String(entry[entry.index(after: mark)...]), 1)
        }
        WorkerLaunchVariables.forget()
        do throws(PluginRefusal) {
            if header.detail & 2 == 2 { _ = linux_allow_debuggers() }
            try confine(memoryBytes: header.value, isSandboxed: header.detail & 1 == 1, words)
            // Tells the plugin's entry that Swift's runtime, should it share ours, serves nobody else.
            setenv("HEARTH_WORKER", "1", 1)
            defer { unsetenv("HEARTH_WORKER") }
            let plugin = try Plugin(path: words[0], name: words[2], loop: loop, owner: self)
            self.plugin = plugin
            lanes[0].channel.outbox.append(frame: FrameHeader(.loaded), head: [UInt8]().span, body: plugin.manifest.span)
            lanes[0].channel.queueFlush()
            // Releases code that only loading needed.
            linux_release_code()
            // Restores normal priority for calls; before that, starting a worker must not delay serving processes.
            _ = LoopScheduling(loops: variables.lanes) == .inTurn ? linux_run_in_turn() : linux_run_soon(0)
        } catch {
            refuse(error.description)
        }
    }

    /// Restricts this process to the rights of its plugin. From the first instruction of a library on, nothing can be taken from it.
    ///
    /// - Parameter words: the library, the worker's folder, the display name of the library, settings, and further readable paths.
    private func confine(memoryBytes: UInt64, isSandboxed: Bool, _ words: [String]) throws(PluginRefusal) {
        guard chdir(words[1]) == 0 else {
            throw PluginRefusal("\(words[2]): its directory \(words[1]) cannot be entered: \(String(cString: strerror(errno)))")
        }
        if group?.limit(bytes: memoryBytes) != true { WorkerConfinement.limitMemory(memoryBytes) }
        guard isSandboxed else { return }
        setenv("TMPDIR", words[1], 0)
        if variables.folderBytes > 0 { WorkerConfinement.limitFiles(UInt64(max(variables.folderBytes, variables.coreBytes))) }
        do throws(WorkerSandbox.Failure) {
            let grant = WorkerSandbox.Grant(artifact: words[0], directory: words[1], readable: Array(words[4...]))
            try WorkerSandbox.enter(grant, landlockVersion: variables.landlockVersion)
        } catch {
            throw PluginRefusal("\(words[2]): its sandbox cannot be entered: \(error); `workers.sandbox` can turn it off")
        }
    }

    private func refuse(_ reason: String) {
        fflush(nil)
        lanes[0].channel.outbox.append(frame: FrameHeader(.refused), head: [UInt8]().span, body: Array(reason.utf8).span)
        lanes[0].channel.queueFlush()
    }

    private func invoke(_ header: FrameHeader, context: Span<UInt8>, payload: Span<UInt8>) {
        guard let plugin else { _exit(1) }
        open.open(header.invocation, takesChunks: header.detail & FrameHeader.takesChunks != 0)
        noteFunction(header)
        // The context begins with the function's name, zero-terminated.
        guard let end = context.firstIndex(of: 0) else { _exit(1) }
        plugin.invoke(
            header.invocation, function: header.function, name: context.extracting(0..<end), deadline: header.value,
            context: context.extracting(end + 1..<context.count), isContextRaw: header.detail & FrameHeader.hasRawContext != 0, payload: payload)
    }

    private func noteFunction(_ header: FrameHeader) {
        let slot = header.invocation.slot
        while functionOfSlot.count <= slot { functionOfSlot.append(.max) }
        guard functionOfSlot[slot] != header.function else { return }
        functionOfSlot[slot] = header.function
        log.note(header.invocation, function: header.function)
    }

    private func endIfDone() {
        guard isStopping, open.count == 0, lanes.allSatisfy(\.held.isEmpty) else { return }
        plugin?.shutdown()
        fflush(nil)
        for lane in lanes { lane.channel.finish() }
        loop.endOfTurn { _exit(0) }
    }

    private static func words(_ bytes: Span<UInt8>) -> [String] {
        bytes.array().split(separator: 0, omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A frame that arrived while the host was taking calls back: a call, or a later frame of the same invocation.
private struct HeldFrame {
    var header: FrameHeader
    var head: [UInt8]
    var body: [UInt8]
}

/// A worker's connection to one loop of the host.
private final class Lane: StreamHandler {
    let number: Int
    let channel: Stream
    /// Frames that wait for the `resume` frame.
    var held: [HeldFrame] = []
    private unowned let worker: WorkerProcess
    private var reader = FrameReader()

    init(_ number: Int, _ channel: Stream, of worker: WorkerProcess) {
        self.number = number
        self.channel = channel
        self.worker = worker
        channel.handler = self
    }

    func holds(_ invocation: InvocationID) -> Bool { held.contains { $0.header.invocation == invocation } }

    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        do throws(FrameError) {
            try reader.read(bytes) { worker.receive($0, head: $1, body: $2, on: self) }
        } catch {
            linux_write_error("hearth worker: the host sent \(error)\n")
            _exit(1)
        }
    }

    // A worker without its host has nothing to do.
    func streamDidEnd(_ stream: Stream) { _exit(0) }
    func stream(_ stream: Stream, didFail error: LoopError) { _exit(0) }
    func streamDidDrain(_ stream: Stream) {}
    func streamDidClose(_ stream: Stream) {}
}

extension WorkerProcess: PluginOwner {
    public func pluginAnswers(_ invocation: InvocationID, kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        guard open.close(invocation) else {
            let text = Array("dropped an answer: no such open invocation; a function answers once".utf8)
            pluginLogs(invocation, level: 4, message: text.span, fields: [UInt8]().span)
            return
        }
        if head.count + body.count <= FrameHeader.payloadSizeMax {
            answer(invocation, kind, head: head, body: body)
        } else {
            refuseAnswer(invocation, "dropped an answer of more than 64 MiB")
        }
    }

    private func answer(_ invocation: InvocationID, _ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        let channel = channel(of: invocation)
        channel.outbox.append(frame: FrameHeader(.answer, invocation: invocation, detail: kind.rawValue), head: head, body: body)
        channel.queueFlush()
        if isStopping { endIfDone() }
    }

    /// Answers instead of the plugin: a frame that is too large would end the worker, and all of its calls.
    private func refuseAnswer(_ invocation: InvocationID, _ reason: StaticString) {
        pluginLogs(invocation, level: 5, message: Array("\(reason)".utf8).span, fields: [UInt8]().span)
        answer(invocation, .error, head: [UInt8]().span, body: Array(Self.answerTooLarge.utf8).span)
    }

    public func pluginStartsResponse(_ invocation: InvocationID, head: Span<UInt8>) -> PluginFlow {
        guard open.allowChunks(invocation) == .goOn else { return .gone }
        guard head.count <= FrameHeader.payloadSizeMax else {
            if open.close(invocation) { refuseAnswer(invocation, "dropped an answer: its head has more than 64 MiB") }
            return .gone
        }
        let channel = channel(of: invocation)
        channel.outbox.append(frame: FrameHeader(.startResponse, invocation: invocation), head: head, body: head.extracting(0..<0))
        channel.queueFlush()
        return .goOn
    }

    public func pluginSendsChunk(_ invocation: InvocationID, _ chunk: Span<UInt8>) -> PluginFlow {
        let flow = open.send(invocation, size: chunk.count)
        guard flow != .gone else { return .gone }
        guard chunk.count <= FrameHeader.payloadSizeMax else {
            if open.close(invocation) { refuseAnswer(invocation, "dropped an answer: a part of it has more than 64 MiB") }
            return .gone
        }
        let channel = channel(of: invocation)
        channel.outbox.append(frame: FrameHeader(.chunk, invocation: invocation), head: chunk.extracting(0..<0), body: chunk)
        channel.queueFlush()
        return flow
    }

    public func pluginCallsService(
        _ invocation: InvocationID, service: Span<UInt8>, method: Span<UInt8>, payload: Span<UInt8>, completion: ServiceCompletion
    ) {
        guard payload.count <= Self.payloadBytesMax, service.count + method.count + 2 <= FrameHeader.payloadSizeMax - Self.payloadBytesMax else {
            return completion(succeeded: false, Array(Self.callTooLarge.utf8).span)
        }
        if OutgoingCalls.isName(service), let outgoing {
            return outgoing.call(invocation, method: method, payload: payload) { completion(succeeded: $0, $1.span) }
        }
        lastServiceCall += 1
        serviceCalls[lastServiceCall] = completion
        let channel = channel(of: invocation)
        let start = channel.outbox.beginFrame(FrameHeader(.serviceCall, invocation: invocation, value: lastServiceCall))
        channel.outbox.append(service)
        channel.outbox.append(0)
        channel.outbox.append(method)
        channel.outbox.append(0)
        let headSize = channel.outbox.payloadSize(ofFrameAt: start)
        channel.outbox.append(payload)
        channel.outbox.finishFrame(start, headSize: headSize)
        channel.queueFlush()
    }

    /// The largest payload of a service call.
    private static let payloadBytesMax = 64 << 20
    private static let answerTooLarge = #"{"code":"resource-exhausted","message":"The answer has more than 64 MiB."}"#
    private static let callTooLarge = #"{"code":"resource-exhausted","message":"The payload of a service call may have at most 64 MiB."}"#

    public func pluginLogs(_ invocation: InvocationID, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>) {
        log.write(LogRecordHeader(invocation: invocation, source: .logger, level: level), message: message, fields: fields)
    }
}

extension Span<UInt8> {
    /// The first index of `byte`.
    func firstIndex(of byte: UInt8) -> Int? {
        for index in 0..<count where self[index] == byte { return index }
        return nil
    }
}
