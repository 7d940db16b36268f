import Files
import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import Glibc
import Logs
import PluginBuild

/// From a saved source or a replaced library to a version that serves.
extension PluginWatch {
    func build(_ name: String, _ product: String) {
        guard let line else { return finish(name) }
        let start = FileStamp.now()
        var entry = BuildLedger.Entry(plugin: name, state: .building, time: WallClock.now().rfc3339)
        ledger.record(entry)
        let reference = LoopBound(self, loop: loop)
        let loop = loop
        line.build(product) { progress in
            loop.post {
                let steps = progress.steps > 0 ? "[\(progress.step)/\(progress.steps)] " : ""
                reference.value.report(WatchReport(.progress, "\(name): \(steps)\(progress.text)"))
            }
        } completion: { [self] ending in
            guard !isStopped else { return }
            // A build with the old settings is useless; the next build is already queued.
            guard self.line === line else { return finish(name) }
            if let origins = ending.origins { use(origins, of: name, since: start) }
            entry.buildMilliseconds = ending.seconds * 1000
            switch ending.result {
            case .success(let outcome):
                entry.isDirect = outcome.isDirect
                entry.diagnostics = outcome.diagnostics
                didBuild(name, outcome, entry)
            case .failure(let failure):
                entry.diagnostics = failure.diagnostics
                didFail(name, failure, entry)
            }
        }
    }

    private func use(_ origins: ProductOrigins, of name: String, since start: timespec) {
        var plugins = scope.plugins
        plugins[name] = WatchScope.Plugin(files: origins.files, trees: origins.trees)
        replacePlugins(plugins, since: start)
    }

    /// Nothing can be built here: what is there is all that there will be.
    func deployUnbuilt() {
        let names = unbuilt
        unbuilt = []
        deployer.deployLocal(configuration, plugins: names) { [self] result in
            for refusal in result.refusals { report(WatchReport(.failure, "\(refusal).")) }
            let changes = result.changes.filter(\.isChange)
            if !changes.isEmpty { report(WatchReport(.success, "Libraries: \(Self.list(changes)).")) }
        }
    }

    private func didBuild(_ name: String, _ outcome: FastBuild.Outcome, _ entry: BuildLedger.Entry) {
        unbuilt.remove(name)
        if !outcome.diagnostics.isEmpty { report(WatchReport(.notice, "\(name) compiles with warnings:", diagnostics: outcome.diagnostics)) }
        // A newer save makes another library of it before long; this one is good, too.
        if outcome.isUnchanged, !failed.contains(name) {
            var entry = entry
            entry.state = .built
            ledger.record(entry)
            return finish(name)
        }
        deploy(name, entry)
    }

    private func didFail(_ name: String, _ failure: BuildFailure, _ entry: BuildLedger.Entry) {
        // Another build of it waits already.
        if failure.reason == .cancelled { return finish(name) }
        fail(name, entry, failure.description, diagnostics: failure.diagnostics)
    }

    /// Says that a plugin stays as it was.
    ///
    /// - Parameter functions: those that were refused; empty where the whole library was.
    private func fail(
        _ name: String, _ entry: BuildLedger.Entry, _ sentence: String, functions: Set<String> = [], diagnostics: String = ""
    ) {
        var entry = entry
        entry.state = .failed
        entry.message = sentence
        ledger.record(entry)
        failed.insert(name)
        report(WatchReport(.failure, "\(sentence); \(consequence(name, functions)).", diagnostics: diagnostics))
        finish(name)
    }

    /// What serves after a failure. A new function has no version before.
    private func consequence(_ plugin: String, _ refused: Set<String>) -> String {
        let served = Set(deployer.live.functions.filter { $0.artifact.name == plugin }.map(\.name))
        guard !served.isEmpty else { return "none of its functions is served" }
        let unserved = refused.subtracting(served).sorted()
        guard !unserved.isEmpty else { return "the version before goes on serving" }
        let new = "\(unserved.joined(separator: ", ")) \(unserved.count == 1 ? "is" : "are") not served"
        return unserved.count == refused.count ? new : "\(new), and the version before of the others goes on serving"
    }

    // MARK: Libraries

    /// Loads a library that somebody else has built, once it is whole.
    func load(_ name: String, _ path: String) {
        loop.offload { LibraryFile.refusal(path) } then: { [self] refusal in
            guard !isStopped else { return }
            guard let refusal else {
                return deploy(name, BuildLedger.Entry(plugin: name, state: .building, time: WallClock.now().rfc3339))
            }
            // Whoever writes it may not be done. What is not better after a while is said.
            let timer = Timer(loop: loop) { [unowned self] in
                halfWritten[name] = nil
                let entry = BuildLedger.Entry(plugin: name, state: .failed, time: WallClock.now().rfc3339)
                guard current == nil else { return report(WatchReport(.failure, "\(refusal).")) }
                fail(name, entry, refusal.description)
            }
            timer.start(afterMilliseconds: 1000)
            halfWritten[name] = timer
            finish(name)
        }
    }

    // MARK: Switching

    private func deploy(_ name: String, _ entry: BuildLedger.Entry) {
        let isFirst = isFirst.contains(name)
        deployer.deployLocal(configuration, plugins: [name]) { [self] result in
            guard !isStopped else { return }
            var entry = entry
            let changes = result.changes.filter(\.isChange)
            entry.functions = changes.map(\.function)
            entry.switchMilliseconds = result.durations.whole
            guard result.refusals.isEmpty else {
                if !changes.isEmpty { tell(name, entry, result) }
                return fail(name, entry, result.refusals.map(\.description).joined(separator: "; "), functions: result.refused)
            }
            entry.state = .built
            ledger.record(entry)
            failed.remove(name)
            if !changes.isEmpty {
                tell(name, entry, result)
            } else if !isFirst {
                report(WatchReport(.success, "\(name): nothing changed\(Self.times(entry, isSwitched: false))."))
            }
            finish(name)
        }
    }

    private func tell(_ name: String, _ entry: BuildLedger.Entry, _ result: DeploymentResult) {
        report(WatchReport(.success, "\(name): \(Self.list(result.changes))\(Self.times(entry, isSwitched: true))."))
    }

    /// For example `addMessage is version 6, old is deleted`.
    static func list(_ changes: [FunctionChange]) -> String {
        changes.filter(\.isChange).map { change in
            guard let version = change.toVersion, change.action != .delete else { return "\(change.function) is deleted" }
            return change.action == .create ? "\(change.function) is new" : "\(change.function) is version \(version)"
        }.joined(separator: ", ")
    }

    private static func times(_ entry: BuildLedger.Entry, isSwitched: Bool) -> String {
        var parts: [String] = []
        if let milliseconds = entry.buildMilliseconds { parts.append("built in \(duration(milliseconds))") }
        if isSwitched, let milliseconds = entry.switchMilliseconds { parts.append("switched in \(duration(milliseconds))") }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private static func duration(_ milliseconds: Double) -> String {
        let whole = Int(milliseconds.rounded())
        guard whole >= 1000 else { return "\(whole) ms" }
        return "\(whole / 1000).\(whole % 1000 / 100) s"
    }
}

extension DeploymentResult.Durations {
    /// From the library on the disk to every loop knowing the new versions.
    var whole: Double { load + prepare + write + publish }
}

extension LibraryFile {
    /// Why a file cannot be a whole library; nil when it may be one. Blocks: for the thread pool.
    static func refusal(_ path: String) -> PluginRefusal? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return PluginRefusal("\(path): cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        do throws(PluginRefusal) {
            try LibraryFile(descriptor: descriptor, name: path).check()
            return nil
        } catch {
            return error
        }
    }
}
