import ArgumentParser
import CommandClient
import Configuration
import Files
import Glibc
import HearthJSON

/// The file that a command about secrets edits.
struct SecretsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The file that names the plugins; .secret.local is beside it.", valueName: "file"))
    var config = "functions.json"

    @Option(help: ArgumentHelp("Use the folder with the environment files of this plugin.", valueName: "name"))
    var plugin: String?

    @Flag(help: .jsonOutput)
    var json = false

    /// The path of the file.
    func path() throws(ConfigurationErrors) -> String {
        // Secrets are often set before the first build.
        let configuration = try Configuration.load(file: config, mode: .development, isBeforeBuild: true)
        guard let plugin else { return "\(configuration.directory)/.secret.local" }
        guard let found = configuration.plugins.first(where: { $0.name == plugin }) else {
            let names = configuration.plugins.map(\.name).joined(separator: ", ")
            throw ConfigurationErrors([Problem(file: config, message: "it names no plugin \"\(PrintableText.line(plugin))\"; it names: \(names)")])
        }
        return "\(found.environmentDirectory)/.secret.local"
    }
}

/// A command about `.secret.local`, which works without a host.
protocol SecretsCommand: LocalCommand {
    var options: SecretsOptions { get }

    /// Runs the command.
    ///
    /// - Parameter path: the file with the secrets.
    func perform(_ path: String) throws(ConfigurationErrors) -> Outcome
}

extension SecretsCommand {
    var json: Bool { options.json }

    func perform() throws(ClientFailure) -> Outcome {
        do throws(ConfigurationErrors) {
            return try perform(try options.path())
        } catch {
            throw error.failure
        }
    }

    /// The refusal for a name that the file does not have.
    func unknown(_ name: String, _ path: String) -> ConfigurationErrors {
        ConfigurationErrors([Problem(file: path, message: "there is no secret \"\(PrintableText.line(name))\"; hearth secrets:list shows the names")])
    }

    /// When a change takes effect.
    static var effect: String { "A host that watches its files takes it over at once, another one with: hearth upgrade" }
}

/// `hearth secrets:set`: gives a secret a value.
struct SecretsSet: SecretsCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets:set", abstract: "Gives a secret a value, in .secret.local beside functions.json.",
        discussion: """
            The value is typed without being shown, or comes from a pipe or a file, without the line feed at its end. It is never an argument, \
            which other users of the machine could see.

            Examples:
              hearth secrets:set API_KEY
              hearth secrets:set API_KEY < key.txt
              hearth secrets:set SIGNING_KEY --data-file key.pem
            """)

    @Argument(help: ArgumentHelp("The name of the secret.", valueName: "name"))
    var name: String
    @Option(help: ArgumentHelp("Take the value from this file.", valueName: "file"))
    var dataFile: String?
    @OptionGroup var options: SecretsOptions

    func perform(_ path: String) throws(ConfigurationErrors) -> Outcome {
        let value = try value()
        try SecretFile.change(path) { (file) throws(ConfigurationErrors) in try file.set(name, to: value) }
        return Outcome(text: "\(name) is set in \(path)\n\(Self.effect)", json: ["name": .string(name), "file": .string(path)])
    }

    private func value() throws(ConfigurationErrors) -> String {
        let source = dataFile ?? "the value"
        func refusal(_ message: String) -> ConfigurationErrors { ConfigurationErrors([Problem(file: source, message: message)]) }
        var bytes: [UInt8]
        if dataFile == nil, isatty(STDIN_FILENO) == 1 {
            bytes = Array(SecretInput.line("Value of \(name): ").utf8)
        } else {
            do throws(FileFailure) {
                bytes = try WholeFile.read(dataFile.flatMap { $0 == "-" ? nil : $0 } ?? "/dev/stdin", sizeBytesMax: SecretFile.sizeBytesMax)
            } catch {
                throw refusal("\(error)")
            }
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw refusal("it is empty; type it, pipe it in, or name a file with --data-file") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw refusal("it is not text in UTF-8; encode it in Base64") }
        return text
    }
}

/// `hearth secrets:get`: prints the value of a secret.
struct SecretsGet: SecretsCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets:get", abstract: "Prints the value of a secret.",
        discussion: """
            Examples:
              hearth secrets:get API_KEY
              hearth secrets:get API_KEY --plugin Shop
            """)

    @Argument(help: ArgumentHelp("The name of the secret.", valueName: "name"))
    var name: String
    @OptionGroup var options: SecretsOptions

    func perform(_ path: String) throws(ConfigurationErrors) -> Outcome {
        guard let value = try SecretFile(path)[name] else { throw unknown(name, path) }
        return Outcome(text: value, json: ["name": .string(name), "value": .string(value)])
    }
}

/// `hearth secrets:list`: prints the names of the secrets.
struct SecretsList: SecretsCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets:list", abstract: "Prints the names of the secrets, never their values.",
        discussion: """
            Examples:
              hearth secrets:list
              hearth secrets:list --config shop/functions.json --json
            """)

    @OptionGroup var options: SecretsOptions

    func perform(_ path: String) throws(ConfigurationErrors) -> Outcome {
        let names = try SecretFile(path).names
        return Outcome(
            text: names.isEmpty ? "No secrets in \(path)." : names.joined(separator: "\n"),
            json: ["file": .string(path), "secrets": .array(names.map { .string($0) })])
    }
}

/// `hearth secrets:destroy`: removes a secret.
struct SecretsDestroy: SecretsCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets:destroy", abstract: "Removes a secret. Functions that list it are not served any more.",
        discussion: """
            Examples:
              hearth secrets:destroy API_KEY
              hearth secrets:destroy API_KEY --force
            """)

    @Argument(help: ArgumentHelp("The name of the secret.", valueName: "name"))
    var name: String
    @OptionGroup var confirmation: ForceOption
    @OptionGroup var options: SecretsOptions

    func perform() throws(ClientFailure) -> Outcome {
        try confirmation.confirm("remove the secret \(PrintableText.line(name))")
        do throws(ConfigurationErrors) {
            return try perform(try options.path())
        } catch {
            throw error.failure
        }
    }

    func perform(_ path: String) throws(ConfigurationErrors) -> Outcome {
        let isGone = try SecretFile.change(path) { (file) throws(ConfigurationErrors) in try file.remove(name) }
        guard isGone else { throw unknown(name, path) }
        return Outcome(text: "\(name) is removed from \(path)\n\(Self.effect)", json: ["name": .string(name), "file": .string(path)])
    }
}
