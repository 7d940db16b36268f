/// A place in a text file. Both numbers start at 1; columns count characters, not bytes.
public struct Position: Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public var line: Int
    /// From 1, in characters.
    public var column: Int

    /// A place; both numbers start at 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { "\(line):\(column)" }
}

/// One thing that is wrong, or doubtful, in a file that a person wrote.
public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The file as the reader knows it: the path given on the command line, or the name of a plugin.
    public var file: String
    /// Nil where nobody wrote the text, such as a deployment's.
    public var position: Position?
    /// Where in the document, such as `functions.addMessage.timeoutSeconds`; empty for the whole of it.
    public var path: String
    /// One sentence that says what was found and what was expected.
    public var message: String

    /// Something to tell a person; without a position it is about the file as a whole.
    public init(file: String, position: Position? = nil, path: String = "", message: String) {
        self.file = file
        self.position = position
        self.path = path
        self.message = message
    }

    /// `functions.json:12:5: functions.addMessage.timeoutSeconds: expected an integer from 1 to 3600, found -1`
    public var description: String {
        var line = file
        if let position { line += ":\(position)" }
        if !path.isEmpty { line += ": \(path)" }
        return "\(line): \(message)"
    }
}

/// Everything that is wrong with a document, in the order of the lines, never only the first.
public struct ConfigurationErrors: Error, Sendable, Equatable, CustomStringConvertible {
    /// In the order of the lines.
    public var problems: [Problem]

    /// Everything that was found.
    public init(_ problems: [Problem]) {
        self.problems = problems
    }

    /// One line a problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
