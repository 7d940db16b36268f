import AdminProtocol
import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import HTTP
import Logging
import RealtimeDatabase
import WorkerProtocol

/// A worker without a process: the plugin runs on the host's own loop. For plugins that are trusted like the host itself.
final class InProcessWorker: Worker {
    private let lane: PluginLane

    /// Loads the plugin. Its variables are set in the host's environment, because a process has only one.
    ///
    /// - Throws: `PluginRefusal` for a library that cannot be loaded into the host.
    init(artifact: Artifact, settings: PoolSettings, dispatcher: Dispatcher, pool: WorkerPool) throws(PluginRefusal) {
        let identity = WorkerIdentity(
            artifact: artifact, pid: getpid(), seed: .random(in: .min ... .max), concurrency: settings.concurrency, records: [LaneRecord()])
        lane = PluginLane(identity, number: 0, loop: dispatcher.loop, log: dispatcher.functionLog)
        super.init(identity, home: lane, dispatcher: dispatcher)
        self.pool = pool
        lane.outgoing = OutgoingCalls(settings.outgoing, loop: dispatcher.loop)
        for entry in settings.environment {
            guard let mark = entry.firstIndex(of: "=") else { continue }
            setenv(String(entry[..<mark]), String(entry[entry.index(after: mark)...]), 1)
        }
        lane.plugin = try Plugin(path: artifact.path, name: artifact.displayName, loop: dispatcher.loop, owner: self)
        enter(.ready)
    }

    override func drain() {
        guard state < .ended else { return }
        enter(.ended)
        // Deferred, because the caller may be iterating over the pool's workers.
        dispatcher.loop.endOfTurn { [self] in
            lane.plugin?.shutdown()
            pool?.workerDidEnd(self, reason: nil)
        }
    }

    override func kill(reason: String) { drain() }
}

/// The invocations of a plugin that runs inside the host.
private final class PluginLane: InvocationLane {
    var plugin: Plugin?
    var outgoing: OutgoingCalls?
    var open = OpenInvocations()
    private var context = ByteBuffer()

    override func send(_ invocation: HostInvocation, id: InvocationID, payload: Span<UInt8>) {
        var context = ByteBuffer()
        swap(&context, &self.context)
        context.clear()
        invocation.writeContext(into: &context)
        invoke(invocation, id, context: context.bytes, payload: payload)
        swap(&context, &self.context)
    }

    override func sendParked(_ invocation: HostInvocation, id: InvocationID) {
        let buffer = invocation.takeParked()
        let parked = buffer.bytes
        invoke(
            invocation, id, context: parked.extracting(0..<invocation.parkedContextSize),
            payload: parked.extracting(invocation.parkedContextSize..<parked.count))
    }

    private func invoke(_ invocation: HostInvocation, _ id: InvocationID, context: Span<UInt8>, payload: Span<UInt8>) {
        open.open(id, takesChunks: invocation.takesChunks)
        let deadline = invocation.deadlineMilliseconds
        let nameBytes = invocation.function.nameBytes
        let name = nameBytes.span
        plugin?.invoke(
            id, function: invocation.function.index, name: name.extracting(0..<name.count - 1),
            deadline: deadline == .max ? 0 : deadline * 1_000_000, context: context,
            isContextRaw: invocation.isContextRaw, payload: payload)
    }

    override func sendCancel(_ id: InvocationID) {
        open.stopChunks(id)
        outgoing?.cancel(id)
        if open.contains(id) { plugin?.cancel(id) }
    }

    override func acknowledge(_ id: InvocationID, size: Int) {
        if open.acknowledge(id, size: size) { plugin?.drained(id) }
    }
}

extension InProcessWorker: PluginOwner {
    func pluginAnswers(_ invocation: InvocationID, kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        guard lane.open.close(invocation) else {
            dispatcher.log.warning("dropped an answer: no such open invocation", metadata: ["plugin": "\(artifact.name)"])
            return
        }
        lane.didAnswer(invocation, kind, head: head, body: body)
    }

    func pluginStartsResponse(_ id: InvocationID, head: Span<UInt8>) -> PluginFlow {
        guard lane.open.allowChunks(id) == .goOn else { return .gone }
        lane.didStartResponse(id, head: head)
        return .goOn
    }

    func pluginSendsChunk(_ id: InvocationID, _ chunk: Span<UInt8>) -> PluginFlow {
        let flow = lane.open.send(id, size: chunk.count)
        if flow != .gone { lane.invocation(id)?.didReceiveChunk(chunk) }
        return flow
    }

    func pluginCallsService(
        _ invocation: InvocationID, service: Span<UInt8>, method: Span<UInt8>, payload: Span<UInt8>, completion: ServiceCompletion
    ) {
        if OutgoingCalls.isName(service), let outgoing = lane.outgoing {
            return outgoing.call(invocation, method: method, payload: payload) { completion(succeeded: $0, $1.span) }
        }
        guard !share.isFull else {
            let body = ServiceAnswer.failure(.resourceExhausted, "too many service calls of this plugin are waiting for answers; try again").body
            return completion(succeeded: false, body.span)
        }
        let hold = MemoryHold(dispatcher.memory.services, share, bytes: payload.count + ServiceCall.overheadBytes)
        let caller = lane.invocation(invocation)
        let call = ServiceCall(
            artifact: artifact, service: service.string(), method: method.string(), payload: payload.array(),
            chain: caller?.chain ?? EventChain(), trace: identity.recent(invocation)?.trace, scope: lane.callScope(invocation))
        dispatcher.services.handle(call) { [hold] answer in
            withExtendedLifetime(hold) { completion(succeeded: answer.succeeded, answer.body.span) }
        }
    }

    func pluginLogs(_ invocation: InvocationID, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>) {
        // On the loop the line is recorded at once, because the invocation may have ended by the next turn.
        if dispatcher.loop.isCurrent { return record(invocation, level, message, fields) }
        let message = message.array()
        let fields = fields.array()
        let reference = LoopBound(self, loop: dispatcher.loop)
        dispatcher.loop.post { reference.value.record(invocation, level, message.span, fields.span) }
    }

    private func record(_ id: InvocationID, _ level: UInt8, _ message: Span<UInt8>, _ fields: Span<UInt8>) {
        let function = lane.invocation(id)?.function.index ?? .max
        dispatcher.functionLog.record(origin(of: id, function: function), level: level, message: message, fields: fields)
    }
}
