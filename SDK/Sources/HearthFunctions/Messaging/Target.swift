/// Whom a message is for: exactly one of these.
public enum Target: Sendable, Hashable {
    /// One installation of an app, by its Firebase installation id.
    case fid(String)
    /// One installation of an app, by its registration token.
    case token(String)
    /// Whoever subscribed to the topic; with or without a leading "/topics/".
    case topic(String)
    /// Whoever subscribed to topics as the condition says.
    case condition(Condition)

    /// Puts the target into a message.
    func write(to object: inout WireObject) {
        switch self {
        case .fid(let fid): object.set("fid", fid)
        case .token(let token): object.set("token", token)
        case .topic(let topic): object.set("topic", topic.hasPrefix("/topics/") ? String(topic.dropFirst(8)) : topic)
        case .condition(let condition): object.set("condition", condition.description)
        }
    }
}

/// Which subscribers get a message: topics combined with `&&`, `||` and `!`.
///
///     let keen: Condition = .topic("dogs") && (.topic("cats") || .topic("birds"))
///
/// The service knows no precedence of `&&` over `||`; what is built here is written with all its parentheses and means what Swift
/// means. At most five topics may be named.
public struct Condition: Sendable, Hashable, CustomStringConvertible {
    /// The condition as the service reads it: `'dogs' in topics && ('cats' in topics || 'birds' in topics)`.
    public let description: String
    private let isSingle: Bool

    private init(_ description: String, isSingle: Bool) {
        self.description = description
        self.isSingle = isSingle
    }

    /// Subscribers of one topic.
    public static func topic(_ name: String) -> Condition { Condition("'\(name)' in topics", isSingle: true) }

    /// A condition that is written already, taken as it is.
    public static func raw(_ text: String) -> Condition { Condition(text, isSingle: false) }

    /// Whoever meets both.
    public static func && (left: Condition, right: Condition) -> Condition { joined(left, "&&", right) }

    /// Whoever meets one of them, or both.
    public static func || (left: Condition, right: Condition) -> Condition { joined(left, "||", right) }

    /// Whoever does not meet it, among those who subscribed to anything.
    public static prefix func ! (condition: Condition) -> Condition { Condition("!(\(condition.description))", isSingle: true) }

    private static func joined(_ left: Condition, _ sign: String, _ right: Condition) -> Condition {
        Condition("\(left.operand) \(sign) \(right.operand)", isSingle: false)
    }

    private var operand: String { isSingle ? description : "(\(description))" }
}
