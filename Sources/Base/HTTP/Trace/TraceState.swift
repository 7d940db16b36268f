import HearthBytes

/// The `tracestate` of a trace (W3C Trace Context section 3.3): a list of data of other systems. It is passed on unchanged; this host adds
/// nothing.
public enum TraceState {
    /// The most members of a list.
    static let membersMax = 32
    /// The longest list that is passed on whole.
    static let sizeMax = 512
    /// Members longer than this are dropped first from a list that is too long.
    static let longMemberSize = 128

    /// The list of a request, joined over all of its fields; nil if it is absent or invalid.
    static func accepted(_ exchange: HTTPExchange) -> [UInt8]? {
        guard exchange.header("tracestate") != nil else { return nil }
        var joined = ByteBuffer()
        for index in 0..<exchange.headerCount where exchange.headerName(at: index).equalsIgnoringCase(lowercase: "tracestate") {
            if !joined.isEmpty { joined.append(UInt8(ascii: ",")) }
            joined.append(exchange.headerValue(at: index))
        }
        return accepted(joined.bytes)
    }

    /// The list to pass on: without empty members, and shortened if it is too long.
    ///
    /// - Returns: nil if it is invalid; the trace itself may still be valid.
    public static func accepted(_ list: Span<UInt8>) -> [UInt8]? {
        var members: [Range<Int>] = []
        var start = 0
        for index in 0...list.count where index == list.count || list[index] == UInt8(ascii: ",") {
            let member = trimmed(list, start..<index)
            start = index + 1
            guard !member.isEmpty else { continue }
            guard members.count < membersMax, let key = keySize(list.extracting(member)) else { return nil }
            for other in members where hasKey(list.extracting(other), list.extracting(member).extracting(first: key)) { return nil }
            members.append(member)
        }
        shorten(&members)
        guard !members.isEmpty else { return nil }
        var text = ByteBuffer()
        for member in members {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text.append(list.extracting(member))
        }
        return text.array()
    }

    private static func shorten(_ members: inout [Range<Int>]) {
        func size() -> Int { members.reduce(members.count - 1) { $0 + $1.count } }
        while size() > sizeMax, let long = members.lastIndex(where: { $0.count > longMemberSize }) { members.remove(at: long) }
        while size() > sizeMax { members.removeLast() }
    }

    private static func trimmed(_ list: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var range = range
        while !range.isEmpty, isBlank(list[range.lowerBound]) { range = range.lowerBound + 1..<range.upperBound }
        while !range.isEmpty, isBlank(list[range.upperBound - 1]) { range = range.lowerBound..<range.upperBound - 1 }
        return range
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func hasKey(_ member: Span<UInt8>, _ key: Span<UInt8>) -> Bool {
        guard member.count > key.count, member[key.count] == UInt8(ascii: "=") else { return false }
        for index in 0..<key.count where member[index] != key[index] { return false }
        return true
    }

    /// The length of the key of `key=value`; nil if it is malformed.
    private static func keySize(_ member: Span<UInt8>) -> Int? {
        var size = 0
        var systemStart: Int?
        while size < member.count, member[size] != UInt8(ascii: "=") {
            let byte = member[size]
            if byte == UInt8(ascii: "@"), size > 0, systemStart == nil {
                systemStart = size + 1
            } else {
                guard isKeyByte(byte) else { return nil }
            }
            size += 1
        }
        guard size > 0, size < member.count, isKey(member.extracting(first: size), systemStart) else { return nil }
        let value = member.extracting(size + 1..<member.count)
        guard (1...256).contains(value.count) else { return nil }
        for index in 0..<value.count where !(0x20...0x7E).contains(value[index]) || value[index] == UInt8(ascii: "=") { return nil }
        return size
    }

    /// A name of at most 256 bytes, or a tenant of at most 241 with a system of at most 14. Only a tenant may begin with a digit.
    private static func isKey(_ key: Span<UInt8>, _ systemStart: Int?) -> Bool {
        guard let systemStart else { return key.count <= 256 && isLetter(key[0]) }
        let system = key.count - systemStart
        return systemStart - 1 <= 241 && (1...14).contains(system) && isLetter(key[systemStart]) && (isLetter(key[0]) || isDigit(key[0]))
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        if isLetter(byte) || isDigit(byte) { return true }
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"): return true
        default: return false
        }
    }
}

/// Starts traces and continues those of requests. Uses its own generator (xoshiro256**), seeded by the system: the numbers need not be
/// secret, but must not cost a system call each. Belongs to one loop.
public struct TraceSource: Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)
    /// A new trace is sampled if a random number is below this one.
    private var sampledBelow: UInt64 = 0

    /// Sets the share of new traces that are sampled, from 0 to 1. Before that it is 0. Traces of callers follow the caller's decision.
    public mutating func sample(_ ratio: Double) { sampledBelow = ratio >= 1 ? .max : UInt64(max(0, ratio) * 0x1p64) }

    /// A source with its own seed.
    public init() {
        var system = SystemRandomNumberGenerator()
        // The generator must not have the state zero.
        state = (system.next(), system.next(), system.next(), system.next() | 1)
    }

    private mutating func next() -> UInt64 {
        let product = state.1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }

    /// A new span, never zero.
    public mutating func nextSpan() -> UInt64 { max(1, next()) }

    /// The start of a new trace.
    public mutating func begin() -> TraceContext {
        let isSampled = sampledBelow != 0 && next() < sampledBelow
        return TraceContext(id: TraceID(nonzero: next(), max(1, next())), span: nextSpan(), isSampled: isSampled)
    }

    /// A child of `context`; a new trace if it is nil.
    public mutating func next(after context: TraceContext?) -> TraceContext {
        guard let context else { return begin() }
        return context.child(nextSpan())
    }

    /// The context of a request's work: a child of the request's `traceparent` if that is valid, with its `tracestate` if that is valid
    /// too; otherwise a new trace.
    public mutating func next(for exchange: HTTPExchange) -> TraceContext {
        guard let parent = exchange.header("traceparent"), var context = TraceContext(parsing: parent) else { return begin() }
        // Two `traceparent` fields are invalid.
        guard exchange.count(ofHeader: "traceparent") == 1 else { return begin() }
        context.state = TraceState.accepted(exchange)
        return context.child(nextSpan())
    }
}
