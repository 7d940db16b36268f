/// The trigger of a function: a change of a value in a database (spec functions 8.1) or of a user, a due time, or a task.
public enum TriggerKind: UInt8, Sendable, Hashable, CaseIterable {
    /// The value did not exist, and exists now.
    case created
    /// The value existed, and has changed.
    case updated
    /// The value existed, and no longer exists.
    case deleted
    /// Any of the other three.
    case written
    /// A user was created.
    case userCreated
    /// A user was deleted.
    case userDeleted
    /// A schedule is due.
    case scheduled
    /// A task of a queue.
    case task

    /// The kinds of changes of values.
    public static let ofValues: [TriggerKind] = [.created, .updated, .deleted, .written]

    /// Whether it is a change of a value in a database.
    public var isOfValues: Bool { Self.ofValues.contains(self) }

    /// Whether it is a change of a user.
    public var isOfUsers: Bool { self == .userCreated || self == .userDeleted }

    /// The type of a CloudEvent.
    public var cloudEventType: String {
        switch self {
        case .created: "google.firebase.database.ref.v1.created"
        case .updated: "google.firebase.database.ref.v1.updated"
        case .deleted: "google.firebase.database.ref.v1.deleted"
        case .written: "google.firebase.database.ref.v1.written"
        case .userCreated: "google.firebase.auth.user.v2.created"
        case .userDeleted: "google.firebase.auth.user.v2.deleted"
        case .scheduled: "google.cloud.scheduler.job.v1.executed"
        case .task: "google.cloud.tasks.task.v2.dispatched"
        }
    }

    /// The type of a first-generation event.
    public var legacyType: String {
        switch self {
        case .created: "providers/google.firebase.database/eventTypes/ref.create"
        case .updated: "providers/google.firebase.database/eventTypes/ref.update"
        case .deleted: "providers/google.firebase.database/eventTypes/ref.delete"
        case .written: "providers/google.firebase.database/eventTypes/ref.write"
        case .userCreated: "providers/firebase.auth/eventTypes/user.create"
        case .userDeleted: "providers/firebase.auth/eventTypes/user.delete"
        case .scheduled: "google.pubsub.topic.publish"
        case .task: "google.cloud.tasks.task.v2.dispatched"
        }
    }

    /// The name that first-generation events of users have as CloudEvents.
    private var convertedType: String? {
        switch self {
        case .userCreated: "google.firebase.auth.user.v1.created"
        case .userDeleted: "google.firebase.auth.user.v1.deleted"
        default: nil
        }
    }

    /// The kind in a manifest, by its name in either generation; nil for events of other services.
    public init?(eventType: String) {
        let kind = Self.allCases.first { kind in
            // A function gets neither due times nor tasks by an event trigger.
            kind != .scheduled && kind != .task
                && (kind.cloudEventType == eventType || kind.legacyType == eventType || kind.convertedType == eventType)
        }
        guard let kind else { return nil }
        self = kind
    }

    /// Whether this can happen to an existing or a nonexistent value.
    func isPossible(ifThere isThere: Bool) -> Bool {
        switch self {
        case .created: !isThere
        case .updated, .deleted: isThere
        case .written: true
        case .userCreated, .userDeleted, .scheduled, .task: false
        }
    }

    /// Whether `change` triggers a function of this kind. It is never ``written``.
    func covers(_ change: TriggerKind) -> Bool { self == .written || self == change }
}
