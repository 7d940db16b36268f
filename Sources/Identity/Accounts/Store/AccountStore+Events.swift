import HearthJSON
import RealtimeDatabase
import Store

/// A user that an operation has created or deleted.
enum UserChange {
    case created(tenant: String, uid: String)
    /// The record before.
    case deleted(UserRecord)
}

/// Events of users. They are stored in the transaction that changes the user: neither is there without the other, whenever the host ends.
extension AccountStore {
    /// Adds a new user, which runs functions. An import does not use this.
    func create(_ user: UserRecord) throws(AccountFailure) {
        try add(user)
        if triggers?.isEmpty != true { changes.append(.created(tenant: user.tenant, uid: user.uid)) }
    }

    /// Removes a user, which runs functions.
    func delete(_ user: UserRecord) throws(AccountFailure) {
        try remove(user)
        if triggers?.isEmpty != true { changes.append(.deleted(user)) }
    }

    /// Refuses an operation whose events nobody could assign to functions.
    func requireKnownFunctions() throws(AccountFailure) {
        if triggers == nil, !changes.isEmpty { throw .functionsUnknown }
    }

    /// Stores the events of an operation that has succeeded.
    func raiseEvents() throws(StoreError) {
        guard !changes.isEmpty else { return }
        let changes = changes
        self.changes = []
        for change in changes {
            switch change {
            case .created(let tenant, let uid):
                // The record as it is at the end of the operation: with the time of the first sign-in.
                let found: UserRecord?
                do throws(AccountFailure) { found = try user(uid, tenant: tenant) } catch {
                    if case .store(let failure) = error { throw StoreError(failure) }
                    found = nil
                }
                if let found { try raise(.userCreated, found) }
            case .deleted(let user): try raise(.userDeleted, user)
            }
        }
    }

    private func raise(_ kind: TriggerKind, _ user: UserRecord) throws(StoreError) {
        var event: UserEvent?
        for trigger in triggers ?? [] where trigger.kind == kind && (trigger.tenant ?? user.tenant) == user.tenant {
            let made = event ?? UserEvent(
                tenant: user.tenant, uid: user.uid, record: JSONValue.object(user.fields).serialized(), time: now)
            event = made
            try outbox.raise(made, for: trigger)
        }
    }
}
