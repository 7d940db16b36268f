import AdminProtocol
import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import Tree

/// A parsed request to the admin API.
final class AdminCall {
    let exchange: HTTPExchange
    /// The segments of the path after `/_/api`, decoded. The last one is without its verb.
    let segments: [String]
    /// The text after the last `:` of the path, as in `dead-letters:replay`; nil if there is none.
    let verb: String?
    /// The parameters of the query, decoded.
    let parameters: [String: String]
    /// The body; null if there is none, or if it is bytes rather than JSON.
    let body: JSONValue
    /// The body of a request that is not JSON.
    let bytes: [UInt8]

    /// - Parameter isBytes: whether the body is bytes rather than JSON.
    init(_ exchange: HTTPExchange, _ body: Span<UInt8>, isBytes: Bool = false) throws(AdminError) {
        self.exchange = exchange
        // Split before decoding, because an encoded colon or slash belongs to a name.
        var raw = exchange.path.string().split(separator: "/").dropFirst(2).map(String.init)
        if let last = raw.last, let colon = last.lastIndex(of: ":") {
            raw[raw.count - 1] = String(last[..<colon])
            verb = String(last[last.index(after: colon)...])
        } else {
            verb = nil
        }
        var segments: [String] = []
        for text in raw { segments.append(try Self.decoded(text)) }
        self.segments = segments
        var parameters: [String: String] = [:]
        for pair in exchange.query.string().split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[try Self.decoded(String(parts[0]))] = parts.count == 2 ? try Self.decoded(String(parts[1])) : ""
        }
        self.parameters = parameters
        self.body = isBytes ? .null : try Self.parsed(body)
        bytes = isBytes ? body.array() : []
    }

    private static func parsed(_ body: Span<UInt8>) throws(AdminError) -> JSONValue {
        if body.count == 0 { return .null }
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            throw AdminError(.invalidArgument, "the body is not JSON (\(error.explanation(in: body)))")
        }
    }

    private static func decoded(_ text: String) throws(AdminError) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let encoded = Array(text.utf8)
        guard let bytes = PercentEncoding.decoded(encoded.span) else {
            throw AdminError(.invalidArgument, "the address holds a % that is not followed by two hexadecimal digits")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Throws: `AdminError` for other methods than these.
    func allow(_ methods: HTTPMethod...) throws(AdminError) {
        guard methods.contains(exchange.method) else {
            let names = methods.map(\.description).joined(separator: " or ")
            throw AdminError(.unimplemented, "\(exchange.method) is not used here; use \(names)", status: 405)
        }
    }

    /// A whole number in the query.
    func number(_ name: String, default standard: Int, in range: ClosedRange<Int>) throws(AdminError) -> Int {
        guard let text = parameters[name] else { return standard }
        guard let value = Int(text), range.contains(value) else {
            throw AdminError(.invalidArgument, "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

extension AdminError {
    /// The refusal of a database.
    init(_ error: DatabaseError) {
        let code: FunctionErrorCode =
            switch error.kind {
            case .unknownNamespace: .notFound
            case .invalidData, .tooLarge, .tooManyTriggers, .indexNotDefined: .invalidArgument
            case .permissionDenied: .permissionDenied
            case .timedOut: .deadlineExceeded
            case .storageUnavailable, .unavailable: .unavailable
            case .internal: .internal
            }
        self.init(code, error.message)
    }
}
