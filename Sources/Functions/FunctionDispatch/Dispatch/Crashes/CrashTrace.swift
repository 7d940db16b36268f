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
        var isAuthors: Bool {
            (line > 0 || file.isEmpty) && !file.hasSuffix("<compiler-generated>") && !CrashTrace.foreignSymbols.contains { symbol.hasPrefix($0) }
        }
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
        var name = CallName.readable(call.name)
        for module in usualModules { name = name.replacing(module, with: "") }
        name = shortened(name)
        return call.line > 0 ? "\(name) at \(call.file):\(call.line)" : name
    }

    /// Cuts a long name between two words.
    private static func shortened(_ name: String) -> String {
        guard name.count > nameLengthMax else { return name }
        let start = name.prefix(nameLengthMax)
        return start[..<(start.lastIndex(of: " ") ?? start.endIndex)] + " ..."
    }
}

/// Makes a name that Swift's demangler prints readable: `closure #3 (CallableRequest<Int>) -> Int in Greetings.functions`.
enum CallName {
    /// Words in front of a name that tell what the compiler made of the function, and not which one it is.
    private static let makings = ["merged ", "partial apply forwarder for ", "partial apply for ", "outlined ", "specialized "]
    private static let attributes = ["@Sendable ", "@escaping ", "@objc ", "@isolated(any) ", "nonisolated(nonsending) ", "sending "]
    private static let partOf = " partial function for "
    private static let specialization = " specialization <"
    private static let initialValue = "variable initialization expression of "

    static func readable(_ name: Substring) -> String {
        var text = withoutMakings(name)
        for attribute in attributes { text = text.replacing(attribute, with: "")[...] }
        // Closures of a variable's first value are nested in those that build its list: only the variable's name helps.
        let scopes = text.split(separator: " in ")
        guard let first = scopes.first, let last = scopes.last, scopes.count > 1 else { return String(text) }
        if last.hasPrefix(initialValue) { return "\(first) in \(withoutType(last.dropFirst(initialValue.count)))" }
        if let getter = last.firstRange(of: ".getter : ") { return "\(first) in \(last[..<getter.lowerBound])" }
        return String(text)
    }

    /// Without `function signature specialization <Arg[0] = Dead> of `, `(1) suspend resume partial function for ` and the like.
    private static func withoutMakings(_ name: Substring) -> Substring {
        var rest = name
        while true {
            let before = rest.count
            for making in makings where rest.hasPrefix(making) { rest = rest.dropFirst(making.count) }
            if rest.hasPrefix("("), let end = rest.firstRange(of: partOf), !rest[..<end.lowerBound].contains("<") { rest = rest[end.upperBound...] }
            if let start = rest.firstRange(of: specialization), isWords(rest[..<start.lowerBound]), let end = closing(rest[start.upperBound...]),
                rest[end...].hasPrefix("> of ")
            {
                rest = rest[end...].dropFirst("> of ".count)
            }
            if rest.count == before { return rest }
        }
    }

    private static func isWords(_ text: Substring) -> Bool { text.allSatisfy { $0.isLetter || $0 == " " || $0 == "-" } }

    /// The place of the bracket that closes what was opened before `text`; the one of an arrow is none.
    private static func closing(_ text: Substring) -> Substring.Index? {
        var depth = 1
        var isArrow = false
        for index in text.indices {
            if text[index] == "<" { depth += 1 }
            if text[index] == ">", !isArrow { depth -= 1 }
            if depth == 0 { return index }
            isArrow = text[index] == "-"
        }
        return nil
    }

    private static func withoutType(_ variable: Substring) -> Substring {
        variable.firstRange(of: " : ").map { variable[..<$0.lowerBound] } ?? variable
    }
}
