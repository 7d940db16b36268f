extension ByteBuffer {
    /// Appends a number as 16 hexadecimal digits in lower case.
    @inlinable
    public mutating func append(hexadecimal number: UInt64) {
        append(littleEndian: Self.digits(UInt32(truncatingIfNeeded: number >> 32)))
        append(littleEndian: Self.digits(UInt32(truncatingIfNeeded: number)))
    }

    /// Eight hexadecimal digits as eight bytes, the first digit in the lowest byte. Spreads the digits over the bytes, then turns the
    /// values from ten on into letters, all in parallel.
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
