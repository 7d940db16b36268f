import Accounts
import Authentication
import Configuration
import EventLoop
import HTTP
import IdentityProviders
import Logging
import Tokens

extension AuthenticationTools {
    /// The tools of a host.
    ///
    /// - Parameters:
    ///   - idKeys: the keys of ID tokens.
    ///   - cookieKeys: the keys of session cookies.
    ///   - stateKey: the secret of redirects to identity providers.
    init(
        _ configuration: Configuration, idKeys: KeyRing, cookieKeys: KeyRing, accounts: AccountService, stateKey: [UInt8], loop: EventLoop,
        log: Logger
    ) {
        let isSigned = configuration.mode == .production
        self.init(
            idTokens: isSigned ? TokenSigner(idKeys) : .unsigned, cookies: isSigned ? TokenSigner(cookieKeys) : .unsigned,
            document: { kind in
                do throws(KeyRingError) {
                    return switch kind {
                    case .idTokenKeys: try idKeys.keySet()
                    case .idTokenCertificates: try idKeys.certificates()
                    case .cookieKeys: try cookieKeys.keySet()
                    case .cookieCertificates: try cookieKeys.certificates()
                    }
                } catch {
                    log.error("public keys cannot be served", metadata: ["reason": "\(error)"])
                    return nil
                }
            },
            providers: ProviderDirectory(
                ProviderSettings(configuration), transport: HTTPClient(loop: loop), ledger: accounts, stateKey: stateKey),
            // Nothing is sent yet: codes are read in the inbox, and refused where there is none.
            send: { _ in accounts.policy.showsCodes })
    }
}

extension ProviderSettings {
    init(_ configuration: Configuration) {
        self.init()
        acceptsUnsigned = configuration.mode == .development
        guard let settings = configuration.identity.facebook else { return }
        var app = FacebookSettings(appID: settings.appID, appSecret: settings.appSecret)
        app.graphBaseURL = settings.graphURL
        app.keyURLs = settings.keyURLs
        app.issuers = settings.issuers
        app.trustsEmail = settings.trustsEmail
        app.timeoutMilliseconds = Int(settings.timeoutSeconds * 1000)
        facebook = app
    }
}
