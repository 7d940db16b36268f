/// Which writes run a function.
struct DatabaseTrigger: Sendable {
    enum Kind: String, Sendable {
        case created, updated, deleted, written
    }

    let kind: Kind
    /// The places, with captures: `messages/{pushId}/original`.
    let ref: String
    /// The databases: a name, or a pattern with `*`.
    let instance: String
    /// Whether a failed event is tried again.
    let retry: Bool
    /// The problem with the type of the values; nil for none.
    var problem: String?

    /// As the manifest has it: a plain name is a filter, anything with a wildcard a pattern (spec functions 8.2).
    var manifest: JSONValue {
        var patterns: JSONObject = ["ref": .string(ref.split(separator: "/").joined(separator: "/"))]
        var trigger: JSONObject = ["eventType": .string("google.firebase.database.ref.v1." + kind.rawValue)]
        if instance.contains(where: { $0 == "*" || $0 == "{" }) {
            patterns["instance"] = .string(instance)
        } else {
            trigger["eventFilters"] = ["instance": .string(instance)]
        }
        trigger["eventFilterPathPatterns"] = .object(patterns)
        trigger["retry"] = .bool(retry)
        return .object(trigger)
    }
}
