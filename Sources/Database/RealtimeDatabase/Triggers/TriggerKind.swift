/// The kind of changes that trigger a function (spec functions 8.1).
public enum TriggerKind: UInt8, Sendable, Hashable, CaseIterable {
    /// The value did not exist, and exists now.
    case created
    /// The value existed, and has changed.
    case updated
    /// The value existed, and no longer exists.
    case deleted
    /// Any of the other three.
    case written

    /// The type of a CloudEvent.
    public var cloudEventType: String { "google.firebase.database.ref.v1.\(name)" }

    /// The type of a first-generation event.
    public var legacyType: String {
        let verb = switch self {
        case .created: "create"
        case .updated: "update"
        case .deleted: "delete"
        case .written: "write"
        }
        return "providers/google.firebase.database/eventTypes/ref.\(verb)"
    }

    /// The kind in a manifest, by its name in either generation; nil for events of other services.
    public init?(eventType: String) {
        guard let kind = Self.allCases.first(where: { $0.cloudEventType == eventType || $0.legacyType == eventType }) else { return nil }
        self = kind
    }

    private var name: String {
        switch self {
        case .created: "created"
        case .updated: "updated"
        case .deleted: "deleted"
        case .written: "written"
        }
    }

    /// Whether this can happen to an existing or a nonexistent value.
    func isPossible(ifThere isThere: Bool) -> Bool {
        switch self {
        case .created: !isThere
        case .updated, .deleted: isThere
        case .written: true
        }
    }

    /// Whether `change` triggers a function of this kind. It is never ``written``.
    func covers(_ change: TriggerKind) -> Bool { self == .written || self == change }
}
