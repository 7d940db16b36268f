import Configuration
import EventLoop
import FunctionWorker
import PluginBuild

/// What `functions.json` and the environment files say, taken over without a restart.
extension PluginWatch {
    func readSettings() {
        let (file, mode) = (configuration.file, configuration.mode)
        readings += 1
        let reading = readings
        loop.offload { () -> Result<Configuration, ConfigurationErrors> in
            do throws(ConfigurationErrors) {
                return .success(try Configuration.load(file: file, mode: mode))
            } catch {
                return .failure(error)
            }
        } then: { [self] result in
            // Of two that are read at once, the later one counts.
            guard !isStopped, reading == readings else { return }
            switch result {
            case .failure(let errors):
                let name = file.split(separator: "/").last.map(String.init) ?? file
                report(WatchReport(.failure, "\(name) has errors; the settings before stay in force.", diagnostics: "\(errors)\n"))
            case .success(let configuration): use(configuration)
            }
        }
    }

    private func use(_ renewed: Configuration) {
        let old = configuration
        configuration = renewed
        for warning in renewed.warnings { report(WatchReport(.notice, "\(warning)")) }
        let restart = renewed.settingsThatNeedRestart(since: old)
        if !restart.isEmpty {
            let (names, verb) = (restart.joined(separator: ", "), restart.count == 1 ? "counts" : "count")
            report(WatchReport(.notice, "\(names) \(verb) from the next start of the host; until then the old settings stay."))
        }
        if renewed.database.rules != old.database.rules { useRules(renewed.database.rules) }
        if renewed.watch != old.watch || (line == nil) != (!hasProducts(renewed)) { reopenLine() }
        let known = Dictionary(old.plugins.map { ($0.name, $0) }) { $1 }
        let (products, gone) = (products, Set(known.keys).subtracting(renewed.plugins.map(\.name)))
        for name in gone { ledger.forget(name) }
        // What must be built first is deployed when it is.
        let sources = renewed.plugins.filter { known[$0.name]?.source != $0.source }.map(\.name)
        waiting += sources.filter { products[$0] != nil && !waiting.contains($0) }
        unbuilt = unbuilt.union(sources).union(deployer.builtOtherwise(renewed)).intersection(products.keys)
        renewScope(since: nil)
        deployer.deployLocal(renewed, keeping: unbuilt) { [self, unbuilt] result in
            guard !isStopped else { return }
            for refusal in result.refusals where !unbuilt.contains(where: { refusal.description.hasPrefix("\($0):") }) {
                report(WatchReport(.failure, "\(refusal); what served before goes on serving."))
            }
            let changes = result.changes.filter(\.isChange)
            if !changes.isEmpty {
                report(WatchReport(.success, "Settings: \(Self.list(changes))."))
            } else if result.refusals.isEmpty, unbuilt.isEmpty, restart.isEmpty {
                report(WatchReport(.success, "Settings were read again; no function is changed by them."))
            }
            goOn()
        }
    }

    private func hasProducts(_ configuration: Configuration) -> Bool {
        configuration.plugins.contains { if case .product = $0.source { true } else { false } }
    }

    /// Builds from now on as the settings say, everything once.
    private func reopenLine() {
        openLine()
        ledger.watches(line?.package.configuration.rawValue)
        waiting += products.keys.sorted().filter { !waiting.contains($0) }
    }
}
