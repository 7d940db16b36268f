import ArgumentParser
import CLinux
import CommandClient
import Glibc
import HearthJSON

/// The tenant whose users a command is about.
struct TenantOption: ParsableArguments {
    @Option(help: ArgumentHelp("Users of this tenant, instead of those of the project itself.", valueName: "tenant"))
    var tenant: String?

    func users(_ client: HostClient) -> UsersClient { UsersClient(client, tenant: tenant) }
}

/// The properties of a user that commands set.
struct UserProperties: ParsableArguments {
    @Option(help: ArgumentHelp("The e-mail.", valueName: "e-mail"))
    var email: String?

    @Option(help: ArgumentHelp("The phone number, such as +15555550100.", valueName: "number"))
    var phone: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The display name.", valueName: "text"))
    var displayName: String?

    @Option(help: ArgumentHelp("The URL of a photo.", valueName: "url"))
    var photo: String?

    @Flag(inversion: .prefixedNo, help: "Whether the e-mail is verified.")
    var verified: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether the user is disabled, and cannot sign in.")
    var disabled: Bool?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The custom claims, an object: '{admin: true}'. They replace the earlier ones.", valueName: "json"))
    var claims: String?

    @Flag(help: "Ask for a password; without a terminal, read it from standard input.")
    var password = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The password itself. Other users of this machine can see it while the command runs.", valueName: "password"))
    var passwordArgument: String?

    func validate() throws {
        if password && passwordArgument != nil { throw ValidationError("--password and --password-argument exclude each other") }
    }

    /// The fields of a request in the names of the protocol, without the claims.
    func fields(nameOfDisabled: String) throws(ClientFailure) -> JSONObject {
        var fields = JSONObject()
        fields["email"] = email.map { .string($0) }
        fields["phoneNumber"] = phone.map { .string($0) }
        fields["displayName"] = displayName.map { .string($0) }
        fields["photoUrl"] = photo.map { .string($0) }
        fields["emailVerified"] = verified.map { .bool($0) }
        fields[nameOfDisabled] = disabled.map { .bool($0) }
        if let passwordArgument { fields["password"] = .string(passwordArgument) }
        if password { fields["password"] = .string(try SecretInput.read("Password: ")) }
        return fields
    }

    /// The claims as the protocol takes them: the text of an object.
    func claimsText() throws(ClientFailure) -> String? {
        guard let claims else { return nil }
        let value = try InputData.json(claims, "--claims")
        guard value.object != nil else { throw ClientFailure(.invalidInput, "the claims are not an object, such as '{admin: true}'") }
        return value.description
    }
}

/// A secret that is typed, or piped in.
enum SecretInput {
    private static let bytesMax = 4096

    /// Reads a line; without showing it on a terminal. Empty at the end of the input.
    static func line(_ prompt: String) -> String {
        var mode = linux_terminal_mode()
        let isHidden = isatty(STDIN_FILENO) == 1 && linux_hide_typing(STDIN_FILENO, &mode) == 0
        if isHidden { Terminal.ask(prompt) }
        let line = readLine(strippingNewline: true)
        if isHidden {
            _ = linux_restore_terminal(STDIN_FILENO, &mode)
            Terminal.writeError("")
        }
        return line ?? ""
    }

    /// Reads a password.
    ///
    /// - Throws: that it is empty or too long.
    static func read(_ prompt: String) throws(ClientFailure) -> String {
        let line = Self.line(prompt)
        guard !line.isEmpty else { throw ClientFailure(.invalidInput, "the password is empty; type it, or pipe it in") }
        guard line.utf8.count <= bytesMax else { throw ClientFailure(.invalidInput, "the password has more than 4096 bytes, which is the limit") }
        return line
    }
}

/// A user for a person.
enum UserText {
    /// The values of a row of a table, below ``heading``.
    static func row(_ user: JSONObject) -> [String] {
        let text = { (name: String) in PrintableText.line(user[name]?.string ?? "") }
        return [
            text("localId"), text("email"), text("phoneNumber"), text("displayName"), PrintableText.line(providers(user).joined(separator: ",")),
            time(user["lastLoginAt"]).map { Age.text($0) } ?? "never", user["disabled"]?.bool == true ? "disabled" : "",
        ]
    }

    static let heading = ["UID", "E-MAIL", "PHONE", "NAME", "SIGN-IN", "SIGNED IN", ""]

    /// All properties, a line for each.
    static func lines(_ user: JSONObject) -> [String] {
        func text(_ name: String) -> String? { user[name]?.string.map(PrintableText.line) }
        var rows: [[String]] = [["uid", text("localId") ?? ""]]
        func add(_ label: String, _ value: String?) { if let value, !value.isEmpty { rows.append([label, value]) } }
        add("e-mail", text("email").map { "\($0) (\(user["emailVerified"]?.bool == true ? "verified" : "not verified"))" })
        add("phone", text("phoneNumber"))
        add("name", text("displayName"))
        add("photo", text("photoUrl"))
        for link in user["providerUserInfo"]?.array ?? [] {
            let provider = PrintableText.line(link["providerId"]?.string ?? "")
            add("sign-in", ["password", "phone"].contains(provider) ? provider : "\(provider) \(PrintableText.line(link["rawId"]?.string ?? ""))")
        }
        for factor in user["mfaInfo"]?.array ?? [] {
            let kind = factor["phoneInfo"]?.string.map { "text message to \(PrintableText.line($0))" } ?? "one-time codes"
            add("second factor", "\(kind) \(PrintableText.line(factor["displayName"]?.string ?? ""))")
        }
        add("claims", text("customAttributes").flatMap { $0 == "{}" ? nil : $0 })
        add("tenant", text("tenantId"))
        add("created", time(user["createdAt"]))
        add("signed in", time(user["lastLoginAt"]) ?? "never")
        add("tokens since", seconds(user["validSince"]))
        if user["disabled"]?.bool == true { add("disabled", "yes") }
        return TextTable.lines(rows)
    }

    /// The ways to sign in.
    private static func providers(_ user: JSONObject) -> [String] {
        let found = (user["providerUserInfo"]?.array ?? []).compactMap { $0["providerId"]?.string }
        if user["emailLinkSignin"]?.bool == true { return found + ["emailLink"] }
        return found.isEmpty ? [user["customAuth"]?.bool == true ? "custom" : user["email"] == nil ? "anonymous" : ""] : found
    }

    /// A time in RFC 3339 of milliseconds since 1970 as text.
    static func time(_ value: JSONValue?) -> String? {
        (value?.string.flatMap { Int($0) } ?? value?.int).flatMap { utc($0 / 1000) }
    }

    private static func seconds(_ value: JSONValue?) -> String? {
        (value?.string.flatMap { Int($0) } ?? value?.int).flatMap { utc($0) }
    }

    private static func utc(_ seconds: Int) -> String? {
        var (time, parts) = (time_t(seconds), tm())
        guard gmtime_r(&time, &parts) != nil else { return nil }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(day)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
