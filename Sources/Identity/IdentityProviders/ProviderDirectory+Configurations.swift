public import HearthJSON

/// The providers of the configuration file in the form in which administrators see providers. Secrets and keys are left out.
extension ProviderDirectory {
    /// Facebook, Google and Apple, as far as they are configured, by id: resources `defaultSupportedIdpConfigs`.
    public var standardConfigurations: [String: JSONObject] {
        var found: [String: JSONObject] = [:]
        if let facebook { found[FacebookProvider.id] = ["enabled": true, "clientId": .string(facebook.settings.appID)] }
        if let settings = google?.settings {
            found[GoogleProvider.id] = ["enabled": true, "clientId": .string(settings.clientIDs.first ?? "")]
        }
        if let settings = apple?.settings {
            var flow: JSONObject = ["bundleIds": .array(settings.clientIDs.map { .string($0) })]
            if let key = settings.key { flow["codeFlowConfig"] = ["teamId": .string(key.teamID), "keyId": .string(key.keyID)] }
            found[AppleProvider.id] = [
                "enabled": true, "clientId": .string(settings.clientIDs.first ?? ""), "appleSignInConfig": .object(flow),
            ]
        }
        return found
    }

    /// The providers of OpenID Connect, by id: resources `oauthIdpConfigs`.
    public var oidcConfigurations: [String: JSONObject] {
        settings.oidc.mapValues { provider in
            var fields: JSONObject = [
                "enabled": .bool(provider.isEnabled), "clientId": .string(provider.clientID), "issuer": .string(provider.issuer),
                "responseType": [provider.usesCode ? "code" : "idToken": true],
            ]
            fields["displayName"] = provider.displayName.map { .string($0) }
            return fields
        }
    }
}
