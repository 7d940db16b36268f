/// The mask of a frame (RFC 6455 section 5.3), as far as it has been applied.
struct FrameMask {
    /// The mask's bytes; the one for the next byte of the payload is the lowest.
    private var key: UInt32

    init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        key = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
    }

    /// Unmasks the next bytes of the payload into `target`, eight at a time.
    mutating func apply(to source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableRawPointer) {
        let count = source.count
        let bytes = UnsafeRawBufferPointer(source)
        let word = UInt64(key) | UInt64(key) << 32
        var index = 0
        while index &+ 8 <= count {
            let masked = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            target.storeBytes(of: (masked ^ word).littleEndian, toByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        var rest = word
        while index < count {
            target.storeBytes(of: source[index] ^ UInt8(truncatingIfNeeded: rest), toByteOffset: index, as: UInt8.self)
            rest >>= 8
            index &+= 1
        }
        let turn = UInt32(8 * (count & 3))
        key = key &>> turn | key &<< (32 &- turn)
    }
}
