public import HearthJSON

/// On whose behalf something is read or written.
public enum Principal: Sendable {
    /// No rules apply; data-model checks and index requirements do.
    case admin
    /// Rules apply with this `auth`: `{"uid", "provider", "token"}`, or nil for somebody who is signed out.
    case user(auth: JSONValue?)

    var isAdmin: Bool {
        if case .admin = self { return true }
        return false
    }
}
