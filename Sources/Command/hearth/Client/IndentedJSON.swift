import HearthJSON

/// JSON with a line for each member, as people read it.
enum IndentedJSON {
    static func text(_ value: JSONValue) -> String {
        var text = ""
        append(value, indentation: "", to: &text)
        return text
    }

    private static func append(_ value: JSONValue, indentation: String, to text: inout String) {
        let inner = indentation + "  "
        switch value {
        case .object(let members) where !members.isEmpty:
            text += "{"
            for (index, member) in members.enumerated() {
                text += "\(index > 0 ? "," : "")\n\(inner)\(JSONValue.string(member.key)): "
                append(member.value, indentation: inner, to: &text)
            }
            text += "\n\(indentation)}"
        case .array(let elements) where !elements.isEmpty:
            text += "["
            for (index, element) in elements.enumerated() {
                text += "\(index > 0 ? "," : "")\n\(inner)"
                append(element, indentation: inner, to: &text)
            }
            text += "\n\(indentation)]"
        default: text += value.description
        }
    }
}
