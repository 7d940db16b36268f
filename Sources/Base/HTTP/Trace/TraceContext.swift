public import HearthBytes

/// Where a piece of work stands in a trace: the trace, the piece itself, and what was decided about it (W3C Trace Context).
///
/// Work hands its own context on to what it asks for, which takes a ``child(_:)`` of it.
public struct TraceContext: Sendable, Hashable {
    /// The trace.
    public var id: TraceID
    /// This piece of work in the trace; never zero.
    public var span: UInt64
    /// Whether the caller may have recorded the trace: the only flag that there is in version 00.
    public var isSampled: Bool
    /// What other systems say of the trace, in their own ways, to be handed on as it is; nil for nothing.
    public var state: [UInt8]?

    /// A place in a trace.
    public init(id: TraceID, span: UInt64, isSampled: Bool, state: [UInt8]? = nil) {
        self.id = id
        self.span = span
        self.isSampled = isSampled
        self.state = state
    }

    /// Bytes of a `traceparent` of version 00.
    public static let parentSize = 55

    /// Reads a `traceparent` (section 3.2): what a later version adds is not looked at.
    ///
    /// - Returns: nil for what is none, which is then as if there were none at all.
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

    /// Digits from 0 to 9 and a to f only: capitals are not allowed.
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

    /// Appends it as a `traceparent` of version 00.
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

    /// The same trace, for a piece of work that this one has asked for.
    @inline(__always)
    public func child(_ span: UInt64) -> TraceContext { TraceContext(id: id, span: span, isSampled: isSampled, state: state) }
}
