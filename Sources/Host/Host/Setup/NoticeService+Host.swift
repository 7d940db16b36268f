import AccountNotices
import Accounts
import Authentication
import Configuration
import HostCore
import Logging

extension NoticeService {
    /// The notices of a host.
    ///
    /// - Throws: `HostStartError` if a secret, an address or a template cannot be used.
    convenience init(_ configuration: Configuration, log: Logger) throws(HostStartError) {
        let settings = configuration.identity
        let templates = try NoticeTemplates(configuration)
        let name = settings.noticeTexts.applicationName ?? configuration.project
        var mail: MailSettings?
        if let wanted = settings.mail { mail = try MailSettings(wanted, applicationName: name) }
        var texts: TextSettings?
        if let wanted = settings.texts { texts = try TextSettings(wanted) }
        self.init(mail: mail, texts: texts, templates: templates, applicationName: name) { failure in
            let facts: Logger.Metadata = [
                "of": "auth", "kind": "\(failure.kind.rawValue)", "attempts": "\(failure.attempts)", "reason": "\(failure.reason)",
            ]
            if failure.isFinal {
                log.error("a notice to a user was not sent", metadata: facts)
            } else {
                log.warning("a notice to a user waits for another attempt", metadata: facts)
            }
        }
    }

    /// Sends a message of authentication. Returns false if it should be asked for again later.
    ///
    /// - Parameter canBeRead: whether the message can be read without being sent, so that a missing configuration is no fault.
    func send(_ message: AccountMessage, canBeRead: Bool, log: Logger) -> Bool {
        let notice = Notice(message)
        var didEnd: @Sendable (Bool) -> Void = { _ in }
        if case .notice(_, let given) = message { didEnd = given }
        let facts: Logger.Metadata = ["of": "auth", "kind": "\(notice.kind.rawValue)"]
        switch send(notice, didEnd: didEnd) {
        case .queued: return true
        case .full:
            log.error("too many notices to users wait", metadata: facts)
            didEnd(false)
            return false
        case .notConfigured:
            didEnd(true)
            let field = notice.kind == .textMessage ? "auth.texts" : "auth.mail"
            if !canBeRead { log.warning("a notice to a user was not sent, because \(field) is not configured", metadata: facts) }
            return true
        }
    }
}

extension NoticeTemplates {
    /// The built-in templates and those of the configuration.
    init(_ configuration: Configuration) throws(HostStartError) {
        let texts = configuration.identity.noticeTexts
        do throws(TemplateError) {
            try self.init(folder: texts.templates, language: texts.language)
        } catch {
            throw HostStartError("auth.notices: \(error)")
        }
    }
}

extension Notice {
    init(_ message: AccountMessage) {
        switch message {
        case .text(let code, let language): self.init(.textMessage, to: code.phone, secret: code.code, languages: language)
        case .mail(let code, let language):
            let kind: Kind =
                switch code.purpose {
                case .PASSWORD_RESET: .passwordReset
                case .VERIFY_EMAIL: .verifyEmail
                case .EMAIL_SIGNIN: .signIn
                case .VERIFY_AND_CHANGE_EMAIL: .changeEmail
                case .RECOVER_EMAIL: .recoverEmail
                case .REVERT_SECOND_FACTOR_ADDITION: .secondFactorAdded
                }
            // The new address proves that it exists; every other mail goes to the address of the account.
            let recipient = kind == .changeEmail ? code.newEmail ?? code.email : code.email
            self.init(kind, to: recipient, secret: code.link, newEmail: code.newEmail, languages: language)
        case .notice(let notice, _):
            let kind: Kind =
                switch notice.kind {
                case .emailChanged: notice.newEmail == nil ? .emailRemoved : .recoverEmail
                case .factorAdded: .secondFactorAdded
                case .signInAdded: .signInAdded
                }
            self.init(kind, to: notice.email, secret: notice.link ?? "", newEmail: notice.newEmail, languages: notice.language)
            factor = notice.label
        }
    }
}

extension MailSettings {
    init(_ settings: IdentitySettings.Mail, applicationName: String) throws(HostStartError) {
        guard let from = MailAddress(settings.from) else { throw HostStartError("auth.mail.from is no e-mail address") }
        var server = MailServer(host: settings.host, port: settings.port, security: MailServer.Security(rawValue: settings.security) ?? .starttls)
        server.user = settings.user
        server.password = try settings.password?.read("the password of auth.mail")
        server.certificateAuthorityFile = settings.certificateAuthority
        server.timeoutMilliseconds = Int(settings.timeoutSeconds * 1000)
        self.init(server: server, from: from)
        fromName = settings.fromName ?? applicationName
        if let text = settings.replyTo {
            guard let address = MailAddress(text) else { throw HostStartError("auth.mail.replyTo is no e-mail address") }
            replyTo = address
        }
        attempts = settings.attempts
        pauseMilliseconds = Int(settings.pauseSeconds * 1000)
    }
}

extension TextSettings {
    init(_ settings: IdentitySettings.Texts) throws(HostStartError) {
        var endpoint = TextEndpoint(url: settings.url)
        if let secret = settings.secret { endpoint.header = (settings.secretHeader, try secret.read("the secret of auth.texts")) }
        endpoint.timeoutMilliseconds = Int(settings.timeoutSeconds * 1000)
        self.init(endpoint: endpoint)
        attempts = settings.attempts
        pauseMilliseconds = Int(settings.pauseSeconds * 1000)
    }
}
