import Accounts
import HearthJSON
import HTTP
import IdentityProviders

/// Codes of e-mails.
extension AuthenticationFrontEnd {
    /// Makes the links of mails: the page that uses the code, with what it needs to know.
    func link(_ source: LinkSource, _ purpose: EmailCode.Purpose, _ parameters: [String: String]) -> @Sendable (String) -> String {
        let page = isStrict ? "\(source.base)/__/auth/action" : "\(source.base)/emulator/action"
        let language = isStrict ? source.language?.split(separator: ",").first.map(String.init) ?? "en" : "en"
        // SDKs recognize no link without a key.
        let key = isStrict ? source.key ?? service.settings.apiKeys?.first ?? "any" : "fake-api-key"
        let head = "\(page)?mode=\(purpose.mode)&lang=\(FormText.encoded(language))&oobCode="
        var tail = "&apiKey=\(FormText.encoded(key))"
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { tail += "&\(name)=\(FormText.encoded(value))" }
        let end = tail
        return { "\(head)\(FormText.encoded($0))\(end)" }
    }

    /// Refuses to make links with the host name of a request in production, unless it is a known one: a client could name another host, and have a
    /// victim's code sent there.
    func requireOwnAddress(_ source: LinkSource) async throws(AuthError) {
        guard isStrict, service.settings.publicURL == nil else { return }
        guard WebOrigin(of: source.base)?.isIn(try await authorizedDomains()) == true else {
            throw AuthError(
                "UNAUTHORIZED_DOMAIN",
                "The host name of the request is not one of the authorized domains, and there is no auth.publicUrl in functions.json.")
        }
    }

    /// Makes the links by which a change of the e-mail is undone. Refused if the host does not know its own address, because the change must not be
    /// made without the notice.
    ///
    /// - Parameter isNeeded: whether the request can change the e-mail of a user.
    func recoveryLink(_ source: LinkSource, tenant: String, isNeeded: Bool) async throws(AuthError) -> @Sendable (String) -> String {
        if isNeeded { try await requireOwnAddress(source) }
        return link(source, .RECOVER_EMAIL, tenant.isEmpty ? [:] : ["tenantId": tenant])
    }

    /// Makes the links by which an added second factor is removed. Refused as above.
    func revertingLink(_ source: LinkSource, tenant: String) async throws(AuthError) -> @Sendable (String) -> String {
        try await requireOwnAddress(source)
        return link(source, .REVERT_SECOND_FACTOR_ADDITION, tenant.isEmpty ? [:] : ["tenantId": tenant])
    }

    /// Sends the notices of a change, which are stored with it.
    func tell(_ signedIn: SignedIn) {
        if let reason = signedIn.withheldNotice { service.tools.didNotSend(reason) }
        service.notices.send(signedIn.notices)
    }

