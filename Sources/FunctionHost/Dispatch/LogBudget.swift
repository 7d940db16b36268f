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

    /// What was dropped since this was last asked.
    mutating func takeDropped() -> Int {
        defer { droppedBytes = 0 }
        return droppedBytes
    }
}
