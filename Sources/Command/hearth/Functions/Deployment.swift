import AdminProtocol
import CommandClient
import Configuration
import HearthJSON
import PluginBuild

/// One run of `hearth deploy`, from the sources to the host's answer.
final class Deployment {
    private let client: HostClient
    private let configuration: Configuration
    private let command: Deploy
    private let selection: PluginSelection
    private let functions: FunctionSelection
    private let report: DeployReport
    private let interruption: Interruption
    private var seconds = DeployReport.Seconds()
    /// Whether other plugins have to be built too.
    private var isTooNarrow = false
    private var hasWarned = false

    init(
        client: HostClient, configuration: Configuration, command: Deploy, selection: PluginSelection, functions: FunctionSelection,
        report: DeployReport, interruption: Interruption
    ) {
        self.client = client
        self.configuration = configuration
        self.command = command
        self.selection = selection
        self.functions = functions
        self.report = report
        self.interruption = interruption
    }

    /// Runs the deployment.
    ///
    /// - Returns: nil if plugins that were left out are needed.
    func run() throws(ClientFailure) -> DeployRun.Ending? {
        let plugins = try prepared(try libraries())
        let steps = DeployRun.Steps(
            upload: { () throws(ClientFailure) in try self.upload(plugins) },
            learn: { self.warn($0) }, show: { plan, isAgain in self.show(plan, isAgain) },
            decide: { plan throws(ClientFailure) in try self.decide(plan) },
            willSwitch: { self.willSwitch() }, didNotSwitch: { self.interruption.didNotSwitch() })
        var run = DeployRun(client, plugins: plugins, selection: functions, steps: steps)
        let ending = try run.run()
        if let switching { seconds.switching = switching.seconds }
        return isTooNarrow ? nil : ending
    }

    // MARK: Libraries

    /// The library of each plugin; builds those that are products.
    private func libraries() throws(ClientFailure) -> [String: String] {
        var products: [String] = []
        var libraries: [String: String] = [:]
        for plugin in selection.plugins {
            switch plugin.source {
            case .library(let path): libraries[plugin.name] = path
            case .product(let product): products.append(product)
            }
        }
        guard !products.isEmpty else { return libraries }
        let built = try build(products)
        for plugin in selection.plugins {
            if case .product(let product) = plugin.source { libraries[plugin.name] = built[product] }
        }
        return libraries
    }

    private func build(_ products: [String]) throws(ClientFailure) -> [String: String] {
        let watch = Stopwatch()
        do throws(BuildFailure) {
            let build = try PackageBuild(directory: configuration.directory, configuration: configuration.mode == .production ? .release : .debug)
            report.beginBuild(products)
            let outcome = try build.build(products: products) { report.building($0) }
            Terminal.endProgress()
            if !outcome.diagnostics.isEmpty { Terminal.writeText(outcome.diagnostics) }
            seconds.build = watch.seconds
            report.didBuild(products, seconds.build)
            return outcome.libraries
        } catch {
            Terminal.endProgress()
            if !error.diagnostics.isEmpty { Terminal.writeText(error.diagnostics) }
            throw ClientFailure(.invalidInput, "\(error.description); nothing was changed")
        }
    }

    /// The submission for each plugin.
    private func prepared(_ libraries: [String: String]) throws(ClientFailure) -> [DeployedPlugin] {
        guard let document = try? JSONValue(parsing: configuration.document) else {
            throw ClientFailure(.invalidInput, "\(configuration.file) cannot be read as JSON")
        }
        let functions = document["functions"]?.object ?? JSONObject()
        let defaults = document["defaults"]?.object ?? JSONObject()
        var plugins: [DeployedPlugin] = []
        for plugin in selection.plugins {
            let environment: [String: String]
            do throws(ConfigurationErrors) {
                environment = try PluginEnvironment.variables(of: plugin, in: configuration)
            } catch {
                throw error.failure
            }
            let path = libraries[plugin.name] ?? ""
            let file = try ArtifactFile(path)
            plugins.append(
                DeployedPlugin(
                    name: plugin.name, file: file, environment: environment, functions: functions, defaults: defaults,
                    manifest: command.dryRun ? try manifest(of: path) : nil))
        }
        return plugins
    }

