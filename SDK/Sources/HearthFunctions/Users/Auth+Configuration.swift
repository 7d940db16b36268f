internal import HearthJSON

/// Identity providers, and the configuration of sign-in.
extension Auth {
    // MARK: Identity providers

    /// Creates an identity provider of OpenID Connect, for the project or for ``tenant(_:)``.
    public func createProviderConfig(_ config: OIDCProviderConfig) async throws(FirebaseAuthError) -> OIDCProviderConfig {
        OIDCProviderConfig(try await call("oauthIdpConfigs:create", config.fields))
    }

    /// The identity provider with this id, such as `oidc.company`.
    public func getProviderConfig(_ id: String) async throws(FirebaseAuthError) -> OIDCProviderConfig {
        OIDCProviderConfig(try await call("oauthIdpConfigs:get", ["oauthIdpConfigId": .string(id)]))
    }

    /// Replaces the properties of an identity provider that the configuration has. Those of `functions.json` are not changed here.
    public func updateProviderConfig(_ config: OIDCProviderConfig) async throws(FirebaseAuthError) -> OIDCProviderConfig {
        OIDCProviderConfig(try await call("oauthIdpConfigs:update", config.fields))
    }

    /// Deletes an identity provider. Accounts that are linked to it stay.
    public func deleteProviderConfig(_ id: String) async throws(FirebaseAuthError) {
        _ = try await call("oauthIdpConfigs:delete", ["oauthIdpConfigId": .string(id)])
    }

    /// A page of identity providers, by id: those that were created, and those of `functions.json`.
    ///
    /// - Returns: the providers, and the token of the next page; nil at the end.
    public func listProviderConfigs(maxResults: Int = 100, pageToken: String? = nil) async throws(FirebaseAuthError) -> (
        providers: [OIDCProviderConfig], pageToken: String?
    ) {
        var payload: JSONObject = ["pageSize": JSONValue(maxResults)]
        payload["pageToken"] = pageToken.map { .string($0) }
        let answer = try await call("oauthIdpConfigs:list", payload)
        return ((answer["oauthIdpConfigs"]?.array ?? []).map(OIDCProviderConfig.init), answer["nextPageToken"]?.string)
    }

    // MARK: The project

    /// The configuration of sign-in of the project.
    public func getProjectConfig() async throws(FirebaseAuthError) -> AuthProjectConfig {
        AuthProjectConfig(try await call("config:get", [:], ofTenant: false))
    }

    /// Changes the properties that the request has. They count more than `functions.json` from then on.
    public func updateProjectConfig(_ request: AuthProjectRequest) async throws(FirebaseAuthError) -> AuthProjectConfig {
        AuthProjectConfig(try await call("config:update", request.fields, ofTenant: false))
    }
}

/// An identity provider of OpenID Connect.
public struct OIDCProviderConfig: Sendable, Hashable {
    /// The id, which begins with `oidc.`.
    public var providerID: String
    /// The id of the application at the provider.
    public var clientID: String?
    /// The address of the provider, the `iss` of its tokens.
    public var issuer: String?
    /// The name for people.
    public var displayName: String?
    /// Whether users may sign in with it.
    public var enabled: Bool?
    /// The secret of the application, for codes.
    public var clientSecret: String?
    /// Whether the provider's page answers with a code; otherwise with an ID token.
    public var usesCode: Bool?

    /// A configuration. In an update, properties that are left out stay as they are.
    public init(
        providerID: String, clientID: String? = nil, issuer: String? = nil, displayName: String? = nil, enabled: Bool? = nil,
        clientSecret: String? = nil, usesCode: Bool? = nil
    ) {
        self.providerID = providerID
        self.clientID = clientID
        self.issuer = issuer
        self.displayName = displayName
        self.enabled = enabled
        self.clientSecret = clientSecret
        self.usesCode = usesCode
    }

    init(_ json: JSONValue) {
        self.init(
            providerID: json["name"]?.string?.split(separator: "/").last.map(String.init) ?? "", clientID: json["clientId"]?.string,
            issuer: json["issuer"]?.string, displayName: json["displayName"]?.string, enabled: json["enabled"]?.bool ?? false,
            clientSecret: json["clientSecret"]?.string, usesCode: json["responseType"]?["code"]?.bool ?? false)
    }

    var fields: JSONObject {
        var fields: JSONObject = ["oauthIdpConfigId": .string(providerID)]
        fields["clientId"] = clientID.map { .string($0) }
        fields["issuer"] = issuer.map { .string($0) }
        fields["displayName"] = displayName.map { .string($0) }
        fields["enabled"] = enabled.map { .bool($0) }
        fields["clientSecret"] = clientSecret.map { .string($0) }
        fields["responseType"] = usesCode.map { $0 ? ["code": true] : ["idToken": true] }
        return fields
    }
}

/// The configuration of sign-in of a project.
public struct AuthProjectConfig: Sendable, Hashable {
    /// The hosts whose pages and links sign-in may use.
    public let authorizedDomains: [String]
    /// Second factors, the policy of passwords, and so on.
    public let rules: AuthRules

    init(_ json: JSONValue) {
        authorizedDomains = (json["authorizedDomains"]?.array ?? []).compactMap(\.string)
        rules = AuthRules(json, multiFactor: json["mfa"], testPhoneNumbers: json["signIn"]?["phoneNumber"]?["testPhoneNumbers"])
    }
}

/// The properties of the project's configuration to set.
public struct AuthProjectRequest: Sendable, Hashable {
    /// The hosts whose pages and links sign-in may use.
    public var authorizedDomains: [String]?
    /// Second factors, the policy of passwords, and so on.
    public var rules: AuthRules

    /// Properties; those that are left out stay as they are.
    public init(authorizedDomains: [String]? = nil, rules: AuthRules = AuthRules()) {
        self.authorizedDomains = authorizedDomains
        self.rules = rules
    }

    var fields: JSONObject {
        var fields = JSONObject()
        fields["authorizedDomains"] = authorizedDomains.map { .array($0.map { .string($0) }) }
        fields["mfa"] = rules.multiFactor?.json
        fields["signIn"] = rules.testPhoneNumbersJSON.map { ["phoneNumber": ["testPhoneNumbers": $0]] }
        rules.write(to: &fields)
        return fields
    }
}
