/// Who may call a function. Asked before the function runs; a refusal is `permission-denied`, "Permission Denied".
///
///     OnCall("fortyTwo", authPolicy: isSignedIn()) { ... }
///     OnCall("purge", authPolicy: hasClaim("admin")) { ... }
///     OnCall("own", authPolicy: AuthPolicy { auth, data in auth?.uid == data["owner"]?.string }) { ... }
public struct AuthPolicy: Sendable {
    typealias Check = @Sendable (AuthData?, JSONValue) async throws -> Bool

    enum Rule: Sendable {
        /// Looks at the caller only, so that the data need not be kept for it.
        case caller(@Sendable (AuthData?) -> Bool)
        case callerAndData(Check)
    }

    let rule: Rule

    /// Lets pass those for whom `isAllowed` returns true, given who calls and with what.
    public init(_ isAllowed: @escaping @Sendable (AuthData?, JSONValue) async throws -> Bool) {
        self.rule = .callerAndData(isAllowed)
    }

    init(caller: @escaping @Sendable (AuthData?) -> Bool) { self.rule = .caller(caller) }
}

/// Lets everybody pass who has signed in.
public func isSignedIn() -> AuthPolicy { AuthPolicy(caller: { $0 != nil }) }

/// Lets pass whose ID token has the claim `name`: with `value`, or with any if that is nil.
public func hasClaim(_ name: String, _ value: String? = nil) -> AuthPolicy {
    AuthPolicy(caller: { auth in
        guard let claim = auth?.token[name] else { return false }
        guard let value else { return true }
        return claim.string == value
    })
}
