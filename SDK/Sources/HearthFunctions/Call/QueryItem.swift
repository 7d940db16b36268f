/// One `name=value` of a query, decoded.
public struct QueryItem: Sendable, Equatable {
    /// What stands before the equals sign.
    public var name: String
    /// Empty where the query has the name alone.
    public var value: String

    static func parse(_ query: String) -> [QueryItem] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return QueryItem(name: decode(part[..<equals]), value: decode(part[equals...].dropFirst()))
        }
    }

    /// Turns `+` into a space and `%41` into its byte; a `%` that no two hexadecimal digits follow stays.
    private static func decode(_ text: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let value = escaped(rest.prefix(2)) {
                bytes.append(value)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escaped(_ digits: Substring.UTF8View) -> UInt8? {
        guard digits.count == 2, digits.first != UInt8(ascii: "+") else { return nil }
        return UInt8(Substring(digits), radix: 16)
    }
}
