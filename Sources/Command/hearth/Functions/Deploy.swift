import AdminProtocol
import ArgumentParser
import CommandClient
import Configuration
import HearthJSON

/// `hearth deploy`: builds plugins and deploys them, and the rules of the database, to a host.
struct Deploy: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy", abstract: "Builds the plugins of functions.json; deploys their functions and the rules.",
        discussion: """
            Changes are uploaded, shown as a plan, and activated together: all or nothing. Functions that are not named do not change.
            The rules file of functions.json is checked first, and is put in force after the functions if it differs from the rules in force.
            --only and --except take database for the rules, functions, functions:NAME, functions:GROUP (all names that begin with
            GROUP-), functions:PLUGIN and functions:PLUGIN:NAME, separated by commas.

            Examples:
              hearth deploy
              hearth deploy --only functions:addMessage,functions:chat
              hearth deploy --only database
              hearth deploy --dry-run --except functions:Arithmetic
              hearth deploy --url https://host.example --token "$TOKEN" --non-interactive
            """)

    @Option(help: ArgumentHelp("Deploy these only: database, functions, or some functions.", valueName: "targets"))
    var only: [String] = []

    @Option(help: ArgumentHelp("Deploy all but these.", valueName: "targets"))
    var except: [String] = []

    @Flag(help: "Show what would happen; upload and change nothing.")
    var dryRun = false

    @Flag(help: "Never ask: fail if functions would be deleted.")
    var nonInteractive = false

    @Flag(name: .shortAndLong, help: "Delete functions that vanished from their plugins without asking.")
    var force = false

    @Option(help: ArgumentHelp("The file that names the plugins.", valueName: "file"))
    var config = "functions.json"

    @Option(help: "production builds for speed; development builds for debugging, and sends .env.local too.")
    var mode = Configuration.Mode.production

    @Option(help: ArgumentHelp("Deploy for this project instead of the one in functions.json; the host must serve it.", valueName: "id"))
    var project: String?

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let report = DeployReport(isForProgram: connection.json)
        let interruption = Interruption(isForProgram: connection.json)
        var configuration = try loadConfiguration()
        configuration.project = project ?? configuration.project
        let targets = try DeployTargets(only: self.only, except: self.except)
        let plugins = configuration.plugins.map(\.name)
        let only = try filter("--only", targets.only, plugins)
        let except = try filter("--except", targets.except, plugins)
        let rulesFile = targets.hasRules ? configuration.database.rules : nil
        try checkTargets(targets, configuration, rulesFile)
        let hasFunctions = targets.hasFunctions && !configuration.plugins.isEmpty
        let before = try hasFunctions ? FunctionsClient(client).functions().functions : []
        try checkProject(configuration, client)
        var rules: RulesDeployment?
        if let rulesFile { rules = try RulesDeployment(rulesFile, configuration, client) }
        var outcome: Outcome?
        if hasFunctions {
            let functions = FunctionSelection(only: only, except: except)
            outcome = try deploy(client, configuration, (only, except, functions), on: before, report, interruption)
        }
        if let rules {
            let ending = try rules.run(dryRun: dryRun, hasDeployed: hasFunctions)
            outcome = rules.outcome(ending, dryRun: dryRun, of: outcome)
        }
        interruption.end()
        return outcome ?? Outcome()
    }

    /// Checks that the configuration has what is to be deployed.
    private func checkTargets(_ targets: DeployTargets, _ configuration: Configuration, _ rulesFile: String?) throws(ClientFailure) {
        if targets.namesRules, targets.hasRules, rulesFile == nil {
            throw ClientFailure(.invalidInput, "\(config) names no rules; add \"database\": { \"rules\": \"database.rules.json\" }")
        }
        guard targets.hasFunctions || rulesFile != nil else { throw ClientFailure(.invalidInput, "--except leaves nothing to deploy") }
        guard configuration.plugins.isEmpty else { return }
        // Without plugins, a project may still have rules.
        guard targets.only.isEmpty, rulesFile != nil || !targets.hasFunctions else {
            throw ClientFailure(.invalidInput, "\(config) names no plugins; add one under \"plugins\"")
        }
    }

    /// Deploys the functions.
    private func deploy(
        _ client: HostClient, _ configuration: Configuration,
        _ filters: (only: FunctionFilter?, except: FunctionFilter?, functions: FunctionSelection), on before: [HostFunction],
        _ report: DeployReport, _ interruption: Interruption
    ) throws(ClientFailure) -> Outcome {
        let (only, except, functions) = filters
        var selection = PluginSelection(configuration, only: only, except: except, on: before)
        guard !selection.plugins.isEmpty else { throw ClientFailure(.invalidInput, "--except leaves nothing to deploy") }
        while true {
            let deployment = Deployment(
                client: client, configuration: configuration, command: self, selection: selection,
                functions: functions, report: report, interruption: interruption)
            if let ending = try deployment.run() { return try deployment.outcome(ending) }
            // A function has vanished from its plugin: it may have moved to another.
            selection = PluginSelection(configuration, only: only, except: except, on: before, isNarrowing: false)
        }
    }

    /// Checks that the host's project is the one the functions are written for: it determines whose tokens they accept and the name of
    /// their database.
    private func checkProject(_ configuration: Configuration, _ client: HostClient) throws(ClientFailure) {
        let (own, served) = (configuration.project, try client.hostDescription().project)
        guard own != served else { return }
        if project != nil {
            throw ClientFailure(.invalidInput, "the host at \(client.url) serves the project \(served), not \(own); nothing was changed")
        }
        throw ClientFailure(
            .invalidInput,
            "\(config) is of the project \(own), and the host at \(client.url) serves \(served); nothing was changed. Name the right host with "
                + "--url, or deploy there with --project \(served)")
    }

    private func loadConfiguration() throws(ClientFailure) -> Configuration {
        do throws(ConfigurationErrors) {
            let configuration = try Configuration.load(file: config, mode: mode)
            for warning in configuration.warnings { Terminal.writeError("warning: \(warning)") }
            return configuration
        } catch {
            throw error.failure
        }
    }

    private func filter(_ option: String, _ words: [String], _ plugins: [String]) throws(ClientFailure) -> FunctionFilter? {
        guard !words.isEmpty else { return nil }
        do throws(FunctionFilter.Mistake) {
            return try FunctionFilter(option: option, words.joined(separator: ","), plugins: plugins)
        } catch {
            throw ClientFailure(.invalidInput, error.description)
        }
    }
}

