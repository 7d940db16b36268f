/// Which changes of a value run a function (spec functions 8.1).
public enum TriggerKind: UInt8, Sendable, Hashable, CaseIterable {
    /// There was none, now there is one.
    case created
    /// Another value is there now.
    case updated
    /// There was one, now there is none.
    case deleted
    /// Any of the three.
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

    /// The kind that a manifest names, in the spelling of either generation; nil for events of another service.
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

    /// Whether this can happen to a value that is there, or is not.
    func isPossible(ifThere isThere: Bool) -> Bool {
        switch self {
        case .created: !isThere
        case .updated, .deleted: isThere
        case .written: true
        }
    }

    /// Whether a function of this kind runs for `change`, which is never ``written``.
    func covers(_ change: TriggerKind) -> Bool { self == .written || self == change }
}
