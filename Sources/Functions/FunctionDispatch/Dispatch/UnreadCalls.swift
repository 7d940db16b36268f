import HearthBytes
import WorkerProtocol

/// Copies of calls that were sent to a worker and may not have been received. They can be taken back if the worker hangs.
///
/// Only small calls are copied, and only up to a limit. All others stay with their worker.
struct UnreadCalls: ~Copyable {
    /// The largest call that is copied, in bytes of context and payload.
    static let callBytesMax = 64 * 1024
    /// The number of bytes above which received calls are dropped.
    private static let trimBytes = 256 * 1024
    private static let bytesMax = 1024 * 1024

    private struct Entry {
        /// The number of its frame.
        var frame: UInt64
        var id: InvocationID
        var contextSize: Int
        var size: Int
    }

    private var entries: [Entry] = []
    private var bytes = ByteBuffer()

    /// Copies a call that is sent in frame number `frame`: the bytes in `outbox` from `start` on.
    ///
    /// - Parameter framesReceived: the number of frames that the worker has received; called when the copies get large.
    mutating func append(
        _ id: InvocationID, frame: UInt64, contextSize: Int, from outbox: borrowing ByteBuffer, at start: Int, framesReceived: () -> UInt64
    ) {
        let size = outbox.count - start
        if bytes.count + size > Self.trimBytes { trim(framesReceived()) }
        guard size <= Self.callBytesMax, bytes.count + size <= Self.bytesMax else { return }
        entries.append(Entry(frame: frame, id: id, contextSize: contextSize, size: size))
        bytes.append(outbox.bytes.extracting(start..<outbox.count))
    }

    /// Drops the calls in the first `framesReceived` frames.
    mutating func trim(_ framesReceived: UInt64) {
        guard let first = entries.first, first.frame <= framesReceived else { return }
        let count = entries.firstIndex { $0.frame > framesReceived } ?? entries.count
        bytes.consume(entries[..<count].reduce(0) { $0 + $1.size })
        entries.removeFirst(count)
        if entries.isEmpty { bytes.clear(keepingAtMost: 4096) }
    }

    /// Removes all calls, and passes those that are not in the first `framesReceived` frames to `receive`, in order: id, size of the context,
    /// and context with payload.
    mutating func takeAll(after framesReceived: UInt64, _ receive: (InvocationID, Int, inout ByteBuffer) -> Void) {
        trim(framesReceived)
        var offset = 0
        for entry in entries {
            var copy = ByteBuffer(capacity: entry.size)
            copy.append(bytes.bytes.extracting(offset..<offset + entry.size))
            offset += entry.size
            receive(entry.id, entry.contextSize, &copy)
        }
        entries.removeAll()
        bytes.clear(keepingAtMost: 4096)
    }
}
