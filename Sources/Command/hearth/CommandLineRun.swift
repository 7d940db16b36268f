import ArgumentParser
import HearthBytes
import CommandClient
import Glibc

/// Finds and runs the requested command, and reports wrong arguments in one sentence.
enum CommandLineRun {
    private static let usage: Int32 = 64

    static func main() -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.isEmpty || [["--help"], ["-h"], ["help"]].contains(arguments) {
            Terminal.write(MainHelp.text())
            exit(0)
        }
        if let sentence = unknownCommand(arguments) { refuse(sentence) }
        do {
            var command = try HearthCommand.parseAsRoot(arguments)
            try command.run()
            exit(0)
        } catch {
            finish(error, arguments)
        }
    }

    private static func finish(_ error: any Error, _ arguments: [String]) -> Never {
        let code = HearthCommand.exitCode(for: error).rawValue
        if error is ExitCode { exit(code) }
        if code == 0 {
            Terminal.write(HearthCommand.fullMessage(for: error))
            exit(0)
        }
        let said = sentence(HearthCommand.message(for: error))
        guard code == usage else {
            Terminal.writeError("hearth: \(said)")
            exit(code)
        }
        let command = commandPath(arguments).joined(separator: " ")
        refuse("\(said) (see: hearth\(command.isEmpty ? "" : " \(command)") --help)")
    }

    private static func refuse(_ sentence: String) -> Never {
        Terminal.writeError("hearth: \(sentence)")
        exit(usage)
    }

    /// Converts the argument parser's messages, which are separate sentences with values in quotes.
    private static func sentence(_ message: String) -> String {
        var text = ""
        for line in message.split(whereSeparator: \.isNewline) {
            // The values of an option are listed on separate lines.
            let item = line.hasPrefix("  - ") ? line.dropFirst(4) : nil
            text += text.isEmpty ? "" : item == nil ? "; " : text.hasSuffix(":") ? " " : ", "
            text += item ?? line
        }
        if let first = text.first, first.isUppercase, text.dropFirst().first?.isLowercase == true { text = first.lowercased() + text.dropFirst() }
        text = text.replacing(". Did you mean", with: ", did you mean").replacing(". Please provide", with: "; please provide")
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    // MARK: Names

    /// The command name at the start of the arguments, as in `database:rules get`.
    private static func commandPath(_ arguments: [String]) -> [String] {
        var path: [String] = []
        var commands = HearthCommand.configuration.subcommands
        for word in arguments {
            guard let next = commands.first(where: { $0.configuration.commandName == word }) else { break }
            path.append(word)
            commands = next.configuration.subcommands
        }
        return path
    }

    /// The reason why there is no such command; nil if there is one, or none is given.
    private static func unknownCommand(_ arguments: [String]) -> String? {
        guard let word = arguments.first, !word.hasPrefix("-"), word != "help" || arguments.count > 1 else { return nil }
        let path = commandPath(word == "help" ? Array(arguments.dropFirst()) : arguments)
        let name = word == "help" ? arguments[1] : word
        guard path.isEmpty else { return nil }
        if let meant = ForeignNames.meant(by: name) { return "there is no command \(name); \(meant)" }
        let names = HearthCommand.shown.map { $0.name }
        if let near = Spelling.nearest(to: name, among: names) { return "there is no command \(name); did you mean: hearth \(near)" }
        let related = names.filter { $0.hasPrefix("\(name):") || $0.hasSuffix(":\(name)") }
        if !related.isEmpty { return "there is no command \(name); there are \(related.joined(separator: ", "))" }
        return "there is no command \(name); hearth --help lists all"
    }
}
