/// The name of a topic: 1 to 900 characters of `[a-zA-Z0-9-_.~%]` (spec messaging 4.1).
public struct TopicName: Sendable, Hashable {
    /// The name without `/topics/`.
    public let text: String

    static let prefix = "/topics/"

    /// Parses a name with or without `/topics/`; nil if it is invalid.
    public init?(_ text: String) {
        let name = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text
        guard (1...900).contains(name.utf8.count), name.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = name
    }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"): true
        default: false
        }
    }
}
