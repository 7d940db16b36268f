import HearthBytes

/// The id of a client's session. onDisconnect operations are stored under it.
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
        let numbers = [generator.next(), generator.next()]
        return Hexadecimal.text(numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } })
    }
}
