import HearthBytes
import WorkerProtocol

/// Copies of calls that a worker was sent and may not have received, so that they can be taken back from a worker that hangs.
///
/// Copies are kept of small calls only and up to a limit: a call that is not kept here stays with its worker.
struct UnreadCalls: ~Copyable {
    /// The largest call that is kept, in bytes of context and payload.
    static let callBytesMax = 64 * 1024
    /// Bytes after which calls that have been received are looked for and dropped.
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

    /// Keeps a call that leaves in frame number `frame`: what stands in `outbox` from `start` on.
    ///
    /// - Parameter framesReceived: asked for when old ones must go.
    mutating func append(
        _ id: InvocationID, frame: UInt64, contextSize: Int, from outbox: borrowing ByteBuffer, at start: Int, framesReceived: () -> UInt64
    ) {
        let size = outbox.count - start
        if bytes.count + size > Self.trimBytes { trim(framesReceived()) }
        guard size <= Self.callBytesMax, bytes.count + size <= Self.bytesMax else { return }
        entries.append(Entry(frame: frame, id: id, contextSize: contextSize, size: size))
        bytes.append(outbox.bytes.extracting(start..<outbox.count))
    }

    /// Drops what lies in the first `framesReceived` frames.
    mutating func trim(_ framesReceived: UInt64) {
        guard let first = entries.first, first.frame <= framesReceived else { return }
        let count = entries.firstIndex { $0.frame > framesReceived } ?? entries.count
        bytes.consume(entries[..<count].reduce(0) { $0 + $1.size })
        entries.removeFirst(count)
        if entries.isEmpty { bytes.clear(keepingAtMost: 4096) }
    }

    /// Hands over every call that is not in the first `framesReceived` frames, in order, and forgets all: its name, the size of its
    /// context, and context and payload.
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
