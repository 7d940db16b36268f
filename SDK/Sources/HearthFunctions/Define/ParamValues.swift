internal import HearthJSON

// Which text stands for which value: spec functions 11.4.

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
