/// A secret: its value reaches only the functions that list it, and appears in no log.
///
///     let apiKey = SecretParam("API_KEY")
///     OnCall("charge", secrets: [apiKey]) { ... apiKey.value ... }
public struct SecretParam: FunctionParam, ExpressibleByStringLiteral {
    /// "secret"
    public static let typeName = "secret"
    /// The environment variable.
    public let name: String
    /// A name for people.
    public let label: String?
    /// What it is for.
    public let description: String?

    /// A secret with the name of its environment variable.
    public init(_ name: String, label: String? = nil, description: String? = nil) {
        self.name = name
        self.label = label
        self.description = description
    }

    /// The secret of this name.
    public init(stringLiteral name: String) { self.init(name) }

    /// A secret has no default.
    public var defaultValue: JSONValue? { nil }

    /// The secret; empty where it has not been set.
    public var value: String { environmentText ?? "" }
}
