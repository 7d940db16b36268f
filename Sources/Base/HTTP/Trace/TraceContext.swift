public import HearthBytes

/// The position of an operation in a trace: the trace, the operation's span, and the sampling decision (W3C Trace Context).
///
/// An operation passes its context to the operations that it requests, which use a ``child(_:)`` of it.
public struct TraceContext: Sendable, Hashable {
    /// The trace.
    public var id: TraceID
    /// The span of this operation; never zero.
    public var span: UInt64
    /// The span of the operation that has requested this one; 0 for none, or if it is not known.
    public var parentSpan: UInt64 = 0
    /// Whether the caller may have recorded the trace: the only flag of version 00.
    public var isSampled: Bool
    /// The `tracestate`: data of other systems, passed on unchanged; nil for none.
    public var state: [UInt8]?

    /// A context.
    public init(id: TraceID, span: UInt64, isSampled: Bool, state: [UInt8]? = nil) {
        self.id = id
        self.span = span
        self.isSampled = isSampled
        self.state = state
    }

    /// Bytes of a `traceparent` of version 00.
    public static let parentSize = 55

    /// Parses a `traceparent` (section 3.2). Additions of later versions are ignored.
    ///
    /// - Returns: nil if it is invalid, which is treated as absent.
    public init?(parsing parent: Span<UInt8>) {
        guard parent.count >= Self.parentSize, let version = Self.number(parent, 0..<2), version != 0xFF else { return nil }
        guard parent.count == Self.parentSize || version > 0 && parent[Self.parentSize] == Self.dash else { return nil }
        guard parent[2] == Self.dash, parent[35] == Self.dash, parent[52] == Self.dash else { return nil }
        guard let high = Self.number(parent, 3..<19), let low = Self.number(parent, 19..<35), let span = Self.number(parent, 36..<52),
            let flags = Self.number(parent, 53..<55), let id = TraceID(high: high, low: low), span != 0
        else { return nil }
        self.init(id: id, span: span, isSampled: flags & 1 == 1)
    }

    private static let dash = UInt8(ascii: "-")

    /// Parses lower-case hexadecimal digits; capitals are not allowed.
    static func number(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            let byte = text[index]
            if byte &- 0x30 < 10 {
                number = number << 4 | UInt64(byte &- 0x30)
            } else if byte &- 0x61 < 6 {
                number = number << 4 | UInt64(byte &- 0x57)
            } else {
                return nil
            }
        }
        return number
    }

    /// Appends the context as a `traceparent` of version 00.
    public func appendParent(to buffer: inout ByteBuffer) {
        buffer.append("00-")
        id.append(to: &buffer)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(hexadecimal: span)
        buffer.append(isSampled ? "-01" : "-00")
    }

    /// The `traceparent` as text.
    public var parent: String {
        var buffer = ByteBuffer(capacity: Self.parentSize)
        appendParent(to: &buffer)
        return buffer.string()
    }

    /// The same trace, for an operation that this one has requested.
    @inline(__always)
    public func child(_ span: UInt64) -> TraceContext {
        var child = TraceContext(id: id, span: span, isSampled: isSampled, state: state)
        child.parentSpan = self.span
        return child
    }
}

/// The identifier of a trace, which covers everything that one request causes, on this host and beyond. Never zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
    /// The first 16 hexadecimal digits.
    public let high: UInt64
    /// The last 16.
    public let low: UInt64

    /// - Returns: nil where both are zero.
    public init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// Reads 32 hexadecimal digits in lower case.
    public init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32, let high = TraceContext.number(digits.span, 0..<16), let low = TraceContext.number(digits.span, 16..<32) else {
            return nil
        }
        self.init(high: high, low: low)
    }

    init(nonzero high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits in lower case.
    public var description: String {
        var buffer = ByteBuffer(capacity: 32)
        append(to: &buffer)
        return buffer.string()
    }

    /// Appends the 32 digits.
    public func append(to buffer: inout ByteBuffer) {
        buffer.append(hexadecimal: high)
        buffer.append(hexadecimal: low)
    }
}
