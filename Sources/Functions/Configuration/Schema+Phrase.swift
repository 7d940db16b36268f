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
