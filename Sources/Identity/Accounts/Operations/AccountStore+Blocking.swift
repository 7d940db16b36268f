import HearthJSON

/// Functions that decide about sign-ups and sign-ins.
extension AccountStore {
    /// The id of a new user.
    func newIdentifier() -> String { pass?.uid ?? SecretText.identifier() }

    /// Adds a new user as the function `beforeCreate` wants it. Returns the user.
    func createDecided(_ user: UserRecord, method: String) throws(AccountFailure) -> UserRecord {
        var user = user
        // A function is not asked about what the limits refuse.
        try requireSignUps()
        if try rules(of: user.tenant).forbidsSignUp { throw AccountFailure("ADMIN_ONLY_OPERATION") }
        _ = try decide(.beforeCreate, &user, isNew: true, method: method, secondFactor: nil, attributes: JSONObject())
        try create(user)
        return user
    }

    /// Lets the function `beforeSignIn` decide, and stores its changes.
    ///
    /// - Returns: the claims of the session.
    func decideSignIn(
        _ user: inout UserRecord, isNew: Bool, method: String, secondFactor: String? = nil, attributes: JSONObject
    ) throws(AccountFailure) -> JSONObject {
        if user.isDisabled { throw isNew ? .counted(Self.isDisabled) : .refused(Self.isDisabled) }
        let claims = try decide(.beforeSignIn, &user, isNew: isNew, method: method, secondFactor: secondFactor, attributes: attributes)
        guard user.isDisabled else { return claims }
        // The function has disabled the user, who stays so.
        try put(user)
        throw .counted(Self.isDisabled)
    }

    private static var isDisabled: AuthError { AuthError("USER_DISABLED") }

    /// Applies the decision of a function, if there is one for such operations.
    private func decide(
        _ kind: BlockingKind, _ user: inout UserRecord, isNew: Bool, method: String, secondFactor: String?, attributes: JSONObject
    ) throws(AccountFailure) -> JSONObject {
        guard let pass, pass.kinds.contains(kind), method != "anonymous", method != "custom" else { return JSONObject() }
        guard let decision = pass.decisions[kind], decision.isAbout(user, isNew: isNew) else {
            throw .undecided(
                BlockingQuestion(
                    kind: kind, user: user, isNew: isNew, method: pass.method ?? method, secondFactor: secondFactor, attributes: attributes))
        }
        switch decision.verdict {
        // A user who was created stays: only the sign-in is refused.
        case .refused(let error): throw isNew && kind == .beforeSignIn ? .counted(error) : .refused(error)
        case .changes(let changes):
            changes.apply(to: &user)
            return changes.sessionClaims
        }
    }
}

extension BlockingChanges {
    fileprivate func apply(to user: inout UserRecord) {
        if let displayName { user.displayName = displayName.isEmpty ? nil : displayName }
        if let photoURL { user.photoURL = photoURL.isEmpty ? nil : photoURL }
        if let isDisabled { user.isDisabled = isDisabled }
        if let isEmailVerified { user.isEmailVerified = isEmailVerified }
        if let customAttributes { user.customAttributes = customAttributes }
    }
}
