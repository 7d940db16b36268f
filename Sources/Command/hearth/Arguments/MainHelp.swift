import ArgumentParser

/// What `hearth` says of itself: every command in a line, in groups.
enum MainHelp {
    private static let groups: [(title: String, prefixes: [String])] = [
        ("A project", ["init", "serve", "exec"]),
        ("Functions", ["deploy", "functions:"]),
        ("Data", ["database:"]),
        ("Events that were given up", ["events:"]),
        ("Users", ["auth:"]),
        ("Messages", ["messaging:"]),
    ]

    static func text() -> String {
        var left = HearthCommand.shown
        let width = left.map(\.name.count).max() ?? 0
        var lines = ["\(bold("hearth")): a self-hosted function host. Firebase clients call compiled plugins on your own machine.", ""]
        lines.append("  hearth COMMAND [ARGUMENTS]")
        lines.append("  hearth COMMAND --help      what it does, its options, examples")
        for (title, prefixes) in groups + [("The host itself", [""])] {
            let members = left.filter { command in prefixes.contains { isOne(command.name, of: $0) } }
            if members.isEmpty { continue }
            left.removeAll { command in members.contains { $0.name == command.name } }
            lines += ["", bold(title)]
            lines += members.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \(sentence($0.abstract))" }
        }
        lines += [
            "", "A new project begins with: hearth init my-functions",
            "Commands find the host with --url or HEARTH_URL; else it is http://127.0.0.1:5001.",
        ]
        return lines.joined(separator: "\n")
    }

    /// An empty prefix takes what is left.
    private static func isOne(_ name: String, of prefix: String) -> Bool {
        prefix.isEmpty || prefix == name || (prefix.hasSuffix(":") && name.hasPrefix(prefix))
    }

    /// One line on most terminals.
    private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? String(text.dropLast()) : text }

    private static func bold(_ text: String) -> String { Terminal.hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
}
