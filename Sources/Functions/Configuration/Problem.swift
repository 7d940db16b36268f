/// A position in a text file. Both numbers start at 1; columns count characters, not bytes.
public struct Position: Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public var line: Int
    /// From 1, in characters.
    public var column: Int

    /// A position; both numbers start at 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { "\(line):\(column)" }
}

/// An error or warning about a file that a user wrote.
public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The file as the user knows it: the path of the command line, or the name of a plugin.
    public var file: String
    /// Nil for a generated text, such as that of a deployment.
    public var position: Position?
    /// The path in the document, such as `functions.addMessage.timeoutSeconds`; empty for the whole document.
    public var path: String
    /// One sentence with the found and the expected value.
    public var message: String

    /// A problem; without a position it concerns the whole file.
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

/// All errors of a document, in the order of its lines.
public struct ConfigurationErrors: Error, Sendable, Equatable, CustomStringConvertible {
    /// In the order of the lines.
    public var problems: [Problem]

    /// Errors of a document.
    public init(_ problems: [Problem]) {
        self.problems = problems
    }

    /// One line a problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
