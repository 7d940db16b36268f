import WorkerProtocol

/// Bounds what one worker may log: so many bytes a second, with a second's worth to spare.
struct LogBudget {
    let bytesPerSecond: Int
    private var left: Int
    private var filledAtMilliseconds: UInt64 = 0
    private var droppedBytes = 0

    init(bytesPerSecond: Int) {
        self.bytesPerSecond = bytesPerSecond
        left = bytesPerSecond
    }

    /// Whether `size` more bytes may be logged now; counts them as dropped when not.
    mutating func admits(_ size: Int, now: UInt64) -> Bool {
        let elapsed = now &- filledAtMilliseconds
        filledAtMilliseconds = now
        left = min(bytesPerSecond, left + Int(clamping: min(elapsed, 1000)) * bytesPerSecond / 1000)
        guard size <= left else {
            droppedBytes += size
            return false
        }
        left -= size
        return true
    }

    /// What a message counts: its bytes, and for each of its lines something for what the host adds to a line.
    static func size(_ source: LogSource, _ message: Span<UInt8>, _ fields: Span<UInt8>) -> Int {
        var lines = 1
        if source != .logger {
            for index in 0..<message.count where message[index] == UInt8(ascii: "\n") { lines += 1 }
        }
        return message.count + fields.count + lines * lineOverhead
    }

    private static let lineOverhead = 128

    /// What was dropped since this was last asked.
    mutating func takeDropped() -> Int {
        defer { droppedBytes = 0 }
        return droppedBytes
    }
}
