/// A parameter of one type.
///
/// `StringParam`, `IntParam`, `FloatParam`, `BoolParam` and `ListParam` are the types there are.
public struct Param<Value: ParamValue>: FunctionParam {
    /// The environment variable.
    public let name: String
    /// A name for people.
    public let label: String?
    /// What it is for.
    public let description: String?
    private let fallback: Value?

    /// - Parameters:
    ///   - name: the environment variable: capital letters, digits and underscores.
    ///   - fallback: the value where the variable is not set.
    ///   - label: a name for people.
    ///   - description: what it is for.
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
