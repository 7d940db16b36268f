import CommandClient

/// A plan for people.
enum PlanTable {
    /// A heading, and a line for each function.
    static func lines(_ plan: DeploymentPlan) -> [String] {
        let rows = plan.changes.map { change in
            [change.function, change.plugin, word(change.action), versions(change), change.reason]
        }
        return TextTable.lines([["Function", "Plugin", "Change", "Version", "Why"]] + rows, indent: "  ")
    }

    /// How many of each: `1 created, 2 updated, 17 unchanged`.
    static func summary(_ plan: DeploymentPlan) -> String {
        let words: [(DeploymentChange.Action, String)] = [
            (.create, "created"), (.update, "updated"), (.delete, "deleted"), (.keep, "kept"), (.unchanged, "unchanged"),
        ]
        return words.compactMap { action, word in
            let count = plan.changes(action).count
            return count == 0 ? nil : "\(count) \(word)"
        }.joined(separator: ", ")
    }

    private static func word(_ action: DeploymentChange.Action) -> String { action.rawValue }

    private static func versions(_ change: DeploymentChange) -> String {
        switch (change.fromVersion, change.toVersion) {
        case (let from?, let to?) where from != to: "\(from) -> \(to)"
        case (let from?, _): "\(from)"
        case (nil, let to?): "\(to)"
        case (nil, nil): ""
        }
    }
}
