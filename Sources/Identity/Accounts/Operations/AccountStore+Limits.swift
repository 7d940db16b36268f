/// Counting what clients cause, and refusing more than ``AccountLimits`` allows. A refusal counts nothing.
extension AccountStore {
    private static var hour: Int64 { 3600 }
    private static var day: Int64 { 86_400 }

    /// Runs an operation for a client.
    ///
    /// - Parameters:
    ///   - address: the client's address, or its network; nil for administrators, who have no limits.
    ///   - language: the languages of notices.
    public func serving<R>(
        _ address: String?, language: String? = nil, _ operation: (AccountStore) throws(AccountFailure) -> R
    ) throws(AccountFailure) -> R {
        customer = address
        self.language = language
        defer {
            customer = nil
            self.language = nil
        }
        return try operation(self)
    }

    /// Refuses to sign the client up if its address has made too many users.
    func requireSignUps() throws(AccountFailure) {
        guard let customer else { return }
        try require("sign-up \(customer)", policy.limits.signUpsPerAddress, Self.hour, Self.tooMany("accounts were created from this address"))
    }

    /// Counts a new user of the client.
    func countSignUp() throws(AccountFailure) {
        guard let customer, policy.limits.signUpsPerAddress != nil else { return }
        try requireSignUps()
        try countFailure("sign-up \(customer)", seconds: Self.hour)
    }

    /// The refusal of an e-mail that has a user. It tells a client who has an account, so an address gets only as many as it may make users.
    public func emailIsTaken() throws(AccountFailure) -> AccountFailure {
        if let customer {
            let (key, limit) = ("taken \(customer)", policy.limits.signUpsPerAddress)
            try require(key, limit, Self.hour, Self.tooMany("e-mails of others were named from this address"))
            try count(key, limit, Self.hour)
        }
        return .counted(AuthError("EMAIL_EXISTS"))
    }

    /// Counts a mail to its receiver, its sender and the day. A link for an administrator is no mail.
    public func countMail(to email: String, tenant: String, isReset: Bool) throws(AccountFailure) {
        guard let customer else { return }
        let limits = policy.limits
        let ofAccount = "mail \(tenant) \(email)"
        let refusal = isReset ? AuthError("RESET_PASSWORD_EXCEED_LIMIT") : AuthError("TOO_MANY_ATTEMPTS_TRY_LATER")
        try require(ofAccount, limits.mailsPerAccount, Self.hour, refusal)
        try require("mails \(customer)", limits.mailsPerAddress, Self.hour, Self.tooMany("mails were asked for from this address"))
        try require("mails of a day", limits.mailsPerDay, Self.day, Self.quota("mails"))
        try count(ofAccount, limits.mailsPerAccount, Self.hour)
        try count("mails \(customer)", limits.mailsPerAddress, Self.hour)
        try count("mails of a day", limits.mailsPerDay, Self.day)
    }

    /// Counts a notice about the security of an account. It has a limit of its own: a stranger who has used up the limits of mails must not keep the
    /// owner from learning what happens.
    func countNotice(to email: String, tenant: String) throws(AccountFailure) {
        let (key, limit) = ("notice \(tenant) \(email)", policy.limits.mailsPerAccount)
        try require(key, limit, Self.hour, AuthError("TOO_MANY_ATTEMPTS_TRY_LATER"))
        try count(key, limit, Self.hour)
    }

    /// Counts a change of an e-mail, to the user and to the client: each sends a notice to the former address, which need not be the client's.
    func countEmailChange(of user: UserRecord) throws(AccountFailure) {
        let (ofUser, limits) = ("moves of \(user.tenant) \(user.uid)", policy.limits)
        try require(ofUser, limits.mailsPerAccount, Self.hour, Self.tooMany("e-mails were set for this account"))
        if let customer {
            try require("moves \(customer)", limits.mailsPerAddress, Self.hour, Self.tooMany("e-mails were changed from this address"))
        }
        try count(ofUser, limits.mailsPerAccount, Self.hour)
        if let customer { try count("moves \(customer)", limits.mailsPerAddress, Self.hour) }
    }

    /// Counts a text message.
    func countText(to phone: String) throws(AccountFailure) {
        let limits = policy.limits
        try require("message \(phone)", limits.textsPerAccount, Self.hour, AuthError("TOO_MANY_ATTEMPTS_TRY_LATER"))
        if let customer {
            try require("messages \(customer)", limits.textsPerAddress, Self.hour, Self.tooMany("messages were asked for from this address"))
        }
        try require("messages of a day", limits.textsPerDay, Self.day, Self.quota("verifying phone numbers"))
        try count("message \(phone)", limits.textsPerAccount, Self.hour)
        if let customer { try count("messages \(customer)", limits.textsPerAddress, Self.hour) }
        try count("messages of a day", limits.textsPerDay, Self.day)
    }

    /// Refuses to check another code after too many wrong ones, also a right one.
    ///
    /// - Parameter user: the user whose second factor is checked; nil for a first factor.
    func requireCodes(of user: UserRecord? = nil) throws(AccountFailure) {
        let refusal = Self.tooMany("codes were wrong")
        if let customer { try require("codes \(customer)", policy.limits.wrongCodesPerAddress, Self.hour, refusal) }
        if let user { try require("codes of \(user.tenant) \(user.uid)", policy.limits.wrongCodesPerAccount, Self.hour, refusal) }
    }

    /// Counts a wrong code.
    func countWrongCode(of user: UserRecord? = nil) throws(AccountFailure) {
        if let customer { try count("codes \(customer)", policy.limits.wrongCodesPerAddress, Self.hour) }
        if let user { try count("codes of \(user.tenant) \(user.uid)", policy.limits.wrongCodesPerAccount, Self.hour) }
    }

    // MARK: Counters

    private func require(_ key: String, _ limit: Int?, _ seconds: Int64, _ refusal: AuthError) throws(AccountFailure) {
        if let limit, try failures(key, seconds: seconds) >= limit { throw .refused(refusal) }
    }

    private func count(_ key: String, _ limit: Int?, _ seconds: Int64) throws(AccountFailure) {
        if limit != nil { try countFailure(key, seconds: seconds) }
    }

    private static func tooMany(_ what: String) -> AuthError {
        AuthError("TOO_MANY_ATTEMPTS_TRY_LATER", "Too many \(what). Try again in an hour.")
    }

    private static func quota(_ what: String) -> AuthError { AuthError("QUOTA_EXCEEDED", "Exceeded the daily quota for \(what).") }
}
