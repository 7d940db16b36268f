import Configuration
import Files
import Glibc
import HostCore
import IdentityProviders

extension ProviderSettings {
    /// The identity providers of a configuration.
    ///
    /// - Throws: `HostStartError` if production cannot use a secret, a key or an address. Development verifies nothing, so it needs no secrets.
    init(_ configuration: Configuration) throws(HostStartError) {
        self.init()
        let settings = configuration.identity
        acceptsUnsigned = configuration.mode == .development
        if let wanted = settings.facebook { facebook = try Self.facebook(wanted, isUsed: !acceptsUnsigned) }
        if let wanted = settings.google { google = try Self.google(wanted, isUsed: !acceptsUnsigned) }
        if let wanted = settings.apple { apple = try Self.apple(wanted, isUsed: !acceptsUnsigned) }
        for (id, wanted) in settings.oidc.sorted(by: { $0.key < $1.key }) { oidc[id] = try Self.oidc(id, wanted, isUsed: !acceptsUnsigned) }
    }

    private static func facebook(_ settings: IdentitySettings.Facebook, isUsed: Bool) throws(HostStartError) -> FacebookSettings {
        let secret = isUsed ? try settings.appSecret.read("the secret of auth.facebook") : ""
        var app = FacebookSettings(appID: settings.appID, appSecret: secret)
        app.graphBaseURL = try address(settings.graphURL, of: "auth.facebook.graphUrl", isUsed: isUsed)
        app.dialogURL = try address(settings.dialogURL, of: "auth.facebook.dialogUrl", isUsed: isUsed)
        app.keyURLs = []
        for url in settings.keyURLs { app.keyURLs.append(try address(url, of: "auth.facebook.jwksUrls", isUsed: isUsed)) }
        app.issuers = settings.issuers
        app.trustsEmail = settings.trustsEmail
        app.timeoutMilliseconds = Int(settings.timeoutSeconds * 1000)
        return app
    }

    private static func google(_ settings: IdentitySettings.Google, isUsed: Bool) throws(HostStartError) -> GoogleSettings {
        var google = GoogleSettings(clientIDs: settings.clientIDs)
        if isUsed { google.clientSecret = try settings.clientSecret?.read("the secret of auth.google") }
        google.issuers = settings.issuers
        google.keyURL = try address(settings.keyURL, of: "auth.google.jwksUrl", isUsed: isUsed)
        google.tokenInfoURL = try address(settings.tokenInfoURL, of: "auth.google.tokenInfoUrl", isUsed: isUsed)
        google.userInfoURL = try address(settings.userInfoURL, of: "auth.google.userInfoUrl", isUsed: isUsed)
        google.authorizationURL = try address(settings.authorizationURL, of: "auth.google.authorizationUrl", isUsed: isUsed)
        google.tokenURL = try address(settings.tokenURL, of: "auth.google.tokenUrl", isUsed: isUsed)
        google.timeoutMilliseconds = Int(settings.timeoutSeconds * 1000)
        return google
    }

    private static func apple(_ settings: IdentitySettings.Apple, isUsed: Bool) throws(HostStartError) -> AppleSettings {
        var apple = AppleSettings(clientIDs: settings.clientIDs)
        apple.issuer = settings.issuer
        apple.keyURL = try address(settings.keyURL, of: "auth.apple.jwksUrl", isUsed: isUsed)
        apple.authorizationURL = try address(settings.authorizationURL, of: "auth.apple.authorizationUrl", isUsed: isUsed)
        apple.tokenURL = try address(settings.tokenURL, of: "auth.apple.tokenUrl", isUsed: isUsed)
        apple.revocationURL = try address(settings.revocationURL, of: "auth.apple.revocationUrl", isUsed: isUsed)
        apple.timeoutMilliseconds = Int(settings.timeoutSeconds * 1000)
        guard isUsed, let key = settings.key else { return apple }
        let text: String
        do throws(FileFailure) {
            text = try WholeFile.readText(key.file, sizeBytesMax: 1 << 14)
        } catch {
            throw HostStartError("auth.apple.privateKey: \(key.file) \(error)")
        }
        guard let usable = AppleKey(teamID: key.teamID, keyID: key.keyID, pem: text) else {
            throw HostStartError("auth.apple.privateKey: \(key.file) is not a P-256 key in PEM")
        }
        apple.key = usable
        return apple
    }

    private static func oidc(_ id: String, _ settings: IdentitySettings.OpenIDProvider, isUsed: Bool) throws(HostStartError) -> OIDCSettings {
        let issuer = try address(settings.issuer, of: "auth.oidc.\"\(id)\".issuer", isUsed: isUsed)
        var oidc = OIDCSettings(issuer: issuer, clientID: settings.clientIDs.first ?? "")
        oidc.otherClientIDs = Array(settings.clientIDs.dropFirst())
        if isUsed { oidc.clientSecret = try settings.clientSecret?.read("the secret of auth.oidc.\"\(id)\"") }
        oidc.usesCode = settings.usesCode
        oidc.displayName = settings.displayName
        oidc.timeoutMilliseconds = Int(settings.timeoutSeconds * 1000)
        return oidc
    }

    /// An address at which production may ask: what goes there are secrets, what comes back decides who signs in.
    private static func address(_ url: String, of field: String, isUsed: Bool) throws(HostStartError) -> String {
        guard isUsed, !WebOrigin.isUsable(url) else { return url }
        throw HostStartError("\(field): \(url) cannot be used in production mode; expected https, or http to this machine")
    }
}

extension IdentitySettings.SecretSource {
    /// The secret: one line.
    ///
    /// - Parameter name: names it in the error.
    func read(_ name: String) throws(HostStartError) -> String {
        var text: String
        switch self {
        case .text(let secret): text = secret
        case .variable(let variable):
            guard let value = getenv(variable) else { throw HostStartError("\(name) is missing: there is no environment variable \(variable)") }
            text = String(cString: value)
        case .file(let path):
            do throws(FileFailure) {
                text = try WholeFile.readText(path, sizeBytesMax: 1 << 12)
            } catch {
                throw HostStartError("\(name): \(path) \(error)")
            }
        case .name(let key, let file): text = try Self.named(key, file, name)
        }
        while text.last?.isNewline == true { text.removeLast() }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw HostStartError("\(name) is not one line of text") }
        return text
    }

    private static func named(_ key: String, _ file: String, _ name: String) throws(HostStartError) -> String {
        if let value = getenv(key) { return String(cString: value) }
        let found: String?
        do throws(ConfigurationErrors) {
            found = try SecretFile(file)[key]
        } catch {
            throw HostStartError("\(name): \(error)")
        }
        guard let found else {
            throw HostStartError("\(name) is missing: there is no environment variable \(key); add a line \(key)=value to \(file)")
        }
        return found
    }
}
