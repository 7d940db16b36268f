extension IdentitySettings {
    /// The origin of a secret.
    public enum SecretSource: Sendable, Equatable {
        case file(String)
        case variable(String)
        /// Stands in the configuration itself.
        case text(String)
        /// The name of an environment variable, or of a line of this file.
        case name(String, file: String)
    }

    /// The server for mails.
    public struct Mail: Sendable, Equatable {
        public var host: String
        public var port: Int
        /// `tls`, `starttls` or `none`.
        public var security: String
        public var user: String?
        public var password: SecretSource?
        public var from: String
        public var fromName: String?
        public var replyTo: String?
        public var certificateAuthority: String?
        public var timeoutSeconds: Double
        public var attempts: Int
        public var pauseSeconds: Double
    }

    /// The endpoint for text messages.
    public struct Texts: Sendable, Equatable {
        public var url: String
        public var secretHeader: String
        public var secret: SecretSource?
        public var timeoutSeconds: Double
        public var attempts: Int
        public var pauseSeconds: Double
    }

    /// The texts of both.
    public struct NoticeTexts: Sendable, Equatable {
        /// Nil for the project's id.
        public var applicationName: String?
        public var language: String
        /// The folder with templates.
        public var templates: String?
    }
}

extension ConfigurationReader {
    mutating func mail(_ field: Field) -> IdentitySettings.Mail? {
        guard let host = field["host"].stringIfPresent, let from = field["from"].stringIfPresent else { return nil }
        let security = field["security"].string
        let user = field["user"].stringIfPresent
        let password = secret(field["passwordFile"], field["passwordVariable"])
        if user != nil, password == nil { fail(field["user"], "a user needs `passwordFile` or `passwordVariable`") }
        if user != nil, security == "none" { fail(field["user"], "a password is not sent without TLS: use `tls` or `starttls`") }
        return IdentitySettings.Mail(
            host: host, port: field["port"].intIfPresent ?? ["tls": 465, "none": 25][security] ?? 587, security: security, user: user,
            password: password, from: from, fromName: field["fromName"].stringIfPresent, replyTo: field["replyTo"].stringIfPresent,
            certificateAuthority: file(field["certificateAuthority"]), timeoutSeconds: field["timeoutSeconds"].double,
            attempts: field["attempts"].int, pauseSeconds: field["pauseSeconds"].double)
    }

    mutating func texts(_ field: Field) -> IdentitySettings.Texts? {
        guard let url = field["url"].stringIfPresent else { return nil }
        return IdentitySettings.Texts(
            url: url, secretHeader: field["secretHeader"].string, secret: secret(field["secretFile"], field["secretVariable"]),
            timeoutSeconds: field["timeoutSeconds"].double, attempts: field["attempts"].int, pauseSeconds: field["pauseSeconds"].double)
    }

    mutating func noticeTexts(_ field: Field) -> IdentitySettings.NoticeTexts {
        IdentitySettings.NoticeTexts(
            applicationName: field["applicationName"].stringIfPresent, language: field["language"].string,
            templates: field["templates"].isPresent ? folder(field["templates"]) : nil)
    }

    private mutating func secret(_ inFile: Field, _ inVariable: Field) -> IdentitySettings.SecretSource? {
        if let path = secretFile(inFile) { return .file(path) }
        return inVariable.stringIfPresent.map { .variable($0) }
    }
}
