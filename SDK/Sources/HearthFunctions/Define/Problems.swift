extension Functions {
    /// The problems of these definitions, a sentence each. The plugin loads only without any.
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
        var found = options.problems + problemsOfContent
        if generation == .first {
            if let cpu = options.cpu { found.append("cpu is \(cpu), but a first-generation function has no such option") }
            if let concurrency = options.concurrency, concurrency != 1 {
                found.append("concurrency is \(concurrency), but a first-generation function takes one call at a time")
            }
        }
        if case .database(let trigger) = trigger {
            if let problem = trigger.problem { found.append(problem) }
            if trigger.instance.isEmpty { found.append("its instance is empty; \"*\" stands for every database") }
        }
        if case .blocking = trigger, let timeout = options.timeoutSeconds, timeout > BlockingDefinition.timeoutSecondsMax {
            found.append("timeoutSeconds is \(timeout), but a function that sign-ins wait for has at most \(BlockingDefinition.timeoutSecondsMax)")
        }
        if case .schedule(let trigger) = trigger {
            found += trigger.problems
            if let timeout = options.timeoutSeconds, timeout > ScheduleDefinition.timeoutSecondsMax {
                found.append("timeoutSeconds is \(timeout), but a scheduled function has at most \(ScheduleDefinition.timeoutSecondsMax)")
            }
        }
        if case .taskQueue(let trigger) = trigger {
            found += trigger.problems
            if let timeout = options.timeoutSeconds, timeout > TaskQueueDefinition.timeoutSecondsMax {
                found.append(
                    "timeoutSeconds is \(timeout), but a function with a task queue has at most \(TaskQueueDefinition.timeoutSecondsMax)")
            }
        }
        if isEvent, let timeout = options.timeoutSeconds, timeout > 540 {
            found.append("timeoutSeconds is \(timeout), but a function that runs on events has at most 540")
        }
        if case .http = trigger {} else if options.invoker != nil { found.append("invoker is given, but is for functions of OnRequest only") }
        if !Self.isFunctionName(name) {
            found.insert("its name must be a letter, then at most 62 letters, digits, dashes and underscores", at: 0)
        }
        return found.map { "Function \"\(name)\": \($0)." }
    }

    private var isEvent: Bool {
        switch trigger {
        case .database, .user: true
        case .callable, .http, .blocking, .schedule, .taskQueue: false
        }
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

extension Options {
    /// The options that are out of range, each as a phrase without a full stop. The bounds are those of spec functions 9.
    var problems: [String] {
        var problems: [String] = []
        func check(_ isFine: Bool, _ problem: @autoclosure () -> String) {
            if !isFine { problems.append(problem()) }
        }
        if let timeoutSeconds {
            check((0...3600).contains(timeoutSeconds), "timeoutSeconds is \(timeoutSeconds), but must be from 0 to 3600")
        }
        if let concurrency {
            check((1...1000).contains(concurrency), "concurrency is \(concurrency), but must be from 1 to 1000")
            check(
                concurrency <= 1 || (cpu ?? 1) >= 1,
                "concurrency is \(concurrency), but above 1 only works with a cpu of 1 or more")
        }
        if let minInstances {
            check(minInstances >= 0, "minInstances is \(minInstances), but must not be negative")
        }
        if let maxInstances {
            check(maxInstances >= 1, "maxInstances is \(maxInstances), but must be 1 or more")
            check(
                maxInstances >= (minInstances ?? 0),
                "maxInstances is \(maxInstances), but minInstances is \(minInstances ?? 0)")
        }
        if case .every(let seconds) = heartbeatSeconds {
            check((0...3600).contains(seconds), "heartbeatSeconds is \(seconds), but must be from 0 to 3600")
        }
        if let region { check(!region.isEmpty && !region.contains(""), "region must not be empty") }
        problems += processorProblems + secretProblems + labelProblems
        return problems
    }

    private var processorProblems: [String] {
        guard let cpu else { return [] }
        guard (cpu >= 0.08 && cpu <= 1) || [2, 4, 6, 8].contains(cpu) else {
            return ["cpu is \(cpu), but must be from 0.08 to 1, or 2, 4, 6 or 8"]
        }
        guard let memory else { return [] }
        if memory.rawValue > 1024, cpu < 1 { return ["cpu is \(cpu), but more than 1 GiB of memory needs at least 1"] }
        if memory.rawValue > 512, cpu < 0.5 { return ["cpu is \(cpu), but more than 512 MiB of memory needs at least 0.5"] }
        let needed = cpu == 8 ? 4096 : cpu == 6 ? 3072 : cpu == 4 ? 2048 : 0
        return memory.rawValue < needed ? ["cpu is \(cpu), which needs at least \(needed) MiB of memory"] : []
    }

    private var secretProblems: [String] {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        return (secrets ?? []).filter { $0.name.isEmpty || !$0.name.utf8.allSatisfy(allowed.contains) }
            .map { "the secret \"\($0.name)\" must be named in letters, digits, dashes and underscores" }
    }

    private var labelProblems: [String] {
        guard let labels else { return [] }
        var problems = labels.count > 58 ? ["\(labels.count) labels are given, but 58 are the most"] : []
        for (key, value) in labels.sorted(by: { $0.key < $1.key }) {
            if !Self.isLabelText(key) || key.first.map(\.isLetter) != true {
                problems.append("the label \"\(key)\" must be 1 to 63 lower-case letters, digits, dashes and underscores")
            } else if key.hasPrefix("deployment") || key.hasPrefix("firebase") {
                problems.append("the label \"\(key)\" begins with a reserved word")
            }
            if !value.isEmpty, !Self.isLabelText(value) {
                problems.append("the label \"\(key)\" has the value \"\(value)\", which is not allowed in labels")
            }
        }
        return problems
    }

    private static func isLabelText(_ text: String) -> Bool {
        (1...63).contains(text.unicodeScalars.count)
            && text.allSatisfy { ($0.isLetter && !$0.isUppercase) || $0.isNumber || $0 == "-" || $0 == "_" }
    }
}
