import HearthBytes
import CLinux
import EventLoop
import Glibc
import Synchronization
import WorkerProtocol

/// Writes log records to the host without buffering, so that a worker that dies loses none.
///
/// Output of the plugin to C's `stdout` and `stderr` (also by Swift's `print`) becomes records too, attributed to the invocation whose code
/// runs at that moment.
final class WorkerLog: Sendable {
    private let descriptor: Int32
    private let loop: EventLoop
    private let state = Mutex(State())

    private struct State: ~Copyable {
        var buffer = ByteBuffer()
        /// The function of the last invocation in each slot.
        var functions: [UInt32] = []
    }

    /// - Parameter descriptor: blocking, so that a function that prints faster than the host reads waits.
    init(descriptor: Int32, loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Records that `invocation` is a call of `function`.
    func note(_ invocation: InvocationID, function: UInt32) {
        state.withLock { state in
            while state.functions.count <= invocation.slot { state.functions.append(.max) }
            state.functions[invocation.slot] = function
        }
    }

    /// Writes one record. Callable from any thread.
    func write(_ header: LogRecordHeader, message: Span<UInt8>, fields: Span<UInt8>) {
        state.withLock { state in
            var header = header
            if header.invocation.rawValue != 0, header.invocation.slot < state.functions.count {
                header.function = state.functions[header.invocation.slot]
            }
            state.buffer.append(record: header, message: message, fields: fields)
            while !state.buffer.isEmpty {
                let written = state.buffer.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if written > 0 {
                    state.buffer.consume(written)
                } else if errno != EINTR {
                    state.buffer.clear()
                }
            }
            state.buffer.clear(keepingAtMost: 4096)
        }
    }

    /// Replaces `stdout` and `stderr` of the process.
    func captureStandardStreams() {
        _ = linux_capture_streams(
            { cookie, bytes, count in
                guard let cookie, let bytes else { return 0 }
                let stream = Unmanaged<PrintedStream>.fromOpaque(cookie).takeUnretainedValue()
                stream.write(UnsafeRawBufferPointer(start: bytes, count: count))
                return count
            }, cookie(.standardOutput), cookie(.standardError))
    }

    /// Lives as long as the process, as the stream does.
    private func cookie(_ source: LogSource) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(PrintedStream(log: self, source: source)).toOpaque()
    }

    /// One of the two standard streams.
    private final class PrintedStream {
        let log: WorkerLog
        let source: LogSource

        init(log: WorkerLog, source: LogSource) {
            self.log = log
            self.source = source
        }

        func write(_ bytes: UnsafeRawBufferPointer) {
            let invocation = log.loop.isCurrent ? log.loop.currentTag : 0
            let header = LogRecordHeader(
                invocation: InvocationID(rawValue: invocation), source: source, level: source == .standardError ? 5 : 2)
            bytes.withMemoryRebound(to: UInt8.self) { bytes in
                var rest = Span(_unsafeElements: bytes)
                while !rest.isEmpty {
                    let size = min(rest.count, LogRecordHeader.payloadSizeMax)
                    log.write(header, message: rest.extracting(0..<size), fields: rest.extracting(0..<0))
                    rest = rest.extracting(size..<rest.count)
                }
            }
        }
    }
}
