import HearthJSON

/// The reason why a body is not a valid value.
public struct NodeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The violated rule.
    public enum Kind: Sendable, Hashable {
        /// Empty, or white space only.
        case noData
        /// Not JSON, or a number out of the range of doubles.
        case malformed
        /// The body of an update is not an object.
        case notAnObject
        /// An invalid key, with the line and column where it begins, from 1.
        case badKey(line: Int, column: Int)
        case keyTooLong(bytesMax: Int)
        case stringTooLong(bytesMax: Int)
        case tooDeep(levelsMax: Int)
        /// More values than the limit.
        case tooManyNodes
        /// `.value` beside children.
        case mixedValue
        /// A priority that is neither null, a number, a string nor the time.
        case badPriority
        /// `.sv` that is unknown, or beside something else.
        case badServerValue
        /// Two paths of an update that are equal or of which one is the other's ancestor.
        case conflictingPaths(String, String)
    }

    /// The violated rule.
    public var kind: Kind

    /// An error of this kind, with the kind's text.
    public init(kind: Kind) { self.kind = kind }

    /// An invalid key that begins at byte `offset` of `text`.
    static func badKey(at offset: Int, in text: Span<UInt8>) -> NodeError {
        let place = JSONError(kind: .unexpectedByte, offset: offset).location(in: text)
        return NodeError(kind: .badKey(line: place.line, column: place.column))
    }

    /// The error text for the client (spec database 2.6).
    public var message: String {
        switch kind {
        case .noData: "Error: No data supplied."
        case .malformed: "Invalid data; couldn't parse JSON object, array, or value."
        case .notAnObject: "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?"
        case .badKey(let line, let column):
            "Invalid data; couldn't parse key beginning at \(line):\(column). Key value can't be empty or contain $ # [ ] / or ."
        case .keyTooLong(let bytes): "Invalid data; a key is longer than \(bytes) bytes."
        case .stringTooLong(let bytes): "Invalid data; a string is longer than \(bytes) bytes."
        case .tooDeep(let levels): "Invalid data; the path would have more than \(levels) levels."
        case .tooManyNodes: "Data to write exceeds the maximum size that can be modified with a single request."
        case .mixedValue: "Invalid data; .value can't stand beside other children."
        case .badPriority: "Invalid data; a priority must be a string, a number or null."
        case .badServerValue: "Invalid data; this server value does not exist."
        case .conflictingPaths(let one, let other): "Invalid data; path \(one) is an ancestor of or the same as path \(other)."
        }
    }

    public var description: String { message }
}