    /// Reads the manifest of a library on this machine, because a dry run uploads nothing.
    private func manifest(of library: String) throws(ClientFailure) -> JSONValue {
        let bytes: [UInt8]
        do throws(BuildFailure) {
            bytes = try LibraryProbe.manifest(of: library, program: Terminal.executable)
        } catch {
            if !error.diagnostics.isEmpty { Terminal.writeText(error.diagnostics) }
            throw ClientFailure(.invalidInput, "\(error.description); nothing was changed")
        }
        guard let manifest = try? JSONValue(parsing: bytes), manifest.object != nil else {
            throw ClientFailure(.invalidInput, "\(library): its manifest is not a JSON object; nothing was changed")
        }
        return manifest
    }

    private func upload(_ plugins: [DeployedPlugin]) throws(ClientFailure) {
        if command.dryRun { return }
        let watch = Stopwatch()
        var seen: Set<String> = []
        for file in plugins.map(\.file) where seen.insert(file.hash).inserted {
            let progress = Progress("Uploading \(file.name)", total: file.sizeBytes)
            var upload = ArtifactUpload(client, file) { progress.update($0) }
            let sent = try upload.run()
            progress.end()
            if sent > 0 { report.didUpload(file, sentBytes: sent, progress.seconds) }
        }
        seconds.upload += watch.seconds
    }

    // MARK: The plan

    /// Warns about options in `functions.json` for unknown functions, as far as that can be known.
    private func warn(_ functions: [String]) {
        guard !hasWarned, selection.plugins.count == configuration.plugins.count else { return }
        hasWarned = true
        for warning in configuration.warnings(forLoaded: functions) { Terminal.writeError("warning: \(warning)") }
    }

    private func show(_ plan: DeploymentSummary, _ isAgain: Bool) {
        isTooNarrow = selection.isNarrowed && !plan.changes(.delete).isEmpty
        if !isTooNarrow { report.show(plan, client: client, isAgain: isAgain) }
    }

    private func decide(_ plan: DeploymentSummary) throws(ClientFailure) -> DeployRun.Decision {
        if isTooNarrow || command.dryRun { return .stop }
        let deletions = plan.changes(.delete)
        if deletions.isEmpty || command.force { return .deploy(removes: !deletions.isEmpty) }
        guard !command.nonInteractive, Terminal.canAsk else {
            let lines = deletions.map { "\n    hearth functions:delete \($0.function)" }.joined()
            throw ClientFailure(
                .invalidInput,
                "nothing was changed: functions on the host are missing from their plugins, and there is no terminal to ask on. "
                    + "Delete them with\(lines)\n"
                    + "or use --force to delete them with this deployment")
        }
        let names = deletions.map { "\n    \($0.function) (\($0.plugin))" }.joined()
        let count = deletions.count == 1 ? "This function is" : "These functions are"
        let removes = Terminal.confirms("\(count) on the host but missing from the plugins:\(names)\nDelete \(deletions.count == 1 ? "it" : "them")?")
        return .deploy(removes: removes)
    }

    private var switching: Stopwatch?

    private func willSwitch() {
        interruption.willSwitch()
        switching = Stopwatch()
        report.switching()
    }

    // MARK: The end

    /// The final output.
    func outcome(_ ending: DeployRun.Ending) throws(ClientFailure) -> Outcome {
        Terminal.endProgress()
        switch ending {
        case .nothingToDo(let plan): return report.nothingToDo(plan, seconds)
        case .stopped(let plan): return report.dryRun(plan, seconds)
        case .deployed(let plan):
            // The deployment is done, even if the host cannot list the functions now.
            let functions = try? FunctionsClient(client).functions().functions
            return report.deployed(plan, functions ?? [], seconds)
        }
    }
}
