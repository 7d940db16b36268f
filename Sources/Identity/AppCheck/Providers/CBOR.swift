/// A value in CBOR (RFC 8949), as far as attestations use it: definite lengths, no floats, no tags.
enum CBOR: Equatable, Sendable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map([String: CBOR])
    case other

    /// Parses one value that fills `bytes`. Returns nil for anything else.
    init?(_ bytes: [UInt8]) {
        var reader = CBORReader(bytes: bytes)
        guard let value = reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = value
    }

    subscript(name: String) -> CBOR? { if case .map(let members) = self { members[name] } else { nil } }

    var data: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var string: String? { if case .text(let text) = self { text } else { nil } }
    var elements: [CBOR]? { if case .array(let elements) = self { elements } else { nil } }
}

/// Reads CBOR. Every length is compared with the bytes that are left, so that a short text cannot ask for much memory.
private struct CBORReader {
    let bytes: [UInt8]
    private var position = 0
    private static let depthMax = 8

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    private var left: Int { bytes.count - position }

    mutating func value(depth: Int) -> CBOR? {
        guard depth < Self.depthMax, let first = next() else { return nil }
        guard let size = argument(first & 31) else { return nil }
        switch first >> 5 {
        case 0: return Int64(exactly: size).map { .integer($0) }
        case 1: return Int64(exactly: size).map { .integer(-1 - $0) }
        case 2: return take(size).map { .bytes($0) }
        case 3:
            guard let text = take(size), let string = String(validating: text, as: UTF8.self) else { return nil }
            return .text(string)
        case 4: return array(size, depth)
        case 5: return map(size, depth)
        // Simple values without content: false, true, null, undefined. Floats and tags are refused.
        case 7 where (20...23).contains(first & 31): return .other
        default: return nil
        }
    }

    private mutating func array(_ size: UInt64, _ depth: Int) -> CBOR? {
        guard size <= UInt64(left) else { return nil }
        var elements: [CBOR] = []
        for _ in 0..<size {
            guard let element = value(depth: depth + 1) else { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    private mutating func map(_ size: UInt64, _ depth: Int) -> CBOR? {
        guard size <= UInt64(left) else { return nil }
        var members: [String: CBOR] = [:]
        for _ in 0..<size {
            // Two members of one name could be read differently by others.
            guard case .text(let name)? = value(depth: depth + 1), members[name] == nil, let member = value(depth: depth + 1) else { return nil }
            members[name] = member
        }
        return .map(members)
    }

    private mutating func next() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func take(_ size: UInt64) -> [UInt8]? {
        guard size <= UInt64(left) else { return nil }
        defer { position += Int(size) }
        return Array(bytes[position..<position + Int(size)])
    }

    /// The argument of a head: the number itself, or in the next 1, 2, 4 or 8 bytes.
    private mutating func argument(_ information: UInt8) -> UInt64? {
        if information < 24 { return UInt64(information) }
        guard information <= 27, let digits = take(1 << UInt64(information - 24)) else { return nil }
        return digits.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
