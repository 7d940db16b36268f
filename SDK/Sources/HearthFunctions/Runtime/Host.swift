internal import CHearth
import Glibc

/// The host's functions of `hearth.h`, with Swift's types.
///
/// May be used from any thread.
// The table is read-only and lives as long as the process; the header allows its functions on every thread.
struct Host: @unchecked Sendable {
    private let table: UnsafePointer<hearth_host>

    /// The size of the members that are used here: all of version 1.0. A member of a later version may be used only where the table's
    /// `size` reaches it.
    private static let tableBytesMin = (MemoryLayout<hearth_host>.offset(of: \.log) ?? 0) + MemoryLayout<UnsafeRawPointer>.size

    /// The host behind an entry point's argument; nil where its major version is another, or its table lacks members.
    init?(_ table: UnsafeRawPointer) {
        self.table = table.assumingMemoryBound(to: hearth_host.self)
        guard self.table.pointee.abi_major == UInt32(HEARTH_ABI_MAJOR), self.table.pointee.size >= Self.tableBytesMin else { return nil }
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
        completion: @escaping hearth_completion, context: UnsafeMutableRawPointer?
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

/// The outcome of sending a chunk.
enum Flow {
    /// The client does not read it.
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

/// The clock of the boundary: nanoseconds of `CLOCK_MONOTONIC`.
enum MonotonicTime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The time until `time`; negative when it has passed.
    static func duration(until time: UInt64) -> Duration {
        .nanoseconds(Int64(bitPattern: time &- now))
    }
}
