/// Why a text is not a path.
public struct PathError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that was broken.
    public enum Kind: Sendable, Hashable {
        /// A character that no key may have, bytes that are not UTF-8, or a bad percent escape.
        case invalidToken
        /// A key of more than `Path.keyBytesMax` bytes.
        case keyTooLong
        /// More than `Path.depthMax` keys.
        case tooDeep
    }

    /// The rule that was broken.
    public var kind: Kind

    /// An error; its text follows from the kind.
    public init(kind: Kind) { self.kind = kind }

    /// The text of the answer (spec database 2.6).
    public var message: String {
        switch kind {
        case .invalidToken: "Invalid path: Invalid token in path"
        case .keyTooLong: "Invalid path: A key may have at most \(Path.keyBytesMax) bytes of UTF-8"
        case .tooDeep: "Invalid path: A path may have at most \(Path.depthMax) keys"
        }
    }

    public var description: String { message }
}
