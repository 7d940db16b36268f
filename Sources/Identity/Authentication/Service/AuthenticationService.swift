public import Accounts
public import HTTP
public import IdentityProviders
public import Passwords
public import Tokens

/// The settings of authentication over HTTP.
public struct AuthenticationSettings: Sendable {
    /// Nil: every key that is not empty is accepted.
    public var apiKeys: [String]?
    /// The bearer token of the administrator.
    public var adminToken: [UInt8] = []
    /// The requests in which `owner` counts; nil in production.
    public var developmentAccess: DevelopmentAccess?
    /// The hosts whose pages and links may be used.
    public var authorizedDomains: [String] = ["localhost", "127.0.0.1"]
    /// The ids of native applications that may get the result of a sign-in with a provider's page. In development all may.
    public var nativeApps: [String] = []
    /// The address of this host in links; nil: that of the request.
    public var publicURL: String?
    /// The name of the application, for users.
    public var applicationName = ""
    /// Whether the host uses TLS.
    public var isTLS = false
    /// The public key of the site whose reCAPTCHA a text message needs; nil: none is needed.
    public var recaptchaSiteKey: String?
    /// Whether an administrator may read the codes of messages in production too, from this machine.
    public var hasTestHooks = false
    /// Service accounts whose custom tokens are accepted in production.
    public var serviceAccounts = AccountKeys()
    /// The proxies whose header with the client's address is trusted.
    public var proxies = TrustedProxies()

    /// The settings of development.
    public init() {}
}

/// The parts of other modules that authentication uses. Those that block are called off the loops.
public struct AuthenticationTools: Sendable {
    /// Signs ID tokens.
    public var idTokens: TokenSigner
    /// Signs session cookies.
    public var cookies: TokenSigner
    /// The document with public keys; nil if the keys cannot be read. Blocks.
    public var document: @Sendable (KeyDocumentKind) -> [UInt8]?
    /// Hashes and verifies passwords. Blocks.
    public var passwords = PasswordHasher()
    /// The threads for that.
    public var passwordQueue = PasswordQueue()
    /// Verifies session cookies; nil if nobody verifies them here.
    public var cookieTokens: TokenVerifier?
    /// Signs and verifies the custom tokens of functions; nil if there are none.
    public var customTokens: HostTokenAccount?
    /// Verifies credentials of identity providers.
    public var providers: ProviderDirectory
    /// Verifies the apps of clients; nil if requests of all programs are answered.
    public var apps: AppRequirement?
    /// The functions that sign-ups, sign-ins and messages wait for.
    public var functions = BlockingCaller.none
    /// Asks whether a token of reCAPTCHA is right; nil if it cannot be found out.
    public var verifyRecaptcha: @Sendable (String) async -> Bool? = { _ in nil }
    /// Sends a mail or a text message.
    public var send: @Sendable (AccountMessage) async -> Bool
    /// Called with the reason why a notice about the security of an account was not sent.
    public var didNotSend: @Sendable (String) -> Void = { _ in }

    /// Tools.
    public init(
        idTokens: TokenSigner, cookies: TokenSigner, document: @escaping @Sendable (KeyDocumentKind) -> [UInt8]?,
        providers: ProviderDirectory,
        send: @escaping @Sendable (AccountMessage) async -> Bool
    ) {
        self.idTokens = idTokens
        self.cookies = cookies
        self.document = document
        self.providers = providers
        self.send = send
    }
}

/// The App Check tokens that requests of clients need.
public struct AppRequirement: Sendable {
    /// Verifies tokens.
    public var tokens: TokenVerifier
    /// Whether requests without a valid token are refused; otherwise they are only reported.
    public var isEnforced: Bool
    /// Called with the reason why a request has no valid token.
    public var report: @Sendable (String) -> Void

    /// A requirement.
    public init(tokens: TokenVerifier, isEnforced: Bool, report: @escaping @Sendable (String) -> Void) {
        self.tokens = tokens
        self.isEnforced = isEnforced
        self.report = report
    }
}

/// The documents with the public keys of the host.
public enum KeyDocumentKind: Sendable {
    case idTokenKeys, idTokenCertificates, cookieKeys, cookieCertificates
}

/// A message to a user.
public enum AccountMessage: Sendable {
    case mail(EmailCode, language: String?)
    case text(MessageCode, language: String?)
    /// A stored notice. `didEnd` is called when it need not be sent again, with true, or waits for another attempt.
    case notice(SecurityNotice, didEnd: @Sendable (Bool) -> Void)
}

/// Authentication, for all loops.
public final class AuthenticationService: Sendable {
    /// The users.
    public let accounts: AccountService
    let settings: AuthenticationSettings
    let tools: AuthenticationTools
    let idTokens: TokenVerifier
    let notices: NoticeOutbox

    var policy: AccountPolicy { accounts.policy }
    var isStrict: Bool { policy.isStrict }

    /// - Parameter idTokens: verifies the ID tokens of this host.
    public init(accounts: AccountService, settings: AuthenticationSettings, tools: AuthenticationTools, idTokens: TokenVerifier) {
        self.accounts = accounts
        self.settings = settings
        self.tools = tools
        self.idTokens = idTokens
        let send = tools.send
        let outbox = NoticeOutbox(accounts: accounts) { notice, didEnd in _ = await send(.notice(notice, didEnd: didEnd)) }
        notices = outbox
        accounts.useNotices { outbox.send($0) }
    }
}
