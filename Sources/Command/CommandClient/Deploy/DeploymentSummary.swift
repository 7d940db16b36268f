public import HearthJSON

/// The effect of a deployment on one function.
public struct DeploymentChange: Sendable, Hashable {
    /// The kind of change.
    public enum Action: String, Sendable {
        case create, update, delete, unchanged
        /// The plugin no longer contains it, but it is kept.
        case keep
    }

    /// The name in its URL.
    public let function: String
    /// The plugin's name in `functions.json`; empty if unknown.
    public let plugin: String
    /// The kind of change.
    public let action: Action
    /// The reason, in a few words.
    public let reason: String
    /// The version that gets calls before; nil for a new function.
    public let fromVersion: Int?
    /// The version that gets calls afterwards; nil for a deleted function.
    public let toVersion: Int?

    /// A change in the host's answer.
    public init(function: String, plugin: String, action: Action, reason: String = "", fromVersion: Int? = nil, toVersion: Int? = nil) {
        self.function = function
        self.plugin = plugin
        self.action = action
        self.reason = reason
        self.fromVersion = fromVersion
        self.toVersion = toVersion
    }

    /// The form for programs.
    public var json: JSONValue {
        var object: JSONObject = JSONObject([("function", .string(function)), ("plugin", .string(plugin)), ("action", .string(action.rawValue))])
        if !reason.isEmpty { object["reason"] = .string(reason) }
        if let fromVersion { object["fromVersion"] = .int(Int64(fromVersion)) }
        if let toVersion { object["toVersion"] = .int(Int64(toVersion)) }
        return .object(object)
    }
}

/// The planned or completed changes of a deployment.
public struct DeploymentSummary: Sendable, Hashable {
    /// The number of the deployment; nil if nothing was done.
    public let deployment: Int?
    /// The revision it was planned for, or that it created.
    public let revision: Int
    /// Sorted for reading: changes first, then unchanged functions.
    public private(set) var changes: [DeploymentChange]

    /// A summary with sorted changes.
    public init(deployment: Int? = nil, revision: Int, changes: [DeploymentChange]) {
        self.deployment = deployment
        self.revision = revision
        self.changes = changes.sorted { left, right in
            (Self.rank(left.action), left.function) < (Self.rank(right.action), right.function)
        }
    }

    /// - Returns: nil if the answer is not a plan.
    init?(_ json: JSONValue) {
        guard let revision = json["revision"]?.int, let changes = json["changes"]?.array else { return nil }
        var read: [DeploymentChange] = []
        for change in changes {
            guard let function = change["function"]?.string, let action = change["action"]?.string.flatMap(DeploymentChange.Action.init)
            else { return nil }
            read.append(
                DeploymentChange(
                    function: function, plugin: change["plugin"]?.string ?? "", action: action, reason: change["reason"]?.string ?? "",
                    fromVersion: change["fromVersion"]?.int, toVersion: change["toVersion"]?.int))
        }
        self.init(deployment: json["deployment"]?.int, revision: revision, changes: read)
    }

    private static func rank(_ action: DeploymentChange.Action) -> Int {
        switch action {
        case .create: 0
        case .update: 1
        case .delete: 2
        case .keep: 3
        case .unchanged: 4
        }
    }

    /// The changes with one of these actions.
    public func changes(_ actions: DeploymentChange.Action...) -> [DeploymentChange] { changes.filter { actions.contains($0.action) } }

    /// The summary of the selected functions only.
    public func keeping(_ isMeant: (DeploymentChange) -> Bool) -> DeploymentSummary {
        DeploymentSummary(deployment: deployment, revision: revision, changes: changes.filter(isMeant))
    }

    /// The summary with vanished functions kept.
    public var withoutDeletions: DeploymentSummary {
        DeploymentSummary(
            deployment: deployment, revision: revision,
            changes: changes.map { change in
                guard change.action == .delete else { return change }
                return DeploymentChange(
                    function: change.function, plugin: change.plugin, action: .keep, reason: change.reason, fromVersion: change.fromVersion)
            })
    }

    /// Whether anything changes.
    public var changesAnything: Bool { changes.contains { $0.action != .unchanged && $0.action != .keep } }
}
