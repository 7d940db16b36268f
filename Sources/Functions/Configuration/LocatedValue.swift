/// A JSON value with its position in the file, so that every message about it can name the line.
struct LocatedValue: Sendable {
    enum Content: Sendable {
        case null
        case bool(Bool)
        case integer(Int)
        case number(Double)
        case string(String)
        case array([LocatedValue])
        case object([LocatedMember])
    }

    var content: Content
    /// The offset of the value's first byte.
    var offset: Int
}

struct LocatedMember: Sendable {
    var key: String
    var keyOffset: Int
    var value: LocatedValue
}

extension LocatedValue {
    var members: [LocatedMember]? {
        if case .object(let members) = content { members } else { nil }
    }

    var elements: [LocatedValue]? {
        if case .array(let elements) = content { elements } else { nil }
    }

    var string: String? {
        if case .string(let text) = content { text } else { nil }
    }

    var bool: Bool? {
        if case .bool(let flag) = content { flag } else { nil }
    }

    /// An integer, also if written as `60.0`.
    var integer: Int? {
        switch content {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    var double: Double? {
        switch content {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    var isNull: Bool {
        if case .null = content { true } else { false }
    }

    /// The value of the last member with that key, as JSON parsers usually handle duplicates.
    subscript(key: String) -> LocatedValue? {
        members?.last { $0.key == key }?.value
    }

    /// Whether two values are equal as JSON, regardless of position; `1` equals `1.0`.
    func isSame(as other: LocatedValue) -> Bool {
        switch (content, other.content) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.string(let left), .string(let right)): return left == right
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            return left.count == right.count && left.allSatisfy { member in
                other[member.key].map(member.value.isSame(as:)) ?? false
            }
        default:
            guard let left = double, let right = other.double else { return false }
            return left == right
        }
    }

    /// The value in messages: short text and numbers verbatim, objects and lists by their kind.
    var shown: String {
        switch content {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): value.plain
        case .string(let text): text.quoted
        case .array(let elements): elements.isEmpty ? "an empty list" : "a list"
        case .object: "an object"
        }
    }
}

extension String {
    /// In double quotes, cut after 60 characters, with control characters and bidirectional controls escaped: safe for one line of a log.
    var quoted: String { quoted(cutAfter: 60) }

    /// The same for a file path, in full: its end is the most informative part.
    var quotedPath: String { quoted(cutAfter: 4096) }

    private func quoted(cutAfter limit: Int) -> String {
        var text = "\""
        for (count, scalar) in unicodeScalars.enumerated() {
            if count == limit { return text + "…\"" }
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.isInvisible: text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension Double {
    /// Without the `.0` that Swift appends to integral doubles.
    var plain: String {
        Int(exactly: self).map { "\($0)" } ?? "\(self)"
    }
}
