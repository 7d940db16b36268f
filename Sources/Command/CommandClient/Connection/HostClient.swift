import AdminProtocol
import HearthBytes
import HearthJSON

/// Sends requests to a host, one after the other, over a persistent connection.
public final class HostClient {
    /// The token that a host in development mode accepts from its own machine. Sent when no other is known.
    public static let developmentToken = "owner"

    /// The host's URL.
    public let url: HostURL
    /// The administrator's access token; nil for none.
    public private(set) var token: String?
    /// An alternative for `token` if the host refuses that; nil once the host has accepted one.
    private var otherToken: String?
    /// Whether the host has refused a token before it got the alternative.
    private var wasRefused = false
    private let idleSeconds: Int
    private let authorityFile: String?
    private var connection: HostConnection?

    /// A client that connects with its first request.
    ///
    /// - Parameters:
    ///   - otherToken: tried once if the host answers 401 to `token`, before the first request.
    ///   - authorityFile: a PEM file of certificates to trust besides those of the machine.
    ///   - idleSeconds: the longest silence while an answer is awaited.
    public init(_ url: HostURL, token: String?, otherToken: String? = nil, authorityFile: String? = nil, idleSeconds: Int = 120) {
        self.url = url
        self.token = token
        self.otherToken = otherToken
        self.authorityFile = authorityFile
        self.idleSeconds = idleSeconds
    }

    /// Another client of the same host, with its own connection.
    public func another() -> HostClient {
        HostClient(url, token: token, otherToken: otherToken, authorityFile: authorityFile, idleSeconds: idleSeconds)
    }

    /// Another client of the same host, with another identity.
    func another(token: String?, idleSeconds: Int) -> HostClient {
        HostClient(url, token: token, authorityFile: authorityFile, idleSeconds: idleSeconds)
    }

    /// Sends a request and returns the whole answer, whatever its status.
    public func send(_ request: HostRequest) throws(ClientFailure) -> HostAnswer {
        let (connection, head) = try begin(request)
        return HostAnswer(head: head, body: try Self.body(connection))
    }

    /// Sends a request and returns the whole answer.
    ///
    /// - Throws: `ClientFailure` of kind `refused` if the status is 400 or above.
    public func ask(_ request: HostRequest) throws(ClientFailure) -> HostAnswer {
        let answer = try send(request)
        guard answer.status < 400 else { throw refusal(answer) }
        return answer
    }

    /// Sends a request and passes the answer's body on in pieces.
    ///
    /// - Throws: `ClientFailure` of kind `refused` if the status is 400 or above, and errors of `take`.
    @discardableResult
    public func download(
        _ request: HostRequest, _ take: (Span<UInt8>) throws(ClientFailure) -> Void
    ) throws(ClientFailure) -> HostAnswerHead {
        let (connection, head) = try begin(request)
        guard head.status < 400 else { throw refusal(HostAnswer(head: head, body: try Self.body(connection))) }
        while try connection.receiveBody(take) {}
        return head
    }

    /// Sends a request and passes the answer's body on in pieces, whatever its status.
    public func stream(
        _ request: HostRequest, _ take: (HostAnswerHead, Span<UInt8>) throws(ClientFailure) -> Void
    ) throws(ClientFailure) -> HostAnswerHead {
        let (connection, head) = try begin(request)
        while try connection.receiveBody({ (piece) throws(ClientFailure) in try take(head, piece) }) {}
        return head
    }

    /// Sends a request; ``finish()`` waits for its answer.
    public func start(_ request: HostRequest) throws(ClientFailure) {
        try connected().send(request)
    }

    /// Waits for the answer to the request of ``start(_:)``.
    public func finish() throws(ClientFailure) -> HostAnswer {
        guard let connection else { throw ClientFailure(.interrupted, "the connection to \(url) broke; try again") }
        return HostAnswer(head: try connection.receiveHead(), body: try Self.body(connection))
    }

