import HearthBytes
public import HearthJSON

/// The operations on users that wait for a function.
public enum BlockingKind: String, Sendable, CaseIterable {
    case beforeCreate, beforeSignIn, beforeSendEmail, beforeSendSms

    /// The type of the event in manifests.
    public var eventType: String { "providers/cloud.auth/eventTypes/user.\(rawValue)" }
}

/// A decision that an operation needs before it can go on.
public struct BlockingQuestion: Sendable {
    public var kind: BlockingKind
    /// The user as it is stored if the function does not change it.
    public var user: UserRecord
    /// Whether the operation creates the user.
    public var isNew: Bool
    /// The method of the first factor: a provider, `password`, `emailLink` or `phone`.
    public var method: String
    /// `phone` or `totp`, after a second factor.
    public var secondFactor: String?
    /// Attributes that the identity provider has asserted.
    public var attributes: JSONObject
}

/// The changes of a user that a function has decided. Nil leaves a property; an empty text removes it.
public struct BlockingChanges: Sendable, Equatable {
    public var displayName: String?
    public var photoURL: String?
    public var isDisabled: Bool?
    public var isEmailVerified: Bool?
    public var customAttributes: String?
    /// Claims of the session, after `beforeSignIn`.
    public var sessionClaims = JSONObject()

    /// No changes.
    public init() {}
}

/// The decision of a function about the user that it has seen.
public struct BlockingDecision: Sendable {
    /// The result of the function.
    public enum Verdict: Sendable {
        case changes(BlockingChanges)
        case refused(AuthError)
    }

    let seen: UserRecord
    public var verdict: Verdict

    /// A decision about `question`.
    public init(_ question: BlockingQuestion, _ verdict: Verdict) {
        seen = question.user
        self.verdict = verdict
    }

    /// Whether `user` is what the function has seen, apart from the times of this attempt.
    func isAbout(_ user: UserRecord, isNew: Bool) -> Bool { Self.comparable(seen, isNew) == Self.comparable(user, isNew) }

    private static func comparable(_ user: UserRecord, _ isNew: Bool) -> UserRecord {
        var user = user
        (user.lastLogin, user.lastRefresh, user.validSinceSeconds) = (nil, nil, nil)
        for index in user.factors.indices { user.factors[index].lastStep = 0 }
        if isNew { (user.created, user.passwordChanged) = (0, 0) }
        return user
    }
}

/// An attempt of an operation for which functions decide. Without the decision that it needs, the operation changes nothing and asks for it; then it
/// is attempted again with the decision, which counts only if the user still is what the function has seen.
public struct BlockingPass: Sendable {
    /// The kinds for which there are functions.
    public var kinds: Set<BlockingKind>
    /// The method by which the user signs in; nil if the operation knows it.
    public var method: String?
    /// The decisions so far.
    public var decisions: [BlockingKind: BlockingDecision] = [:]
    /// The id of a new user, the same in each attempt.
    let uid = SecretText.identifier()

    /// The first attempt.
    public init(kinds: Set<BlockingKind>, method: String? = nil) {
        self.kinds = kinds
        self.method = method
    }
}

/// The result of an attempt.
public enum BlockingAttempt<Answer: Sendable>: Sendable {
    case done(Answer)
    case undecided(BlockingQuestion)
}
