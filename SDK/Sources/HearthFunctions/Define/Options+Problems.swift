extension Options {
    /// What is out of range, each without a point at its end. The bounds are those of spec functions 9.
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
