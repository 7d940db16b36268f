import Tree

extension PathPattern {
    /// Parses a pattern. Leading, trailing and repeated slashes are ignored. An empty pattern is the root.
    ///
    /// - Throws: the reason if no path can match it, or if matches would be ambiguous.
    public init(parsing text: String) throws(PathPatternError) {
        let parts = text.split(separator: "/")
        guard parts.count <= Path.depthMax else {
            throw PathPatternError("the pattern has \(parts.count) segments, and no path has more than \(Path.depthMax)")
        }
        var segments: [Segment] = []
        for part in parts { segments.append(try Self.segment(part)) }
        try Self.checkNames(segments)
        try Self.checkMany(segments)
        self.init(segments: segments, text: parts.joined(separator: "/"))
    }

    static func segment(_ text: Substring) throws(PathPatternError) -> Segment {
        guard text.contains("{") || text.contains("}") else { return Segment(shape: try shape(text, in: text), capture: nil) }
        let inner = text.dropFirst().dropLast()
        guard text.first == "{", text.last == "}", text.count >= 2, !inner.contains("{"), !inner.contains("}") else {
            throw PathPatternError("braces must hold a whole segment: write \"{name}\" between two slashes, not \"\(text)\"")
        }
        let name = inner.prefix { $0 != "=" }
        guard !name.isEmpty else { throw PathPatternError("a capture needs a name: write \"{name}\", not \"\(text)\"") }
        guard name.endIndex < inner.endIndex else { return Segment(shape: .any, capture: String(name)) }
        return Segment(shape: try shape(inner[inner.index(after: name.endIndex)...], in: text), capture: String(name))
    }

    private static func shape(_ text: Substring, in segment: Substring) throws(PathPatternError) -> Shape {
        if text == "**" { return .many }
        if text == "*" { return .any }
        guard !text.contains("**") else { throw PathPatternError("\"**\" must stand for whole segments, not for a part of \"\(segment)\"") }
        let key = String(text)
        guard Path.isValid(key: key) else {
            throw PathPatternError("\"\(segment)\" matches no key: keys are not empty, have at most 768 bytes and none of . $ # [ ]")
        }
        return text.contains("*") ? .glob(Glob(text)) : .literal(key)
    }

    private static func checkNames(_ segments: [Segment]) throws(PathPatternError) {
        var seen: Set<String> = []
        for case let name? in segments.map(\.capture) where !seen.insert(name).inserted {
            throw PathPatternError("the name \"\(name)\" stands twice in the pattern")
        }
    }

    private static func checkMany(_ segments: [Segment]) throws(PathPatternError) {
        let places = segments.indices.filter { segments[$0].shape == .many }
        guard let place = places.first else { return }
        guard places.count == 1 else { throw PathPatternError("a pattern can have one \"**\" only, and this one has \(places.count)") }
        let tail = segments[(place + 1)...]
        guard tail.isEmpty || tail.contains(where: { $0.shape != .any }) else {
            throw PathPatternError("\"**\" must be followed by something that tells where it ends, not by wildcards only")
        }
    }

    /// The names of the captured parameters.
    var captures: [String] { segments.compactMap(\.capture) }
}
