import FunctionWorker

/// The calls that led to a crash, as its reader wants them: the plugin's own functions with file and line.
struct CrashTrace: Equatable {
    /// The message of a check of Swift's that the optimizer removed, for example `index out of range`.
    private(set) var failure: String?
    /// The innermost call first: `static Faults.outOfRange() -> Swift.Int at Endings.swift:7`.
    private(set) var calls: [String] = []

    /// How many calls a line of the log shows.
    private static let callsMax = 16
    private static let nameLengthMax = 200
    private static let failureMark = "Swift runtime failure: "
    /// Symbols of what is in each plugin and not its author's: Swift's runtime and library, and the SDK.
    private static let foreignSymbols = [
        "swift_", "_swift_", "__swift_", "_ZN5swift", "_ZNK5swift", "_ZL", "_ZNSt", "$ss", "$sS", "$s12_Concurrency", "$s15HearthFunctions",
        "$s10HearthJSON", "$s11HearthBytes", "hearth_plugin_entry",
    ]
    /// Modules whose names say nothing to the reader of a name.
    private static let usualModules = ["Swift.", "_Concurrency.", "HearthFunctions.", "HearthJSON.", "HearthBytes.", "__C."]

    private struct Call {
        var symbol: Substring
        var name: Substring
        var file: Substring
        var line: Int
        /// Glue that the compiler made has no line.
        var isAuthors: Bool { (line > 0 || file.isEmpty) && !CrashTrace.foreignSymbols.contains { symbol.hasPrefix($0) } }
    }

    /// - Parameters:
    ///   - answer: what ``SymbolizerProcess`` printed for the frames that are in the plugin's library.
    ///   - unnamed: what stands for a frame of which it knows nothing.
    init(answer: String, unnamed: [String]) {
        var found: [Call] = []
        for line in answer.split(separator: "\n") {
            let words = line.split(separator: "\t", maxSplits: 4, omittingEmptySubsequences: false)
            guard words.count == 5, let frame = Int(words[0]), words[1] != "??" else { continue }
            if words[1].hasPrefix(Self.failureMark) {
                if frame == 0, failure == nil { failure = String(words[1].dropFirst(Self.failureMark.count)) }
            } else {
                found.append(Call(symbol: words[1], name: words[2], file: words[3], line: Int(words[4]) ?? 0))
            }
        }
        let own = found.filter(\.isAuthors)
        calls = (own.isEmpty ? found : own).prefix(Self.callsMax).map(Self.text)
        if calls.isEmpty { calls = Array(unnamed.prefix(Self.callsMax)) }
    }

    private static func text(_ call: Call) -> String {
        var name = String(call.name)
        for module in usualModules { name = name.replacing(module, with: "") }
        if name.count > nameLengthMax { name = name.prefix(nameLengthMax) + "..." }
        return call.line > 0 ? "\(name) at \(call.file):\(call.line)" : name
    }
}
