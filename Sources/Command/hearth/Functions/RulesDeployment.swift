import CommandClient
import Configuration
import Files
import HearthJSON

/// The parts of a project that `hearth deploy` deploys: functions, and the rules of the database.
struct DeployTargets {
    /// The words of `--only` and of `--except` that are about functions.
    private(set) var only: [String] = []
    private(set) var except: [String] = []
    private(set) var hasFunctions = true
    private(set) var hasRules = true
    /// Whether the rules are named in `--only`.
    private(set) var namesRules = false

    private static let rules = "database"

    /// - Throws: `ClientFailure` for a part of the database's rules, because there is one file.
    init(only: [String], except: [String]) throws(ClientFailure) {
        let (wanted, unwanted) = (Self.words(only), Self.words(except))
        for word in wanted + unwanted where word.hasPrefix("\(Self.rules):") {
            throw ClientFailure(.invalidInput, "\(word): a host has the rules of one file; write \(Self.rules)")
        }
        namesRules = wanted.contains(Self.rules)
        self.only = wanted.filter { $0 != Self.rules }
        self.except = unwanted.filter { $0 != Self.rules }
        if !wanted.isEmpty { (hasFunctions, hasRules) = (!self.only.isEmpty, namesRules) }
        if unwanted.contains(Self.rules) { hasRules = false }
        if self.except.contains("functions") { hasFunctions = false }
    }

    private static func words(_ options: [String]) -> [String] {
        guard !options.isEmpty else { return [] }
        return options.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { !$0.isWhitespace } }
    }
}

/// The rules file of a deployment, which the host has checked.
struct RulesDeployment {
    /// The result.
    enum Ending: String {
        case unchanged
        /// A dry run: the rules differ from those in force.
        case valid
        case deployed
    }

    private let client: HostClient
    private let file: String
    private let bytes: [UInt8]
    private let isChanged: Bool

    /// Reads the file, lets the host check it, and compares it with the rules in force.
    ///
    /// - Throws: `ClientFailure` with line and column of the first error.
    init(_ file: String, _ configuration: Configuration, _ client: HostClient) throws(ClientFailure) {
        self.client = client
        self.file = file
        do throws(FileFailure) {
            bytes = try WholeFile.read(file, sizeBytesMax: configuration.database.limits.rulesBytes)
        } catch {
            throw ClientFailure(.invalidInput, "\(file) \(error); nothing was changed")
        }
        let target = RulesPlace.target(instance: nil)
        try RulesPlace.put(.bytes(bytes), of: file, to: target, client, dryRun: true, onFailure: "nothing was changed")
        isChanged = Self.content(try client.ask(HostRequest("GET", target.target())).body) != Self.content(bytes)
    }

    /// The text without white space at its ends.
    private static func content(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var content = bytes.drop { $0 <= 32 }
        while let last = content.last, last <= 32 { content.removeLast() }
        return content
    }

    /// Puts the rules in force, unless they are.
    ///
    /// - Parameter hasDeployed: whether functions were deployed before, for the message of a failure.
    func run(dryRun: Bool, hasDeployed: Bool) throws(ClientFailure) -> Ending {
        guard isChanged else { return .unchanged }
        guard !dryRun else { return .valid }
        do throws(ClientFailure) {
            try RulesPlace.put(
                .bytes(bytes), of: file, to: RulesPlace.target(instance: nil), client, dryRun: false, onFailure: "the rules in force are as before")
            return .deployed
        } catch {
            guard hasDeployed else { throw error }
            throw ClientFailure(error.kind, "the functions are deployed, and the rules are not: \(error.message)", details: error.details)
        }
    }

    /// The outcome of the functions, if any, with that of the rules.
    func outcome(_ ending: Ending, dryRun: Bool, of functions: Outcome?) -> Outcome {
        var object = functions?.json?.object ?? ["dryRun": .bool(dryRun)]
        object["rules"] = .object(["file": .string(file), "state": .string(ending.rawValue)])
        var line: String
        switch ending {
        case .unchanged: line = "Rules of \(file): unchanged."
        case .valid: line = "Rules of \(file): valid, and not in force yet. A dry run: nothing was changed."
        case .deployed:
            line = "Rules of \(file) are in force"
            line += RulesPlace.rulesFile(client).map { " until the host's \($0) changes, which its functions.json names." } ?? "."
        }
        let text = [functions?.text, line].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "\n")
        return Outcome(text: text, json: .object(object), isSuccess: functions?.isSuccess ?? true)
    }
}
