public import Accounts
public import EventLoop
import HearthBytes
public import HearthJSON
import HTTP
import Tokens

/// The operations of administrators without HTTP, for callers inside the host: the functions. Belongs to one loop.
///
///     let answer = try await operations.perform("accounts:lookup", Array(#"{"localId": ["ada"]}"#.utf8))
public final class AdministratorOperations {
    private let frontEnd: AuthenticationFrontEnd
    private let base: () -> String

    /// Payloads up to this size are parsed on the loop.
    private static let shortPayloadBytes = 64 << 10
    private static let limits = JSONLimits(depthMax: 64)
    /// The most users of a page.
    private static let pageSizeMax: Int64 = 1000

    /// - Parameters:
    ///   - loop: the loop of the callers.
    ///   - base: the address of this host in links, unless the settings have one.
    public init(service: AuthenticationService, loop: EventLoop, base: @escaping () -> String) {
        frontEnd = AuthenticationFrontEnd(service: service, loop: loop) { _ in false }
        self.base = base
    }

    /// The names of all operations.
    public static let names = AdministratorOperation.allCases.map(\.rawValue)

    /// Performs an operation. Changes are durable when it returns.
    ///
    /// - Parameters:
    ///   - name: one of ``names``.
    ///   - payload: an object in JSON with members of the protocol.
    /// - Throws: `AuthError` in the words of the protocol; with the code `NOT_IMPLEMENTED` if there is no such operation.
    public func perform(_ name: String, _ payload: [UInt8]) async throws(AuthError) -> JSONValue {
        guard let operation = AdministratorOperation(rawValue: name) else {
            let known = Self.names.joined(separator: ", ")
            throw AuthError("NOT_IMPLEMENTED", "there is no operation \"\(name)\"; there are \(known)", status: 501, statusName: "NOT_IMPLEMENTED")
        }
        guard payload.count <= operation.payloadBytesMax else {
            throw AuthError(
                "PAYLOAD_TOO_LARGE", "the payload has more than \(operation.payloadBytesMax >> 20) MiB", status: 413,
                statusName: "RESOURCE_EXHAUSTED")
        }
        let object: JSONObject
        if payload.count <= Self.shortPayloadBytes {
            object = try Self.parse(payload, operation)
        } else {
            object = try await frontEnd.loop.offload { () throws(AuthError) in try Self.parse(payload, operation) }
        }
        return try await perform(operation, object)
    }

