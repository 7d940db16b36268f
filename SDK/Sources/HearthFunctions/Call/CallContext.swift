/// What the host tells of a call beside its data, read from the JSON that `hearth.h` describes.
///
/// Most functions look at none of it, so it is parsed when the first of them does.
struct CallContext: Sendable {
    private let members: JSONValue

    init(parsing text: Span<UInt8>) { members = (try? JSONValue(parsing: text)) ?? [:] }

    var auth: AuthData? { members["auth"].map(AuthData.init) }
    var app: AppCheckData? { members["app"].map(AppCheckData.init) }
    var instanceIDToken: String? { members["instanceIdToken"]?.string }
    var acceptsStreaming: Bool { members["acceptsStreaming"]?.bool ?? false }
    var method: String { members["method"]?.string ?? "" }
    var path: String { members["path"]?.string ?? "/" }
    var query: String? { members["query"]?.string }
    var headers: Headers { Headers(alternating: members["headers"]?.array ?? []) }
    var peer: String? { members["peer"]?.string }
    var event: JSONValue? { members["event"] }
    var traceparent: String? { members["trace"]?.string }
    var tracestate: String? { members["tracestate"]?.string }
}