extension ConfigurationErrors {
    /// Errors in files, each with its line: a single one is the sentence itself, several are listed first.
    var failure: ClientFailure {
        guard problems.count != 1 else { return ClientFailure(.invalidInput, description) }
        Terminal.writeError(description)
        let files = Set(problems.map(\.file)).sorted().joined(separator: ", ")
        return ClientFailure(.invalidInput, "\(problems.count) mistakes in \(files); nothing was changed")
    }
}

/// The plugins of `functions.json` that a deployment needs.
struct PluginSelection {
    /// In the order of the file.
    let plugins: [PluginSettings]
    /// Whether some were left out because the host knows the plugins of the named functions.
    let isNarrowed: Bool

    /// Selects the plugins that can contain the selected functions. A function that the host knows is looked for in its plugin only,
    /// because building the others would only take time.
    init(
        _ configuration: Configuration, only: FunctionFilter?, except: FunctionFilter?, on host: [HostFunction], isNarrowing: Bool = true
    ) {
        let names = configuration.plugins.map(\.name)
        var needed: Set<String> = []
        var isNarrowed = false
        for item in only?.items ?? [] {
            if let plugin = item.plugin {
                needed.insert(plugin)
            } else if isNarrowing, let found = host.first(where: { $0.name == item.name }), names.contains(found.plugin),
                !host.contains(where: { $0.plugin != found.plugin && item.matches(plugin: $0.plugin, function: $0.name) }) {
                needed.insert(found.plugin)
                isNarrowed = true
            } else {
                needed.formUnion(names)
            }
        }
        let whole = (except?.items ?? []).filter { $0.name == nil }
        plugins = configuration.plugins.filter { plugin in
            (only == nil || needed.contains(plugin.name)) && !whole.contains { $0.plugin == nil || $0.plugin == plugin.name }
        }
        self.isNarrowed = isNarrowed && plugins.count < configuration.plugins.count
    }
}
