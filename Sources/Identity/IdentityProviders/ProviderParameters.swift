import HearthBytes

/// The parameters of a sign-in with a provider: `requestUri` and `postBody`, merged.
///
/// If a name occurs several times, the fragment of the address counts most, then the body, then the query of the address (spec auth 2.2).
public struct ProviderParameters: Sendable, Equatable {
    /// Longer texts are refused: tokens of providers have up to 16 KiB.
    public static let bytesMax = 64 * 1024
    /// Further parameters are ignored.
    private static let countMax = 200

    private var values: [String: String] = [:]

    /// Parameters that are parsed already.
    public init(_ values: [String: String] = [:]) { self.values = values }

    /// Parses and merges the parameters of a request.
    ///
    /// - Throws: `INVALID_REQUEST_URI` if the address is not absolute; `INVALID_CREDENTIAL_OR_PROVIDER_ID` if a text is too long.
    public init(requestURI: String, postBody: String?) throws(AssertionError) {
        guard requestURI.utf8.count <= Self.bytesMax, (postBody ?? "").utf8.count <= Self.bytesMax else {
            throw AssertionError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: too long")
        }
        guard let address = WebOrigin(of: requestURI) else { throw AssertionError("INVALID_REQUEST_URI") }
        merge(address.query)
        merge((postBody ?? "")[...])
        merge(address.fragment)
    }

    /// The value of a parameter; nil if it is absent or empty.
    public subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The names that are present, also with empty values.
    public var names: Set<String> { Set(values.keys) }

    /// Replaces a parameter.
    public mutating func set(_ name: String, _ value: String?) { values[name] = value }

    /// Adds the parameters of a form (`application/x-www-form-urlencoded`), which replace those of the same name.
    private mutating func merge(_ form: Substring) {
        for pair in form.utf8.split(separator: UInt8(ascii: "&")).prefix(Self.countMax) {
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Self.decoded(pair[..<end])
            guard !name.isEmpty else { continue }
            values[name] = Self.decoded(pair[end...].dropFirst())
        }
    }

    /// Decodes a name or value. A `%` without two digits stays, as in browsers; invalid UTF-8 becomes U+FFFD.
    private static func decoded(_ text: Substring.UTF8View.SubSequence) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let value = hexValue(rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digits: Substring.UTF8View.SubSequence) -> UInt8? {
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

    /// A query with these parameters, in this order.
    static func query(_ parameters: [(String, String)]) -> String {
        parameters.map { "\(encoded($0))=\(encoded($1))" }.joined(separator: "&")
    }

    /// Encodes a text for a query (RFC 3986 section 2.3).
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
}
