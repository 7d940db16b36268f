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

extension Schema {
    /// What a place allows, in words that fit after "expected".
    func phrase(_ index: Int) -> String {
        let node = nodes[index]
        if let expectation = node.expectation { return expectation }
        if let reference = node.reference { return phrase(reference) }
        if let allowed = node.allowed { return allowed.map(\.shown).listed }
        if !node.branches.isEmpty { return node.branches.map(phrase).listed }
        return kindPhrase(node)
    }

    private func kindPhrase(_ node: SchemaNode) -> String {
        guard let kinds = node.kinds else { return "a value" }
        var words: [String] = []
        if kinds.contains(.boolean) { words.append("true or false") }
        if kinds.contains(.number) { words.append("a number" + bounds(node)) }
        if kinds.contains(.integer) { words.append("an integer" + bounds(node)) }
        if kinds.contains(.string) { words.append("text" + shape(node)) }
        if kinds.contains(.array) { words.append(node.items.map { "a list, each element \(phrase($0))" } ?? "a list") }
        if kinds.contains(.object) { words.append("an object") }
        if kinds.contains(.null) { words.append("null") }
        return words.listed
    }

    private func bounds(_ node: SchemaNode) -> String {
        switch (node.minimum, node.maximum) {
        case (let low?, let high?): " from \(low.plain) to \(high.plain)"
        case (let low?, nil): " of at least \(low.plain)"
        case (nil, let high?): " of at most \(high.plain)"
        case (nil, nil): ""
        }
    }

    private func shape(_ node: SchemaNode) -> String {
        var shape = ""
        switch (node.lengthMin, node.lengthMax) {
        case (1, nil): shape = " that is not empty"
        case (let low?, let high?): shape = " of \(low) to \(high) characters"
        case (let low?, nil): shape = " of at least \(low) characters"
        case (nil, let high?): shape = " of at most \(high) characters"
        case (nil, nil): break
        }
        if let pattern = node.pattern { shape += " that matches \(pattern)" }
        return shape
    }
}

extension [String] {
    /// `a`, `a or b`, `a, b or c`.
    var listed: String {
        guard count > 1, let last else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " or \(last)"
    }
}

extension Configuration {
    /// The JSON Schema of `functions.json`, as it lies beside one.
    public static var schema: [UInt8] { PackageResources.functions_schema_json }
}

extension Schema {
    private static let functionsFile = "functions.schema.json"

    /// Of `functions.json`.
    static let functions = embedded(PackageResources.functions_schema_json, file: functionsFile)

    /// Of the manifest with which a plugin describes itself.
    static let manifest = embedded(
        Array(manifestText.utf8), file: "manifest.schema.json", library: (functionsFile, PackageResources.functions_schema_json))

    /// Reads a schema that is part of the program, so that one which cannot be read is a mistake of the build.
    private static func embedded(_ bytes: [UInt8], file: String, library: (file: String, bytes: [UInt8])? = nil) -> Schema {
        do {
            return try SchemaCompiler.compile(bytes, file: file, library: library)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
