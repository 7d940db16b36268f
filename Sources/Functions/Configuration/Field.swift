/// A position in a validated document with its schema, for reading typed values.
///
/// A value that the validator has rejected reads as its default, so that later checks can continue.
struct Field {
    let schema: Schema
    let node: Int
    /// Nil if the document has no value.
    let value: LocatedValue?
    let path: DocumentPath

    init(schema: Schema, root: LocatedValue) {
        self.init(schema: schema, node: Schema.root, value: root, path: DocumentPath())
    }

    private init(schema: Schema, node: Int, value: LocatedValue?, path: DocumentPath) {
        self.schema = schema
        self.node = node
        self.value = value
        self.path = path
    }

    /// The field for a key of the schema.
    subscript(key: String) -> Field {
        guard let child = schema.resolved(node).child(key) else { preconditionFailure("the schema has no \(key) under \(path)") }
        return Field(schema: schema, node: child, value: value?[key], path: path.appending(key: key))
    }

    var isPresent: Bool { value != nil }

    /// The members of an object with free keys, in the order of the document, each key once.
    var entries: [(key: String, field: Field)] {
        let described = schema.resolved(node)
        var seen: Set<String> = []
        return (value?.members ?? []).compactMap { member in
            guard let child = described.child(member.key), seen.insert(member.key).inserted else { return nil }
            return (member.key, Field(schema: schema, node: child, value: member.value, path: path.appending(key: member.key)))
        }
    }

    /// The value of the document, otherwise the schema's default.
    private func read<Value>(_ take: (LocatedValue) -> Value?) -> Value? {
        value.flatMap(take) ?? schema.defaultValue(node).flatMap(take)
    }

    private func need<Value>(_ take: (LocatedValue) -> Value?) -> Value {
        guard let found = read(take) else { preconditionFailure("the schema has no default for \(path)") }
        return found
    }

    var int: Int { need(\.integer) }
    var double: Double { need(\.double) }
    var bool: Bool { need(\.bool) }
    var string: String { need(\.string) }

    func choice<Choice: RawRepresentable>(_: Choice.Type) -> Choice where Choice.RawValue == String {
        need { $0.string.flatMap(Choice.init(rawValue:)) }
    }

    /// The value without a default: nil if the document has none.
    var intIfPresent: Int? { value?.integer }
    var doubleIfPresent: Double? { value?.double }
    var boolIfPresent: Bool? { value?.bool }
    var stringIfPresent: String? { value?.string }

    func choiceIfPresent<Choice: RawRepresentable>(_: Choice.Type) -> Choice? where Choice.RawValue == String {
        value?.string.flatMap(Choice.init(rawValue:))
    }

    /// A list of strings, with the schema's default.
    var strings: [String] { need { $0.elements?.compactMap(\.string) } }

    /// A string, or a list of strings.
    var stringsIfPresent: [String]? {
        if let text = value?.string { return [text] }
        return value?.elements?.compactMap(\.string)
    }
}

extension Field {
    /// The elements of a list.
    var elements: [Field] {
        guard let items = schema.resolved(node).items else { return [] }
        return (value?.elements ?? []).enumerated().map { number, element in
            Field(schema: schema, node: items, value: element, path: path.appending(index: number))
        }
    }
}
