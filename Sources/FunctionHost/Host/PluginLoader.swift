import Configuration
import EventLoop
import FunctionWorker
import Glibc
import Logging

/// Turns the plugins of `functions.json` into functions: finds the library, keeps a copy, asks it for its manifest in a
/// worker of its own, and checks what it says. A plugin that is refused changes nothing for the others.
final class PluginLoader {
    private let configuration: Configuration
    private let dispatcher: Dispatcher
    private let store: ArtifactStore
    private let address: String
    private var results: [Result<LoadedPlugin, PluginRefusal>?]
    private var completion: (([RegisteredFunction], [PluginRefusal]) -> Void)?

    private struct LoadedPlugin {
        var settings: PluginSettings
        var artifact: Artifact
        var manifest: PluginManifest
        var environment: PluginEnvironment
    }

    init(_ configuration: Configuration, dispatcher: Dispatcher, store: ArtifactStore, address: String) {
        self.configuration = configuration
        self.dispatcher = dispatcher
        self.store = store
        self.address = address
        results = Array(repeating: nil, count: configuration.plugins.count)
    }

    /// Loads all plugins side by side.
    ///
    /// - Parameter completion: gets the functions, in the order of `functions.json`, and one refusal for each plugin or
    ///   function that is left out.
    func load(completion: @escaping ([RegisteredFunction], [PluginRefusal]) -> Void) {
        self.completion = completion
        if configuration.plugins.isEmpty { return finish() }
        for (index, settings) in configuration.plugins.enumerated() { admit(settings, index) }
    }

    private func admit(_ settings: PluginSettings, _ index: Int) {
        let file: String
        do throws(PluginRefusal) {
            file = try libraryFile(settings)
        } catch {
            return report(.failure(error), index)
        }
        let reference = LoopBound(self, loop: dispatcher.loop)
        let loop = dispatcher.loop
        let store = store
        Task {
            let result: Result<Artifact, PluginRefusal>
            do {
                result = try await loop.offload { store.result(name: settings.name, file: file) }
            } catch {
                result = .failure(PluginRefusal("\(file): \(error)"))
            }
            loop.post { reference.value.didAdmit(result, settings, index) }
        }
    }

    private func didAdmit(_ result: Result<Artifact, PluginRefusal>, _ settings: PluginSettings, _ index: Int) {
        switch result {
        case .failure(let refusal): report(.failure(refusal), index)
        case .success(let artifact):
            // The plugin is only asked what it offers: without secrets, and with memory for that.
            let settings = PoolSettings(
                concurrency: 1, instancesMin: 0, instancesMax: 1, memoryBytes: 1 << 30, isIsolated: true, environment: ["TZ=UTC"])
            dispatcher.launcher.probe(artifact, settings: settings) { [self] result in
                didProbe(result, artifact, index)
            }
        }
    }

    private func didProbe(_ result: Result<[UInt8], PluginRefusal>, _ artifact: Artifact, _ index: Int) {
        switch result {
        case .failure(let refusal): report(.failure(refusal), index)
        case .success(let bytes):
            let settings = configuration.plugins[index]
            do throws(ConfigurationErrors) {
                let manifest = try PluginManifest(parsing: bytes, source: artifact.displayName)
                let environment = try PluginEnvironment.load(
                    plugin: settings, manifest: manifest, configuration: configuration, address: address)
                report(.success(LoadedPlugin(settings: settings, artifact: artifact, manifest: manifest, environment: environment)), index)
            } catch {
                report(.failure(PluginRefusal(error.description)), index)
            }
        }
    }

    private func report(_ result: Result<LoadedPlugin, PluginRefusal>, _ index: Int) {
        results[index] = result
        if results.allSatisfy({ $0 != nil }) { finish() }
    }

    private func finish() {
        guard let completion else { return }
        self.completion = nil
        var functions: [String: RegisteredFunction] = [:]
        var ordered: [RegisteredFunction] = []
        var refusals: [PluginRefusal] = []
        for result in results {
            switch result {
            case .failure(let refusal)?: refusals.append(refusal)
            case .success(let plugin)?:
                for warning in plugin.manifest.warnings + plugin.environment.warnings { dispatcher.log.warning("\(warning)") }
                for function in register(plugin, &refusals) {
                    if let other = functions[function.name] {
                        let (own, owner) = (function.artifact.displayName, other.artifact.displayName)
                        refusals.append(PluginRefusal("\(own): its function \(function.name) is left out, because \(owner) has one of that name"))
                        continue
                    }
                    functions[function.name] = function
                    ordered.append(function)
                }
            case nil: break
            }
        }
        completion(ordered, refusals)
    }

    // MARK: Functions

    private func register(_ plugin: LoadedPlugin, _ refusals: inout [PluginRefusal]) -> [RegisteredFunction] {
        dispatcher.setFunctionNames(plugin.manifest.functions.map(\.name), of: plugin.artifact)
        var resolved: [(FunctionDeclaration, FunctionOptions)] = []
        for declaration in plugin.manifest.functions {
            do throws(ConfigurationErrors) {
                let options = try declaration.resolved(in: configuration, parameters: plugin.environment.parameters)
                if !options.omit { resolved.append((declaration, options)) }
            } catch {
                refusals.append(PluginRefusal(error.description))
            }
        }
        return resolved.map { declaration, options in
            let pool = dispatcher.pool(for: plugin.artifact, settings: poolSettings(declaration, options, plugin, resolved))
            return RegisteredFunction(declaration: declaration, options: options, artifact: plugin.artifact, pool: pool)
        }
    }

    /// Functions that want the same of a worker share a pool; a plugin inside the host has one pool, since it is loaded once.
    private func poolSettings(
        _ declaration: FunctionDeclaration, _ options: FunctionOptions, _ plugin: LoadedPlugin, _ all: [(FunctionDeclaration, FunctionOptions)]
    ) -> PoolSettings {
        guard plugin.settings.isolation == .process else {
            return PoolSettings(
                concurrency: all.map(\.1.concurrency).max() ?? 1, instancesMin: 1, instancesMax: 1, memoryBytes: 0, isIsolated: false,
                environment: plugin.environment.forAllFunctions.map { "\($0.key)=\($0.value)" }.sorted())
        }
        let companions = all.filter { Self.shareWorkers($0.1, options) }.map(\.0.name)
        let environment = plugin.environment.environment(for: companions).map { "\($0.key)=\($0.value)" }.sorted()
        return PoolSettings(
            concurrency: options.concurrency, instancesMin: options.minInstances, instancesMax: options.maxInstances,
            memoryBytes: UInt64(options.memoryBytes), isIsolated: true, environment: environment)
    }

    private static func shareWorkers(_ left: FunctionOptions, _ right: FunctionOptions) -> Bool {
        left.concurrency == right.concurrency && left.minInstances == right.minInstances && left.maxInstances == right.maxInstances
            && left.memoryBytes == right.memoryBytes && left.secrets == right.secrets && left.environment == right.environment
    }

    // MARK: Files

    private func libraryFile(_ settings: PluginSettings) throws(PluginRefusal) -> String {
        switch settings.source {
        case .library(let path):
            guard access(path, R_OK) == 0 else { throw PluginRefusal("\(path): cannot be read: \(String(cString: strerror(errno)))") }
            return path
        case .product(let product):
            let builds = ["release", "debug"].map { "\(configuration.directory)/.build/\($0)/lib\(product).so" }
            guard let file = builds.first(where: { access($0, R_OK) == 0 }) else {
                throw PluginRefusal(
                    "\(builds[0]): does not exist; build the product \(product) with: swift build -c release --product \(product)")
            }
            return file
        }
    }
}
