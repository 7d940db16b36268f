import HearthBytes

/// Validates a document against a schema and collects all problems.
struct SchemaValidator {
    /// The most problems: a document with more is not corrected line by line.
    static let problemsMax = 200

    let schema: Schema
    let text: SourceText
    private(set) var problems: [Problem] = []

    init(schema: Schema, text: SourceText) {
        self.schema = schema
        self.text = text
    }

    static func validate(_ value: LocatedValue, against schema: Schema, text: SourceText) -> [Problem] {
        var validator = SchemaValidator(schema: schema, text: text)
        validator.check(value, Schema.root, DocumentPath())
        return validator.problems
    }

    mutating func check(_ value: LocatedValue, _ index: Int, _ path: DocumentPath) {
        guard problems.count < Self.problemsMax else { return }
        let node = schema.nodes[index]
        if let reference = node.reference { check(value, reference, path) }
        if let kinds = node.kinds, value.kinds.isDisjoint(with: kinds) { return mismatch(value, index, path) }
        if let allowed = node.allowed, !allowed.contains(where: value.isSame(as:)) { return mismatch(value, index, path) }
        switch value.content {
        case .integer, .number: checkNumber(value, node, index, path)
        case .string(let string): checkString(string, value, node, index, path)
        case .array(let elements): checkElements(elements, value, node, path)
        case .object(let members): checkMembers(members, value, node, path)
        case .null, .bool: break
        }
        if !node.branches.isEmpty { checkBranches(value, node, index, path) }
    }

    private mutating func mismatch(_ value: LocatedValue, _ index: Int, _ path: DocumentPath) {
        var message = "expected \(schema.phrase(index)), found \(value.shown)"
        let allowed = schema.resolved(index).allowed?.compactMap(\.string) ?? []
        if let found = value.string, let near = Spelling.nearest(to: found, among: allowed) {
            message += "; did you mean \(near.quoted)?"
        }
        note(value.offset, path, message)
    }

    private mutating func checkNumber(_ value: LocatedValue, _ node: SchemaNode, _ index: Int, _ path: DocumentPath) {
        guard let number = value.double else { return }
        if number < node.minimum ?? -.infinity || number > node.maximum ?? .infinity { mismatch(value, index, path) }
    }

    private mutating func checkString(_ string: String, _ value: LocatedValue, _ node: SchemaNode, _ index: Int, _ path: DocumentPath) {
        let length = string.unicodeScalars.count
        let isOfLength = length >= node.lengthMin ?? 0 && length <= node.lengthMax ?? .max
        if !isOfLength || node.pattern.map({ !$0.matches(string) }) ?? false { mismatch(value, index, path) }
    }

    private mutating func checkElements(_ elements: [LocatedValue], _ value: LocatedValue, _ node: SchemaNode, _ path: DocumentPath) {
        if let least = node.itemsMin, elements.count < least {
            note(value.offset, path, "expected a list with at least \(least.counted("element")), found \(elements.count)")
        }
        if let most = node.itemsMax, elements.count > most {
            return note(value.offset, path, "expected a list with at most \(most.counted("element")), found \(elements.count)")
        }
        for (number, element) in elements.enumerated() {
            if let items = node.items { check(element, items, path.appending(index: number)) }
            if node.hasUniqueItems, let first = elements[..<number].firstIndex(where: element.isSame(as:)) {
                note(element.offset, path.appending(index: number), "\(element.shown) occurs in the list twice, first at [\(first)]")
            }
        }
    }

    private mutating func checkMembers(_ members: [LocatedMember], _ value: LocatedValue, _ node: SchemaNode, _ path: DocumentPath) {
        for name in node.required where value[name] == nil {
            let expected = node.property(name).map(schema.phrase) ?? "a value"
            note(value.offset, path.appending(key: name), "missing; expected \(expected)")
        }
        if let most = node.propertiesMax, members.count > most {
            return note(value.offset, path, "expected at most \(most.counted("key")), found \(members.count)")
        }
        if let least = node.propertiesMin, members.count < least {
            note(value.offset, path, "expected at least \(least.counted("key")), found \(members.count)")
        }
        var free: [String]?
        for member in members {
            guard problems.count < Self.problemsMax else { return }
            let inner = path.appending(key: member.key)
            if let names = node.propertyNames, !accepts(LocatedValue(content: .string(member.key), offset: member.keyOffset), names) {
                note(member.keyOffset, inner, "expected \(schema.phrase(names)), found \(member.key.quoted)")
            }
            if let child = node.child(member.key) {
                check(member.value, child, inner)
            } else if case .forbidden = node.additional {
                let unused = free ?? node.properties.map(\.name).filter { value[$0] == nil }
                free = unused
                note(member.keyOffset, inner, unknownKey(member.key, node, unused))
            }
        }
    }

    /// - Parameter unused: the known keys that the object lacks: candidates for a misspelled key.
    private func unknownKey(_ key: String, _ node: SchemaNode, _ unused: [String]) -> String {
        let known = node.properties.map(\.name)
        let near = Spelling.nearest(to: key, among: unused) ?? Spelling.nearest(to: key, among: known)
        if let near { return "unknown key; did you mean \(near.quoted)?" }
        if known.isEmpty { return "unknown key; no key is allowed here" }
        return "unknown key; expected one of \(known.filter { !$0.hasPrefix("$") }.joined(separator: ", "))"
    }

    /// One branch has to accept the value. If only one accepts values of this kind, its own problems are more helpful than a list of all
    /// branches.
    private mutating func checkBranches(_ value: LocatedValue, _ node: SchemaNode, _ index: Int, _ path: DocumentPath) {
        let accepting = node.branches.filter { accepts(value, $0) }
        if accepting.count == 1 || (accepting.count > 1 && !node.needsExactlyOneBranch) { return }
        if accepting.count > 1 {
            let phrases = accepting.map(schema.phrase).joined(separator: " and ")
            return note(value.offset, path, "expected only one of these, found several: \(phrases)")
        }
        let ofKind = node.branches.filter { branch in
            schema.resolved(branch).kinds.map { !$0.isDisjoint(with: value.kinds) } ?? true
        }
        let isCompound = value.members != nil || value.elements != nil
        if ofKind.count == 1 && isCompound { return check(value, ofKind[0], path) }
        mismatch(value, index, path)
    }

    private func accepts(_ value: LocatedValue, _ index: Int) -> Bool {
        var probe = SchemaValidator(schema: schema, text: SourceText(file: "", bytes: []))
        probe.check(value, index, DocumentPath())
        return probe.problems.isEmpty
    }

    private mutating func note(_ offset: Int, _ path: DocumentPath, _ message: String) {
        guard problems.count < Self.problemsMax else { return }
        problems.append(text.problem(at: offset, path: path, message))
    }
}

extension Int {
    /// `1 key`, `2 keys`.
    func counted(_ noun: String) -> String {
        self == 1 ? "1 \(noun)" : "\(self) \(noun)s"
    }
}
