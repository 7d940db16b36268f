/// The manual of `functions.json` and of plugin manifests, generated from their schemas: `docs/configuration.md`.
public struct ConfigurationPage {
    private var lines: [String] = []
    /// The section that explains a definition, so that each is explained once.
    private var explained: [Int: String] = [:]

    /// The page as Markdown. `scripts/make-configuration-page` writes it; a test checks that it is current.
    public static func markdown() -> String {
        var page = ConfigurationPage()
        page.lines = [
            "# Configuration", "",
            "Made from the schemas by `scripts/make-configuration-page`: change those, then run it.", "",
            "## functions.json",
        ]
        page.explain(.functions)
        page.explained = [:]
        page.lines += ["", "## Plugin manifest"]
        page.explain(.manifest)
        return page.lines.joined(separator: "\n") + "\n"
    }

    private mutating func explain(_ schema: Schema) {
        lines += ["", schema.nodes[Schema.root].prose]
        keys(of: Schema.root, under: "", schema)
    }

    private mutating func keys(of index: Int, under path: String, _ schema: Schema) {
        let node = schema.resolved(index)
        for (name, child) in node.properties where !name.hasPrefix("$") {
            explain(child, at: path.isEmpty ? name : "\(path).\(name)", isRequired: node.required.contains(name), schema)
        }
        if case .matching(let child) = node.additional { members(child, at: path.isEmpty ? "NAME" : "\(path).NAME", schema) }
        if let items = node.items { members(items, at: "\(path)[]", schema) }
    }

    /// The keys of an object in a map or a list.
    private mutating func members(_ index: Int, at path: String, _ schema: Schema) {
        guard !schema.resolved(index).properties.isEmpty else { return }
        lines += ["", "### `\(path)`", "", schema.prose(index)]
        descend(index, path, schema)
    }

    private mutating func explain(_ index: Int, at path: String, isRequired: Bool, _ schema: Schema) {
        let node = schema.nodes[index]
        lines += ["", "### `\(path)`", "", schema.prose(index), ""]
        lines.append("- \(schema.phrase(index).capitalizedFirst)\(isRequired ? "; required" : "").")
        // For an object, the defaults of its keys show that it may be omitted.
        if let value = schema.defaultValue(index), value.members?.isEmpty != true { lines.append("- Default: `\(value.json)`") }
        let examples = node.examples.map { "`\($0.json)`" }
        if !examples.isEmpty { lines.append("- \(examples.count == 1 ? "Example" : "Examples"): \(examples.joined(separator: ", "))") }
        descend(index, path, schema)
    }

    private mutating func descend(_ index: Int, _ path: String, _ schema: Schema) {
        let target = schema.target(index)
        if let place = explained[target] {
            lines += ["", "The keys are those of `\(place)`."]
            return
        }
        let node = schema.nodes[target]
        guard !node.properties.isEmpty || node.items != nil || node.hasFreeKeys else { return }
        if !node.properties.isEmpty { explained[target] = path }
        keys(of: target, under: path, schema)
    }
}

extension Schema {
    /// The node that a reference finally resolves to.
    fileprivate func target(_ index: Int) -> Int {
        nodes[index].reference.map(target) ?? index
    }

    /// The prose of a node: its own, or that of its definition.
    fileprivate func prose(_ index: Int) -> String {
        let node = nodes[index]
        return node.prose.isEmpty ? node.reference.map(prose) ?? "" : node.prose
    }
}

extension SchemaNode {
    fileprivate var hasFreeKeys: Bool {
        if case .matching = additional { true } else { false }
    }
}

extension String {
    fileprivate var capitalizedFirst: String {
        prefix(1).uppercased() + dropFirst()
    }
}

extension LocatedValue {
    /// JSON on one line, with spaces for readability.
    fileprivate var json: String {
        switch content {
        case .string(let text): return text.jsonLiteral
        case .array(let elements): return "[\(elements.map(\.json).joined(separator: ", "))]"
        case .object(let members):
            let inner = members.map { "\($0.key.jsonLiteral): \($0.value.json)" }.joined(separator: ", ")
            return inner.isEmpty ? "{}" : "{ \(inner) }"
        default: return shown
        }
    }
}
