import HearthBytes

/// The `timeout` of a read: `250ms`, `10s` or `5min`, at most 15 minutes (spec database 2.3).
enum TimeLimit {
    private static let millisecondsMax: UInt64 = 15 * 60 * 1000

    static func milliseconds(_ text: Span<UInt8>) throws(RESTError) -> UInt64 {
        var value: UInt64 = 0
        var index = 0
        while index < text.count, (48...57).contains(text[index]), value <= millisecondsMax {
            value = value * 10 + UInt64(text[index] - 48)
            index += 1
        }
        let unit = text.extracting(index..<text.count)
        let factor: UInt64
        if index == 0 {
            factor = 0
        } else if unit.equals("ms") {
            factor = 1
        } else if unit.equals("s") {
            factor = 1000
        } else if unit.equals("min") {
            factor = 60_000
        } else {
            factor = 0
        }
        guard factor > 0 else { throw RESTError.badRequest("timeout must be a number of milliseconds, seconds or minutes: 250ms, 10s, 5min") }
        let milliseconds = value * factor
        guard (1...millisecondsMax).contains(milliseconds) else {
            throw RESTError.badRequest("timeout must be above zero and at most 15min")
        }
        return milliseconds
    }
}
