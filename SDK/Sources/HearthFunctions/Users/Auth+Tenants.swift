internal import HearthJSON

/// Tenants.
extension Auth {
    // MARK: Tenants

    /// Creates a tenant, with a new id.
    public func createTenant(_ request: AuthTenantRequest) async throws(FirebaseAuthError) -> AuthTenant {
        AuthTenant(try await call("tenants:create", request.fields, ofTenant: false))
    }

    /// The tenant with this id.
    public func getTenant(_ id: String) async throws(FirebaseAuthError) -> AuthTenant {
        AuthTenant(try await call("tenants:get", ["tenantId": .string(id)], ofTenant: false))
    }

    /// Changes the properties that the request has.
    public func updateTenant(_ id: String, _ request: AuthTenantRequest) async throws(FirebaseAuthError) -> AuthTenant {
        var payload = request.fields
        payload["tenantId"] = .string(id)
        return AuthTenant(try await call("tenants:update", payload, ofTenant: false))
    }

    /// Deletes a tenant with its users.
    public func deleteTenant(_ id: String) async throws(FirebaseAuthError) {
        _ = try await call("tenants:delete", ["tenantId": .string(id)], ofTenant: false)
    }

    /// A page of tenants, by id.
    ///
    /// - Returns: the tenants, and the token of the next page; nil at the end.
    public func listTenants(maxResults: Int = 100, pageToken: String? = nil) async throws(FirebaseAuthError) -> (
        tenants: [AuthTenant], pageToken: String?
    ) {
        var payload: JSONObject = ["pageSize": JSONValue(maxResults)]
        payload["pageToken"] = pageToken.map { .string($0) }
        let answer = try await call("tenants:list", payload, ofTenant: false)
        return ((answer["tenants"]?.array ?? []).map(AuthTenant.init), answer["nextPageToken"]?.string)
    }
}

/// A tenant: users of their own, with rules of their own.
public struct AuthTenant: Sendable, Hashable {
    /// The id.
    public let id: String
    /// The name for people.
    public let displayName: String?
    /// Whether users may sign up with e-mail and password.
    public let allowsPasswordSignup: Bool
    /// Whether users may sign in with a link to their e-mail.
    public let enablesEmailLinkSignin: Bool
    /// Whether users may sign in anonymously.
    public let enablesAnonymousUser: Bool
    /// Whether nobody may sign in.
    public let disablesAuth: Bool
    /// Second factors, the policy of passwords, and what else the tenant has of its own.
    public let rules: AuthRules

    init(_ json: JSONValue) {
        id = json["name"]?.string?.split(separator: "/").last.map(String.init) ?? ""
        displayName = json["displayName"]?.string
        allowsPasswordSignup = json["allowPasswordSignup"]?.bool ?? false
        enablesEmailLinkSignin = json["enableEmailLinkSignin"]?.bool ?? false
        enablesAnonymousUser = json["enableAnonymousUser"]?.bool ?? false
        disablesAuth = json["disableAuth"]?.bool ?? false
        rules = AuthRules(json, multiFactor: json["mfaConfig"], testPhoneNumbers: json["testPhoneNumbers"])
    }
}

/// The properties of a tenant to set.
public struct AuthTenantRequest: Sendable, Hashable {
    /// The name for people; at least 4 letters, digits and hyphens in Firebase.
    public var displayName: String?
    /// Whether users may sign up with e-mail and password.
    public var allowPasswordSignup: Bool?
    /// Whether users may sign in with a link to their e-mail.
    public var enableEmailLinkSignin: Bool?
    /// Whether users may sign in anonymously.
    public var enableAnonymousUser: Bool?
    /// Whether nobody may sign in.
    public var disableAuth: Bool?
    /// Second factors, the policy of passwords, and so on.
    public var rules: AuthRules

    /// Properties; those that are left out stay as they are.
    public init(
        displayName: String? = nil, allowPasswordSignup: Bool? = nil, enableEmailLinkSignin: Bool? = nil, enableAnonymousUser: Bool? = nil,
        disableAuth: Bool? = nil, rules: AuthRules = AuthRules()
    ) {
        self.displayName = displayName
        self.allowPasswordSignup = allowPasswordSignup
        self.enableEmailLinkSignin = enableEmailLinkSignin
        self.enableAnonymousUser = enableAnonymousUser
        self.disableAuth = disableAuth
        self.rules = rules
    }

    var fields: JSONObject {
        var fields = JSONObject()
        fields["displayName"] = displayName.map { .string($0) }
        fields["allowPasswordSignup"] = allowPasswordSignup.map { .bool($0) }
        fields["enableEmailLinkSignin"] = enableEmailLinkSignin.map { .bool($0) }
        fields["enableAnonymousUser"] = enableAnonymousUser.map { .bool($0) }
        fields["disableAuth"] = disableAuth.map { .bool($0) }
        fields["mfaConfig"] = rules.multiFactor?.json
        fields["testPhoneNumbers"] = rules.testPhoneNumbersJSON
        rules.write(to: &fields)
        return fields
    }
}
