import HearthJSON

/// Text in aligned columns.
enum TextTable {
    /// One line per row; the first row is the heading.
    ///
    /// - Parameter paint: adds colour to a word, which does not change its width.
    static func lines(
        _ rows: [[String]], indent: String = "", paint: (_ word: String, _ column: Int) -> String = { word, _ in word }
    ) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = indent
            for (column, word) in row.enumerated() {
                line += paint(word, column)
                // No padding after the last word of a row.
                if row[(column + 1)...].contains(where: { !$0.isEmpty }) {
                    line += String(repeating: " ", count: widths[column] - word.count + 2)
                }
            }
            return line
        }
    }
}

/// Text from elsewhere, made safe for a terminal: replaces control characters and bidirectional controls.
enum PrintableText {
    /// Text on a single line.
    static func line(_ text: String) -> String { replaced(text) { _ in "\u{FFFD}" } }

    /// Text on several lines; further lines are indented, so that none looks like a separate entry.
    static func lines(_ text: String) -> String { replaced(text) { $0 == "\n" ? "\n    " : "\u{FFFD}" } }

    private static func replaced(_ text: String, by replacement: (Unicode.Scalar) -> String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isControl(scalar) { shown.append(contentsOf: replacement(scalar).unicodeScalars) } else { shown.append(scalar) }
        }
        return String(shown)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 32 && scalar != "\t" || (127..<160).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
    }
}

/// JSON with one member per line.
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
