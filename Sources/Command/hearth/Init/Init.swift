import ArgumentParser
import CommandClient
import Files
import Glibc
import HearthJSON

/// `hearth init`: creates a project that works at once.
struct Init: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Makes a new project: a package, an example plugin, its tests, functions.json and rules.",
        discussion: """
            The project has two commands of its own: scripts/serve builds and serves its functions, scripts/test runs its tests.

            A Swift project builds against Hearth's sources: those that this program was built from, or those that --package \
            names. One in C needs a C compiler only.

            Examples:
              hearth init greetings
              hearth init . --name Greetings
              hearth init counter --language c
              hearth init greetings --package https://example.com/hearth.git
            """)

    @Argument(help: ArgumentHelp("The folder; created if it is missing.", valueName: "dir"))
    var directory = "."

    @Option(help: ArgumentHelp("The name of the plugin. (default: from the folder)", valueName: "name"))
    var name: String?

    @Option(help: "The language of the plugin.")
    var language = NewProject.Language.swift

    @Option(help: ArgumentHelp("Hearth's sources, for Swift: a folder, or the address of a git repository.", valueName: "place"))
    var package: String?

    @Flag(name: .shortAndLong, help: "Write into a folder that is not empty, over files of the same names.")
    var force = false

    @Flag(help: .jsonOutput)
    var json = false

    func perform() throws(ClientFailure) -> Outcome {
        let folder = try Self.absolute(directory)
        let source = language == .swift ? try HearthSource.find(package) : nil
        let project = try NewProject(folder: folder, name: name, language: language, source: source)
        try requireRoom(folder, project)
        if mkdir(folder, 0o777) != 0, errno != EEXIST {
            throw ClientFailure(.invalidInput, "\(folder) cannot be made: \(String(cString: strerror(errno)).lowercased())")
        }
        do throws(ClientFailure) {
            for file in project.files { try file.write(in: folder) }
        } catch {
            throw ClientFailure(error.kind, "\(error.message); what was written so far stays")
        }
        let place = directory == "." ? "" : "cd \(Self.isPlain(directory) ? directory : NewProject.quoted(directory)) && "
        var text = "Made \(project.name), a project in \(language.title), in \(folder):\n"
        text += project.files.map { "  \($0.path)" }.joined(separator: "\n")
        text += "\n\nNext: \(place)scripts/serve, and in another terminal: \(place)scripts/hearth functions:call \(language.exampleCall)"
        return Outcome(
            text: text,
            json: [
                "directory": .string(folder), "name": .string(project.name), "project": .string(project.id),
                "language": .string(language.rawValue), "files": .array(project.files.map { .string($0.path) }),
            ])
    }

    /// Whether a shell takes the text as one word, as it is.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x7F || isalnum(Int32($0)) != 0 || "/._-".utf8.contains($0) } && !text.hasPrefix("-")
    }

    /// A folder that contains only a version control folder counts as empty.
    private func requireRoom(_ folder: String, _ project: NewProject) throws(ClientFailure) {
        guard !force, !Folder.names(in: folder).filter({ $0 != ".git" }).isEmpty else { return }
        let taken = project.files.map(\.path).filter { access("\(folder)/\($0)", F_OK) == 0 }
        guard Terminal.canAsk else {
            throw ClientFailure(
                .invalidInput, "\(folder) is not empty; name another folder, or use --force to write into this one, over files of the same names")
        }
        let consequence = taken.isEmpty ? "" : " and replace \(taken.joined(separator: ", "))"
        guard Terminal.confirms("\(folder) is not empty. Write into it\(consequence)?") else {
            throw ClientFailure(.invalidInput, "nothing was changed")
        }
    }

    /// Creates nothing.
    private static func absolute(_ path: String) throws(ClientFailure) -> String {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
        if trimmed.isEmpty { throw ClientFailure(.invalidInput, "the name of the folder is empty; write . for the current folder") }
        if let status = FileStatus(path) {
            guard status.kind == .folder else { throw ClientFailure(.invalidInput, "\(path) is a file; name a folder") }
            return try resolved(String(trimmed))
        }
        guard let slash = trimmed.lastIndex(of: "/") else { return "\(try resolved("."))/\(trimmed)" }
        return "\(try resolved(Folder.parent(of: String(trimmed))))/\(trimmed[trimmed.index(after: slash)...])"
    }

    private static func resolved(_ path: String) throws(ClientFailure) -> String {
        guard let resolved = realpath(path, nil) else {
            throw ClientFailure(.invalidInput, "\(path) cannot be used: \(String(cString: strerror(errno)).lowercased())")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
