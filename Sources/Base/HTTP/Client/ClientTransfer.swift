import HearthBytes
import CCurl
import EventLoop
import Glibc

/// One exchange: its libcurl options, and the data received so far.
final class ClientTransfer {
    let easy: UnsafeMutableRawPointer
    let ticket: ClientTicket
    let completion: ClientDriver.Completion

    private var headerLines: UnsafeMutablePointer<curl_slist>?
    private var headers: [(name: String, value: String)] = []
    private var body = ByteBuffer()
    private let responseBytesMax: Int
    private let headBytesMax: Int
    private var headBytes = 0
    private var isTooLarge = false
    private var isHeadTooLarge = false
    private let admits: AddressRule?
    /// Callback of libcurl, at a stable address.
    private let gate = UnsafeMutablePointer<hearth_curl_gate>.allocate(capacity: 1)
    private var isRefused = false
    /// Whether a connection to an admitted address was attempted.
    private var hasConnected = false

    /// - Parameter admits: decides which addresses may be connected to; nil for all.
    /// - Throws: ``ClientError`` if libcurl refuses an option.
    init(
        _ request: ClientRequest, _ ticket: ClientTicket, certificateAuthorityFile: String?, admits: AddressRule?,
        _ completion: @escaping ClientDriver.Completion
    ) throws(ClientError) {
        guard let easy = hearth_curl_easy_init() else { throw ClientError(.unavailable, "libcurl has no memory for a transfer.") }
        self.easy = easy
        self.ticket = ticket
        self.completion = completion
        responseBytesMax = request.responseBytesMax
        headBytesMax = request.headBytesMax
        self.admits = request.admits ?? admits
        try apply(request, certificateAuthorityFile)
    }

    deinit {
        hearth_curl_easy_cleanup(easy)
        hearth_curl_list_free(headerLines)
        gate.deallocate()
    }

    /// The result of the transfer, which libcurl has ended with `code`.
    func result(_ code: CURLcode) -> Result<ClientResponse, ClientError> {
        guard code == CURLE_OK else { return .failure(error(code)) }
        return .success(ClientResponse(status: hearth_curl_easy_status(easy), headers: headers, body: body.array()))
    }