    /// Uses the code of a mail that verifies, changes or restores an e-mail, or removes a second factor.
    func apply(_ secret: String, tenant: String, _ source: LinkSource) async throws(AuthError) -> UserRecord {
        let code = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.code(secret, tenant: tenant) }
        let link = try await recoveryLink(source, tenant: tenant, isNeeded: code.purpose == .VERIFY_AND_CHANGE_EMAIL)
        let applied = try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.serving(nil, language: source.language) { store throws(AccountFailure) in
                try store.applyCode(secret, tenant: tenant, recoveryLink: link)
            }
        }
        tell(applied)
        return applied.user
    }

    /// The order of the protocol's enumeration, for clients that send numbers.
    private static let types: [String] = [
        "OOB_REQ_TYPE_UNSPECIFIED", "PASSWORD_RESET", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT", "VERIFY_EMAIL", "RECOVER_EMAIL", "EMAIL_SIGNIN",
        "VERIFY_AND_CHANGE_EMAIL", "REVERT_SECOND_FACTOR_ADDITION",
    ]

    private func purpose(_ call: AuthCall) throws(AuthError) -> EmailCode.Purpose {
        let value = call.body.object["requestType"]
        let name = value?.string ?? value?.int.flatMap { Self.types.indices.contains($0) ? Self.types[$0] : nil } ?? ""
        let number = Int(name).flatMap { Self.types.indices.contains($0) ? Self.types[$0] : nil } ?? name
        guard !number.isEmpty, number != Self.types[0] else { throw AuthError("MISSING_REQ_TYPE") }
        // Notices are sent with the changes that they tell of. A client that asked for one could undo what the owner does later.
        guard let purpose = EmailCode.Purpose(rawValue: number), !purpose.isNotice else {
            guard Self.types.contains(number) else { throw AuthBody.invalid("/requestType must be one of \(Self.types)") }
            throw Self.notImplemented
        }
        return purpose
    }

    func sendOobCode(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        let purpose = try purpose(call)
        let returnsLink = try body.bool("returnOobLink") ?? false
        if returnsLink, !call.isAdministrator { throw AuthError("INSUFFICIENT_PERMISSION") }
        let parameters = try await linkParameters(call)
        let token = try await callerToken(call)
        let tenant = try call.namedTenant() ?? token?.tenant ?? ""
        let rules = try await rules(tenant)
        let (email, newEmail, uid, exists) = try await recipient(call, purpose, token, tenant, rules)
        try await requireOwnAddress(call.links)
        var all = parameters
        if !tenant.isEmpty { all["tenantId"] = tenant }
        let link = link(call.links, purpose, all)
        let operation = { @Sendable (store: AccountStore) throws(AccountFailure) -> EmailCode? in
            guard exists else {
                // Counted like a mail, and with as much work, so that the limits do not tell who has an account.
                try store.countMail(to: email, tenant: tenant, isReset: purpose == .PASSWORD_RESET)
                return nil
            }
            return try store.addCode(purpose, email: email, newEmail: newEmail, uid: uid, tenant: tenant, link: link)
        }
        // Asked for unknown addresses too, so that its answer does not tell who has an account.
        if !call.isAdministrator, let type = purpose.emailType {
            try await requireMessage(.beforeSendEmail, type, to: email, call, tenant: tenant, operation)
        }
        var fields: JSONObject = ["kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": .string(email)]
        guard let code = try await perform(for: call, operation) else { return .object(fields) }
        fields["newEmail"] = newEmail.map { .string($0) }
        if returnsLink {
            fields["oobCode"] = .string(code.code)
            fields["oobLink"] = .string(code.link)
        } else {
            guard await service.tools.send(.mail(code, language: call.language)) else { throw .unavailable }
        }
        return .object(fields)
    }

    /// The longest address in a link.
    private static let addressBytesMax = 16_384

    /// The parameters that a link passes on to the application.
    private func linkParameters(_ call: AuthCall) async throws(AuthError) -> [String: String] {
        var parameters: [String: String] = [:]
        let domains = try await authorizedDomains()
        if let text = try call.body.string("continueUrl"), !text.isEmpty || isStrict {
            guard text.utf8.count <= Self.addressBytesMax, let address = WebOrigin(of: text) else {
                throw AuthError("INVALID_CONTINUE_URI", "((expected an absolute URI with valid scheme and host))")
            }
            guard !isStrict || address.isIn(domains) else {
                throw AuthError("UNAUTHORIZED_DOMAIN", "Domain not allowlisted by project")
            }
            parameters["continueUrl"] = text
        }
        if let domain = try call.body.text("linkDomain") {
            guard domains.contains(domain), !domain.hasSuffix(".web.app"), !domain.hasSuffix(".firebaseapp.com") else {
                throw AuthError(
                    "INVALID_HOSTING_LINK_DOMAIN",
                    "The provided hosting link domain is not configured in Firebase Hosting or is not owned by the current project. "
                        + "This cannot be a default hosting domain (web.app or firebaseapp.com).")
            }
        }
        return parameters
    }

    /// The recipient of a mail, and whether it is sent: an unknown address gets none, and a client does not learn that.
    private func recipient(
        _ call: AuthCall, _ purpose: EmailCode.Purpose, _ token: CallerToken?, _ tenant: String, _ rules: SignInRules
    ) async throws(AuthError) -> (email: String, newEmail: String?, uid: String?, exists: Bool) {
        switch purpose {
        case .EMAIL_SIGNIN:
            guard rules.allowsEmailLink else { throw AuthError("OPERATION_NOT_ALLOWED") }
            guard let email = try email(call) else { throw AuthError("MISSING_EMAIL") }
            return (email, nil, nil, true)
        case .PASSWORD_RESET:
            guard let email = try email(call) else { throw AuthError("MISSING_EMAIL") }
            let user = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.user(email: email, tenant: tenant) }
            guard let user else {
                guard rules.protectsEmails, !call.isAdministrator else { throw AuthError("EMAIL_NOT_FOUND") }
                return (email, nil, nil, false)
            }
            if user.isDisabled {
                guard isStrict, rules.protectsEmails, !call.isAdministrator else { throw AuthError("USER_DISABLED") }
                return (email, nil, nil, false)
            }
            return (email, nil, user.uid, true)
        case .VERIFY_EMAIL, .VERIFY_AND_CHANGE_EMAIL, .RECOVER_EMAIL, .REVERT_SECOND_FACTOR_ADDITION:
            return try await ownRecipient(call, purpose, token, tenant)
        }
    }

    private func ownRecipient(
        _ call: AuthCall, _ purpose: EmailCode.Purpose, _ token: CallerToken?, _ tenant: String
    ) async throws(AuthError) -> (email: String, newEmail: String?, uid: String?, exists: Bool) {
        let isChange = purpose == .VERIFY_AND_CHANGE_EMAIL
        let newEmail = isChange ? try email(call, "newEmail", invalid: "INVALID_NEW_EMAIL") : nil
        if isChange, newEmail == nil { throw AuthError("MISSING_NEW_EMAIL") }
        let user: UserRecord
        if let token {
            user = try await accounts.read(on: loop) { store throws(AccountFailure) -> UserRecord in
                if isChange { try store.requireRecentCaller(token, tenant: tenant) }
                return try store.caller(token, tenant: tenant)
            }
        } else {
            guard call.isAdministrator else { throw AuthError(isChange ? "MISSING_ID_TOKEN" : "INVALID_ID_TOKEN") }
            guard let email = try email(call) else { throw AuthError("MISSING_EMAIL") }
            let found = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.user(email: email, tenant: tenant) }
            guard let found else { throw AuthError("USER_NOT_FOUND") }
            user = found
        }
        guard let email = user.email else { throw AuthError("MISSING_EMAIL") }
        if let newEmail {
            try await perform(for: call) { store throws(AccountFailure) in
                if try store.user(email: newEmail, tenant: tenant) != nil { throw try store.emailIsTaken() }
            }
        }
        return (email, newEmail, user.uid, true)
    }

    func resetPassword(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try call.tenant()
        let rules = try await rules(tenant)
        guard rules.allowsPassword else { throw AuthError("PASSWORD_LOGIN_DISABLED") }
        guard let secret = try call.body.text("oobCode") else { throw AuthError("MISSING_OOB_CODE") }
        var code = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.code(secret, tenant: tenant) }
        if let password = try call.body.text("newPassword") {
            guard code.purpose == .PASSWORD_RESET else { throw AuthError("INVALID_OOB_CODE") }
            try requireStrength(password, rules)
            let hash = try await hash(password, for: call)
            code = try await accounts.perform(on: loop) { store throws(AccountFailure) in
                try store.resetPassword(secret, hash: hash, tenant: tenant)
            }
        }
        var fields: JSONObject = [
            "kind": "identitytoolkit#ResetPasswordResponse", "requestType": .string(code.purpose.rawValue),
        ]
        if code.purpose != .EMAIL_SIGNIN { fields["email"] = .string(code.email) }
        fields["newEmail"] = code.newEmail.map { .string($0) }
        if code.factorID != nil {
            let stored = code
            let factor = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.factor(of: stored, tenant: tenant) }
            guard let factor else { throw AuthError("INVALID_OOB_CODE") }
            fields["mfaInfo"] = UserAnswer.factor(factor, showsPhone: false)
        }
        return .object(fields)
    }
}

extension EmailCode.Purpose {
    /// The type of the mail for functions; nil for mails that no function is asked about.
    fileprivate var emailType: String? {
        switch self {
        case .EMAIL_SIGNIN: "EMAIL_SIGN_IN"
        case .PASSWORD_RESET: "PASSWORD_RESET"
        case .VERIFY_EMAIL, .VERIFY_AND_CHANGE_EMAIL, .RECOVER_EMAIL, .REVERT_SECOND_FACTOR_ADDITION: nil
        }
    }

    /// The name in links.
    var mode: String {
        switch self {
        case .PASSWORD_RESET: "resetPassword"
        case .VERIFY_EMAIL: "verifyEmail"
        case .EMAIL_SIGNIN: "signIn"
        case .VERIFY_AND_CHANGE_EMAIL: "verifyAndChangeEmail"
        case .RECOVER_EMAIL: "recoverEmail"
        case .REVERT_SECOND_FACTOR_ADDITION: "revertSecondFactorAddition"
        }
    }
}
