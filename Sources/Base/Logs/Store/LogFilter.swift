import HearthBytes

/// The criteria for selecting lines.
package struct LogFilter: Sendable, Equatable {
    /// Lines of these functions; nil for all lines, including the host's.
    var functions: [[UInt8]]?
    var levelMin = Severity.trace
    var invocation: [UInt8]?
    var trace: [UInt8]?
    /// The earliest time, in microseconds since 1970.
    var since: Int64 = 0
    var until = Int64.max

    /// Whether a stored line matches.
    func matches(_ line: Span<UInt8>, id: Int64) -> Bool {
        guard id >= since, id <= until else { return false }
        let head = LogScan.headEnd(line)
        if levelMin > .trace {
            guard let range = LogScan.text(",\"severity\":\"", in: line, headEnd: head),
                let severity = Severity(rawValue: line.extracting(range).string()), severity >= levelMin
            else { return false }
        }
        if let invocation, !Self.isText(",\"invocation\":\"", invocation, line, head) { return false }
        if let trace, !Self.isText(",\"trace\":\"", trace, line, head) { return false }
        guard let functions else { return true }
        guard let range = LogScan.text(",\"function\":\"", in: line, headEnd: head) else { return false }
        return functions.contains { Self.areEqual($0, line.extracting(range)) }
    }

    private static func isText(_ name: StaticString, _ wanted: [UInt8], _ line: Span<UInt8>, _ head: Int) -> Bool {
        guard let range = LogScan.text(name, in: line, headEnd: head) else { return false }
        return areEqual(wanted, line.extracting(range))
    }

    private static func areEqual(_ left: [UInt8], _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<right.count where left[index] != right[index] { return false }
        return true
    }
}
