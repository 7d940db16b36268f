/// Splits the output of `swift build` into steps and diagnostics. The output must not go to a terminal.
struct PackageOutput {
    /// A line of `[3/5] Compiling Messages Sanitize.swift`.
    struct Step: Equatable {
        var number: Int
        var count: Int
        var text: String
    }

    /// Output other than progress; complete after ``finish()``.
    private(set) var diagnostics: [UInt8] = []
    private var partial: [UInt8] = []

    /// More diagnostics are dropped.
    static let diagnosticsBytesMax = 4 << 20

    /// Reports steps, and the package manager's remarks as steps without a number.
    mutating func read(_ bytes: [UInt8], _ step: (Step) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            partial += rest[..<end]
            line(partial, step)
            partial.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        partial += rest
        // Drops an endless line.
        if partial.count > Self.diagnosticsBytesMax { partial.removeAll() }
    }

    /// Handles the last line if it has no line feed.
    mutating func finish(_ step: (Step) -> Void) {
        if !partial.isEmpty { line(partial, step) }
        partial = []
    }

    private mutating func line(_ line: [UInt8], _ step: (Step) -> Void) {
        if let found = Self.step(line) { return step(found) }
        let text = String(decoding: line, as: UTF8.self)
        if Self.remarks.contains(where: text.hasPrefix) { return step(Step(number: 0, count: 0, text: text)) }
        if diagnostics.isEmpty && line.isEmpty { return }
        guard diagnostics.count + line.count < Self.diagnosticsBytesMax else { return }
        diagnostics += line
        diagnostics.append(UInt8(ascii: "\n"))
    }

    /// Beginnings of the package manager's progress lines without a number.
    private static let remarks = [
        "Building for ", "Build of product ", "Build complete!", "Compiling plugin ", "Building ", "Fetching ", "Fetched ", "Updating ",
        "Updated ", "Computing version for ", "Computed ", "Creating working copy ", "Working copy of ", "Downloading ", "Downloaded ",
        "Another instance of SwiftPM", "Planning build", "info: ",
    ]

    /// The numbers and the text of `[3/5] text`; nil for other lines.
    static func step(_ line: [UInt8]) -> Step? {
        guard line.first == UInt8(ascii: "["), let slash = line.firstIndex(of: UInt8(ascii: "/")),
            let end = line.firstIndex(of: UInt8(ascii: "]")), slash < end, end + 1 < line.count, line[end + 1] == UInt8(ascii: " "),
            let number = Int(String(decoding: line[1..<slash], as: UTF8.self)), number >= 0,
            let count = Int(String(decoding: line[(slash + 1)..<end], as: UTF8.self)), count >= number
        else { return nil }
        return Step(number: number, count: count, text: String(decoding: line[(end + 2)...], as: UTF8.self))
    }
}
