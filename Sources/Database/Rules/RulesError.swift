import HearthBytes

/// Why a rules document is refused, and where.
public struct RulesError: Error, Sendable, Hashable {
    /// Counted from 1.
    public var line: Int
    /// Counted in characters (Unicode scalars) from 1.
    public var column: Int
    /// One sentence that says what is wrong there.
    public var text: String

    /// An error at a place, both numbers from 1.
    public init(line: Int, column: Int, text: String) {
        self.line = line
        self.column = column
        self.text = text
    }

    init(_ text: String, at offset: Int, in source: SourceLines) {
        let position = source.position(at: offset)
        self.init(line: position.line, column: position.column, text: text)
    }

    /// A document that is not JSON: the hosted service's sentence, and one that names the token at the place.
    static func notJSON(at offset: Int, in source: SourceLines) -> RulesError {
        RulesError("Parse error. \(unexpected(at: offset, in: source.bytes))", at: offset, in: source)
    }

    private static func unexpected(at offset: Int, in bytes: [UInt8]) -> String {
        guard offset < bytes.count else { return "The document ends before it is complete." }
        func isWord(_ byte: UInt8) -> Bool {
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
        }
        switch bytes[offset] {
        case UInt8(ascii: "\""): return "Unexpected string, or one that has no closing quote."
        case UInt8(ascii: "\\"): return "Unknown escape sequence in a string."
        case UInt8(ascii: "/"): return "Unexpected '/', or a comment that is not closed."
        case 0..<0x20, 0x7F: return "Unexpected control character."
        case let byte where isWord(byte):
            return "Unexpected '\(String(decoding: bytes[offset...].prefix { isWord($0) }.prefix(40), as: UTF8.self))'."
        default:
            guard let first = String(decoding: bytes[offset...].prefix(4), as: UTF8.self).unicodeScalars.first, first != "\u{FFFD}" else {
                return "The bytes are not UTF-8."
            }
            return "Unexpected '\(first)'."
        }
    }
}

extension RulesError: CustomStringConvertible {
    /// `LINE:COLUMN: TEXT`, as an upload is answered.
    public var description: String { "\(line):\(column): \(text)" }
}

/// What a rules document and its evaluation may take.
public struct RuleLimits: Sendable {
    /// The largest document, in bytes.
    public var documentBytesMax = 1_048_576
    /// The deepest nesting of rule nodes. A path has 32 levels, so deeper nodes never match.
    public var nodeDepthMax = 64
    /// The deepest nesting of an expression. `&&` and `||` in a row count as one level.
    public var expressionDepthMax = 200
    /// The instructions that all regular expressions of a document may be compiled to.
    public var patternSizeMax = 200_000
    /// The steps of one request. An operator is one step; reading the data, and each 16 bytes of text that is read or that a method goes
    /// over, are more.
    public var stepsMax = 10_000_000
    /// The longest string that an expression may make, in bytes of UTF-8.
    public var stringBytesMax = 16_777_216

    /// The defaults.
    public init() {}
}
