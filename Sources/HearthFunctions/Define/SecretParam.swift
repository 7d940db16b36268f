/// A secret: its value reaches only the functions that list it, and appears in no log.
///
///     let apiKey = SecretParam("API_KEY")
///     OnCall("charge", secrets: [apiKey]) { ... apiKey.value ... }
public struct SecretParam: FunctionParam, ExpressibleByStringLiteral {
    public static let typeName = "secret"
    public let name: String
    public let label: String?
    public let description: String?

    public init(_ name: String, label: String? = nil, description: String? = nil) {
        self.name = name
        self.label = label
        self.description = description
    }

    public init(stringLiteral name: String) { self.init(name) }

    public var defaultValue: JSONValue? { nil }

    /// The secret; empty where it has not been set.
    public var value: String { environmentText ?? "" }
}
