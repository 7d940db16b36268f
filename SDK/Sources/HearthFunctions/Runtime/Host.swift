internal import CHearth

/// What the host offers: the functions of `hearth.h`, with Swift's types.
///
/// May be used from any thread.
// The table is read-only and lives as long as the process; the header allows its functions on every thread.
struct Host: @unchecked Sendable {
    private let table: UnsafePointer<hearth_host>

    /// The host behind an entry point's argument; nil when it speaks another major version.
    init?(_ table: UnsafeRawPointer) {
        self.table = table.assumingMemoryBound(to: hearth_host.self)
        guard self.table.pointee.abi_major == UInt32(HEARTH_ABI_MAJOR) else { return nil }
    }

    func respond(
        _ invocation: UInt64, _ kind: hearth_answer_kind, head: UnsafeRawBufferPointer = .empty,
        body: UnsafeRawBufferPointer = .empty
    ) {
        var answer = hearth_answer(kind: kind, reserved: 0, head: hearth_bytes(head), body: hearth_bytes(body))
        table.pointee.respond(table, invocation, &answer)
    }

    func startResponse(_ invocation: UInt64, head: UnsafeRawBufferPointer) -> Flow {
        Flow(table.pointee.start_response(table, invocation, hearth_bytes(head)))
    }

    func sendChunk(_ invocation: UInt64, _ chunk: UnsafeRawBufferPointer) -> Flow {
        Flow(table.pointee.send_chunk(table, invocation, hearth_bytes(chunk)))
    }

    func callService(
        _ invocation: UInt64, service: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer,
        completion: @escaping hearth_completion, context: UnsafeMutableRawPointer
    ) {
        var call = hearth_service_call(
            service: hearth_bytes(service), method: hearth_bytes(method), payload: hearth_bytes(payload))
        table.pointee.call_service(table, invocation, &call, completion, context)
    }

    func schedule(_ invocation: UInt64, _ job: @escaping hearth_job, _ context: UnsafeMutableRawPointer) {
        table.pointee.schedule(table, invocation, job, context)
    }

    func schedule(
        _ invocation: UInt64, afterNanoseconds delay: UInt64, _ job: @escaping hearth_job, _ context: UnsafeMutableRawPointer
    ) {
        table.pointee.schedule_after(table, invocation, delay, job, context)
    }

    func log(
        _ invocation: UInt64, _ level: hearth_log_level, _ message: UnsafeRawBufferPointer,
        fields: UnsafeRawBufferPointer = .empty
    ) {
        table.pointee.log(table, invocation, level, hearth_bytes(message), hearth_bytes(fields))
    }

    func log(_ invocation: UInt64, _ level: hearth_log_level, _ message: String) {
        var message = message
        message.withUTF8 { log(invocation, level, UnsafeRawBufferPointer($0)) }
    }
}

/// What became of a chunk.
enum Flow {
    /// Nobody reads it.
    case gone
    /// Taken, but the client reads slowly.
    case pressure
    case taken

    init(_ flow: hearth_flow) {
        switch flow {
        case HEARTH_CONTINUE: self = .taken
        case HEARTH_PRESSURE: self = .pressure
        default: self = .gone
        }
    }
}

extension hearth_bytes {
    init(_ bytes: UnsafeRawBufferPointer) { self.init(data: bytes.baseAddress, size: bytes.count) }

    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: size) }
}

extension UnsafeRawBufferPointer {
    static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
