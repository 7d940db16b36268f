import AdminProtocol

/// A summary as a plan for people.
extension DeploymentSummary {
    /// The summary with changes first, then unchanged functions.
    package var sorted: DeploymentSummary {
        var summary = self
        summary.changes.sort { (Self.rank($0.action), $0.function) < (Self.rank($1.action), $1.function) }
        return summary
    }

    private static func rank(_ action: FunctionChange.Action) -> Int {
        switch action {
        case .create: 0
        case .update: 1
        case .delete: 2
        case .keep: 3
        case .unchanged: 4
        }
    }

    /// The changes with one of these actions.
    package func changes(_ actions: FunctionChange.Action...) -> [FunctionChange] { changes.filter { actions.contains($0.action) } }

    /// The summary of the selected functions only.
    package func keeping(_ isSelected: (FunctionChange) -> Bool) -> DeploymentSummary {
        DeploymentSummary(deployment: deployment, revision: revision, changes: changes.filter(isSelected))
    }

    /// The summary with vanished functions kept.
    package var withoutDeletions: DeploymentSummary {
        var summary = self
        summary.changes = changes.map { change in
            guard change.action == .delete else { return change }
            return FunctionChange(
                function: change.function, plugin: change.plugin, action: .keep, reason: change.reason, fromVersion: change.fromVersion)
        }
        return summary.sorted
    }

    /// Whether anything changes.
    package var changesAnything: Bool { changes.contains(where: \.isChange) }
}
