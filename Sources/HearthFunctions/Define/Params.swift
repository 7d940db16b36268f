/// A text.
public struct StringParam: FunctionParam {
    public static let typeName = "string"
    public let name: String
    public let label: String?
    public let description: String?
    let fallback: String?

    public init(_ name: String, default fallback: String? = nil, label: String? = nil, description: String? = nil) {
        self.name = name
        self.fallback = fallback
        self.label = label
        self.description = description
    }

    public var defaultValue: JSONValue? { fallback.map { .string($0) } }
    public var value: String { environmentText ?? fallback ?? "" }
}

/// A whole number; 0 where the variable holds something else.
public struct IntParam: FunctionParam {
    public static let typeName = "int"
    public let name: String
    public let label: String?
    public let description: String?
    let fallback: Int?

    public init(_ name: String, default fallback: Int? = nil, label: String? = nil, description: String? = nil) {
        self.name = name
        self.fallback = fallback
        self.label = label
        self.description = description
    }

    public var defaultValue: JSONValue? { fallback.map { .int(Int64($0)) } }

    public var value: Int {
        guard let text = environmentText else { return fallback ?? 0 }
        return Int(text) ?? 0
    }
}

/// A number; 0 where the variable holds something else.
public struct FloatParam: FunctionParam {
    public static let typeName = "float"
    public let name: String
    public let label: String?
    public let description: String?
    let fallback: Double?

    public init(_ name: String, default fallback: Double? = nil, label: String? = nil, description: String? = nil) {
        self.name = name
        self.fallback = fallback
        self.label = label
        self.description = description
    }

    public var defaultValue: JSONValue? { fallback.map { .double($0) } }

    public var value: Double {
        guard let text = environmentText else { return fallback ?? 0 }
        return Double(text) ?? 0
    }
}

/// Yes or no: true only where the variable is `true`.
public struct BoolParam: FunctionParam {
    public static let typeName = "boolean"
    public let name: String
    public let label: String?
    public let description: String?
    let fallback: Bool?

    public init(_ name: String, default fallback: Bool? = nil, label: String? = nil, description: String? = nil) {
        self.name = name
        self.fallback = fallback
        self.label = label
        self.description = description
    }

    public var defaultValue: JSONValue? { fallback.map { .bool($0) } }

    public var value: Bool {
        guard let text = environmentText else { return fallback ?? false }
        return text == "true"
    }
}

/// Several texts: the variable holds a JSON array of strings.
public struct ListParam: FunctionParam {
    public static let typeName = "list"
    public let name: String
    public let label: String?
    public let description: String?
    let fallback: [String]?

    public init(_ name: String, default fallback: [String]? = nil, label: String? = nil, description: String? = nil) {
        self.name = name
        self.fallback = fallback
        self.label = label
        self.description = description
    }

    public var defaultValue: JSONValue? { fallback.map { .array($0.map { .string($0) }) } }

    public var value: [String] {
        guard let text = environmentText else { return fallback ?? [] }
        return (try? JSONValue(parsing: text))?.array?.compactMap(\.string) ?? []
    }
}
