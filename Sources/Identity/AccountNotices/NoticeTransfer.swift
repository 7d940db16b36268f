import CCurl

/// The way to a mail server.
public struct MailServer: Sendable {
    /// The protection of the connection.
    public enum Security: String, Sendable {
        /// TLS from the beginning.
        case tls
        /// TLS is started before anything else is sent.
        case starttls
        /// None: for a server on this machine only.
        case none
    }

    public var host: String
    public var port: Int
    public var security: Security
    public var user: String?
    public var password: String?
    /// PEM file of the certificate authorities; nil for those of the system.
    public var certificateAuthorityFile: String?
    public var timeoutMilliseconds = 30_000

    /// A server without a user.
    public init(host: String, port: Int, security: Security) {
        self.host = host
        self.port = port
        self.security = security
    }

    /// Whether host and port can stand in an address.
    var isUsable: Bool {
        1...65_535 ~= port && !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@%\\".utf8.contains($0) }
    }

    var url: String {
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(security == .tls ? "smtps" : "smtp")://\(name):\(port)/hearth"
    }
}

/// The endpoint for text messages.
public struct TextEndpoint: Sendable {
    public var url: String
    /// A header with a secret.
    public var header: (name: String, value: String)?
    /// PEM file of the certificate authorities; nil for those of the system.
    public var certificateAuthorityFile: String?
    public var timeoutMilliseconds = 10_000

    /// An endpoint.
    public init(url: String, header: (name: String, value: String)? = nil) {
        self.url = url
        self.header = header
    }
}

/// One exchange by libcurl, on the thread of the caller. Blocks.
final class NoticeTransfer {
    private let easy: UnsafeMutableRawPointer
    private var list: UnsafeMutablePointer<curl_slist>?
    private var upload: [UInt8] = []
    private var uploaded = 0
    private var problem: CURLcode?

    /// Nil if libcurl cannot be used; `failure` gets the reason.
    private init?(failure: inout String) {
        var text = [CChar](repeating: 0, count: 256)
        guard hearth_curl_load(&text, text.count) != 0 else {
            failure = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return nil
        }
        guard let easy = hearth_curl_easy_init() else {
            failure = "libcurl has no memory for a transfer"
            return nil
        }
        self.easy = easy
    }

    deinit {
        hearth_curl_easy_cleanup(easy)
        hearth_curl_list_free(list)
    }

    /// Sends a mail.
    static func mail(_ message: MailMessage, by server: MailServer) -> NoticeAttempt {
        var failure = ""
        guard let transfer = NoticeTransfer(failure: &failure) else { return .failed(failure) }
        transfer.prepare(server.url, "smtp,smtps", server.timeoutMilliseconds, server.certificateAuthorityFile)
        // Without TLS, nothing is sent: neither the password nor the mail.
        if server.security == .starttls { transfer.set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
        if let user = server.user, let password = server.password {
            transfer.set(CURLOPT_USERNAME, user)
            transfer.set(CURLOPT_PASSWORD, password)
        }
        transfer.set(CURLOPT_MAIL_FROM, "<\(message.from.text)>")
        transfer.append("<\(message.to.text)>")
        transfer.check(hearth_curl_easy_set_list(transfer.easy, CURLOPT_MAIL_RCPT, transfer.list))
        transfer.set(CURLOPT_UPLOAD, 1)
        transfer.upload = message.bytes
        return transfer.run { status in
            // RFC 5321 section 4.2.1: with 4yz the same mail may be accepted later, with 5yz it will not.
            500...599 ~= status ? .refused("the mail server answered with code \(status)") : nil
        }
    }

    /// Posts a document in JSON.
    static func post(_ body: [UInt8], to endpoint: TextEndpoint) -> NoticeAttempt {
        var failure = ""
        guard let transfer = NoticeTransfer(failure: &failure) else { return .failed(failure) }
        transfer.prepare(endpoint.url, "http,https", endpoint.timeoutMilliseconds, endpoint.certificateAuthorityFile)
        transfer.append("Content-Type: application/json")
        transfer.append("Expect:")
        if let header = endpoint.header { transfer.append("\(header.name): \(header.value)") }
        transfer.check(hearth_curl_easy_set_list(transfer.easy, CURLOPT_HTTPHEADER, transfer.list))
        transfer.set(CURLOPT_USERAGENT, "hearth")
        transfer.check(hearth_curl_easy_set_size(transfer.easy, CURLOPT_POSTFIELDSIZE_LARGE, body.count))
        transfer.check(body.withUnsafeBytes { hearth_curl_easy_set_pointer(transfer.easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) })
        return transfer.run { status in
            switch status {
            case 0, 200...299: nil
            case 408, 425, 429, 500...599: .failed("the endpoint answered with status \(status)")
            default: .refused("the endpoint answered with status \(status)")
            }
        }
    }

    private func prepare(_ url: String, _ protocols: String, _ milliseconds: Int, _ certificateAuthorityFile: String?) {
        set(CURLOPT_URL, url)
        set(CURLOPT_PROTOCOLS_STR, protocols)
        set(CURLOPT_TIMEOUT_MS, milliseconds)
        // Without this option libcurl would use a signal for timeouts of name look-ups.
        set(CURLOPT_NOSIGNAL, 1)
        if let certificateAuthorityFile { set(CURLOPT_CAINFO, certificateAuthorityFile) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        check(hearth_curl_easy_set_sinks(easy, { _, size, count, _ in size * count }, { _, size, count, _ in size * count }, context))
        check(
            hearth_curl_easy_set_source(
                easy,
                { bytes, size, count, context in
                    guard let bytes, let context else { return 0 }
                    return Unmanaged<NoticeTransfer>.fromOpaque(context).takeUnretainedValue().give(bytes, size * count)
                }, context))
    }

    private func run(_ judge: (Int) -> NoticeAttempt?) -> NoticeAttempt {
        if let problem { return .refused(Self.text(problem)) }
        let code = hearth_curl_easy_perform(easy)
        let status = hearth_curl_easy_status(easy)
        if let verdict = judge(status) { return verdict }
        if code == CURLE_OK { return .sent }
        return .failed(status == 0 ? Self.text(code) : "\(Self.text(code)), after code \(status)")
    }

    private func give(_ bytes: UnsafeMutablePointer<CChar>, _ most: Int) -> Int {
        let count = min(most, upload.count - uploaded)
        for index in 0..<count { bytes[index] = CChar(bitPattern: upload[uploaded + index]) }
        uploaded += count
        return count
    }

    private func append(_ line: String) {
        guard let longer = hearth_curl_list_append(list, line) else {
            problem = CURLE_OUT_OF_MEMORY
            return
        }
        list = longer
    }

    private func set(_ option: CURLoption, _ value: Int) { check(hearth_curl_easy_set_long(easy, option, value)) }

    private func set(_ option: CURLoption, _ value: String) { check(hearth_curl_easy_set_text(easy, option, value)) }

    private func check(_ code: CURLcode) { if code != CURLE_OK { problem = problem ?? code } }

    private static func text(_ code: CURLcode) -> String { "\(String(cString: hearth_curl_easy_text(code))) (libcurl \(code.rawValue))" }
}
