public import HearthJSON

/// A statement at the prompt of `hearth functions:shell`.
public enum ShellStatement: Sendable {
    /// An empty line.
    case nothing
    case help
    case exit
    /// Only a function's name.
    case show(String)
    /// `name(a, b)`, `name.method(a, b)`, or `name a`.
    case call(name: String, method: String?, arguments: [JSONValue])

    /// The methods of plain HTTP functions.
    public static let methods = ["get", "post", "put", "patch", "delete", "head", "options"]

    /// Parses a statement.
    ///
    /// - Throws: `RelaxedJSONError`.
    public init(parsing text: String) throws(RelaxedJSONError) {
        var reader = RelaxedJSON(text)
        if reader.isAtEnd {
            self = .nothing
            return
        }
        // As in similar shells.
        let hasDot = reader.take(".")
        guard var name = reader.name() else { throw reader.error("a statement begins with the name of a function") }
        if ["exit", "quit"].contains(name), reader.isAtEnd {
            self = .exit
            return
        }
        if name == "help", reader.isAtEnd {
            self = .help
            return
        }
        if hasDot { throw reader.error("there is no command .\(name); there are help and exit") }
        if reader.isAtEnd {
            self = .show(name)
            return
        }
        guard reader.take("(") else {
            let value = try reader.value()
            guard reader.isAtEnd else { throw reader.error("unexpected text after the end") }
            self = .call(name: name, method: nil, arguments: [value])
            return
        }
        let arguments = try Self.arguments(&reader)
        var method: String?
        if let dot = name.lastIndex(of: "."), Self.methods.contains(String(name[name.index(after: dot)...])) {
            method = String(name[name.index(after: dot)...])
            name = String(name[..<dot])
        }
        self = .call(name: name, method: method, arguments: arguments)
    }

    private static func arguments(_ reader: inout RelaxedJSON) throws(RelaxedJSONError) -> [JSONValue] {
        var arguments: [JSONValue] = []
        while !reader.take(")") {
            arguments.append(try reader.value())
            if reader.take(",") { continue }
            guard reader.take(")") else { throw reader.error("a comma or ) is missing") }
            break
        }
        _ = reader.take(";")
        guard reader.isAtEnd else { throw reader.error("unexpected text after the end") }
        return arguments
    }

    /// Whether a statement continues on the next line: a bracket or string is open.
    public static func isOpen(_ text: String) -> Bool {
        var depth = 0
        var quote: UInt8?
        var isEscaped = false
        for byte in text.utf8 {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = quote != nil
            } else if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "(") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
                depth += 1
            } else if byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                depth -= 1
            }
        }
        return depth > 0 && quote == nil
    }
}

extension RelaxedJSON {
    /// Parses the name of a function: words joined by dots and dashes.
    mutating func name() -> String? {
        guard var name = word() else { return nil }
        while let separator = takeSeparator() {
            guard let next = word() else { return name + separator }
            name += separator + next
        }
        return name
    }

    private mutating func takeSeparator() -> String? { takeNow(".") ? "." : takeNow("-") ? "-" : nil }
}
