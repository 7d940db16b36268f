import CommandClient

/// A plan for people.
enum PlanTable {
    /// A heading, and a line for each function.
    static func lines(_ plan: DeploymentSummary) -> [String] {
        let rows = plan.changes.map { change in
            [change.function, change.plugin, change.action.rawValue, versions(change), change.reason]
        }
        return TextTable.lines([["Function", "Plugin", "Change", "Version", "Why"]] + rows, indent: "  ") { word, column in
            column == 2 ? painted(word) : word
        }
    }

    /// How many of each: `1 created, 2 updated, 17 unchanged`.
    static func summary(_ plan: DeploymentSummary) -> String {
        let words: [(DeploymentChange.Action, String)] = [
            (.create, "created"), (.update, "updated"), (.delete, "deleted"), (.keep, "kept"), (.unchanged, "unchanged"),
        ]
        return words.compactMap { action, word in
            let count = plan.changes(action).count
            return count == 0 ? nil : "\(count) \(word)"
        }.joined(separator: ", ")
    }

    private static func painted(_ word: String) -> String {
        guard Terminal.hasColour, let action = DeploymentChange.Action(rawValue: word) else { return word }
        switch action {
        case .create: return "\u{1B}[32m\(word)\u{1B}[0m"
        case .update: return "\u{1B}[33m\(word)\u{1B}[0m"
        case .delete: return "\u{1B}[31m\(word)\u{1B}[0m"
        case .keep, .unchanged: return word
        }
    }

    private static func versions(_ change: DeploymentChange) -> String {
        switch (change.fromVersion, change.toVersion) {
        case (let from?, let to?) where from != to: "\(from) -> \(to)"
        case (let from?, _): "\(from)"
        case (nil, let to?): "\(to)"
        case (nil, nil): ""
        }
    }
}
