import HearthBytes

/// A query of the log: the parameters of `/_/api/logs`.
package struct LogQuery: Sendable, Equatable {
    package var filter = LogFilter()
    /// The newest lines, up to this count.
    package var limit = 35
    /// All lines after the one with this id, oldest first.
    package var after: Int64?
    package var follows = false

    package static let limitMax = 10_000
    private static let names: Set = ["function", "level", "invocation", "trace", "since", "until", "limit", "after", "follow"]

    /// - Parameters:
    ///   - parameters: percent-decoded.
    ///   - now: microseconds since 1970; relative times such as `10m` are counted back from it.
    package init(_ parameters: [String: String], now: Int64) throws(LogQueryError) {
        if let unknown = parameters.keys.filter({ !Self.names.contains($0) }).min() {
            throw Self.refusal("there is no parameter \"\(unknown)\"; there are \(Self.names.sorted().joined(separator: ", "))")
        }
        filter.functions = parameters["function"].map { $0.split(separator: ",").map { Array($0.utf8) } }
        if let level = parameters["level"] {
            guard let severity = Severity(rawValue: level) else {
                throw Self.refusal("level must be one of \(Severity.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            filter.levelMin = severity
        }
        filter.invocation = parameters["invocation"].map { Array($0.utf8) }
        filter.trace = try parameters["trace"].map { (text) throws(LogQueryError) in try Self.trace(text) }
        filter.since = try parameters["since"].map { (text) throws(LogQueryError) in try Self.moment("since", text, now) } ?? 0
        filter.until = try parameters["until"].map { (text) throws(LogQueryError) in try Self.moment("until", text, now) } ?? .max
        if let text = parameters["limit"] { limit = try Self.number("limit", text, 0...Int64(Self.limitMax)) }
        if let text = parameters["after"] { after = Int64(try Self.number("after", text, 0...Int64.max)) }
        if let text = parameters["follow"] {
            guard let follows = ["true": true, "1": true, "": true, "false": false, "0": false][text] else {
                throw Self.refusal("follow must be true or false")
            }
            self.follows = follows
        }
        if follows, filter.until != .max { throw Self.refusal("follow and until exclude each other: follow shows what is logged from now on") }
    }

    private static func refusal(_ text: String) -> LogQueryError { LogQueryError(description: text) }

    private static func number(_ name: String, _ text: String, _ range: ClosedRange<Int64>) throws(LogQueryError) -> Int {
        guard let value = Int64(text), range.contains(value) else {
            throw refusal(
                range.upperBound == .max ? "\(name) is the id of a line" : "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(value)
    }

    /// The 32 digits of a trace, or a whole `traceparent`.
    private static func trace(_ text: String) throws(LogQueryError) -> [UInt8] {
        let parts = text.split(separator: "-")
        let digits = parts.count == 4 && text.utf8.count == 55 ? String(parts[1]) : text
        guard digits.utf8.count == 32, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 &- 0x61 < 6 }) else {
            throw refusal("trace must be the 32 hexadecimal digits of a trace, in lower case")
        }
        return Array(digits.utf8)
    }

    /// A date and time, or a duration before now: `90s`, `10m`, `2h`, `7d`.
    private static func moment(_ name: String, _ text: String, _ now: Int64) throws(LogQueryError) -> Int64 {
        if let moment = WallClock.microseconds(rfc3339: text) { return moment }
        let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        guard let unit = text.last, let factor = seconds[unit], let count = Int64(text.dropLast()), (0...1_000_000).contains(count),
            text.first != "+"
        else {
            throw refusal("\(name) must be a time such as 2026-01-31T12:00:00Z, or how long ago, such as 30s, 10m, 2h or 7d")
        }
        return now - count * factor * 1_000_000
    }
}

/// The reason why parameters are not a valid query of the log.
package struct LogQueryError: Error, CustomStringConvertible {
    /// One sentence for a person.
    package let description: String
}