    private func begin(_ request: HostRequest) throws(ClientFailure) -> (HostConnection, HostAnswerHead) {
        let before = connection
        let connection = try connected()
        do throws(ClientFailure) {
            try connection.send(request)
            return (connection, try connection.receiveHead())
        } catch {
            // A host may close an idle connection just as the next request leaves.
            guard connection === before, request.isIdempotent, request.isRepeatable, error.kind == .interrupted else { throw error }
            return try begin(request)
        }
    }

    private func connected() throws(ClientFailure) -> HostConnection {
        if let connection, !connection.isStale { return connection }
        let fresh = try HostConnection(url, token: token, authorityFile: authorityFile, idleSeconds: idleSeconds)
        connection = fresh
        guard otherToken != nil else { return fresh }
        try chooseToken(fresh)
        return try connected()
    }

    /// Asks the host whether it accepts `token`, because a streamed body cannot be sent again with the other token.
    private func chooseToken(_ connection: HostConnection) throws(ClientFailure) {
        try connection.send(HostRequest("GET", AdminPath.root))
        let head = try connection.receiveHead()
        _ = try Self.body(connection)
        if head.status == 401 {
            token = otherToken
            wasRefused = true
            self.connection = nil
        }
        otherToken = nil
    }

    private static func body(_ connection: HostConnection) throws(ClientFailure) -> [UInt8] {
        var body = ByteBuffer()
        while try connection.receiveBody({ body.append($0) }) {}
        return body.array()
    }

    // MARK: Refusals

    /// The failure for an error answer: the database answers `{"error":"..."}`, all other interfaces `{"error":{"message":"..."}}`. An
    /// invalid request, such as one without TLS, is answered with a line of plain text.
    public func refusal(_ answer: HostAnswer) -> ClientFailure {
        let error = (try? JSONValue(parsing: answer.body))?["error"]
        let text = error?.string ?? error?["message"]?.string
        let details = error?["details"].flatMap { $0.object == nil ? nil : $0 }
        let refusals = details.flatMap { DeploymentRefusalDetails($0) }?.refusals ?? []
        let said = refusals.count > 1 ? "the host refuses:" + refusals.map { "\n    \($0)" }.joined() : text.map(Self.oneLine)
        switch answer.status {
        case 401, 403:
            let reason = said.map { " (\($0))" } ?? ""
            let given =
                switch token {
                case nil: "no administrator's token was given: give the one"
                case Self.developmentToken? where !wasRefused:
                    "no administrator's token was given, and none is in .hearth: name the data directory, or give the token"
                default: "the token is not this host's: give the one"
                }
            return ClientFailure(
                .refused(status: answer.status),
                "the host at \(url) refuses\(reason); \(given) from admin-token in its data directory with --token or HEARTH_TOKEN")
        case 404 where said == nil:
            return ClientFailure(.refused(status: 404), "the host at \(url) does not know this URL; does its version match this program?")
        case 503 where said == nil:
            return ClientFailure(.refused(status: 503), "the host at \(url) is starting or stopping; try again in a moment")
        default:
            let status = "the host at \(url) answered with status \(answer.status)"
            return ClientFailure(
                .refused(status: answer.status), said ?? Self.plainText(answer).map { "\(status): \($0)" } ?? "\(status); see its log",
                details: details)
        }
    }

    /// A short plain-text answer; nil for others.
    private static func plainText(_ answer: HostAnswer) -> String? {
        guard answer.head.header("content-type")?.lowercased().hasPrefix("text/plain") == true, (1...300).contains(answer.body.count),
            answer.body.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        else { return nil }
        let line = oneLine(String(decoding: answer.body, as: UTF8.self))
        // The host's own begin with the status, such as `400 Bad Request: this port speaks TLS only`.
        let words = line.hasPrefix("\(answer.status) ") ? line.firstRange(of: ": ").map { String(line[$0.upperBound...]) } ?? line : line
        return words.isEmpty ? nil : words
    }

    private static func oneLine(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }
}
