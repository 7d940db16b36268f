import AdminProtocol
import Configuration
import EventLoop
import FunctionWorker
import PluginBuild

/// Changes of `functions.json` and the environment files, applied without a restart.
extension PluginWatch {
    func readSettings() async {
        let (file, mode) = (configuration.file, configuration.mode)
        readings += 1
        let reading = readings
        do throws(ConfigurationErrors) {
            let renewed = try await loop.offload { () throws(ConfigurationErrors) in try Configuration.load(file: file, mode: mode) }
            // The later one of two concurrent readings counts.
            guard !isStopped, reading == readings else { return }
            await use(renewed)
        } catch {
            guard !isStopped, reading == readings else { return }
            let name = file.split(separator: "/").last.map(String.init) ?? file
            report(WatchReport(.failure, "\(name) has errors; the previous settings stay in force.", diagnostics: "\(error)\n"))
        }
    }

    private func use(_ renewed: Configuration) async {
        let old = configuration
        configuration = renewed
        for warning in renewed.warnings { report(WatchReport(.notice, "\(warning)")) }
        let restart = renewed.settingsThatNeedRestart(since: old)
        if !restart.isEmpty {
            let (names, verb) = (restart.joined(separator: ", "), restart.count == 1 ? "takes" : "take")
            report(WatchReport(.notice, "\(names) \(verb) effect at the next start of the host."))
        }
        if renewed.database.rules != old.database.rules { useRules(renewed.database.rules) }
        if renewed.watch != old.watch || (line == nil) != (!hasProducts(renewed)) { reopenLine() }
        let known = Dictionary(old.plugins.map { ($0.name, $0) }) { $1 }
        let (products, gone) = (products, Set(known.keys).subtracting(renewed.plugins.map(\.name)))
        for name in gone { ledger.forget(name) }
        // A plugin that must be built is deployed after its build.
        let sources = renewed.plugins.filter { known[$0.name]?.source != $0.source }.map(\.name)
        waiting += sources.filter { products[$0] != nil && !waiting.contains($0) }
        unbuilt = unbuilt.union(sources).union(deployer.builtOtherwise(renewed)).intersection(products.keys)
        loop.task { [self] in await renewScope(since: nil) }
        let kept = unbuilt
        let result = await deployer.deployLocal(renewed, keeping: kept)
        guard !isStopped else { return }
        for refusal in result.refusals where !kept.contains(where: { refusal.description.hasPrefix("\($0):") }) {
            report(WatchReport(.failure, "\(refusal); the previous versions continue to serve."))
        }
        let changes = result.changes.filter(\.isChange)
        if !changes.isEmpty {
            report(WatchReport(.success, "Settings: \(Self.list(changes))."))
        } else if result.refusals.isEmpty, kept.isEmpty, restart.isEmpty {
            report(WatchReport(.success, "Settings were read again; no function is changed by them."))
        }
        goOn()
    }

    private func hasProducts(_ configuration: Configuration) -> Bool {
        configuration.plugins.contains { if case .product = $0.source { true } else { false } }
    }

    /// Applies the build settings from now on, and builds everything once.
    private func reopenLine() {
        openLine()
        ledger.watches(line?.package.configuration.rawValue)
        waiting += products.keys.sorted().filter { !waiting.contains($0) }
    }
}
