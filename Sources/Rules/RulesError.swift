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
}

extension RulesError: CustomStringConvertible {
    /// `LINE:COLUMN: TEXT`, as an upload is answered.
    public var description: String { "\(line):\(column): \(text)" }
}
