/// A JSON Schema, compiled into a flat table of nodes that refer to each other by index.
///
/// Supports the subset of 2020-12 for configuration files. Other keywords are refused at compilation, so that no keyword is silently
/// ignored.
struct Schema: Sendable {
    var nodes: [SchemaNode]
    /// Indices of the nodes under `$defs`, in the order of the document.
    var definitions: [(name: String, node: Int)]

    static let root = 0

    /// Follows references to the final node.
    func resolved(_ index: Int) -> SchemaNode {
        var node = nodes[index]
        while let reference = node.reference { node = nodes[reference] }
        return node
    }

    /// The default of a node: its own, or that of the definition it refers to.
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

    /// The rule for keys that neither `properties` nor `patternProperties` names.
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
    /// The branches of `oneOf` or `anyOf`.
    var branches: [Int] = []
    var needsExactlyOneBranch = false

    var prose = ""
    var defaultValue: LocatedValue?
    var examples: [LocatedValue] = []
    /// A description of the expected value for messages, where one generated from the keywords would read badly.
    var expectation: String?

    func property(_ name: String) -> Int? {
        properties.first { $0.name == name }?.node
    }

    /// The node for the value under a key; nil if there is none.
    func child(_ key: String) -> Int? {
        if let node = property(key) { return node }
        if let (_, node) = patternProperties.first(where: { $0.pattern.matches(key) }) { return node }
        if case .matching(let node) = additional { return node }
        return nil
    }
}

extension LocatedValue {
    /// The JSON Schema kinds of this value: an integer is also a number.
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
    /// A description of the allowed values, for use after "expected".
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
    /// The JSON Schema of `functions.json`.
    public static var schema: [UInt8] { PackageResources.functions_schema_json }
}

extension Schema {
    private static let functionsFile = "functions.schema.json"

    /// The schema of `functions.json`.
    static let functions = embedded(PackageResources.functions_schema_json, file: functionsFile)

    /// The schema of plugin manifests.
    static let manifest = embedded(
        Array(manifestText.utf8), file: "manifest.schema.json", library: (functionsFile, PackageResources.functions_schema_json))

    /// Compiles a schema that is part of the program. A failure is an error of the build.
    private static func embedded(_ bytes: [UInt8], file: String, library: (file: String, bytes: [UInt8])? = nil) -> Schema {
        do {
            return try SchemaCompiler.compile(bytes, file: file, library: library)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
