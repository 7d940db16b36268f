import HearthBytes
import CHearth
import EventLoop
import WorkerProtocol

/// The table of C functions for a plugin. It and its plugin are never released, because the library keeps the pointer and cannot be unloaded,
/// even if it was refused.
struct PluginHostTable {
    /// The C table, followed by its plugin, where the functions find it.
    private struct Layout {
        var table: hearth_host
        var plugin: Unmanaged<Plugin>
    }

    private let storage: UnsafeMutablePointer<Layout>

    var pointer: UnsafePointer<hearth_host> { UnsafeRawPointer(storage).assumingMemoryBound(to: hearth_host.self) }

    init(plugin: Plugin) {
        var table = hearth_host()
        table.abi_major = UInt32(HEARTH_ABI_MAJOR)
        table.abi_minor = UInt32(HEARTH_ABI_MINOR)
        table.size = MemoryLayout<hearth_host>.size
        table.respond = { PluginHostTable.respond($0, $1, $2) }
        table.start_response = { PluginHostTable.startResponse($0, $1, $2) }
        table.send_chunk = { PluginHostTable.sendChunk($0, $1, $2) }
        table.call_service = { PluginHostTable.callService($0, $1, $2, $3, $4) }
        table.schedule = { host, invocation, job, context in
            guard let job else { return }
            PluginHostTable.plugin(host).loop.call(job, context: context, tag: invocation)
        }
        table.schedule_after = { PluginHostTable.scheduleAfter($0, $1, $2, $3, $4) }
        table.log = { host, invocation, level, message, fields in
            let owner = PluginHostTable.plugin(host).owner
            message.withSpan { message in
                fields.withSpan { fields in
                    owner.pluginLogs(
                        InvocationID(rawValue: invocation), level: UInt8(clamping: level.rawValue), message: message, fields: fields)
                }
            }
        }
        storage = .allocate(capacity: 1)
        storage.initialize(to: Layout(table: table, plugin: .passRetained(plugin)))
    }

    private static func plugin(_ host: UnsafePointer<hearth_host>?) -> Plugin {
        guard let host else { preconditionFailure("the plugin passed no host table") }
        return UnsafeRawPointer(host).assumingMemoryBound(to: Layout.self).pointee.plugin.takeUnretainedValue()
    }

    private static func respond(_ host: UnsafePointer<hearth_host>?, _ invocation: UInt64, _ answer: UnsafePointer<hearth_answer>?) {
        let plugin = plugin(host)
        let id = InvocationID(rawValue: invocation)
        guard let answer else { return }
        // An unknown kind is an error of the plugin. An empty error is answered with INTERNAL.
        let kind = UInt8(exactly: answer.pointee.kind.rawValue).flatMap(AnswerKind.init) ?? .error
        if plugin.loop.isCurrent {
            answer.pointee.head.withSpan { head in
                answer.pointee.body.withSpan { plugin.owner.pluginAnswers(id, kind: kind, head: head, body: $0) }
            }
            return
        }
        let head = answer.pointee.head.array
        let body = answer.pointee.body.array
        plugin.loop.post { plugin.owner.pluginAnswers(id, kind: kind, head: head.span, body: body.span) }
    }

    private static func startResponse(_ host: UnsafePointer<hearth_host>?, _ invocation: UInt64, _ head: hearth_bytes) -> hearth_flow {
        let plugin = plugin(host)
        let id = InvocationID(rawValue: invocation)
        if plugin.loop.isCurrent { return flow(head.withSpan { plugin.owner.pluginStartsResponse(id, head: $0) }) }
        let copy = head.array
        plugin.loop.post { _ = plugin.owner.pluginStartsResponse(id, head: copy.span) }
        return HEARTH_CONTINUE
    }

    private static func sendChunk(_ host: UnsafePointer<hearth_host>?, _ invocation: UInt64, _ chunk: hearth_bytes) -> hearth_flow {
        let plugin = plugin(host)
        let id = InvocationID(rawValue: invocation)
        if plugin.loop.isCurrent { return flow(chunk.withSpan { plugin.owner.pluginSendsChunk(id, $0) }) }
        let copy = chunk.array
        plugin.loop.post { _ = plugin.owner.pluginSendsChunk(id, copy.span) }
        return HEARTH_CONTINUE
    }

    private static func callService(
        _ host: UnsafePointer<hearth_host>?, _ invocation: UInt64, _ call: UnsafePointer<hearth_service_call>?,
        _ function: hearth_completion?, _ context: UnsafeMutableRawPointer?
    ) {
        guard let call, let function else { return }
        let plugin = plugin(host)
        let completion = ServiceCompletion(
            function: function, context: context, loop: plugin.loop, invocation: InvocationID(rawValue: invocation))
        let service = call.pointee.service.array
        let method = call.pointee.method.array
        let payload = call.pointee.payload.array
        // Posted even if called on the loop, because the completion must never be called before this returns.
        plugin.loop.post {
            plugin.owner.pluginCallsService(
                InvocationID(rawValue: invocation), service: service.span, method: method.span, payload: payload.span,
                completion: completion)
        }
    }

    private static func scheduleAfter(
        _ host: UnsafePointer<hearth_host>?, _ invocation: UInt64, _ nanoseconds: UInt64, _ job: hearth_job?,
        _ context: UnsafeMutableRawPointer?
    ) {
        guard let job else { return }
        let loop = plugin(host).loop
        let delayed = DelayedJob(job: job, context: context, tag: invocation)
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        loop.post { delayed.start(on: loop, afterMilliseconds: milliseconds) }
    }

    private static func flow(_ flow: PluginFlow) -> hearth_flow { hearth_flow(rawValue: flow.rawValue) }
}

/// A delayed job of a plugin.
private final class DelayedJob: @unchecked Sendable {
    // Unchecked: created on one thread, then used only on the loop's. The context belongs to the plugin, and is passed back once.
    private let job: hearth_job
    private let context: UnsafeMutableRawPointer?
    private let tag: UInt64
    private var timer: Timer?

    init(job: @escaping hearth_job, context: UnsafeMutableRawPointer?, tag: UInt64) {
        self.job = job
        self.context = context
        self.tag = tag
    }

    func start(on loop: EventLoop, afterMilliseconds: UInt64) {
        // The timer's closure keeps this alive until it has fired.
        timer = Timer(loop: loop) { [self] in
            timer = nil
            loop.withTag(tag) { job(context) }
        }
        timer?.start(afterMilliseconds: afterMilliseconds)
    }
}
