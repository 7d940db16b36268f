import AdminProtocol
import Files
import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import Glibc
import Logs
import PluginBuild

/// The way from a saved source or a replaced library to a serving version.
extension PluginWatch {
    func build(_ name: String, _ product: String) async {
        guard let line else { return }
        let start = FileStamp.now()
        var entry = BuildEntry(plugin: name, state: .building, time: WallClock.now().rfc3339)
        ledger.record(entry)
        let reference = LoopBound(self, loop: loop)
        let loop = loop
        let ending = await line.build(product) { progress in
            loop.post {
                let steps = progress.steps > 0 ? "[\(progress.step)/\(progress.steps)] " : ""
                reference.value.report(WatchReport(.progress, "\(name): \(steps)\(progress.text)"))
            }
        }
        // A build with the old settings is useless; the next build is already queued.
        guard !isStopped, self.line === line else { return }
        if let origins = ending.origins { use(origins, of: name, since: start) }
        entry.buildMilliseconds = ending.seconds * 1000
        switch ending.result {
        case .success(let outcome):
            entry.direct = outcome.isDirect
            entry.diagnostics = outcome.diagnostics.isEmpty ? nil : outcome.diagnostics
            await didBuild(name, outcome, entry)
        case .failure(let failure):
            entry.diagnostics = failure.diagnostics.isEmpty ? nil : failure.diagnostics
            // After a cancellation, another build of the plugin is already waiting.
            guard failure.reason != .cancelled else { return }
            fail(name, entry, failure.description, diagnostics: failure.diagnostics)
        }
    }

    private func use(_ origins: ProductOrigins, of name: String, since start: timespec) {
        var plugins = scope.plugins
        plugins[name] = WatchScope.Plugin(files: origins.files, trees: origins.trees)
        replacePlugins(plugins, since: start)
    }

    /// Deploys the existing libraries, because nothing can be built here.
    func deployUnbuilt() async {
        let names = unbuilt
        unbuilt = []
        let result = await deployer.deployLocal(configuration, plugins: names)
        for refusal in result.refusals { report(WatchReport(.failure, "\(refusal).")) }
        let changes = result.changes.filter(\.isChange)
        if !changes.isEmpty { report(WatchReport(.success, "Libraries: \(Self.list(changes)).")) }
    }

    private func didBuild(_ name: String, _ outcome: FastBuild.Outcome, _ entry: BuildEntry) async {
        unbuilt.remove(name)
        if !outcome.diagnostics.isEmpty { report(WatchReport(.notice, "\(name) compiles with warnings:", diagnostics: outcome.diagnostics)) }
        // A newer change is built soon. This library is good too.
        if outcome.isUnchanged, !failed.contains(name) {
            var entry = entry
            entry.state = .built
            return ledger.record(entry)
        }
        await deploy(name, entry)
    }

    /// Reports that a plugin is left unchanged.
    ///
    /// - Parameter functions: the refused functions; empty if the whole library was refused.
    private func fail(
        _ name: String, _ entry: BuildEntry, _ sentence: String, functions: Set<String> = [], diagnostics: String = ""
    ) {
        var entry = entry
        entry.state = .failed
        entry.message = sentence
        ledger.record(entry)
        failed.insert(name)
        report(WatchReport(.failure, "\(sentence); \(consequence(name, functions)).", diagnostics: diagnostics))
    }

    /// The consequence of a failure. A new function has no previous version.
    private func consequence(_ plugin: String, _ refused: Set<String>) -> String {
        let served = Set(deployer.live.functions.filter { $0.artifact.name == plugin }.map(\.name))
        guard !served.isEmpty else { return "none of its functions is served" }
        let unserved = refused.subtracting(served).sorted()
        guard !unserved.isEmpty else { return "the previous version continues to serve" }
        let new = "\(unserved.joined(separator: ", ")) \(unserved.count == 1 ? "is" : "are") not served"
        return unserved.count == refused.count ? new : "\(new), and the previous version of the others continues to serve"
    }

    // MARK: Libraries

    /// Loads a library that was built elsewhere, when it is complete.
    func load(_ name: String, _ path: String) async {
        let refusal = await loop.offload { LibraryFile.refusal(path) }
        guard !isStopped else { return }
        let time = WallClock.now().rfc3339
        guard let refusal else { return await deploy(name, BuildEntry(plugin: name, state: .building, time: time)) }
        // It may still be being written. If it is not complete after a while, the reason is reported.
        let timer = Timer(loop: loop) { [unowned self] in
            halfWritten[name] = nil
            guard current == nil else { return report(WatchReport(.failure, "\(refusal).")) }
            fail(name, BuildEntry(plugin: name, state: .failed, time: WallClock.now().rfc3339), refusal.description)
        }
        timer.start(afterMilliseconds: 1000)
        halfWritten[name] = timer
    }

    // MARK: Switching

    private func deploy(_ name: String, _ entry: BuildEntry) async {
        let isFirst = isFirst.contains(name)
        let result = await deployer.deployLocal(configuration, plugins: [name])
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
    }

    private func tell(_ name: String, _ entry: BuildEntry, _ result: DeploymentResult) {
        report(WatchReport(.success, "\(name): \(Self.list(result.changes))\(Self.times(entry, isSwitched: true))."))
    }

    /// For example `addMessage is version 6, old is deleted`.
    static func list(_ changes: [FunctionChange]) -> String {
        changes.filter(\.isChange).map { change in
            guard let version = change.toVersion, change.action != .delete else { return "\(change.function) is deleted" }
            return change.action == .create ? "\(change.function) is new" : "\(change.function) is version \(version)"
        }.joined(separator: ", ")
    }

    private static func times(_ entry: BuildEntry, isSwitched: Bool) -> String {
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
    /// The time from the complete library on the disk until all loops know the new versions.
    var whole: Double { load + prepare + write + publish }
}

extension LibraryFile {
    /// The reason why a file cannot be a complete library; nil if it may be one. Blocks, and must run on the thread pool.
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
