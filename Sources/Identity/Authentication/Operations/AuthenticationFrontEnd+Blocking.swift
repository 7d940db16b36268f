import Accounts
import EventLoop
import HearthBytes
import HearthJSON

/// Functions that decide about sign-ups, sign-ins and messages, while the request waits. Neither the loop nor the store of users waits for them.
extension AuthenticationFrontEnd {
    /// How often functions are asked about one request. More than twice, the user has changed while a function decided.
    private static var attemptsMax: Int { 6 }

    /// Performs an operation as the functions for sign-ups and sign-ins decide.
    ///
    /// - Parameters:
    ///   - method: the method of the sign-in; nil if the operation knows it.
    ///   - identity: the assertion of an identity provider.
    func decided<Answer: Sendable>(
        _ call: AuthCall, method: String? = nil, identity: ProviderIdentity? = nil,
        _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        guard let kinds = await service.tools.functions.kinds() else { throw .unavailable }
        guard kinds[.beforeCreate] != nil || kinds[.beforeSignIn] != nil else { return try await perform(for: call, operation) }
        let (address, language) = (limitedAddress(call), call.language)
        let served: @Sendable (AccountStore) throws(AccountFailure) -> Answer = { store throws(AccountFailure) in
            try store.serving(address, language: language, operation)
        }
        var pass = BlockingPass(kinds: Set(kinds.keys), method: method)
        for _ in 0..<Self.attemptsMax {
            switch try await accounts.attempt(on: loop, pass, served) {
            case .done(let answer): return answer
            case .undecided(let question):
                pass.decisions[question.kind] = try await decide(question, call, identity, kinds[question.kind] ?? [])
            }
        }
        throw .unavailable
    }

    private func decide(
        _ question: BlockingQuestion, _ call: AuthCall, _ identity: ProviderIdentity?, _ credentials: Set<String>
    ) async throws(AuthError) -> BlockingDecision {
        var event = BlockingEvent(question.kind, call, project: service.policy.project, tenant: question.user.tenant)
        event.describe(question, identity, credentials)
        do throws(AuthError) {
            let answer = try await ask(question.kind, event, payload: .object(question.user.fields))
            return BlockingDecision(question, .changes(try BlockingAnswer.changes(answer, question.kind)))
        } catch {
            // The user was created in spite of it: only the sign-in is refused.
            if question.kind == .beforeSignIn, question.isNew { return BlockingDecision(question, .refused(error)) }
            throw error
        }
    }

    /// Makes a text message, as the function for these decides, if there is one.
    ///
    /// - Parameter isForTests: whether nothing is sent to the number, so that no function is asked.
    func message(
        _ type: String, to phone: String, isForTests: Bool, _ call: AuthCall, tenant: String,
        _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> MessageCode
    ) async throws(AuthError) -> MessageCode {
        if !isForTests { try await requireMessage(.beforeSendSms, type, to: phone, call, tenant: tenant, operation) }
        return try await perform(for: call, operation)
    }

    /// Asks the function for mails or text messages, if there is one.
    ///
    /// - Parameters:
    ///   - type: the type of the message, such as `PASSWORD_RESET`.
    ///   - recipient: an e-mail or a phone number.
    ///   - operation: makes the message. It is tried first: the function is not asked about what the host refuses itself, such as by its limits.
    func requireMessage<Answer: Sendable>(
        _ kind: BlockingKind, _ type: String, to recipient: String, _ call: AuthCall, tenant: String,
        _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> Answer
    ) async throws(AuthError) {
        guard let kinds = await service.tools.functions.kinds() else { throw .unavailable }
        guard kinds[kind] != nil else { return }
        try await perform(for: call) { store throws(AccountFailure) in try store.rehearse(operation) }
        var event = BlockingEvent(kind, call, project: service.policy.project, tenant: tenant)
        event.describeMessage(type, to: recipient)
        _ = try await ask(kind, event, payload: .null)
    }

    /// Calls a function, and returns its answer.
    private func ask(_ kind: BlockingKind, _ event: BlockingEvent, payload: JSONValue) async throws(AuthError) -> JSONObject {
        let outcome = await service.tools.functions.call(kind, event.json.serialized(), payload.serialized())
        switch outcome {
        case .missing: return JSONObject()
        case .answered(let bytes): return try BlockingAnswer.object(bytes)
        case .refused(let status, let message):
            let error: JSONValue = ["error": ["message": .string(message), "status": .string(status)]]
            let text = String(decoding: error.serialized(), as: UTF8.self)
            throw AuthError(BlockingAnswer.code, "HTTP Cloud Function returned an error: \(text)")
        case .late: throw BlockingAnswer.failure("Deadline exceeded making request to \(kind.rawValue).")
        case .failed(let reason): throw BlockingAnswer.failure("Failed to make request to \(kind.rawValue): \(reason)")
        }
    }
}

/// The event that a function gets, as hearth.h describes it.
struct BlockingEvent {
    private var members: JSONObject
    private let kind: BlockingKind

    init(_ kind: BlockingKind, _ call: AuthCall, project: String, tenant: String) {
        self.kind = kind
        let now = AccountPolicy.calendar()
        members = [
            "id": .string(SecretText.letters(22)), "type": .string(kind.eventType), "time": .string(TimeText.text(milliseconds: now)),
            "resource": .string("projects/\(project)\(tenant.isEmpty ? "" : "/tenants/\(tenant)")"), "authType": "UNAUTHENTICATED",
        ]
        if !tenant.isEmpty { members["tenantId"] = .string(tenant) }
        members["ipAddress"] = call.client.map { .string($0) }
        members["userAgent"] = call.userAgent.map { .string($0) }
        members["locale"] = call.language?.split(separator: ",").first.map { .string(String($0)) }
    }

