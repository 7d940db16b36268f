import Glibc
import HearthJSON

/// The settings of mails.
public struct MailSettings: Sendable {
    public var server: MailServer
    public var from: MailAddress
    public var fromName: String?
    public var replyTo: MailAddress?
    /// The most attempts for one mail.
    public var attempts = 5
    /// The pause after the first attempt; each further one is four times as long, up to five minutes.
    public var pauseMilliseconds = 2000

    /// The defaults.
    public init(server: MailServer, from: MailAddress) {
        self.server = server
        self.from = from
    }
}

/// The settings of text messages.
public struct TextSettings: Sendable {
    public var endpoint: TextEndpoint
    /// The most attempts for one message.
    public var attempts = 3
    /// The pause after the first attempt; each further one is four times as long.
    public var pauseMilliseconds = 1000

    /// The defaults.
    public init(endpoint: TextEndpoint) { self.endpoint = endpoint }
}

/// A failed attempt, for the log: without the address, the code and the link.
public struct NoticeFailure: Sendable, Equatable {
    public let kind: Notice.Kind
    public let attempts: Int
    public let reason: String
    /// Whether no further attempt follows.
    public let isFinal: Bool
}

/// Sends notices. Thread-safe; nothing blocks the caller.
public final class NoticeService: Sendable {
    private let mails: NoticeQueue?
    private let texts: NoticeQueue?

    /// The most notices of each sort that wait.
    static let waitingMax = 1000

    /// - Parameters:
    ///   - mail: nil sends no mails.
    ///   - texts: nil sends no text messages.
    ///   - applicationName: for `%APP_NAME%`.
    ///   - report: gets failed attempts, on any thread.
    public init(
        mail: MailSettings?, texts: TextSettings?, templates: NoticeTemplates, applicationName: String,
        report: @escaping @Sendable (NoticeFailure) -> Void
    ) {
        func queue(_ attempts: Int, _ pause: Int, _ send: @escaping @Sendable (Notice) -> NoticeAttempt) -> NoticeQueue {
            let limits = NoticeQueue.Limits(waitingMax: Self.waitingMax, attempts: attempts, pauseMilliseconds: Int64(pause))
            return NoticeQueue(limits: limits, send: send) { notice, attempts, reason, isFinal in
                report(NoticeFailure(kind: notice.kind, attempts: attempts, reason: reason, isFinal: isFinal))
            }
        }
        mails = mail.map { mail in
            queue(mail.attempts, mail.pauseMilliseconds) { Self.send($0, mail, templates, applicationName) }
        }
        self.texts = texts.map { texts in
            queue(texts.attempts, texts.pauseMilliseconds) { Self.send($0, texts, templates, applicationName) }
        }
    }

    /// The fate of a notice that was handed over.
    public enum Acceptance: Sendable, Equatable {
        case queued
        /// Nothing is configured for notices of this sort.
        case notConfigured
        /// Too many wait.
        case full
    }

    /// Queues a notice. Returns at once.
    ///
    /// - Parameter didEnd: called on any thread when a queued notice was sent or refused, with true, or when all attempts have failed, with false.
    public func send(_ notice: Notice, didEnd: @escaping @Sendable (Bool) -> Void = { _ in }) -> Acceptance {
        guard let queue = notice.kind == .textMessage ? texts : mails else { return .notConfigured }
        return queue.add(notice, didEnd: didEnd) ? .queued : .full
    }

    /// Forgets the notices that wait, and accepts no more. Returns their number.
    @discardableResult
    public func close() -> Int { (mails?.close() ?? 0) + (texts?.close() ?? 0) }

    private static func send(_ notice: Notice, _ mail: MailSettings, _ templates: NoticeTemplates, _ name: String) -> NoticeAttempt {
        guard let to = MailAddress(notice.recipient) else { return .refused("the address cannot receive mails") }
        guard mail.server.isUsable else { return .refused("the name of the mail server is invalid") }
        let (filled, language) = templates.filled(notice, applicationName: name)
        var generator = SystemRandomNumberGenerator()
        let id = (0..<2).map { _ in String(UInt64.random(in: 0...(.max), using: &generator), radix: 36) }.joined()
        let message = MailMessage(
            from: mail.from, fromName: mail.fromName, replyTo: mail.replyTo, to: to, subject: filled.subject, text: filled.text,
            language: language, id: id, seconds: Int64(time(nil)))
        return NoticeTransfer.mail(message, by: mail.server)
    }

    private static func send(_ notice: Notice, _ texts: TextSettings, _ templates: NoticeTemplates, _ name: String) -> NoticeAttempt {
        let (filled, language) = templates.filled(notice, applicationName: name)
        let body: JSONObject = [
            "to": .string(notice.recipient), "text": .string(filled.text), "code": .string(notice.secret), "language": .string(language),
        ]
        return NoticeTransfer.post(JSONValue.object(body).serialized(), to: texts.endpoint)
    }
}
