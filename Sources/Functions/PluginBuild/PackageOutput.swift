/// Takes apart what `swift build` writes to something that is no terminal: steps on one side, all that a person has to read on the other.
struct PackageOutput {
    /// A line of `[3/5] Compiling Messages Sanitize.swift`.
    struct Step: Equatable {
        var number: Int
        var count: Int
        var text: String
    }

    /// What was written apart from progress; complete once ``finish()`` was called.
    private(set) var diagnostics: [UInt8] = []
    private var partial: [UInt8] = []

    /// Beyond this, a build says nothing that anybody would read.
    static let diagnosticsBytesMax = 4 << 20

    /// Hands on the steps, and the package manager's own remarks as steps without number.
    mutating func read(_ bytes: [UInt8], _ step: (Step) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            partial += rest[..<end]
            line(partial, step)
            partial.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        partial += rest
        // A line that never ends is not kept.
        if partial.count > Self.diagnosticsBytesMax { partial.removeAll() }
    }

    /// Takes what has no end of line.
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

    /// How the package manager's lines begin that say how far it is and have no number.
    private static let remarks = [
        "Building for ", "Build of product ", "Build complete!", "Compiling plugin ", "Building ", "Fetching ", "Fetched ", "Updating ",
        "Updated ", "Computing version for ", "Computed ", "Creating working copy ", "Working copy of ", "Downloading ", "Downloaded ",
        "Another instance of SwiftPM", "Planning build", "info: ",
    ]

    /// The numbers and the text of `[3/5] text`; nil for everything else.
    static func step(_ line: [UInt8]) -> Step? {
        guard line.first == UInt8(ascii: "["), let slash = line.firstIndex(of: UInt8(ascii: "/")),
            let end = line.firstIndex(of: UInt8(ascii: "]")), slash < end, end + 1 < line.count, line[end + 1] == UInt8(ascii: " "),
            let number = Int(String(decoding: line[1..<slash], as: UTF8.self)), number >= 0,
            let count = Int(String(decoding: line[(slash + 1)..<end], as: UTF8.self)), count >= number
        else { return nil }
        return Step(number: number, count: count, text: String(decoding: line[(end + 2)...], as: UTF8.self))
    }
}
