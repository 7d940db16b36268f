extension ManifestReader {
    mutating func params(_ field: Field) -> [Parameter] {
        var params: [Parameter] = []
        for element in field.elements {
            guard let name = element["name"].stringIfPresent else { continue }
            if params.contains(where: { $0.name == name }) { fail(element["name"], "\(name.quoted) is declared twice") }
            if let reason = EnvironmentRules.refusal(of: name) { fail(element["name"], reason) }
            let kind = element["type"].choice(Parameter.Kind.self)
            let defaultValue = element["default"]
            let defaultText = defaultValue.value.map(Self.text)
            var param = Parameter(
                name: name, kind: kind, label: element["label"].stringIfPresent,
                summary: element["description"].stringIfPresent, defaultText: defaultText)
            readInput(element["input"], into: &param)
            if let defaultText, !Expression.isOne(defaultText), let message = param.violation(defaultText) { fail(defaultValue, message) }
            params.append(param)
        }
        return params
    }

    private mutating func readInput(_ field: Field, into param: inout Parameter) {
        guard let input = field.value else { return }
        if let source = input["text"]?["validationRegex"]?.string {
            do {
                param.pattern = try Pattern(source)
                param.patternMessage = input["text"]?["validationErrorMessage"]?.string
            } catch {
                fail(field, "the regular expression \(source.quoted) is not understood: \(error)")
            }
        }
        let options = input["select"]?["options"]?.elements ?? []
        let choices = options.compactMap { $0["value"].map(Self.text) }
        if !choices.isEmpty { param.choices = choices }
    }

    /// A value as an environment variable holds it.
    private static func text(_ value: LocatedValue) -> String {
        if let text = value.string { return text }
        if let elements = value.elements { return "[\(elements.map { ($0.string ?? $0.shown).jsonLiteral }.joined(separator: ","))]" }
        return value.shown
    }
}
