import HearthBytes

/// The reason why a rules document is refused, with the position.
public struct RulesError: Error, Sendable, Hashable {
    /// From 1.
    public var line: Int
    /// In characters (Unicode scalars), from 1.
    public var column: Int
    /// One sentence that describes the error.
    public var text: String

    /// An error at a position, both numbers from 1.
    public init(line: Int, column: Int, text: String) {
        self.line = line
        self.column = column
        self.text = text
    }

    init(_ text: String, at offset: Int, in source: SourceLines) {
        let position = source.position(at: offset)
        self.init(line: position.line, column: position.column, text: text)
    }

    /// The error for a document that is not JSON: the hosted service's sentence, and one that names the token at the position.
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
    /// `LINE:COLUMN: TEXT`, as in the answer to an upload.
    public var description: String { "\(line):\(column): \(text)" }
}

/// The limits for a rules document and its evaluation.
public struct RuleLimits: Sendable {
    /// Bytes of a document.
    public var documentBytesMax = 1_048_576
    /// Nesting of rule nodes. A path has at most 32 levels, so deeper nodes never match.
    public var nodeDepthMax = 64
    /// Nesting of an expression. Consecutive `&&` or `||` count as one level.
    public var expressionDepthMax = 200
    /// Compiled instructions of all regular expressions of a document.
    public var patternSizeMax = 200_000
    /// Steps of one request. An operator is one step; access to data, and each 16 bytes of text that is read or processed by a method, cost
    /// more.
    public var stepsMax = 10_000_000
    /// Bytes in UTF-8 of a string that an expression creates.
    public var stringBytesMax = 16_777_216

    /// The defaults.
    public init() {}
}
