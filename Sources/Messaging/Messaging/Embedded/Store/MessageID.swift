/// The number of a message: the time of its acceptance in microseconds, increased if necessary so that numbers rise strictly. Messages are
/// delivered in this order.
///
/// The form of the text depends on the message's target (spec messaging 2.2). Each form contains the number.
enum MessageID {
    enum Form: Int64 {
        /// Decimal digits, for topics, conditions and Apple's devices.
        case clock = 0
        /// `0:{number}%{16 hex digits}`.
        case android = 1
        /// A UUID of version 4. Its first 60 free bits are the number.
        case uuid = 2

        init(_ platform: DevicePlatform) {
            switch platform {
            case .android: self = .android
            case .ios: self = .clock
            case .web: self = .uuid
            }
        }
    }

    static func text(_ number: Int64, _ form: Form) -> String {
        switch form {
        case .clock: return "\(number)"
        case .android: return "0:\(number)%\(hex(scattered(number), 16))"
        case .uuid:
            let digits = hex(UInt64(number), 15)
            let noise = scattered(number)
            let variant = ["8", "9", "a", "b"][Int(noise & 3)]
            let tail = hex(noise >> 4 & 0xFFF, 3)
            let node = hex(scattered(number &+ 1) & 0xFFFF_FFFF_FFFF, 12)
            return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(4))-4\(digits.suffix(3))-\(variant)\(tail)-\(node)"
        }
    }

    /// Parses a text of any form; nil if it is invalid.
    static func number(_ text: String) -> Int64? {
        if text.utf8.count == 36 {
            let digits = text.replacing("-", with: "")
            guard digits.utf8.count == 32, let head = UInt64(digits.prefix(12), radix: 16),
                let tail = UInt64(digits.dropFirst(13).prefix(3), radix: 16)
            else { return nil }
            return Int64(exactly: head << 12 | tail)
        }
        guard text.hasPrefix("0:") else { return Int64(text) }
        return Int64(text.dropFirst(2).prefix { $0 != "%" })
    }

    private static func hex(_ number: UInt64, _ width: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    /// SplitMix64: pseudo-random bits that depend only on the number.
    private static func scattered(_ number: Int64) -> UInt64 {
        var z = UInt64(bitPattern: number) &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