    var json: JSONValue { .object(members) }

    /// Adds the facts about a sign-up or a sign-in.
    mutating func describe(_ question: BlockingQuestion, _ identity: ProviderIdentity?, _ credentials: Set<String>) {
        members["type"] = .string("\(kind.eventType):\(question.method)")
        members["authType"] = "USER"
        let provider = question.method == "emailLink" ? "password" : question.method
        var info: JSONObject = ["providerId": .string(provider), "isNewUser": .bool(kind == .beforeCreate)]
        info["profile"] = identity?.answer["rawUserInfo"]?.string.flatMap { try? JSONValue(parsing: $0) }
        info["username"] = identity?.screenName.map { .string($0) }
        members["additionalUserInfo"] = .object(info)
        if let factor = question.secondFactor { members["secondFactor"] = .string(factor) }
        var credential = JSONObject()
        let attributes = identity?.attributes ?? question.attributes
        if !attributes.isEmpty { credential["claims"] = .object(attributes) }
        for (option, name, field) in Self.tokens where credentials.contains(option) { credential[name] = identity?.answer[field] }
        guard !credential.isEmpty else { return }
        credential["providerId"] = .string(provider)
        credential["signInMethod"] = .string(question.method)
        members["credential"] = .object(credential)
    }

    /// The option, the member of the event, and the name in the provider's answer.
    private static let tokens = [
        ("idToken", "idToken", "oauthIdToken"), ("accessToken", "accessToken", "oauthAccessToken"),
        ("accessToken", "secret", "oauthTokenSecret"), ("accessToken", "expiresIn", "oauthExpireIn"),
        ("refreshToken", "refreshToken", "oauthRefreshToken"),
    ]

    /// Adds the type and the recipient of a message.
    mutating func describeMessage(_ type: String, to recipient: String) {
        let isMail = kind == .beforeSendEmail
        members[isMail ? "emailType" : "smsType"] = .string(type)
        members["additionalUserInfo"] = [isMail ? "email" : "phoneNumber": .string(recipient), "isNewUser": false]
    }
}

/// Reads and checks the answer of a function.
enum BlockingAnswer {
    static let code = "BLOCKING_FUNCTION_ERROR_RESPONSE"

    /// The function has not answered as it must. The operation is refused.
    static func failure(_ reason: String) -> AuthError {
        AuthError(code, "((\(reason)))", status: 500, statusName: "INTERNAL", reason: "internalError")
    }

    /// The members of an answer; none for `null`.
    static func object(_ bytes: [UInt8]) throws(AuthError) -> JSONObject {
        guard !bytes.isEmpty else { return JSONObject() }
        switch try? JSONValue(parsing: bytes, limits: JSONLimits(depthMax: 64)) {
        case .null?: return JSONObject()
        case .object(let members)?:
            guard let override = members["recaptchaActionOverride"], !override.isNull else { return members }
            guard let action = override.string, action == "ALLOW" || action == "BLOCK" else {
                throw failure("recaptchaActionOverride must be ALLOW or BLOCK.")
            }
            if action == "BLOCK" { throw AuthError("CAPTCHA_CHECK_FAILED", "The request was blocked by the project.") }
            return members
        case nil: throw failure("Response body is not valid JSON.")
        default: throw failure("Response body is not an object.")
        }
    }

    /// The changes of the user that an answer asks for.
    static func changes(_ answer: JSONObject, _ kind: BlockingKind) throws(AuthError) -> BlockingChanges {
        var changes = BlockingChanges()
        changes.displayName = try text(answer, "displayName")
        changes.photoURL = try text(answer, "photoURL")
        changes.isDisabled = try bool(answer, "disabled")
        changes.isEmailVerified = try bool(answer, "emailVerified")
        let claims = try claims(answer, "customClaims")
        changes.customAttributes = try claims.map { (claims) throws(AuthError) in try checked(claims) }
        guard kind == .beforeSignIn, let session = try self.claims(answer, "sessionClaims") else { return changes }
        _ = try checked(session)
        var both = claims ?? JSONObject()
        for (name, value) in session { both[name] = value }
        _ = try checked(both)
        changes.sessionClaims = session
        return changes
    }

    /// A text; an empty one for null, which removes it.
    private static func text(_ answer: JSONObject, _ name: String) throws(AuthError) -> String? {
        switch answer[name] {
        case nil: return nil
        case .null?: return ""
        case .string(let text)?: return text
        default: throw failure("\(name) must be a string.")
        }
    }

    private static func bool(_ answer: JSONObject, _ name: String) throws(AuthError) -> Bool? {
        guard let value = answer[name], !value.isNull else { return nil }
        guard let bool = value.bool else { throw failure("\(name) must be a boolean.") }
        return bool
    }

    private static func claims(_ answer: JSONObject, _ name: String) throws(AuthError) -> JSONObject? {
        guard let value = answer[name] else { return nil }
        if value.isNull { return name == "customClaims" ? JSONObject() : nil }
        guard let object = value.object else { throw failure("\(name) must be an object.") }
        return object
    }

    /// The text of claims that may be stored.
    private static func checked(_ claims: JSONObject) throws(AuthError) -> String {
        let text = String(decoding: JSONValue.object(claims).serialized(), as: UTF8.self)
        try ReservedClaims.check(attributes: text)
        return text
    }
}
