internal import HearthBytes
internal import HearthJSON

/// The context of a call, in one of the forms that `hearth.h` describes.
///
/// Most functions do not look at it: JSON is parsed, and a part of the raw form is read, at the first access.
struct CallContext: Sendable {
    private enum Form: Sendable {
        case json(JSONValue)
        case raw([UInt8], RawContext)
    }

    private let form: Form
    /// The verified facts about the caller, as members of an object.
    private let caller: JSONValue

    init(json text: [UInt8]) {
        let members = (try? JSONValue(parsing: text)) ?? [:]
        form = .json(members)
        caller = members
    }

    init(raw bytes: [UInt8]) {
        guard let table = RawContext(bytes.span) else {
            form = .json([:])
            caller = [:]
            return
        }
        form = .raw(bytes, table)
        // The members begin with a comma, which becomes the object's brace.
        caller = table.range(table.caller).flatMap { try? JSONValue(parsing: Array("{".utf8) + bytes[$0].dropFirst() + Array("}".utf8)) } ?? [:]
    }

    private func text(_ part: KeyPath<RawContext, RawContext.Part>, _ name: String) -> String? {
        switch form {
        case .json(let members): members[name]?.string
        case .raw(let bytes, let table): table.range(table[keyPath: part]).map { String(decoding: bytes[$0], as: UTF8.self) }
        }
    }

    var callerAuth: AuthData? { caller["auth"].map(AuthData.init) }
    var app: AppCheckData? { caller["app"].map(AppCheckData.init) }
    var instanceIDToken: String? { caller["instanceIdToken"]?.string }
    var acceptsStreaming: Bool { caller["acceptsStreaming"]?.bool ?? false }
    var method: String { text(\.method, "method") ?? "" }
    var path: String { text(\.path, "path") ?? "/" }
    var query: String? { text(\.query, "query") }
    var peer: String? { text(\.peer, "peer") }
    var tracestate: String? { text(\.tracestate, "tracestate") }
    /// Only events have it, and their contexts are JSON.
    var event: JSONValue? { caller["event"] }

    var traceparent: String? {
        switch form {
        case .json(let members): members["trace"]?.string
        case .raw(_, let table): table.trace?.parent
        }
    }

    /// Names, in lower case, and values in turn.
    var headerTexts: [JSONValue] {
        switch form {
        case .json(let members): return members["headers"]?.array ?? []
        case .raw(let bytes, let table):
            var texts: [JSONValue] = []
            texts.reserveCapacity(2 * table.fieldCount)
            for index in 0..<table.fieldCount {
                let (name, value) = table.field(index, in: bytes.span)
                texts.append(.string(String(decoding: bytes[name], as: UTF8.self).lowercased()))
                texts.append(.string(String(decoding: bytes[value], as: UTF8.self)))
            }
            return texts
        }
    }
}
