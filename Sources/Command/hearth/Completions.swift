import ArgumentParser
import CommandClient
import HearthJSON
import Glibc

/// `hearth completions`: prints a completion script for a shell.
struct Completions: ParsableCommand {
    /// The supported shells.
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Prints a script for shell completion of commands, options, names of functions and topics.",
        discussion: """
            The script asks this program for completions, so that it stays correct when the program is replaced. Names of \
            functions and topics come from the host if it answers within a second.

            Examples:
              hearth completions bash > ~/.local/share/bash-completion/completions/hearth
              hearth completions zsh > "${fpath[1]}/_hearth"
              hearth completions fish > ~/.config/fish/completions/hearth.fish
            """)

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
        let script =
            switch shell {
            case .bash: PackageResources.completions_bash
            case .zsh: PackageResources.completions_zsh
            case .fish: PackageResources.completions_fish
            }
        var text = String(decoding: script, as: UTF8.self)
        if text.hasSuffix("\n") { text.removeLast() }
        Terminal.write(text)
    }
}

/// `hearth complete WORD...`, which the scripts of `hearth completions` call with the words after `hearth` up to the cursor.
///
/// The first line of the output is `words` or `files`: `words` is followed by candidates, one a line with a tab before the description;
/// `files` means the shell's own completion of file names.
struct Completion {
    private let words: [String]
    private let current: String
    private let catalog: CommandCatalog

    private enum Answer {
        case files
        case words([(value: String, description: String)])
    }

    /// The time limit for completions.
    private static let secondsMax: UInt32 = 2
    private static let topicsMax = 1000

    static func run(_ words: [String]) {
        alarm(secondsMax)
        guard let catalog = CommandCatalog() else { return }
        let completion = Completion(words: words.dropLast(), current: words.last ?? "", catalog: catalog)
        switch completion.answer() {
        case .files: Terminal.write("files")
        case .words(let candidates):
            let fitting = candidates.filter { $0.value.hasPrefix(completion.current) }
            Terminal.write((["words"] + fitting.map { "\($0.value)\t\($0.description)" }).joined(separator: "\n"))
        }
    }

    private init(words: some Sequence<String>, current: String, catalog: CommandCatalog) {
        self.words = Array(words)
        self.current = current
        self.catalog = catalog
    }

    private func answer() -> Answer {
        var entry = catalog.root
        var rest = words[...]
        while let word = rest.first, let next = entry.subcommands.first(where: { $0.name == word }) {
            entry = next
            rest = rest.dropFirst()
        }
        if rest.contains("--") { return .files }
        if entry.name == catalog.root.name, !rest.isEmpty { return .words([]) }
        if !entry.subcommands.isEmpty, !current.hasPrefix("-") {
            return .words(entry.subcommands.filter(\.isShown).map { ($0.name, Self.line($0.abstract)) })
        }
        if let last = rest.last, let option = entry.arguments.first(where: { $0.kind == .option && $0.names.contains(last) }) {
            return values(of: option, in: entry)
        }
        let positionals = entry.arguments.filter { $0.kind == .positional }
        let count = positionalCount(rest, entry)
        if !current.hasPrefix("-"), let argument = count < positionals.count ? positionals[count] : positionals.last(where: \.isRepeating) {
            return values(of: argument, in: entry)
        }
        return .words(options(of: entry, given: rest))
    }

    private func options(of entry: CommandCatalog.Entry, given: ArraySlice<String>) -> [(value: String, description: String)] {
        entry.arguments.filter { argument in
            argument.kind != .positional && (argument.isRepeating || !argument.names.contains { given.contains($0) })
        }.flatMap { argument in argument.names.filter { $0.hasPrefix("--") }.map { ($0, Self.line(argument.abstract)) } }
    }

    /// The number of positional words (not option values).
    private func positionalCount(_ words: ArraySlice<String>, _ entry: CommandCatalog.Entry) -> Int {
        var (count, isValue) = (0, false)
        for word in words {
            if isValue {
                isValue = false
            } else if word.hasPrefix("-") {
                isValue = entry.arguments.contains { $0.kind == .option && $0.names.contains(word) }
            } else {
                count += 1
            }
        }
        return count
    }

    private func values(of argument: CommandCatalog.Argument, in entry: CommandCatalog.Entry) -> Answer {
        if !argument.values.isEmpty { return .words(argument.values.map { ($0, "") }) }
        switch argument.valueName {
        case "file", "dir", "config", "data", "message", "command", "place": return .files
        case "topic": return .words(topics())
        case "name", "names", "filter", "filters", "function", "functions", "only", "targets":
            let isOnly = entry.name == "deploy"
            guard isOnly || entry.name.hasPrefix("functions:") || argument.names.contains("--function") else { return .words([]) }
            return .words(functions(prefix: isOnly ? "functions:" : ""))
        default: return .words([])
        }
    }

    /// The names of the host's functions, with the preceding items of a list as prefix.
    private func functions(prefix: String) -> [(value: String, description: String)] {
        var list: Substring = ""
        if let comma = current.lastIndex(of: ",") { list = current[...comma] }
        guard let client = host, let functions = try? FunctionsClient(client).functions().functions else { return [] }
        return functions.map { ("\(list)\(prefix)\($0.name)", $0.trigger) }
    }

    private func topics() -> [(value: String, description: String)] {
        guard let client = host, let page = try? MessagingClient(client).topics(limit: Self.topicsMax) else { return [] }
        return page.items.map { topic in
            let count = topic["subscriber_count"]?.int ?? 0
            return (topic["name"]?.string ?? "", count == 1 ? "1 subscriber" : "\(count) subscribers")
        }
    }

    private var host: HostClient? { (try? ConnectionOptions.parse(connectionWords)).flatMap { try? $0.client() } }

    /// The connection options on the command line.
    private var connectionWords: [String] {
        let names = ["--url", "--token", "--data-dir", "--ca-file"]
        return words.indices.filter { names.contains(words[$0]) && $0 + 1 < words.count }.flatMap { [words[$0], words[$0 + 1]] }
    }

    private static func line(_ text: String) -> String {
        let line = text.prefix { !$0.isNewline }
        return line.hasSuffix(".") ? String(line.dropLast()) : String(line)
    }
}
