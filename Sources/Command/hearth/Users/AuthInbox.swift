import ArgumentParser
import CommandClient
import Glibc
import HearthJSON

/// `hearth auth:inbox`: shows mails and text messages of development.
struct AuthInbox: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth:inbox", abstract: "Shows the mails and text messages that a host in development mode would send, oldest first.",
        discussion: """
            Each message is shown with its link or code, until that is used. --newest prints the newest link or code alone.

            Examples:
              hearth auth:inbox
              hearth auth:inbox --email ada@example.com --newest
              hearth auth:inbox --follow
            """)

    @Option(help: ArgumentHelp("Only mails to this address.", valueName: "e-mail"))
    var email: String?

    @Option(help: ArgumentHelp("Only text messages to this number.", valueName: "number"))
    var phone: String?

    @Flag(help: "Print only the newest link or code.")
    var newest = false

    @Flag(name: [.customShort("f"), .long], help: "Continue with new messages, until Ctrl-C.")
    var follow = false

    @OptionGroup var tenant: TenantOption
    @OptionGroup var connection: ConnectionOptions

    private static let pauseMicroseconds: UInt32 = 500_000

    func validate() throws {
        if email != nil && phone != nil { throw ValidationError("--email and --phone exclude each other") }
        if newest && follow { throw ValidationError("--newest and --follow exclude each other") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let users = tenant.users(client)
        let messages = try read(users)
        if follow { return try follow(users, messages) }
        if newest {
            guard let last = messages.last else { throw ClientFailure(.refused(status: 404), "there is no such message") }
            return Outcome(text: last.secret, json: .object(last.json))
        }
        let text = messages.isEmpty ? "No messages." : messages.map(\.text).joined(separator: "\n")
        return Outcome(text: text, json: ["messages": .array(messages.map { .object($0.json) })])
    }

    private func follow(_ users: UsersClient, _ first: [InboxMessage]) throws(ClientFailure) -> Outcome {
        // Ending with Ctrl-C is not a failure.
        signal(SIGINT) { _ in _exit(0) }
        var (shown, messages, isGone): (Set<String>, [InboxMessage], Bool) = ([], first, false)
        while true {
            for message in messages where !shown.contains(message.id) {
                Terminal.write(connection.json ? JSONValue.object(message.json).description : message.text)
            }
            // A used message does not come back.
            shown = Set(messages.map(\.id))
            usleep(Self.pauseMicroseconds)
            do throws(ClientFailure) {
                messages = try read(users)
                if isGone { Terminal.writeError("hearth: the host is back") }
                isGone = false
            } catch {
                guard error.isPassing else { throw error }
                if !isGone { Terminal.writeError("hearth: the host has disconnected; waiting for it") }
                isGone = true
            }
        }
    }

    private func read(_ users: UsersClient) throws(ClientFailure) -> [InboxMessage] {
        let (mails, texts) = try users.inbox()
        var messages: [InboxMessage] = []
        if phone == nil { messages += mails.map(InboxMessage.init(mail:)).filter { email == nil || $0.isTo(email) } }
        if email == nil { messages += texts.map(InboxMessage.init(text:)).filter { phone == nil || $0.isTo(phone) } }
        return messages.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }
}

/// A mail or a text message of the inbox.
struct InboxMessage {
    /// The code that identifies it.
    let id: String
    let receivers: [String]
    /// Milliseconds since 1970; 0 if the host does not tell.
    let time: Int
    /// The link or the code.
    let secret: String
    /// The message in the host's format.
    let json: JSONObject
    private let subject: String

    init(mail: JSONObject) {
        json = mail
        id = mail["oobCode"]?.string ?? ""
        receivers = [mail["newEmail"]?.string, mail["email"]?.string].compactMap { $0 }
        time = mail["createdAt"]?.string.flatMap { Int($0) } ?? 0
        secret = mail["oobLink"]?.string ?? ""
        subject = Self.subjects[mail["requestType"]?.string ?? ""] ?? "mail"
    }

    init(text: JSONObject) {
        json = text
        id = text["sessionInfo"]?.string ?? ""
        receivers = [text["phoneNumber"]?.string].compactMap { $0 }
        time = text["createdAt"]?.string.flatMap { Int($0) } ?? 0
        secret = text["code"]?.string ?? ""
        subject = "code"
    }

    private static let subjects = [
        "PASSWORD_RESET": "reset the password", "VERIFY_EMAIL": "verify the e-mail", "EMAIL_SIGNIN": "sign in",
        "VERIFY_AND_CHANGE_EMAIL": "verify the new e-mail", "RECOVER_EMAIL": "undo the change of the e-mail",
    ]

    /// Whether it is addressed to `receiver`; e-mails in any case of letters.
    func isTo(_ receiver: String?) -> Bool { receivers.contains { $0.lowercased() == receiver?.lowercased() } }

    /// Two lines; the second one is the link or the code alone, so that it can be selected with a triple click.
    var text: String {
        let moment = time == 0 ? "" : UserText.time(.string(String(time))).map { "\($0)  " } ?? ""
        return "\(moment)\(PrintableText.line(receivers.first ?? "")): \(subject)\n\(PrintableText.line(secret))"
    }
}
