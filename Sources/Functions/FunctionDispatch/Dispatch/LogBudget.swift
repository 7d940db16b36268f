import WorkerProtocol

/// Limits the bytes that a worker may log per second. Allows bursts of one second's amount.
struct LogBudget {
    let bytesPerSecond: Int
    private var left: Int
    private var filledAtMilliseconds: UInt64 = 0
    private var droppedBytes = 0

    init(bytesPerSecond: Int) {
        self.bytesPerSecond = bytesPerSecond
        left = bytesPerSecond
    }

    /// Whether `size` more bytes may be logged now. If not, they are counted as dropped.
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

    /// The size of a message for the budget: its bytes, and a constant for each line, for what the host adds.
    static func size(_ source: LogSource, _ message: Span<UInt8>, _ fields: Span<UInt8>) -> Int {
        var lines = 1
        if source != .logger {
            for index in 0..<message.count where message[index] == UInt8(ascii: "\n") { lines += 1 }
        }
        return message.count + fields.count + lines * lineOverhead
    }

    private static let lineOverhead = 128

    /// Returns the number of bytes dropped since the last call.
    mutating func takeDropped() -> Int {
        defer { droppedBytes = 0 }
        return droppedBytes
    }
}
