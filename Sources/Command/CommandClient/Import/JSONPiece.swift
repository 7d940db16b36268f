/// A value of a big text, and where it belongs.
public struct JSONPiece: Sendable, Hashable {
    /// Where, from the root of the text: keys as they stand between quotes in JSON, joined by `/`. Empty for the root itself.
    public var path: [UInt8]
    /// The value's text, as it stands.
    public var value: [UInt8]
    /// The byte of the text behind the value.
    public var end: Int

    /// A value whose text ends before the byte `end`.
    public init(path: [UInt8], value: [UInt8], end: Int) {
        self.path = path
        self.value = value
        self.end = end
    }
}

/// What is wrong with a text that is to be imported, and where.
public struct JSONSplitError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// The byte of the line, from 1.
    public let column: Int
    /// What is wrong, without the place and without a full stop.
    public let message: String

    /// The place and what is wrong there.
    public var description: String { "\(line):\(column): \(message)" }
}

/// How a text is split.
public struct JSONSplitLimits: Sendable, Hashable {
    /// A value whose text is longer is split into its members.
    public var valueBytesMax: Int
    /// How many keys may lead to a value.
    public var depthMax: Int
    /// How long a string may be, in bytes of UTF-8.
    public var stringBytesMax: Int
    /// How long a key may be, in bytes of UTF-8.
    public var keyBytesMax: Int

    /// The database's own limits, and pieces of 64 KiB.
    public init(valueBytesMax: Int = 64 * 1024, depthMax: Int = 32, stringBytesMax: Int = 10 * 1024 * 1024, keyBytesMax: Int = 768) {
        self.valueBytesMax = max(1, valueBytesMax)
        self.depthMax = depthMax
        self.stringBytesMax = stringBytesMax
        self.keyBytesMax = keyBytesMax
    }
}
