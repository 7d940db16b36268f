import Glibc

/// Writes the few forms of DER (X.690) that a self-signed certificate needs.
enum DERText {
    static let null: [UInt8] = [0x05, 0x00]

    static func sequence(_ parts: [[UInt8]]) -> [UInt8] { item(0x30, parts.flatMap { $0 }) }

    static func set(_ parts: [[UInt8]]) -> [UInt8] { item(0x31, parts.flatMap { $0 }) }

    /// An object identifier of encoded arcs.
    static func objectID(_ arcs: [UInt8]) -> [UInt8] { item(0x06, arcs) }

    static func text(_ text: String) -> [UInt8] { item(0x0C, Array(text.utf8)) }

    /// A positive integer of big-endian bytes.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        guard let first = digits.first else { return item(0x02, [0]) }
        return item(0x02, (first >= 0x80 ? [0] : []) + digits)
    }

    /// A time in seconds since 1970: `UTCTime` before 2050, `GeneralizedTime` from then on (RFC 5280 section 4.1.2.5).
    static func time(_ seconds: Int) -> [UInt8] {
        var (clock, parts) = (time_t(seconds), tm())
        gmtime_r(&clock, &parts)
        let year = Int(parts.tm_year) + 1900
        let isShort = (1950..<2050).contains(year)
        let fields = [
            isShort ? year % 100 : year, Int(parts.tm_mon) + 1, Int(parts.tm_mday), Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec),
        ]
        return item(isShort ? 0x17 : 0x18, Array((fields.map { ($0 < 10 ? "0" : "") + String($0) }.joined() + "Z").utf8))
    }

    static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