    private func error(_ code: CURLcode) -> ClientError {
        if isHeadTooLarge { return ClientError(.responseTooLarge, "The head of the answer is longer than \(headBytesMax) bytes.") }
        if isTooLarge || code == CURLE_FILESIZE_EXCEEDED {
            return ClientError(.responseTooLarge, "The answer is longer than \(responseBytesMax) bytes.")
        }
        if isRefused, !hasConnected, code == CURLE_COULDNT_CONNECT {
            return ClientError(.forbiddenAddress, "The name resolves only to addresses that the client must not reach, such as private ones.")
        }
        let kind: ClientError.Kind =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: .connect
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
                CURLE_SSL_ISSUER_ERROR: .tls
            case CURLE_TOO_MANY_REDIRECTS: .redirect
            case CURLE_URL_MALFORMAT: .invalidRequest
            // The protocol of the request has been checked: without a head, the answer is not HTTP.
            case CURLE_UNSUPPORTED_PROTOCOL: headers.isEmpty ? .transfer : .redirect
            default: .transfer
            }
        return ClientError(kind, "\(String(cString: hearth_curl_easy_text(code))) (libcurl \(code.rawValue)).")
    }

    // MARK: Options

    private func apply(_ request: ClientRequest, _ certificateAuthorityFile: String?) throws(ClientError) {
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, request.url.hasPrefix("https:") ? "https" : "http,https")
        try set(CURLOPT_FOLLOWLOCATION, request.redirectsMax > 0 ? 1 : 0)
        try set(CURLOPT_MAXREDIRS, request.redirectsMax)
        try set(CURLOPT_TIMEOUT_MS, request.timeoutMilliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(request.connectMilliseconds ?? request.timeoutMilliseconds, request.timeoutMilliseconds))
        // Without this option libcurl would use a signal for timeouts of name look-ups.
        try set(CURLOPT_NOSIGNAL, 1)
        // An answer to HEAD announces a body that does not follow.
        if request.method != "HEAD" { try check(hearth_curl_easy_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, request.responseBytesMax)) }
        if request.isDirect { try set(CURLOPT_PROXY, "") }
        if request.decompresses { try set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate") }
        if let certificateAuthorityFile { try set(CURLOPT_CAINFO, certificateAuthorityFile) }
        try applyGate()
        try applyMethod(request)
        try applyHeaders(request)
        try check(
            hearth_curl_easy_set_sinks(
                easy,
                { ClientTransfer.receive($0, $1 * $2, $3) { $0.receiveHeader($1) } },
                { ClientTransfer.receive($0, $1 * $2, $3) { $0.receiveBody($1) } },
                Unmanaged.passUnretained(self).toOpaque()))
    }

    private func applyGate() throws(ClientError) {
        guard admits != nil else { return }
        // The transfer owns the handle, so no callback outlives it.
        let context = Unmanaged.passUnretained(self).toOpaque()
        gate.initialize(
            to: hearth_curl_gate(
                admits: { address, context in
                    guard let address, let context else { return false }
                    return Unmanaged<ClientTransfer>.fromOpaque(context).takeUnretainedValue().mayConnect(to: address)
                }, context: context))
        try check(hearth_curl_easy_set_gate(easy, gate))
    }

    private func mayConnect(to address: UnsafePointer<sockaddr>) -> Bool {
        if let known = NetworkAddress(address), admits?(known) != false {
            // Later failures are not caused by the address rule.
            hasConnected = true
            return true
        }
        isRefused = true
        return false
    }

    private func applyMethod(_ request: ClientRequest) throws(ClientError) {
        if request.method == "HEAD" {
            try set(CURLOPT_NOBODY, 1)
            return
        }
        // RFC 9110 section 8.6: with these methods, send Content-Length 0 for a missing body.
        let announcesBody = ["POST", "PUT", "PATCH"].contains(request.method)
        if let body = request.body ?? (announcesBody ? [] : nil) {
            try check(hearth_curl_easy_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, body.count))
            // An empty array has no address, which libcurl would take as "no body".
            let code = body.isEmpty
                ? hearth_curl_easy_set_text(easy, CURLOPT_COPYPOSTFIELDS, "")
                : body.withUnsafeBytes { hearth_curl_easy_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            try check(code)
        } else if request.method == "GET" {
            return
        }
        try set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    private func applyHeaders(_ request: ClientRequest) throws(ClientError) {
        var names: Set<String> = []
        for (name, value) in request.headers {
            names.insert(name.lowercased())
            // For libcurl, "Name:" removes a header and "Name;" sends an empty one.
            try appendHeader(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // Headers that libcurl would add for a body.
        for name in ["Content-Type", "Expect"] where !names.contains(name.lowercased()) { try appendHeader("\(name):") }
        if !names.contains("user-agent") { try set(CURLOPT_USERAGENT, "hearth") }
        try check(hearth_curl_easy_set_list(easy, CURLOPT_HTTPHEADER, headerLines))
    }

    private func appendHeader(_ line: String) throws(ClientError) {
        guard let longer = hearth_curl_list_append(headerLines, line) else {
            throw ClientError(.unavailable, "libcurl has no memory for a transfer.")
        }
        headerLines = longer
    }

    private func set(_ option: CURLoption, _ value: Int) throws(ClientError) {
        try check(hearth_curl_easy_set_long(easy, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(ClientError) {
        try check(hearth_curl_easy_set_text(easy, option, value))
    }

    private func check(_ code: CURLcode) throws(ClientError) {
        if code != CURLE_OK { throw error(code) }
    }

    // MARK: Received data

    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ body: (ClientTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<ClientTransfer>.fromOpaque(context).takeUnretainedValue()
        // libcurl takes any result other than the number of bytes as a failure.
        guard body(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) else { return count == 0 ? 1 : 0 }
        return count
    }

    private func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= headBytesMax else {
            isHeadTooLarge = true
            return false
        }
        let text = String(decoding: line, as: UTF8.self)
        // A status line begins a new head: after "100 Continue", and after each redirect.
        if text.hasPrefix("HTTP/") {
            headers.removeAll()
            body.clear()
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].drop { $0.isWhitespace }
            let end = value.lastIndex { !$0.isWhitespace }.map { value.index(after: $0) } ?? value.startIndex
            headers.append((text[..<colon].lowercased(), String(value[..<end])))
        }
        return true
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= responseBytesMax else {
            isTooLarge = true
            return false
        }
        body.append(bytes)
        return true
    }
}
