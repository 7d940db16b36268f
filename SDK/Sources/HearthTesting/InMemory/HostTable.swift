internal import CHearth
internal import HearthFunctions

/// The host's side of the boundary: the functions of `hearth.h` for one `InMemoryHost`.
enum HostTable {
    /// The C table with its host right behind it, where the functions find it.
    struct Layout {
        var table: hearth_host
        var host: Unmanaged<InMemoryHost>
    }

    static func layout(for host: InMemoryHost) -> Layout {
        let table = hearth_host(
            abi_major: UInt32(HEARTH_ABI_MAJOR), abi_minor: UInt32(HEARTH_ABI_MINOR), size: MemoryLayout<hearth_host>.size,
            respond: { table, id, answer in
                guard let host = HostTable.host(table), let answer = answer?.pointee else { return }
                let (kind, head, body) = (answer.kind.rawValue, HostTable.bytes(answer.head), HostTable.bytes(answer.body))
                HostTable.onLoop(host) { host.answered(id, hearth_answer_kind(rawValue: kind), head: head, body: body) }
            },
            start_response: { table, id, head in
                guard let host = HostTable.host(table) else { return HEARTH_GONE }
                let head = HostTable.bytes(head)
                if host.loop.isCurrent { return host.startedResponse(id, head: head) }
                host.loop.post { _ = host.startedResponse(id, head: head) }
                return HEARTH_CONTINUE
            },
            send_chunk: { table, id, chunk in
                guard let host = HostTable.host(table) else { return HEARTH_GONE }
                let chunk = HostTable.bytes(chunk)
                if host.loop.isCurrent { return host.sentChunk(id, chunk) }
                host.loop.post { _ = host.sentChunk(id, chunk) }
                return HEARTH_CONTINUE
            },
            call_service: { table, id, call, completion, context in
                guard let host = HostTable.host(table), let call = call?.pointee, let completion else { return }
                let (service, method, payload) = (HostTable.text(call.service), HostTable.text(call.method), HostTable.bytes(call.payload))
                let pending = PendingCompletion(completion: completion, context: context)
                host.loop.post { host.serve(id, service, method, payload) { pending.complete($0) } }
            },
            schedule: { table, _, job, context in HostTable.schedule(table, .zero, job, context) },
            schedule_after: { table, _, nanoseconds, job, context in
                HostTable.schedule(table, .nanoseconds(Int64(clamping: nanoseconds)), job, context)
            },
            log: { table, id, level, message, fields in
                guard let host = HostTable.host(table) else { return }
                let (level, message, fields) = (level.rawValue, HostTable.bytes(message), HostTable.bytes(fields))
                HostTable.onLoop(host) { host.logged(id, level: level, message: message, fields: fields) }
            })
        return Layout(table: table, host: .passRetained(host))
    }

    /// A C callback with its argument.
    // The pointer is the plugin's own, and only handed back.
    private struct PendingCompletion: @unchecked Sendable {
        var completion: hearth_completion
        var context: UnsafeMutableRawPointer?

        func complete(_ answer: ServiceOutcome) {
            answer.body.withUnsafeBytes { completion(context, answer.isOK ? 1 : 0, hearth_bytes($0)) }
        }
    }

    /// A job of the plugin with its argument.
    // The pointer is the plugin's own, and only handed back.
    private struct PluginJob: @unchecked Sendable {
        var job: hearth_job
        var context: UnsafeMutableRawPointer?
    }

    private static func schedule(
        _ table: UnsafePointer<hearth_host>?, _ delay: Duration, _ job: hearth_job?, _ context: UnsafeMutableRawPointer?
    ) {
        guard let host = host(table), let job else { return }
        let pending = PluginJob(job: job, context: context)
        host.loop.post(after: delay) { pending.job(pending.context) }
    }

    private static func onLoop(_ host: InMemoryHost, _ body: @escaping @Sendable () -> Void) {
        if host.loop.isCurrent { body() } else { host.loop.post(body) }
    }

    private static func host(_ table: UnsafePointer<hearth_host>?) -> InMemoryHost? {
        table.map { UnsafeRawPointer($0).assumingMemoryBound(to: Layout.self).pointee.host.takeUnretainedValue() }
    }

    private static func bytes(_ bytes: hearth_bytes) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: bytes.data, count: bytes.data == nil ? 0 : bytes.size))
    }

    private static func text(_ bytes: hearth_bytes) -> String { String(decoding: self.bytes(bytes), as: UTF8.self) }
}
