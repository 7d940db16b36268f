import ArgumentParser

/// The `hearth` command.
struct HearthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth",
        abstract: "A self-hosted function host: Firebase clients call compiled plugins on your own machine.",
        version: "0.1.0",
        subcommands: [Init.self, Serve.self, Exec.self, WorkerCommand.self, Manifest.self] + clientCommands + [Completions.self])

    /// The commands that are for people, with a sentence each.
    static var shown: [(name: String, abstract: String)] {
        var shown: [(name: String, abstract: String)] = []
        for command in configuration.subcommands {
            let configuration = command.configuration
            if configuration.shouldDisplay, let name = configuration.commandName { shown.append((name, configuration.abstract)) }
        }
        return shown
    }
}

/// `hearth worker`, which is handled before arguments are parsed; this explains it to whoever asks.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Internal: the process that loads one plugin. The host starts it.", shouldDisplay: false)

    func run() throws {
        throw ValidationError("hearth worker takes no arguments and is started by the host only")
    }
}