    /// Parses a payload.
    static func parse(_ payload: [UInt8], _ operation: AdministratorOperation) throws(AuthError) -> JSONObject {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: payload.span, limits: limits)
        } catch {
            throw AuthBody.invalid("it is not JSON: \(error.explanation(in: payload.span))")
        }
        guard let object = value.object else { throw AuthBody.invalid("it is not an object") }
        let members = operation.members
        if let unknown = object.keys.first(where: { !members.contains($0) }) {
            throw AuthBody.invalid("\(operation.rawValue) has no member \"\(unknown)\"; it has \(members.sorted().joined(separator: ", "))")
        }
        return object
    }

    private func perform(_ operation: AdministratorOperation, _ object: JSONObject) async throws(AuthError) -> JSONValue {
        let body = AuthBody(object)
        guard let (ofProtocol, method) = operation.ofProtocol else {
            switch operation {
            case .createCustomToken: return try await createCustomToken(body)
            case .verifyIDToken: return try await verify(body, "idToken", frontEnd.service.idTokens)
            default: return try await verify(body, "sessionCookie", frontEnd.service.tools.cookieTokens)
            }
        }
        var call = AuthCall(
            path: AuthPath(ofProtocol), method: method, query: FormText(""), body: body, isAdministrator: true, address: "",
            base: frontEnd.service.settings.publicURL ?? base(), language: nil)
        switch operation {
        case .list:
            if let size = try body.integer("maxResults"), !(1...Self.pageSizeMax).contains(size) { throw AuthError("INVALID_PAGE_SELECTION") }
        case .update, .delete:
            guard try body.text("localId") != nil else { throw AuthError("MISSING_LOCAL_ID") }
        case .tenants, .providers:
            if let size = try body.integer("pageSize") { call.query["pageSize"] = String(size) }
            call.query["pageToken"] = try body.text("pageToken")
        case _ where operation.isOfProvider: try nameProvider(operation, object, &call)
        case .updateConfiguration:
            guard !object.isEmpty else { throw AuthBody.invalid("config:update needs a member to change") }
            call.query["updateMask"] = Self.mask(of: object).joined(separator: ",")
        case _ where operation.isOfTenant:
            guard let tenant = try body.text("tenantId"), !tenant.isEmpty else { throw AuthError("MISSING_TENANT_ID") }
            var rest = object
            rest.removeValue(forKey: "tenantId")
            call.path.id = tenant
            call.body = AuthBody(rest)
            // Only the named members change; without any, all would.
            if operation == .updateTenant {
                guard !rest.isEmpty else { throw AuthBody.invalid("tenants:update needs a member to change") }
                call.query["updateMask"] = rest.keys.joined(separator: ",")
            }
        default: break
        }
        guard case .json(let answer) = try await frontEnd.answer(call) else { throw AuthenticationFrontEnd.notFound }
        return answer
    }

    /// Moves the names of tenant and provider from the payload to their places in a request.
    private func nameProvider(_ operation: AdministratorOperation, _ object: JSONObject, _ call: inout AuthCall) throws(AuthError) {
        let body = AuthBody(object)
        guard let id = try body.text("oauthIdpConfigId") else { throw AuthError("INVALID_CONFIG_ID") }
        var rest = object
        rest.removeValue(forKey: "tenantId")
        rest.removeValue(forKey: "oauthIdpConfigId")
        call.path.tenant = try body.text("tenantId") ?? ""
        call.body = AuthBody(rest)
        if operation == .createProvider { call.query["oauthIdpConfigId"] = id } else { call.path.id = id }
        guard operation == .updateProvider else { return }
        guard !rest.isEmpty else { throw AuthBody.invalid("oauthIdpConfigs:update needs a member to change") }
        call.query["updateMask"] = rest.keys.joined(separator: ",")
    }

    /// Members of the configuration that are replaced as a whole.
    private static let wholeMembers: Set<String> = ["testPhoneNumbers", "smsRegionConfig"]

    /// The paths of the members that a change of the configuration names; others stay.
    static func mask(of object: JSONObject) -> [String] {
        object.flatMap { name, value -> [String] in
            guard !wholeMembers.contains(name), let inner = value.object, !inner.isEmpty else { return [name] }
            return mask(of: inner).map { "\(name).\($0)" }
        }
    }

    // MARK: Tokens

    /// Makes a token with which a client signs in as a user.
    private func createCustomToken(_ body: AuthBody) async throws(AuthError) -> JSONValue {
        guard let uid = try body.text("uid"), AccountText.isUserID(uid) else {
            throw AuthError("INVALID_LOCAL_ID", "uid must have 1 to 128 characters")
        }
        let service = frontEnd.service
        guard let own = service.tools.customTokens else { throw .unavailable }
        let now = service.policy.clock() / 1000
        var payload: JSONObject = [
            "iss": .string(own.account), "sub": .string(own.account), "aud": .string(HostTokenAccount.audience), "iat": .int(now),
            "exp": .int(now + 3600), "uid": .string(uid),
        ]
        if let claims = try body.body("claims")?.object {
            try ReservedClaims.check(claims)
            guard JSONValue.object(claims).serialized().count <= Self.claimsBytesMax else { throw AuthError("CLAIMS_TOO_LARGE") }
            payload["claims"] = .object(claims)
        }
        if let tenant = try body.text("tenantId") {
            _ = try await service.accounts.read(on: frontEnd.loop) { store throws(AccountFailure) in try store.existingTenant(tenant) }
            payload["tenant_id"] = .string(tenant)
        }
        return ["customToken": .string(try await frontEnd.sign(payload, own.signer))]
    }

    /// The most bytes of the claims of a custom token: a token must fit into header fields.
    private static let claimsBytesMax = 1000

    /// Verifies an ID token or a session cookie. Returns its claims.
    private func verify(_ body: AuthBody, _ name: String, _ verifier: TokenVerifier?) async throws(AuthError) -> JSONValue {
        guard let text = try body.text(name) else { throw AuthError("MISSING_TOKEN", "\(name) is missing") }
        guard let verifier else { throw .unavailable }
        let kind = name == "idToken" ? "TOKEN" : "COOKIE"
        let bytes = Array(text.utf8)
        // A task of its own: a signature is not verified on the loop.
        let result = await Task { await verifier.verify(bytes) }.value
        let claims: JSONObject
        switch result {
        case .success(let token):
            guard let payload = (try? JSONValue(parsing: token.claims))?.object else { throw Self.refused("The token is not a JSON Web Token.") }
            claims = payload
        case .failure(.expired): throw AuthError("VERIFIED_\(kind)_EXPIRED")
        case .failure(.keysUnavailable): throw .unavailable
        case .failure(let refusal): throw Self.refused("\(refusal)")
        }
        guard let token = CallerToken(payload: claims) else { throw Self.refused("The token has no user.") }
        // A verifier of a tenant refuses the users of others, and one of the project accepts all, as the Admin SDKs do.
        if let tenant = try body.text("tenantId"), tenant != token.tenant { throw AuthError("TENANT_ID_MISMATCH") }
        if try body.bool("checkRevoked") ?? false {
            do throws(AuthError) {
                _ = try await frontEnd.accounts.read(on: frontEnd.loop) { store throws(AccountFailure) in try store.caller(token) }
            } catch {
                throw error.code == "TOKEN_EXPIRED" ? AuthError("VERIFIED_\(kind)_REVOKED") : error
            }
        }
        return .object(claims)
    }

    private static func refused(_ reason: String) -> AuthError { AuthError("VERIFIED_TOKEN_INVALID", reason) }
}
