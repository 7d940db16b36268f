extension Functions {
    /// What is wrong with these definitions, a sentence each; the plugin does not load while there is any.
    var problems: [String] {
        var problems: [String] = []
        var names: Set<String> = []
        for definition in definitions {
            if !names.insert(definition.name).inserted {
                problems.append("Two functions have the name \"\(definition.name)\".")
            }
            problems += definition.problems
        }
        if definitions.isEmpty { problems.append("The plugin defines no functions.") }
        for param in params where !FunctionDefinition.isVariableName(param.name) {
            problems.append("The parameter \"\(param.name)\" must be named in capital letters, digits and underscores.")
        }
        return problems
    }
}

extension FunctionDefinition {
    fileprivate var problems: [String] {
        var found = options.problems
        if generation == .first {
            if let cpu = options.cpu { found.append("cpu is \(cpu), but a first-generation function has no such option") }
            if let concurrency = options.concurrency, concurrency != 1 {
                found.append("concurrency is \(concurrency), but a first-generation function takes one call at a time")
            }
        }
        if case .database(let trigger) = trigger {
            if let problem = trigger.problem { found.append(problem) }
            if trigger.instance.isEmpty { found.append("its instance is empty; \"*\" stands for every database") }
            if let timeout = options.timeoutSeconds, timeout > 540 {
                found.append("timeoutSeconds is \(timeout), but a function that runs on events has at most 540")
            }
        }
        if !Self.isFunctionName(name) {
            found.insert("its name must be a letter, then at most 62 letters, digits, dashes and underscores", at: 0)
        }
        return found.map { "Function \"\(name)\": \($0)." }
    }

    /// `^[a-zA-Z][a-zA-Z0-9_-]{0,62}$`, spec functions 9.
    private static func isFunctionName(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isLetter, name.utf8.count <= 63 else { return false }
        return name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !first.isDigit else { return false }
        return name.utf8.allSatisfy { $0.isUppercase || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
}

extension UInt8 {
    fileprivate var isUppercase: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
    fileprivate var isLetter: Bool { (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z") }
    fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}
