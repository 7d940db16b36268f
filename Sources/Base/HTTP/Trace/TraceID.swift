public import HearthBytes

/// Names a trace: everything that one request sets off, on this host and beyond. Never all zero.
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

extension ByteBuffer {
    /// Appends the 16 hexadecimal digits of a number, in lower case.
    @inlinable
    mutating func append(hexadecimal number: UInt64) {
        append(littleEndian: Self.digits(UInt32(truncatingIfNeeded: number >> 32)))
        append(littleEndian: Self.digits(UInt32(truncatingIfNeeded: number)))
    }

    /// The eight digits of a number as eight bytes, the first digit in the lowest: its halves are moved apart until each digit
    /// has a byte, and the digits from ten on become letters, all at once.
    @usableFromInline
    static func digits(_ number: UInt32) -> UInt64 {
        var spread = UInt64(number)
        spread = (spread & 0xFFFF) << 32 | spread >> 16
        spread = (spread & 0x0000_00FF_0000_00FF) << 16 | (spread & 0x0000_FF00_0000_FF00) >> 8
        spread = (spread & 0x000F_000F_000F_000F) << 8 | (spread & 0x00F0_00F0_00F0_00F0) >> 4
        let letters = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return spread &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
    }
}
