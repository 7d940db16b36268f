extension Parameter {
    /// A message if the text has the wrong type or is not an allowed value; nil otherwise.
    func violation(_ text: String) -> String? {
        // The value of a secret never appears in a message.
        let found = kind == .secret ? "another value" : text.quoted
        switch kind {
        case .int where Int(text) == nil: return "expected an integer, found \(found)"
        case .float where Double(text).map(\.isFinite) != true: return "expected a number, found \(found)"
        case .boolean where text != "true" && text != "false": return "expected true or false, found \(found)"
        case .list where !Self.isListOfTexts(text): return "expected a JSON list of texts, found \(found)"
        default: break
        }
        if let pattern, !pattern.matches(text) {
            return patternMessage ?? "expected text that matches \(pattern), found \(found)"
        }
        if let choices, kind != .list, !choices.contains(text) {
            return "expected \(choices.map(\.quoted).listed), found \(found)"
        }
        return nil
    }

    private static func isListOfTexts(_ text: String) -> Bool {
        let (value, problems) = LocatedParser.parse(SourceText(file: "", bytes: Array(text.utf8)))
        guard problems.isEmpty, let elements = value?.elements else { return false }
        return elements.allSatisfy { $0.string != nil }
    }
}

extension String {
    /// As a JSON string.
    var jsonLiteral: String {
        var literal = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
