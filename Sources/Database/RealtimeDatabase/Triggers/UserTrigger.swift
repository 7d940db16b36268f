public import Store
public import Tree

/// A function that runs when a user is created or deleted.
public struct UserTrigger: Sendable, Hashable {
    /// The function's name, unique in the host.
    public var function: String
    /// ``TriggerKind/userCreated`` or ``TriggerKind/userDeleted``.
    public var kind: TriggerKind
    /// The tenant whose users count: empty for users of no tenant, nil for all users.
    public var tenant: String?

    /// A trigger for the users of one tenant, or for all.
    public init(function: String, kind: TriggerKind, tenant: String?) {
        self.function = function
        self.kind = kind
        self.tenant = tenant
    }
}

/// The event of a user that was created or deleted, before it has a place in the outbox.
public struct UserEvent: Sendable {
    /// The tenant of the user; empty for none.
    public var tenant: String
    /// The user's id.
    public var uid: String
    /// The record of the user, in JSON.
    public var record: [UInt8]
    /// In milliseconds since 1970.
    public var time: Int64

    /// An event of the user `uid`.
    public init(tenant: String, uid: String, record: [UInt8], time: Int64) {
        self.tenant = tenant
        self.uid = uid
        self.record = record
        self.time = time
    }

    /// `/users/UID` or `/tenants/TENANT/users/UID`: events of one path are delivered in order. Characters that keys of a database cannot have are
    /// percent-encoded.
    public var path: Path { Self.path(tenant: tenant, uid: uid) }

    /// The path of a user's events.
    public static func path(tenant: String, uid: String) -> Path {
        Path((tenant.isEmpty ? [] : ["tenants", key(tenant)]) + ["users", key(uid)])
    }

    private static func key(_ text: String) -> String {
        var key = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%", ".", "#", "$", "/", "[", "]", "\0"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                key += "%\(digits.count < 2 ? "0" : "")\(digits)"
            default: key.unicodeScalars.append(scalar)
            }
        }
        return key
    }

    /// The subject of the event: `users/UID`.
    public static func subject(of path: Path) -> String { path.segments.suffix(2).joined(separator: "/") }
}

extension Outbox {
    /// The name under which the events of users are announced and delivered. It cannot be the name of a database.
    public static let users = "(users)"

    /// The name under which the events of schedules are announced and delivered.
    public static let schedules = "(schedules)"

    /// The name under which tasks are announced and delivered.
    public static let tasks = "(tasks)"

    /// The tables of an outbox in another store than that of a namespace, as additions to its schema.
    public static let tables = [Keyspace.outbox, .deadLetters, .meta].map {
        "CREATE TABLE IF NOT EXISTS \($0.table) (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
    }.joined()

    /// Appends the event of a user for one function. To be called in the transaction that changes the user.
    public func raise(_ event: UserEvent, for trigger: UserTrigger) throws(StoreError) {
        let id = nextID()
        let params = event.tenant.isEmpty ? [] : [EventParameter(name: "tenantId", value: event.tenant)]
        try append(
            OutboxEvent(
                sequence: 0, id: id, namespace: namespace, function: trigger.function, kind: trigger.kind, path: event.path, params: params,
                payload: event.record, time: event.time, origin: EventOrigin(.unknown), chain: EventChain(), trace: nil,
                progress: DeliveryProgress(since: event.time)))
    }
}
