import HearthBytes
import Crypto

/// The hash of a non-empty node (V1, spec database 3.8): SHA-1 in base64, 28 characters.
public struct NodeHash: Sendable {
    private var characters: InlineArray<28, UInt8>

    /// The hash of a leaf. ``NodeHasher`` makes those of nodes with children.
    public init(of leaf: Leaf, priority: Priority?) {
        var text = ByteBuffer()
        Self.append(priority, to: &text)
        Self.append(leaf, to: &text)
        var sha = Insecure.SHA1()
        text.withUnsafeBytes { sha.update(bufferPointer: $0) }
        self.init(sha.finalize())
    }

    init(_ digest: Insecure.SHA1Digest) { characters = digest.withUnsafeBytes { Self.base64($0) } }

    /// The 28 characters, as requests carry them.
    public var string: String {
        String(unsafeUninitializedCapacity: 28) { target in
            for index in 0..<28 { target[index] = characters[index] }
            return 28
        }
    }

    func append(to buffer: inout ByteBuffer) {
        buffer.appendUninitialized(minimum: 28) { room in
            for index in 0..<28 { room[index] = characters[index] }
            return 28
        }
    }

    static func append(_ priority: Priority?, to text: inout ByteBuffer) {
        guard let priority else { return }
        text.append("priority:")
        switch priority {
        case .number(let value): append(number: value, to: &text)
        case .string(let string): append(string: string, to: &text)
        }
        text.append(UInt8(ascii: ":"))
    }

    private static func append(_ leaf: Leaf, to text: inout ByteBuffer) {
        switch leaf {
        case .boolean(let value): text.append(value ? "boolean:true" : "boolean:false")
        case .integer(let value): append(number: Double(value), to: &text)
        case .double(let value): append(number: value, to: &text)
        case .string(let string): append(string: string, to: &text)
        }
    }

    private static func append(string: String, to text: inout ByteBuffer) {
        text.append("string:")
        text.append(string)
    }

    /// Appends the bytes of a double as sixteen hexadecimal digits, most significant first.
    static func append(number: Double, to text: inout ByteBuffer) {
        text.append("number:")
        let bits = number.bitPattern
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: bits >> shift & 0xF)
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// Twenty bytes are six groups of three, and two bytes with one `=` as padding.
    private static func base64(_ bytes: UnsafeRawBufferPointer) -> InlineArray<28, UInt8> {
        var characters = InlineArray<28, UInt8>(repeating: UInt8(ascii: "="))
        for group in 0..<7 {
            let third: UInt32 = group < 6 ? UInt32(bytes[group * 3 + 2]) : 0
            let bits = UInt32(bytes[group * 3]) << 16 | UInt32(bytes[group * 3 + 1]) << 8 | third
            for place in 0..<(group < 6 ? 4 : 3) {
                let digit = bits >> (18 - 6 * UInt32(place)) & 0x3F
                characters[group * 4 + place] = Self.digit(UInt8(truncatingIfNeeded: digit))
            }
        }
        return characters
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }
}
