/// One `.env` file: `KEY=value` lines, parsed as the Firebase tools do (spec functions 11.4).
///
/// A key may follow `export`. Single quotes keep text verbatim; double quotes support the escapes `
///  \r \t \v \\ \' \"`; both may span lines. An unquoted value ends at `#` or at the end of the line, and surrounding white space is
///  removed.
struct EnvironmentFile {
    struct Entry: Equatable {
        var key: String
        var value: String
        var line: Int
        /// The line on which the value ends.
        var lastLine: Int
    }

    /// The naming rule for keys.
    enum Kind {
        /// `^[A-Z_][A-Z0-9_]*$`
        case variables
        /// Names of secrets, which may contain lower-case letters and dashes.
        case secrets
    }

    /// Unique keys, with their last value.
    private(set) var entries: [Entry] = []
    private(set) var problems: [Problem] = []
    private(set) var warnings: [Problem] = []

    private let text: SourceText
    private let kind: Kind
    private var index = 0
    private var line = 1

    init(_ bytes: [UInt8], file: String, kind: Kind) {
        text = SourceText(file: file, bytes: bytes)
        self.kind = kind
        if let offset = text.firstInvalidOffset {
            problems.append(text.problem(at: offset, "expected text in UTF-8, found the byte \(bytes[offset])"))
            return
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        while index < bytes.count { readLine() }
    }

    private mutating func readLine() {
        let start = line
        skipBlanks()
        guard let first = peek, first != UInt8(ascii: "\n") else { return skipLine() }
        if first == UInt8(ascii: "#") { return skipLine() }
        var key = readWord()
        skipBlanks()
        if key == "export", peek != UInt8(ascii: "=") {
            key = readWord()
            skipBlanks()
        }
        guard peek == UInt8(ascii: "="), !key.isEmpty else {
            // The line is not shown: it may contain part of a secret.
            fail(start, "expected KEY=value, found a line without \(key.isEmpty ? "a key" : "=")")
            return skipLine()
        }
        index += 1
        if let value = readValue(key, start) { add(Entry(key: key, value: value, line: start, lastLine: line - 1)) }
    }

    private mutating func add(_ entry: Entry) {
        if let refusal = refusal(of: entry.key) { return fail(entry.line, refusal) }
        if let refusal = EnvironmentRules.refusal(ofValue: entry.value) { return fail(entry.line, "\(entry.key): \(refusal)") }
        if let earlier = entries.firstIndex(where: { $0.key == entry.key }) {
            let message = "\(entry.key) occurs twice; this value is used, not that of line \(entries[earlier].line)"
            warnings.append(Problem(file: text.file, position: Position(line: entry.line, column: 1), message: message))
            entries.remove(at: earlier)
        }
        entries.append(entry)
    }

    private func refusal(of key: String) -> String? {
        switch kind {
        case .variables where !EnvironmentRules.isKey(key):
            return "expected a key of upper-case letters, digits and _ that does not start with a digit, found \(key.quoted)"
        case .secrets where !EnvironmentRules.isSecretName(key):
            return "expected a secret's name of letters, digits, _ and - before the ="
        default: return EnvironmentRules.refusal(of: key)
        }
    }

    private mutating func readValue(_ key: String, _ start: Int) -> String? {
        skipBlanks()
        guard let quote = peek, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else { return readPlain() }
        let opening = index
        index += 1
        guard let raw = readQuoted(quote) else {
            index = opening
            fail(start, "the quote that opens the value of \(key) is never closed")
            skipLine()
            return nil
        }
        line += raw.count { $0 == UInt8(ascii: "\n") }
        skipBlanks()
        guard peek == nil || peek == UInt8(ascii: "\n") || peek == UInt8(ascii: "#") else {
            fail(start, "expected the end of the line after the closing quote of \(key)")
            skipLine()
            return nil
        }
        skipLine()
        return quote == UInt8(ascii: "'") ? String(decoding: raw, as: UTF8.self) : Self.unescaped(raw)
    }

    /// The bytes up to the closing quote, with escapes unresolved; nil if there is no closing quote.
    private mutating func readQuoted(_ quote: UInt8) -> [UInt8]? {
        var raw: [UInt8] = []
        while let byte = peek {
            index += 1
            if byte == quote { return raw }
            // A carriage return before a line feed belongs to the line ending.
            if byte == UInt8(ascii: "\r"), peek == UInt8(ascii: "\n") { continue }
            raw.append(byte)
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let escaped = peek {
                raw.append(escaped)
                index += 1
            }
        }
        return nil
    }

    private mutating func readPlain() -> String {
        let start = index
        while let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "#") { index += 1 }
        var value = text.bytes[start..<index]
        while let last = value.last, Self.isBlank(last) { value.removeLast() }
        skipLine()
        return String(decoding: value, as: UTF8.self)
    }

    private static func unescaped(_ raw: [UInt8]) -> String {
        let escapes: [UInt8: UInt8] = [
            UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "v"): 0x0B,
            UInt8(ascii: "\\"): UInt8(ascii: "\\"), UInt8(ascii: "'"): UInt8(ascii: "'"), UInt8(ascii: "\""): UInt8(ascii: "\""),
        ]
        var value: [UInt8] = []
        var isEscape = false
        for byte in raw {
            if isEscape {
                // An unknown escape keeps its backslash.
                if let meant = escapes[byte] { value.append(meant) } else { value += [UInt8(ascii: "\\"), byte] }
                isEscape = false
            } else if byte == UInt8(ascii: "\\") {
                isEscape = true
            } else {
                value.append(byte)
            }
        }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func readWord() -> String {
        let start = index
        while let byte = peek, byte != UInt8(ascii: "="), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "#"), !Self.isBlank(byte) {
            index += 1
        }
        return String(decoding: text.bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipBlanks() {
        while let byte = peek, Self.isBlank(byte) { index += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte) && byte != UInt8(ascii: "\n")
    }

    private mutating func skipLine() {
        while let byte = peek, byte != UInt8(ascii: "\n") { index += 1 }
        index += 1
        line += 1
    }

    private var peek: UInt8? {
        index < text.bytes.count ? text.bytes[index] : nil
    }

    private mutating func fail(_ line: Int, _ message: String) {
        problems.append(Problem(file: text.file, position: Position(line: line, column: 1), message: message))
    }
}
