import AdminProtocol
import ArgumentParser
import HearthJSON

/// The `hearth` command.
struct HearthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth",
        abstract: "A self-hosted function host: Firebase clients call compiled plugins on your own machine.",
        version: HearthVersion.text,
        subcommands: [Init.self, Serve.self, Exec.self, Doctor.self, WorkerCommand.self, Manifest.self] + clientCommands + [Completions.self])

    /// The visible commands, with their abstracts.
    static var shown: [(name: String, abstract: String)] {
        var shown: [(name: String, abstract: String)] = []
        for command in configuration.subcommands {
            let configuration = command.configuration
            if configuration.shouldDisplay, let name = configuration.commandName { shown.append((name, configuration.abstract)) }
        }
        return shown
    }
}

/// `hearth worker`, which is handled before arguments are parsed; this command only explains it.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Internal: the process that loads one plugin. The host starts it.", shouldDisplay: false)

    func run() throws {
        throw ValidationError("hearth worker takes no arguments and is started by the host only")
    }
}

/// The commands that talk to a running host, in the order of the help.
let clientCommands: [any ParsableCommand.Type] = [
    Deploy.self, FunctionsList.self, FunctionsVersions.self, FunctionsRollback.self, FunctionsSplit.self, FunctionsDelete.self, FunctionsLog.self,
    FunctionsCall.self, FunctionsShell.self, Debug.self,
    SchedulesList.self, SchedulesRun.self, SchedulesPause.self, SchedulesResume.self,
    TasksList.self, TasksEnqueue.self, TasksRun.self, TasksPause.self, TasksResume.self, TasksPurge.self, TasksDelete.self,
    DatabaseGet.self, DatabaseSet.self, DatabaseUpdate.self, DatabasePush.self, DatabaseRemove.self, DatabaseImport.self,
    DatabaseExport.self, DatabaseRules.self, DatabaseProfile.self, EventsList.self, EventsShow.self, EventsReplay.self, EventsDelete.self,
    AuthList.self, AuthGet.self, AuthCreate.self, AuthUpdate.self, AuthDelete.self, AuthImport.self, AuthExport.self, AuthInbox.self, AuthKeys.self,
    MessagingSend.self, MessagingDevices.self, MessagingTopics.self, AppCheckApps.self,
    AppCheckDebugTokens.self,
    SecretsSet.self, SecretsGet.self, SecretsList.self, SecretsDestroy.self, Upgrade.self, Backup.self, Restore.self,
]

/// All commands with their arguments, from the argument parser.
struct CommandCatalog {
    /// A command.
    struct Entry {
        let name: String
        let abstract: String
        let arguments: [Argument]
        let subcommands: [Entry]
        let isShown: Bool
    }

    /// An argument of a command: an option, a flag, or a positional word.
    struct Argument {
        enum Kind: String { case positional, option, flag }

        let kind: Kind
        /// With dashes.
        let names: [String]
        let valueName: String
        let abstract: String
        /// The possible values, if they are a list.
        let values: [String]
        let isRepeating: Bool
    }

    let root: Entry

    /// - Returns: nil if the parser's description has an unknown form.
    init?() {
        guard let json = try? JSONValue(parsing: HearthCommand._dumpHelp()), let command = json["command"], let root = Entry(command) else {
            return nil
        }
        self.root = root
    }

    /// The commands in the help.
    var commands: [Entry] { root.subcommands.filter(\.isShown) }
}

extension CommandCatalog.Entry {
    init?(_ json: JSONValue) {
        guard let name = json["commandName"]?.string else { return nil }
        self.name = name
        abstract = json["abstract"]?.string ?? ""
        arguments = json["arguments"]?.array?.compactMap { CommandCatalog.Argument($0) } ?? []
        subcommands = json["subcommands"]?.array?.compactMap { CommandCatalog.Entry($0) }.filter { $0.name != "help" } ?? []
        isShown = json["shouldDisplay"]?.bool ?? true
    }
}

extension CommandCatalog.Argument {
    init?(_ json: JSONValue) {
        guard let kind = Kind(rawValue: json["kind"]?.string ?? ""), json["shouldDisplay"]?.bool != false else { return nil }
        self.kind = kind
        names = (json["names"]?.array ?? []).compactMap { name in
            name["name"]?.string.map { (name["kind"]?.string == "short" ? "-" : "--") + $0 }
        }
        valueName = json["valueName"]?.string ?? ""
        abstract = json["abstract"]?.string ?? ""
        values = (json["allValues"] ?? json["allValueStrings"])?.array?.compactMap(\.string) ?? []
        isRepeating = json["isRepeating"]?.bool ?? false
    }
}
