import Files

extension IdentitySettings {
    /// Sign-in with Facebook.
    public struct Facebook: Sendable, Equatable {
        public var appID: String
        public var appSecret: SecretSource
        public var graphURL: String
        public var dialogURL: String
        public var keyURLs: [String]
        public var issuers: [String]
        public var trustsEmail: Bool
        public var timeoutSeconds: Double
    }

    /// Sign-in with Google.
    public struct Google: Sendable, Equatable {
        /// The first is that of web pages.
        public var clientIDs: [String]
        /// Nil: no popup and no redirect.
        public var clientSecret: SecretSource?
        public var issuers: [String]
        public var keyURL: String
        public var tokenInfoURL: String
        public var userInfoURL: String
        public var authorizationURL: String
        public var tokenURL: String
        public var timeoutSeconds: Double
    }

    /// Sign-in with Apple.
    public struct Apple: Sendable, Equatable {
        /// The key that signs client secrets.
        public struct Key: Sendable, Equatable {
            public var teamID: String
            public var keyID: String
            /// Path of the private key.
            public var file: String
        }

        /// The first is that of web pages.
        public var clientIDs: [String]
        /// Nil: no popup and no redirect.
        public var key: Key?
        public var issuer: String
        public var keyURL: String
        public var authorizationURL: String
        public var tokenURL: String
        public var revocationURL: String
        public var timeoutSeconds: Double
    }

    /// A provider of OpenID Connect.
    public struct OpenIDProvider: Sendable, Equatable {
        public var issuer: String
        /// The first is that of web pages.
        public var clientIDs: [String]
        public var clientSecret: SecretSource?
        /// Whether the provider's page answers with a code; otherwise with an ID token.
        public var usesCode: Bool
        public var displayName: String?
        public var timeoutSeconds: Double
    }
}

extension ConfigurationReader {
    mutating func facebook(_ field: Field) -> IdentitySettings.Facebook? {
        guard let id = field["appId"].stringIfPresent else { return nil }
        guard let secret = namedSecret(field["appSecret"], field["appSecretName"]) else {
            fail(field, "expected one of appSecret and appSecretName, found neither")
            return nil
        }
        return IdentitySettings.Facebook(
            appID: id, appSecret: secret, graphURL: field["graphUrl"].string, dialogURL: field["dialogUrl"].string,
            keyURLs: field["jwksUrls"].strings, issuers: field["issuers"].strings, trustsEmail: field["trustEmail"].bool,
            timeoutSeconds: field["timeoutSeconds"].double)
    }

    mutating func google(_ field: Field) -> IdentitySettings.Google? {
        guard let clients = field["clientIds"].stringsIfPresent, !clients.isEmpty else { return nil }
        return IdentitySettings.Google(
            clientIDs: clients, clientSecret: namedSecret(field["clientSecret"], field["clientSecretName"]), issuers: field["issuers"].strings,
            keyURL: field["jwksUrl"].string, tokenInfoURL: field["tokenInfoUrl"].string, userInfoURL: field["userInfoUrl"].string,
            authorizationURL: field["authorizationUrl"].string, tokenURL: field["tokenUrl"].string, timeoutSeconds: field["timeoutSeconds"].double)
    }

    mutating func apple(_ field: Field) -> IdentitySettings.Apple? {
        guard let clients = field["clientIds"].stringsIfPresent, !clients.isEmpty else { return nil }
        let parts = [field["teamId"], field["keyId"], field["privateKey"]]
        var key: IdentitySettings.Apple.Key?
        if let team = parts[0].stringIfPresent, let id = parts[1].stringIfPresent, let path = secretFile(parts[2]) {
            key = IdentitySettings.Apple.Key(teamID: team, keyID: id, file: path)
        } else if parts.contains(where: \.isPresent) {
            fail(field, "expected teamId, keyId and privateKey together, found only a part of them")
        }
        return IdentitySettings.Apple(
            clientIDs: clients, key: key, issuer: field["issuer"].string, keyURL: field["jwksUrl"].string,
            authorizationURL: field["authorizationUrl"].string, tokenURL: field["tokenUrl"].string, revocationURL: field["revocationUrl"].string,
            timeoutSeconds: field["timeoutSeconds"].double)
    }

    mutating func openIDProviders(_ field: Field) -> [String: IdentitySettings.OpenIDProvider] {
        var providers: [String: IdentitySettings.OpenIDProvider] = [:]
        for (id, provider) in field.entries {
            guard let issuer = provider["issuer"].stringIfPresent, let clients = provider["clientIds"].stringsIfPresent else { continue }
            let secret = namedSecret(provider["clientSecret"], provider["clientSecretName"])
            providers[id] = IdentitySettings.OpenIDProvider(
                issuer: issuer, clientIDs: clients, clientSecret: secret,
                usesCode: provider["responseType"].stringIfPresent.map { $0 == "code" } ?? (secret != nil),
                displayName: provider["displayName"].stringIfPresent, timeoutSeconds: provider["timeoutSeconds"].double)
        }
        return providers
    }

    /// A secret that stands in the file, or whose name does.
    private mutating func namedSecret(_ text: Field, _ name: Field) -> IdentitySettings.SecretSource? {
        if text.isPresent, name.isPresent { fail(name, "expected the secret or its name, found both") }
        if let secret = text.stringIfPresent { return .text(secret) }
        guard let key = name.stringIfPresent else { return nil }
        let path = FileProbe.join(directory, ".secret.local")
        warnIfExposed(path, name)
        return .name(key, file: path)
    }
}
