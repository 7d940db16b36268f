import CommandClient
import HearthJSON

extension ProfileReport {
    /// For people.
    var text: String {
        var lines = ["\(count) operations in \(Stopwatch.text(Double(milliseconds) / 1000))"]
        if lost > 0 { lines.append("\(lost) more came too quickly to be told.") }
        if clients != (0, 0) { lines.append("\(clients.come) streams began, \(clients.gone) ended.") }
        for (name, sums) in tables where !sums.isEmpty {
            lines += ["", name.prefix(1).uppercased() + name.dropFirst()]
            let rows = sums.sorted.map { path, sum in
                [
                    PrintableText.line(Self.text(path)), "\(sum.count)", Self.text(sum.averageMillis), sum.averageWaitMillis.map(Self.text) ?? "",
                    "\(sum.denied)", ByteCount.text(sum.bytes),
                ]
            }
            lines += TextTable.lines([["PATH", "COUNT", "TIME", "WAIT", "DENIED", "BYTES"]] + rows, indent: "  ")
        }
        guard !unindexed.isEmpty else { return lines.joined(separator: "\n") }
        lines += ["", "Queries without an index"]
        let rows = withoutIndex.map { [PrintableText.line(Self.text($0.path)), PrintableText.line($0.order), "\($0.count)"] }
        lines += TextTable.lines([["PATH", "INDEX", "COUNT"]] + rows, indent: "  ")
        return lines.joined(separator: "\n")
    }

    /// For programs.
    var json: JSONValue {
        var result: JSONObject = [
            "operations": .int(Int64(count)), "lost": .int(Int64(lost)), "totalTime": .int(Int64(milliseconds)),
            "connects": .int(Int64(clients.come)), "disconnects": .int(Int64(clients.gone)),
        ]
        for (name, sums) in tables { result[name] = .array(sums.sorted.map { .object(Self.json($0.path, $0.sum)) }) }
        result["unindexed"] = .array(
            withoutIndex.map { .object(["path": .string(Self.text($0.path)), "index": .string($0.order), "count": .int(Int64($0.count))]) })
        return .object(result)
    }

    private var tables: [(name: String, sums: PlaceSums)] { [("reads", reads), ("writes", writes), ("broadcasts", broadcasts)] }

    private var withoutIndex: [(path: [String], order: String, count: Int)] {
        unindexed.sorted { $0.key < $1.key }.flatMap { order, sums in
            sums.sorted.map { (path: $0.path, order: order, count: $0.sum.count) }
        }
    }

    private static func json(_ path: [String], _ sum: PlaceSums.Sum) -> JSONObject {
        var row: JSONObject = [
            "path": .string(text(path)), "count": .int(Int64(sum.count)), "millis": .double(sum.averageMillis),
            "denied": .int(Int64(sum.denied)), "bytes": .int(Int64(sum.bytes)),
        ]
        if let wait = sum.averageWaitMillis { row["pendingTime"] = .double(wait) }
        return row
    }

    private static func text(_ path: [String]) -> String { "/" + path.joined(separator: "/") }

    private static func text(_ milliseconds: Double) -> String {
        let hundredths = Int((milliseconds * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) ms"
    }
}
