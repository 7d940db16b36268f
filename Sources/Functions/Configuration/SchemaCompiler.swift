/// Compiles the text of a schema.
struct SchemaCompiler {
    /// An error in a schema: a programming error, found by tests.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    private let document: LocatedValue
    /// Another schema whose definitions this one may use.
    private let library: (file: String, document: LocatedValue)?
    private var nodes: [SchemaNode] = []
    /// The nodes of definitions, registered before they are compiled, so that a definition may refer to itself.
    private var definitions: [(name: String, node: Int)] = []

    /// - Parameter library: a schema whose definitions may be referred to as `file#/$defs/name`.
    static func compile(
        _ bytes: [UInt8], file: String, library: (file: String, bytes: [UInt8])? = nil
    ) throws(Fault) -> Schema {
        let value = try document(bytes, file)
        var compiler = SchemaCompiler(document: value, library: nil)
        if let library {
            compiler = SchemaCompiler(document: value, library: (library.file, try document(library.bytes, library.file)))
        }
        _ = try compiler.node(value, path: DocumentPath())
        for definition in value["$defs"]?.members ?? [] { _ = try compiler.definition(definition.key, in: value, prefix: "") }
        return Schema(nodes: compiler.nodes, definitions: compiler.definitions)
    }

    private static func document(_ bytes: [UInt8], _ file: String) throws(Fault) -> LocatedValue {
        let (value, problems) = LocatedParser.parse(SourceText(file: file, bytes: bytes))
        guard let value, problems.isEmpty else { throw Fault(description: ConfigurationErrors(problems).description) }
        return value
    }

    private init(document: LocatedValue, library: (file: String, document: LocatedValue)?) {
        self.document = document
        self.library = library
    }

    private mutating func node(_ value: LocatedValue, path: DocumentPath) throws(Fault) -> Int {
        guard let members = value.members else { throw Fault(description: "\(path): a schema is an object") }
        let index = nodes.count
        nodes.append(SchemaNode())
        var node = SchemaNode()
        for member in members {
            do {
                try read(member, into: &node, path: path.appending(key: member.key))
            } catch let fault as Fault {
                throw fault
            } catch {
                throw Fault(description: "\(path.appending(key: member.key)): \(error)")
            }
        }
        nodes[index] = node
        return index
    }

    private mutating func read(_ member: LocatedMember, into node: inout SchemaNode, path: DocumentPath) throws {
        let value = member.value
        switch member.key {
        case "$schema", "$id", "$comment", "title", "$defs": break
        case "description": node.prose = try text(value, path)
        case "default": node.defaultValue = value
        case "examples": node.examples = try list(value, path)
        case "expectation": node.expectation = try text(value, path)
        case "$ref": node.reference = try reference(value, path)
        case "type": node.kinds = try kinds(value, path)
        case "enum": node.allowed = try list(value, path)
        case "const": node.allowed = [value]
        case "pattern": node.pattern = try Pattern(text(value, path))
        case "minimum": node.minimum = value.double
        case "maximum": node.maximum = value.double
        case "minLength": node.lengthMin = value.integer
        case "maxLength": node.lengthMax = value.integer
        case "minItems": node.itemsMin = value.integer
        case "maxItems": node.itemsMax = value.integer
        case "uniqueItems": node.hasUniqueItems = value.bool ?? false
        case "minProperties": node.propertiesMin = value.integer
        case "maxProperties": node.propertiesMax = value.integer
        case "items": node.items = try self.node(value, path: path)
        case "oneOf", "anyOf": try readBranches(member, into: &node, path: path)
        default: try readMembers(member, into: &node, path: path)
        }
    }

    private mutating func readBranches(_ member: LocatedMember, into node: inout SchemaNode, path: DocumentPath) throws {
        node.needsExactlyOneBranch = member.key == "oneOf"
        for (number, branch) in try list(member.value, path).enumerated() {
            node.branches.append(try self.node(branch, path: path.appending(index: number)))
        }
    }

    /// The keywords for members of an object.
    private mutating func readMembers(_ member: LocatedMember, into node: inout SchemaNode, path: DocumentPath) throws {
        switch member.key {
        case "properties":
            for property in member.value.members ?? [] {
                node.properties.append((property.key, try self.node(property.value, path: path.appending(key: property.key))))
            }
        case "patternProperties":
            for property in member.value.members ?? [] {
                let child = try self.node(property.value, path: path.appending(key: property.key))
                node.patternProperties.append((try Pattern(property.key), child))
            }
        case "propertyNames": node.propertyNames = try self.node(member.value, path: path)
        case "required": node.required = try list(member.value, path).compactMap(\.string)
        case "additionalProperties":
            if let isAllowed = member.value.bool {
                node.additional = isAllowed ? .allowed : .forbidden
            } else {
                node.additional = .matching(try self.node(member.value, path: path))
            }
        default: throw Fault(description: "\(path): the keyword is not part of the dialect")
        }
    }

    private mutating func reference(_ value: LocatedValue, _ path: DocumentPath) throws(Fault) -> Int {
        let prefix = "#/$defs/"
        guard let target = value.string else { throw Fault(description: "\(path): a reference is text") }
        if target.hasPrefix(prefix) { return try definition(String(target.dropFirst(prefix.count)), in: document, prefix: "") }
        if let library, target.hasPrefix(library.file + prefix) {
            let name = String(target.dropFirst(library.file.count + prefix.count))
            return try definition(name, in: library.document, prefix: library.file)
        }
        throw Fault(description: "\(path): a reference starts with \(prefix)")
    }

    private mutating func definition(_ name: String, in source: LocatedValue, prefix: String) throws(Fault) -> Int {
        if let known = definitions.first(where: { $0.name == prefix + name }) { return known.node }
        guard let value = source["$defs"]?[name] else { throw Fault(description: "there is no definition \(prefix)\(name)") }
        definitions.append((prefix + name, nodes.count))
        // References within a definition of the library refer to the library's definitions.
        guard !prefix.isEmpty else { return try node(value, path: DocumentPath().appending(key: name)) }
        var compiler = SchemaCompiler(document: source, library: nil)
        compiler.nodes = nodes
        let index = try compiler.node(value, path: DocumentPath().appending(key: name))
        nodes = compiler.nodes
        return index
    }

    private func text(_ value: LocatedValue, _ path: DocumentPath) throws(Fault) -> String {
        guard let text = value.string else { throw Fault(description: "\(path): expected text, found \(value.shown)") }
        return text
    }

    private func list(_ value: LocatedValue, _ path: DocumentPath) throws(Fault) -> [LocatedValue] {
        guard let list = value.elements else { throw Fault(description: "\(path): expected a list, found \(value.shown)") }
        return list
    }

    private func kinds(_ value: LocatedValue, _ path: DocumentPath) throws(Fault) -> SchemaNode.Kinds {
        let names: [String: SchemaNode.Kinds] = [
            "null": .null, "boolean": .boolean, "integer": .integer, "number": .number,
            "string": .string, "array": .array, "object": .object,
        ]
        var kinds: SchemaNode.Kinds = []
        for name in value.elements ?? [value] {
            guard let kind = name.string.flatMap({ names[$0] }) else { throw Fault(description: "\(path): unknown type \(name.shown)") }
            kinds.formUnion(kind)
        }
        return kinds
    }
}
