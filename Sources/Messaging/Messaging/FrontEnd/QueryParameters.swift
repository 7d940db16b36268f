import HearthBytes
import Tree

/// The parameters of a query or a form. If a name occurs several times, the first value counts.
struct QueryParameters {
    private var values: [String: String] = [:]

    init(_ text: Span<UInt8>) {
        var start = 0
        while start < text.count {
            var end = start
            var equals: Int?
            while end < text.count, text[end] != UInt8(ascii: "&") {
                if equals == nil, text[end] == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            let name = Self.text(text.extracting(start..<(equals ?? end)))
            let value = equals.map { Self.text(text.extracting($0 + 1..<end)) } ?? ""
            if let name, let value, values[name] == nil { values[name] = value }
            start = end + 1
        }
    }

    private static func text(_ bytes: Span<UInt8>) -> String? {
        PercentEncoding.decoded(bytes, plusIsSpace: true).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of the first of these names that is present.
    subscript(_ names: String...) -> String? {
        for name in names { if let value = values[name] { return value } }
        return nil
    }

    /// A whole number, limited to the bounds.
    func number(_ names: String..., bounds: ClosedRange<Int>, default standard: Int) -> Int {
        for name in names {
            if let text = values[name], let number = Int(text), number > 0 { return min(max(number, bounds.lowerBound), bounds.upperBound) }
        }
        return standard
    }
}
