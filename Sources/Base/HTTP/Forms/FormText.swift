/// Parameters of queries and forms (`application/x-www-form-urlencoded`), decoded as browsers do (WHATWG URL section 5.1): a `%` without two
/// digits stays, and invalid UTF-8 becomes U+FFFD.
public struct FormText: Sendable, Equatable {
    /// Further parameters are ignored.
    private static let countMax = 1000

    /// By name.
    public private(set) var values: [String: String] = [:]

    /// No parameters.
    public init() {}

    /// Reads a query or a form. Of equal names, the last value counts; a parameter without a name is ignored.
    public init(_ text: some StringProtocol) {
        for pair in text.utf8.split(separator: UInt8(ascii: "&")).prefix(Self.countMax) {
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Self.decoded(pair[..<end], plusIsSpace: true)
            guard !name.isEmpty else { continue }
            values[name] = Self.decoded(pair[end...].dropFirst(), plusIsSpace: true)
        }
    }

    /// A parameter; nil if it is absent.
    public subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Adds parameters, which replace those of the same name.
    public mutating func merge(_ other: FormText) { values.merge(other.values) { $1 } }

    // MARK: Encoding

    /// Decodes `%` sequences.
    ///
    /// - Parameter plusIsSpace: whether `+` means a space, as in forms; not so in paths.
    public static func decoded(_ text: some Collection<UInt8>, plusIsSpace: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+"), plusIsSpace {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let value = value(of: rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func value(of digits: some Collection<UInt8>) -> UInt8? {
        guard digits.count == 2 else { return nil }
        var value: UInt8 = 0
        for digit in digits {
            switch digit {
            case 48...57: value = value << 4 | (digit - 48)
            case 65...70: value = value << 4 | (digit - 55)
            case 97...102: value = value << 4 | (digit - 87)
            default: return nil
            }
        }
        return value
    }

    /// Encodes a text for a query or a form (RFC 3986 section 2.3).
    public static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A query with these parameters, in this order.
    public static func query(_ parameters: [(String, String)]) -> String {
        parameters.map { "\(encoded($0))=\(encoded($1))" }.joined(separator: "&")
    }
}
