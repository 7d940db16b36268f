/// A JSON Schema, read once into a flat table of nodes that refer to each other by number.
///
/// The dialect is the part of 2020-12 that describes a configuration file; a keyword outside of it is refused when the schema is
/// read, so that nothing in a schema is silently without effect.
struct Schema: Sendable {
    var nodes: [SchemaNode]
    /// Numbers of the nodes under `$defs`, in written order.
    var definitions: [(name: String, node: Int)]

    static let root = 0

    /// Follows references to the node that says what is allowed.
    func resolved(_ index: Int) -> SchemaNode {
        var node = nodes[index]
        while let reference = node.reference { node = nodes[reference] }
        return node
    }

    /// The default of a place: its own, or that of the definition it refers to.
    func defaultValue(_ index: Int) -> LocatedValue? {
        nodes[index].defaultValue ?? nodes[index].reference.flatMap(defaultValue)
    }
}

struct SchemaNode: Sendable {
    struct Kinds: OptionSet, Sendable {
        var rawValue: UInt8
        static let null = Kinds(rawValue: 1)
        static let boolean = Kinds(rawValue: 2)
        static let integer = Kinds(rawValue: 4)
        static let number = Kinds(rawValue: 8)
        static let string = Kinds(rawValue: 16)
        static let array = Kinds(rawValue: 32)
        static let object = Kinds(rawValue: 64)
    }

    /// What may stand under a key that neither `properties` nor `patternProperties` names.
    enum Additional: Sendable {
        case allowed
        case forbidden
        case matching(Int)
    }

    var reference: Int?
    var kinds: Kinds?
    var properties: [(name: String, node: Int)] = []
    var required: [String] = []
    var additional = Additional.allowed
    var patternProperties: [(pattern: Pattern, node: Int)] = []
    var propertyNames: Int?
    var propertiesMin: Int?
    var propertiesMax: Int?
    var allowed: [LocatedValue]?
    var pattern: Pattern?
    var minimum: Double?
    var maximum: Double?
    var lengthMin: Int?
    var lengthMax: Int?
    var itemsMin: Int?
    var itemsMax: Int?
    var hasUniqueItems = false
    var items: Int?
    /// Of `oneOf` or `anyOf`.
    var branches: [Int] = []
    var needsExactlyOneBranch = false

    var prose = ""
    var defaultValue: LocatedValue?
    var examples: [LocatedValue] = []
    /// What is expected, in words for the middle of a sentence, where the keywords alone would read badly.
    var expectation: String?

    func property(_ name: String) -> Int? {
        properties.first { $0.name == name }?.node
    }

    /// The node that describes the value under a key, nil where none does.
    func child(_ key: String) -> Int? {
        if let node = property(key) { return node }
        if let (_, node) = patternProperties.first(where: { $0.pattern.matches(key) }) { return node }
        if case .matching(let node) = additional { return node }
        return nil
    }
}

extension LocatedValue {
    /// The kinds of JSON Schema that this value is of: a whole number is both an integer and a number.
    var kinds: SchemaNode.Kinds {
        switch content {
        case .null: .null
        case .bool: .boolean
        case .integer: [.integer, .number]
        case .number: integer == nil ? .number : [.integer, .number]
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }
}
