import AccountNotices
import Accounts
import AppCheck
import Authentication
import Configuration
import EventLoop
import HostCore
import HTTP
import IdentityProviders
import Logging
import Passwords
import Tokens

extension AuthenticationTools {
    /// The tools of a host.
    ///
    /// - Parameters:
    ///   - idKeys: the keys of ID tokens.
    ///   - cookieKeys: the keys of session cookies.
    ///   - notices: sends mails and text messages.
    ///   - stateKey: the secret of redirects to identity providers.
    init(
        _ configuration: Configuration, idKeys: KeyRing, cookieKeys: KeyRing, notices: NoticeService, accounts: AccountService, stateKey: [UInt8],
        loop: EventLoop, log: Logger
    ) throws(HostStartError) {
        let providers = try ProviderSettings(configuration)
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
            providers: ProviderDirectory(providers, transport: Self.transport(loop: loop, log: log), ledger: accounts, stateKey: stateKey),
            // In development mode messages are read from the store of accounts; they are sent too if that is configured.
            send: { message in
                notices.send(message, canBeRead: configuration.mode == .development || configuration.identity.hasTestHooks, log: log)
            })
        passwords = PasswordHasher(cost: ScryptCost(configuration.identity))
        if let site = try RecaptchaSettings(phonesOf: configuration) {
            let check = RecaptchaCheck(site, client: HTTPClient(loop: loop))
            verifyRecaptcha = { token in
                switch await check.verdict(token) {
                case .accepted: true
                case .rejected: false
                case .unavailable: nil
                }
            }
        }
    }

    /// Asks identity providers, and logs when they do not answer.
    private static func transport(loop: EventLoop, log: Logger) -> ReportedTransport {
        ReportedTransport(HTTPClient(loop: loop)) { trouble in
            log.warning(
                "an identity provider does not answer",
                metadata: [
                    "of": "auth", "provider": "\(trouble.origin)", "reason": "\(trouble.reason)", "unreported": "\(trouble.unreportedCount)",
                ])
        }
    }
}

extension AuthenticationTools {
    /// Adds the tokens that functions make and verify.
    ///
    /// - Parameter directory: the folder of the keys of custom tokens, which are made when the first one is signed.
    mutating func addTokens(_ configuration: Configuration, directory: String, cookieKeys: KeyRing, report: @escaping @Sendable (String) -> Void) {
        let (isSigned, skew) = (configuration.mode == .production, Int(configuration.auth.clockSkewSeconds))
        cookieTokens = TokenVerifier(
            rules: .idToken(
                project: configuration.project, issuer: "https://session.firebase.google.com/\(configuration.project)", clockSkewSeconds: skew,
                acceptsUnsigned: !isSigned),
            keys: KeySet(source: .ring(cookieKeys)))
        let keys = KeyRing(file: "\(directory)/custom-token.keys", report: report)
        customTokens = HostTokenAccount(
            signer: isSigned ? TokenSigner(keys) : .unsigned,
            verifier: isSigned ? TokenVerifier(rules: HostTokenAccount.rules(clockSkewSeconds: skew), keys: KeySet(source: .ring(keys))) : nil)
    }
}

extension ScryptCost {
    /// The configured cost, which the schema keeps within the bounds.
    init(_ settings: IdentitySettings) {
        let cost = ScryptCost(logarithm: settings.passwordCostLogarithm, blockSize: 8, parallelization: settings.passwordParallelization)
        self = cost ?? .standard
    }
}
