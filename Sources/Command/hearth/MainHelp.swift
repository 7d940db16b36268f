import ArgumentParser

/// The help of `hearth`: every command in one line, in groups.
enum MainHelp {
    private static let groups: [(title: String, prefixes: [String])] = [
        ("A project", ["init", "serve", "exec", "doctor"]),
        ("Functions", ["deploy", "functions:", "debug", "schedules:", "tasks:", "secrets:"]),
        ("Data", ["database:"]),
        ("Dead letters", ["events:"]),
        ("Users and apps", ["auth:", "appcheck:"]),
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

    /// An empty prefix matches the remaining commands.
    private static func isOne(_ name: String, of prefix: String) -> Bool {
        prefix.isEmpty || prefix == name || (prefix.hasSuffix(":") && name.hasPrefix(prefix))
    }

    /// One line on most terminals.
    private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? String(text.dropLast()) : text }

    private static func bold(_ text: String) -> String { Terminal.hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
}

/// Commands of the Firebase tools and other likely words, with their equivalents here.
enum ForeignNames {
    private static let names: [String: String] = [
        "emulators:start": "the host is started with: hearth serve",
        "emulators:exec": "a command runs against a host of its own with: hearth exec -- COMMAND",
        "emulators:export": "data is saved with: hearth database:export FILE",
        "functions:deploy": "functions are deployed with: hearth deploy --only functions",
        "functions:logs": "the log is read with: hearth functions:log",
        "functions:config:get": "configuration is in .env files beside functions.json",
        "functions:config:set": "configuration is in .env files beside functions.json",
        "functions:config:unset": "configuration is in .env files beside functions.json",
        "functions:config:clone": "configuration is in .env files beside functions.json",
        "database:profile": "metrics of the database are at /_/metrics",
        "database:instances:list": "databases are listed by the admin API: /_/api/databases",
        "login": "commands send the token of the host's data directory, or the one of --token",
        "logout": "commands send the token of the host's data directory, or the one of --token",
        "use": "the project is named in functions.json, the host with --url or HEARTH_URL",
        "projects:list": "a host has one project, which functions.json names",
        "start": "the host is started with: hearth serve",
        "run": "the host is started with: hearth serve, a command against a host of its own with: hearth exec -- COMMAND",
        "dev": "the host is started with: hearth serve",
        "test": "a command runs against a host of its own with: hearth exec -- COMMAND",
        "new": "a project is made with: hearth init DIR",
        "create": "a project is made with: hearth init DIR",
        "version": "the version is shown with: hearth --version",
    ]
    private static let families: [(prefix: String, meaning: String)] = [
        ("functions:secrets:", "secrets are set with: hearth secrets:set"),
        ("hosting:", "Hearth serves functions and data, no sites"), ("firestore:", "Hearth has the Realtime Database, not Firestore"),
        ("apps:", "Hearth has one project, without apps"), ("ext:", "Hearth has no extensions"), ("storage:", "Hearth keeps no files"),
        ("remoteconfig:", "Hearth has no remote configuration"), ("emulators:", "the host is started with: hearth serve"),
    ]

    /// The advice for an unknown name.
    static func meant(by name: String) -> String? {
        names[name] ?? families.first { name.hasPrefix($0.prefix) }?.meaning
    }
}
