/// A project whose devices register here.
public struct MessagingProject: Sendable, Hashable {
    /// The id, which is used in URLs.
    public var id: String
    /// The number in decimal digits, by which devices know the sender.
    public var number: String

    /// A project. The number is not checked.
    public init(id: String, number: String) {
        self.id = id
        self.number = number
    }

    /// A number for a project whose real one is unknown: twelve digits that depend only on the id.
    public static func number(for id: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "\(100_000_000_000 + hash % 900_000_000_000)"
    }
}
