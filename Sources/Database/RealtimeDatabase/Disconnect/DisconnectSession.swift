import HearthBytes
public import HearthJSON
public import Tree

/// The id of a client's session. Operations for the time after the session are stored under it.
public struct DisconnectSession: Sendable, Hashable {
    /// Consists of characters that need no escape in a URL: the run of the database, a hyphen, and the session's own part, in hexadecimal digits.
    public let id: String

    private static let partLength = 32

    /// A new session that cannot be guessed.
    init(run: String) { id = run + "-" + Self.secret() }

    /// The session with this id; nil if it is not an id.
    public init?(id: String) {
        let digits = Set("0123456789abcdef".utf8)
        let parts = id.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == Self.partLength && $0.allSatisfy(digits.contains) }) else { return nil }
        self.id = id
    }

    /// Whether the session belongs to a run of the database.
    func isOf(run: String) -> Bool { id.hasPrefix(run + "-") }

    /// 128 random bits in hexadecimal digits, from the kernel's generator.
    public static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        var text = ByteBuffer()
        for _ in 0..<2 {
            let number = generator.next()
            for shift in stride(from: UInt64(60), through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: number >> shift & 15)
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return text.string()
    }
}

/// An operation for the time after a session (spec database 4).
public enum DisconnectOperation: Sendable {
    /// Writes a value in export form. Replaces the session's operations at and below the path.
    case set(Path, JSONValue)
    /// Writes the members of an object, whose names may be paths, each like ``set(_:_:)``.
    case update(Path, JSONValue)
    /// Removes the operations at and below the path; within a value to be written above, only the part at the path.
    case cancel(Path)
}
