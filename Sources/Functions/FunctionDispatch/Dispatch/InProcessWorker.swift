import AdminProtocol
import EventLoop
import FunctionWorker
import Glibc
import HearthBytes
import HTTP
import Logging
import RealtimeDatabase
import WorkerProtocol

/// A worker without a process: the plugin runs on the host's own loop, for plugins that are trusted like the host itself.
final class InProcessWorker: Worker {
    private var plugin: Plugin?
    private var open = OpenInvocations()
    private var context = ByteBuffer()

    override var pid: Int32 { getpid() }

    /// The plugin's variables become the host's own: there is one environment in a process.
    ///
    /// - Throws: `PluginRefusal` for a library that cannot be loaded into the host.
    init(artifact: Artifact, settings: PoolSettings, dispatcher: Dispatcher, pool: WorkerPool) throws(PluginRefusal) {
        super.init(artifact: artifact, dispatcher: dispatcher, seed: .random(in: .min ... .max))
        self.pool = pool
        for entry in settings.environment {
            guard let mark = entry.firstIndex(of: "=") else { continue }
            setenv(String(entry[..<mark]), String(entry[entry.index(after: mark)...]), 1)
        }
        plugin = try Plugin(path: artifact.path, name: artifact.displayName, loop: dispatcher.loop, owner: self)
        state = .ready
    }

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
            deadline: deadline == .max ? 0 : deadline * 1_000_000, context: context, payload: payload)
    }

    override func sendCancel(_ id: InvocationID) {
        open.stopChunks(id)
        if open.contains(id) { plugin?.cancel(id) }
    }

    override func acknowledge(_ id: InvocationID, size: Int) {
        if open.acknowledge(id, size: size) { plugin?.drained(id) }
    }

    override func drain() {
        guard state < .ended else { return }
        state = .ended
        // Not within the call that led here: the pool walks its workers.
        dispatcher.loop.endOfTurn { [self] in
            plugin?.shutdown()
            pool?.workerDidEnd(self, reason: nil)
        }
    }

    override func kill(reason: String) { drain() }
}

extension InProcessWorker: PluginOwner {
    func pluginAnswers(_ invocation: InvocationID, kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        guard open.close(invocation) else {
            dispatcher.log.warning("dropped an answer: no such open invocation", metadata: ["plugin": "\(artifact.name)"])
            return
        }
        didAnswer(invocation, kind, head: head, body: body)
    }

    func pluginStartsResponse(_ id: InvocationID, head: Span<UInt8>) -> PluginFlow {
        guard open.allowChunks(id) == .goOn else { return .gone }
        didStartResponse(id, head: head)
        return .goOn
    }

    func pluginSendsChunk(_ id: InvocationID, _ chunk: Span<UInt8>) -> PluginFlow {
        let flow = open.send(id, size: chunk.count)
        if flow != .gone { invocation(id)?.didReceiveChunk(chunk) }
        return flow
    }

    func pluginCallsService(
        _ invocation: InvocationID, service: Span<UInt8>, method: Span<UInt8>, payload: Span<UInt8>, completion: ServiceCompletion
    ) {
        guard !share.isFull else {
            let body = ServiceAnswer.failure(.resourceExhausted, "too many calls of this plugin's are not answered yet; try again").body
            return completion(succeeded: false, body.span)
        }
        let hold = MemoryHold(dispatcher.memory.services, share, bytes: payload.count + Self.serviceCallBytes)
        let caller = self.invocation(invocation)
        let call = ServiceCall(
            artifact: artifact, service: service.string(), method: method.string(), payload: payload.array(),
            chain: caller?.chain ?? EventChain(), trace: trace(of: invocation))
        dispatcher.services.handle(call) { [hold] answer in
            withExtendedLifetime(hold) { completion(succeeded: answer.succeeded, answer.body.span) }
        }
    }

    func pluginLogs(_ invocation: InvocationID, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>) {
        // On the loop at once: the invocation is still open then.
        if dispatcher.loop.isCurrent { return record(invocation, level, message, fields) }
        let message = message.array()
        let fields = fields.array()
        let reference = LoopBound(self, loop: dispatcher.loop)
        dispatcher.loop.post { reference.value.record(invocation, level, message.span, fields.span) }
    }

    private func record(_ id: InvocationID, _ level: UInt8, _ message: Span<UInt8>, _ fields: Span<UInt8>) {
        let function = invocation(id)?.function.index ?? .max
        dispatcher.functionLog.record(origin(of: id, function: function), level: level, message: message, fields: fields)
    }
}
