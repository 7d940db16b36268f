internal import HearthJSON

/// A parameter of one type.
///
/// `StringParam`, `IntParam`, `FloatParam`, `BoolParam` and `ListParam` are the types there are.
public struct Param<Value: ParamValue>: FunctionParam {
    /// The environment variable.
    public let name: String
    /// A name for people.
    public let label: String?
    /// The purpose, for people.
    public let description: String?
    private let fallback: Value?

    /// - Parameters:
    ///   - name: the environment variable: capital letters, digits and underscores.
    ///   - fallback: the value where the variable is not set.
    ///   - label: a name for people.
    ///   - description: the purpose, for people.
    public init(_ name: String, default fallback: Value? = nil, label: String? = nil, description: String? = nil) {
        self.name = name
        self.fallback = fallback
        self.label = label
        self.description = description
    }

    /// "string", "int", "float", "boolean" or "list".
    public static var typeName: String { Value.paramTypeName }

    /// The default as the manifest has it.
    public var defaultValue: JSONValue? { fallback?.paramDefault }

    /// The variable's value; the default where it is not set, and the type's empty value where it holds something else.
    public var value: Value {
        guard let text = environmentText else { return fallback ?? Value(paramText: "") }
        return Value(paramText: text)
    }
}

/// A text; empty where there is none.
public typealias StringParam = Param<String>
/// A whole number; 0 where the variable holds something else.
public typealias IntParam = Param<Int>
/// A number; 0 where the variable holds something else.
public typealias FloatParam = Param<Double>
/// Yes or no: true only where the variable is `true`.
public typealias BoolParam = Param<Bool>
/// Several texts: the variable holds a JSON array of strings.
public typealias ListParam = Param<[String]>

/// A type that a parameter can have.
public protocol ParamValue: Sendable {
    /// The type's name in the manifest.
    static var paramTypeName: String { get }
    /// The value that a variable's text stands for; the type's empty value where it stands for none.
    init(paramText: String)
    /// The value as a default in the manifest.
    var paramDefault: JSONValue { get }
}

/// A value that is set for each deployment in `.env` files, not in code.
///
///     let greeting = StringParam("GREETING", default: "Hello")
///     let functions = Functions(params: [greeting]) {
///         OnCall("greet") { (request: CallableRequest<String>) in "\(greeting.value), \(request.data)!" }
///     }
///
/// `value` reads the environment each time. Where the variable is not set it is the default, else the type's empty value.
public protocol FunctionParam: Sendable {
    /// The environment variable: capital letters, digits and underscores.
    var name: String { get }
    /// The type's name in the manifest.
    static var typeName: String { get }
    /// The default as the manifest has it.
    var defaultValue: JSONValue? { get }
    /// A name for people.
    var label: String? { get }
    /// The purpose, for people.
    var description: String? { get }
}

extension FunctionParam {
    var declaration: JSONObject {
        var declaration = JSONObject()
        declaration["name"] = .string(name)
        declaration["type"] = .string(Self.typeName)
        declaration["default"] = defaultValue
        declaration["label"] = label.map { .string($0) }
        declaration["description"] = description.map { .string($0) }
        return declaration
    }

    /// The variable's text; nil where it is not set.
    var environmentText: String? { environment(name) }
}

// The texts of values: spec functions 11.4.

extension String: ParamValue {
    /// "string"
    public static var paramTypeName: String { "string" }
    /// The text itself.
    public init(paramText: String) { self = paramText }
    /// As a JSON string.
    public var paramDefault: JSONValue { .string(self) }
}

extension Int: ParamValue {
    /// "int"
    public static var paramTypeName: String { "int" }
    /// The whole number in decimal digits, or 0.
    public init(paramText: String) { self = Int(paramText) ?? 0 }
    /// As a JSON number.
    public var paramDefault: JSONValue { JSONValue(self) }
}

extension Double: ParamValue {
    /// "float"
    public static var paramTypeName: String { "float" }
    /// The number, or 0.
    public init(paramText: String) { self = Double(paramText) ?? 0 }
    /// As a JSON number.
    public var paramDefault: JSONValue { .double(self) }
}

extension Bool: ParamValue {
    /// "boolean"
    public static var paramTypeName: String { "boolean" }
    /// True for "true" alone.
    public init(paramText: String) { self = paramText == "true" }
    /// As JSON's true or false.
    public var paramDefault: JSONValue { .bool(self) }
}

extension [String]: ParamValue {
    /// "list"
    public static var paramTypeName: String { "list" }
    /// The strings of a JSON array, or none.
    public init(paramText: String) { self = (try? JSONValue(parsing: paramText))?.array?.compactMap(\.string) ?? [] }
    /// As a JSON array.
    public var paramDefault: JSONValue { .array(map { .string($0) }) }
}

/// A secret: its value reaches only the functions that list it, and appears in no log.
///
///     let apiKey = SecretParam("API_KEY")
///     OnCall("charge", options: Options(secrets: [apiKey])) { ... try apiKey.value ... }
public struct SecretParam: FunctionParam, ExpressibleByStringLiteral {
    /// "secret"
    public static let typeName = "secret"
    /// The environment variable.
    public let name: String
    /// A name for people.
    public let label: String?
    /// The purpose, for people.
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

    /// The secret.
    ///
    /// - Throws: `UnsetSecretError` where it is not set, or the running function does not list it among its secrets.
    public var value: String {
        get throws(UnsetSecretError) {
            guard let text = environmentText else { throw UnsetSecretError(name: name) }
            return text
        }
    }
}

/// A function has read a secret that it does not have.
///
/// A function that lets this error pass answers `INTERNAL`. The log has the sentence with the secret's name.
public struct UnsetSecretError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the secret.
    public let name: String

    /// A sentence with the name and the two possible reasons.
    public var description: String {
        "The secret \(name) is not set for this function: give it a value in .secret.local, and list it among the function's secrets."
    }
}
