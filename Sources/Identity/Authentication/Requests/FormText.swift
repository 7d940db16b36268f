import HearthBytes

/// Parameters of queries and forms.
struct FormText: Equatable {
    private(set) var values: [String: String] = [:]

    /// Reads a query or a form. Of equal names, the last value counts.
    init(_ text: String) {
        for pair in text.split(separator: "&").prefix(1000) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(String(parts[0]), plusIsSpace: true) else { continue }
            values[name] = parts.count > 1 ? Self.decoded(String(parts[1]), plusIsSpace: true) : ""
        }
    }

    subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Adds parameters, which replace those of the same name.
    mutating func merge(_ other: FormText) { values.merge(other.values) { $1 } }

    /// Decodes `%` sequences; nil if one is invalid.
    static func decoded(_ text: String, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap({ digit($0) }), let low = rest.popFirst().flatMap({ digit($0) }) else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}
