import ArgumentParser
import HearthJSON

/// All commands with their arguments, as the argument parser knows them.
struct CommandCatalog {
    /// A command.
    struct Entry {
        let name: String
        let abstract: String
        let arguments: [Argument]
        let subcommands: [Entry]
        let isShown: Bool
    }

    /// An argument of a command: an option, a flag, or a word at its place.
    struct Argument {
        enum Kind: String { case positional, option, flag }

        let kind: Kind
        /// With their dashes.
        let names: [String]
        let valueName: String
        let abstract: String
        /// What the value may be, where that is a list.
        let values: [String]
        let isRepeating: Bool
    }

    let root: Entry

    /// - Returns: nil where the parser describes itself in another way than it used to.
    init?() {
        guard let json = try? JSONValue(parsing: HearthCommand._dumpHelp()), let command = json["command"], let root = Entry(command) else {
            return nil
        }
        self.root = root
    }

    /// The commands that help lists.
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
