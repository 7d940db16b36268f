import HearthBytes
import HearthJSON
import HTTP

/// A request that a function sends, as the payload of `http.send` describes it.
struct OutgoingRequest {
    var id = ""
    var method = "GET"
    var url = ""
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    var timeoutSeconds = 30.0
    var retries = 0
    var redirects = 5
    var responseBytesMax = Int.max

    /// Whether the answer is decompressed. A function that asks for an encoding gets the answer as it is sent.
    var decompresses: Bool { !headers.contains { $0.name.lowercased() == "accept-encoding" } }

    /// Methods that a server may get twice (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method) }

    private static let urlBytesMax = 16 << 10
    private static let headersMax = 200
    private static let headerBytesMax = 64 << 10
    /// Headers that describe the connection or the length of the body, or choose another host than the address.
    private static let ownHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect", "proxy-authorization",
        "proxy-connection", "proxy-authenticate",
    ]

    /// Parses a payload: a JSON object, and after a zero byte the body.
    ///
    /// - Throws: an error of the kind `invalid-request`.
    init(_ payload: Span<UInt8>) throws(OutgoingFailure) {
        let end = payload.firstIndex(of: 0) ?? payload.count
        guard let members = (try? JSONValue(parsing: payload.extracting(0..<end).array()))?.object else {
            throw .invalid("the payload is not a JSON object")
        }
        if end < payload.count { body = payload.extracting(end + 1..<payload.count).array() }
        for (name, value) in members { try read(name, value) }
        guard !url.isEmpty else { throw .invalid("\"url\" is missing") }
    }

    private mutating func read(_ name: String, _ value: JSONValue) throws(OutgoingFailure) {
        switch name {
        case "id": id = try Self.text(name, value, bytesMax: 64)
        case "method": method = try Self.text(name, value, bytesMax: 64).uppercased()
        case "url": url = try Self.text(name, value, bytesMax: Self.urlBytesMax)
        case "headers": try readHeaders(value)
        case "timeoutSeconds":
            guard let seconds = value.double, seconds > 0, seconds <= 3600 else { throw .invalid("\"timeoutSeconds\" must be a number up to 3600") }
            timeoutSeconds = seconds
        case "retries": retries = try Self.number(name, value, 0...10)
        case "redirects": redirects = try Self.number(name, value, 0...20)
        case "responseBytesMax": responseBytesMax = try Self.number(name, value, 0...Int.max)
        default: throw .invalid("there is no member \"\(name)\"")
        }
    }

    private mutating func readHeaders(_ value: JSONValue) throws(OutgoingFailure) {
        guard let list = value.array, list.count % 2 == 0 else { throw .invalid("\"headers\" must be an array of names and values in turn") }
        let texts = list.compactMap(\.string)
        guard texts.count == list.count else { throw .invalid("\"headers\" must be an array of strings") }
        guard texts.count / 2 <= Self.headersMax, texts.reduce(0, { $0 + $1.utf8.count }) <= Self.headerBytesMax else {
            throw .invalid("a request may have \(Self.headersMax) headers with \(Self.headerBytesMax >> 10) KiB")
        }
        for index in stride(from: 0, to: texts.count, by: 2) {
            let name = texts[index]
            guard !Self.ownHeaders.contains(name.lowercased()) else { throw .invalid("the header \(name.lowercased()) is set by the host") }
            headers.append((name, texts[index + 1]))
        }
    }

    private static func text(_ name: String, _ value: JSONValue, bytesMax: Int) throws(OutgoingFailure) -> String {
        guard let text = value.string, !text.isEmpty, text.utf8.count <= bytesMax else {
            throw .invalid("\"\(name)\" must be a string of up to \(bytesMax) bytes")
        }
        return text
    }

    private static func number(_ name: String, _ value: JSONValue, _ range: ClosedRange<Int>) throws(OutgoingFailure) -> Int {
        guard let number = value.int, range.contains(number) else {
            throw .invalid("\"\(name)\" must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// The reason why a function got no answer. Neither it nor its message holds headers, or more of the address than the host.
struct OutgoingFailure: Error {
    enum Kind: String {
        case denied, timeout, unreachable, tls, redirect, interrupted, busy, cancelled, unavailable
        case tooLarge = "too-large"
        case invalidRequest = "invalid-request"

        /// The code of the callable protocol.
        var code: String {
            switch self {
            case .denied: "permission-denied"
            case .timeout: "deadline-exceeded"
            case .unreachable, .interrupted, .unavailable: "unavailable"
            case .tls, .redirect: "failed-precondition"
            case .busy, .tooLarge: "resource-exhausted"
            case .cancelled: "cancelled"
            case .invalidRequest: "invalid-argument"
            }
        }
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ error: ClientError) {
        let kind: Kind =
            switch error.kind {
            case .invalidRequest: .invalidRequest
            case .unavailable: .unavailable
            case .connect: .unreachable
            case .forbiddenAddress: .denied
            case .tls: .tls
            case .timeout: .timeout
            case .responseTooLarge: .tooLarge
            case .redirect: .redirect
            case .transfer: .interrupted
            case .cancelled: .cancelled
            }
        self.init(kind, error.message)
    }

    static func invalid(_ message: String) -> OutgoingFailure { OutgoingFailure(.invalidRequest, message) }

    /// Whether another attempt may succeed.
    var mayPass: Bool { kind == .unreachable || kind == .interrupted }

    /// The error for the function.
    var body: [UInt8] {
        let error: JSONValue = ["code": .string(kind.code), "message": .string(message), "details": ["reason": .string(kind.rawValue)]]
        return error.serialized()
    }
}

/// The answer of a server after redirects and retries.
struct OutgoingAnswer {
    var url: String
    var attempts: Int
    var response: ClientResponse
    /// Whether the body was decompressed, if it was compressed.
    var isDecompressed: Bool

    /// The answer for the function: a JSON object, a zero byte and the body.
    var body: [UInt8] {
        // The body is not compressed any more.
        let isDecoded = isDecompressed && response.header("content-encoding").map { ["gzip", "x-gzip", "deflate"].contains($0.lowercased()) } == true
        let headers = response.headers.filter { !isDecoded || $0.name != "content-encoding" && $0.name != "content-length" }
        let head: JSONValue = [
            "status": .int(Int64(response.status)), "url": .string(url), "attempts": .int(Int64(attempts)),
            "headers": .array(headers.flatMap { [.string($0.name), .string($0.value)] }),
        ]
        return head.serialized() + [0] + response.body
    }
}
