internal import HearthJSON

/// The users whose creation or deletion runs a function.
public struct UserScope: Sendable {
    /// As the filter `tenantid` has it: nil for all.
    let filter: String?

    /// Users of the project and of every tenant.
    public static let all = UserScope(filter: nil)
    /// Users of the project itself, without those of tenants.
    public static let project = UserScope(filter: "")
    /// Users of one tenant.
    public static func tenant(_ id: String) -> UserScope { UserScope(filter: id) }
}

/// A trigger of users, as the manifest has it.
struct AuthTrigger: Sendable {
    enum Kind: String, Sendable {
        case created, deleted
    }

    let kind: Kind
    let scope: UserScope
    let retry: Bool

    var manifest: JSONValue {
        var trigger: JSONObject = ["eventType": .string("google.firebase.auth.user.v2.\(kind.rawValue)")]
        if let filter = scope.filter { trigger["eventFilters"] = ["tenantid": .string(filter)] }
        trigger["retry"] = .bool(retry)
        return .object(trigger)
    }
}
