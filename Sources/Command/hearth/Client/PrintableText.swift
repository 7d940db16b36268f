/// What others have written, made harmless for a terminal: control characters and those that turn text around do nothing.
enum PrintableText {
    /// On a line of its own or as a part of one.
    static func line(_ text: String) -> String { replaced(text) { _ in "\u{FFFD}" } }

    /// Further lines are set in, so that none looks like a line of its own.
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
