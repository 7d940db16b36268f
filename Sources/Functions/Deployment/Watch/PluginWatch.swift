import Files
import Configuration
import EventLoop
import Glibc
import Logging
import PluginBuild

/// Applies changes of files: builds sources, loads libraries, reads settings again (docs/hot-reload.md).
///
/// A kernel event only causes a check of the files, which are compared with the last check. So a lost or misunderstood event does no
/// harm. Belongs to the home loop.
package final class PluginWatch {
    /// The current `functions.json`.
    var configuration: Configuration
    let deployer: Deployer
    /// Takes the path of the rules file in the configuration.
    let useRules: (String?) -> Void
    let ledger: BuildLedger
    let loop: EventLoop
    let log: Logger
    let report: (WatchReport) -> Void
    /// Plugins that wait to be built or loaded, in order.
    var waiting: [String] = []
    /// The plugin that is being built or loaded.
    private(set) var current: String?
    private var isWorking = false
    var line: BuildLine?
    var scope = WatchScope()
    private var folders: FolderWatch?
    private var seen: [String: FileStamp] = [:]
    private var debounce: Timer?
    private var retry: Timer?
    private var firstHeard: UInt64?
    private var isLooking = false
    private var mustLookAgain = false
    /// Whether it was reported that not everything is watched.
    private var isFull = false
    /// The time of the last change of the scope. New files in the scope count as changed if they were modified since then.
    private var scopeStart: timespec?
    /// Plugins whose first build has not ended. It is not reported if it changes nothing.
    var isFirst: Set<String> = []
    /// Plugins without a library of the wanted configuration until they are built: the existing one may be old, or absent.
    var unbuilt: Set<String> = []
    /// Plugins whose last build or load failed.
    var failed: Set<String> = []
    /// Incomplete libraries, with the timer after which this is reported.
    var halfWritten: [String: Timer] = [:]
    /// The number of times that the settings were read.
    var readings = 0
    private(set) var isStopped = false

    /// The time without events after which the files are checked.
    private static let quietMilliseconds: UInt64 = 50
    /// The longest time until a check, if events do not stop.
    private static let longestMilliseconds: UInt64 = 1000

    /// - Parameter report: takes the reports for the user.
    package init(
        _ configuration: Configuration, deployer: Deployer, useRules: @escaping (String?) -> Void, ledger: BuildLedger, loop: EventLoop, log: Logger,
        report: @escaping (WatchReport) -> Void
    ) {
        self.configuration = configuration
        self.deployer = deployer
        self.useRules = useRules
        self.ledger = ledger
        self.loop = loop
        self.log = log
        self.report = report
    }

    package func start() {
        folders = FolderWatch(loop: loop, log: log) { [unowned self] in hear() }
        debounce = Timer(loop: loop) { [unowned self] in look() }
        retry = Timer(loop: loop) { [unowned self] in look() }
        openLine()
        ledger.watches(line?.package.configuration.rawValue)
        let products = self.products
        isFirst = Set(products.keys)
        unbuilt = deployer.builtOtherwise(configuration)
        loop.task { [self] in
            if line == nil, !unbuilt.isEmpty { await deployUnbuilt() }
        }
        loop.task { [self] in
            await renewScope(since: nil)
            waiting += configuration.plugins.map(\.name).filter { products[$0] != nil }
            goOn()
        }
    }

    /// Stops watching, and kills a running compiler.
    package func stop() {
        isStopped = true
        folders = nil
        debounce = nil
        retry = nil
        halfWritten = [:]
        line?.stop()
        line = nil
    }

    /// The product of each plugin that is built from sources.
    var products: [String: String] {
        guard line != nil else { return [:] }
        return Dictionary(
            configuration.plugins.compactMap { plugin in
                if case .product(let product) = plugin.source { (plugin.name, product) } else { nil }
            }
        ) { $1 }
    }

    /// Opens the queue of builds, if there are products. Reports the reason if that fails.
    func openLine() {
        line?.stop()
        line = nil
        let hasProducts = configuration.plugins.contains { if case .product = $0.source { true } else { false } }
        guard hasProducts else { return }
        do throws(BuildFailure) {
            let kind: PackageBuild.Configuration = configuration.watch.configuration == .release ? .release : .debug
            let package = try PackageBuild(directory: configuration.directory, configuration: kind)
            do throws(LoopError) {
                line = try BuildLine(package)
            } catch {
                report(WatchReport(.failure, "sources are not built: \(error)"))
            }
        } catch {
            report(WatchReport(.notice, "Sources are not built, only libraries and settings are watched: \(error)"))
        }
    }

    // MARK: Checking files

    private func hear() {
        let now = loop.nowMilliseconds
        let first = firstHeard ?? now
        firstHeard = first
        let left = first + Self.longestMilliseconds
        debounce?.start(afterMilliseconds: now >= left ? 0 : min(Self.quietMilliseconds, left - now))
    }

    /// Compares the files with the last check.
    func look() {
        firstHeard = nil
        guard !isStopped else { return }
        guard !isLooking else {
            mustLookAgain = true
            return
        }
        isLooking = true
        loop.task { [self] in
            repeat {
                mustLookAgain = false
                let looked = scope
                let snapshot = await loop.offload { looked.snapshot() }
                guard !isStopped else { return }
                // A check of another scope than the present one is ignored.
                if looked == scope { compare(snapshot, looked) } else { mustLookAgain = true }
            } while mustLookAgain
            isLooking = false
        }
    }

    private func compare(_ snapshot: WatchSnapshot, _ looked: WatchScope) {
        var changed: Set<String> = []
        for (path, stamp) in snapshot.stamps {
            if let before = seen[path] {
                if before != stamp { changed.insert(path) }
            } else if scopeStart.map(stamp.isSince) ?? true {
                changed.insert(path)
            }
        }
        for path in seen.keys where snapshot.stamps[path] == nil && looked.contains(path) { changed.insert(path) }
        seen = snapshot.stamps
        scopeStart = nil
        // Another check finds changes between this one and the new watch.
        if folders?.watch(snapshot.folders) ?? false { mustLookAgain = true }
        if snapshot.isFull, !isFull {
            let most = "\(WatchScope.filesMax) files in \(WatchScope.foldersMax) folders"
            report(WatchReport(.notice, "There is more to watch than \(most), or folders are nested too deeply; the rest is not watched."))
        }
        isFull = snapshot.isFull
        // A folder that is missing for a moment, for example while branches change, reappears without an event.
        if snapshot.isIncomplete { retry?.start(afterMilliseconds: 1000) } else { retry?.stop() }
        if !changed.isEmpty { didChange(changed) }
    }

    private func didChange(_ paths: Set<String>) {
        if !paths.isDisjoint(with: scope.settings) { loop.task { [self] in await readSettings() } }
        let names = configuration.plugins.map(\.name).filter { name in
            scope.plugins[name].map { plugin in paths.contains(where: plugin.owns) } ?? false
        }
        for name in names { halfWritten[name] = nil }
        if let current, names.contains(current) { line?.cancel() }
        waiting += names.filter { !waiting.contains($0) }
        goOn()
    }

    /// Determines the sources of each plugin again.
    ///
    /// - Parameter start: the start of the build after which this is done.
    func renewScope(since start: timespec?) async {
        let products = products
        guard let line, !products.isEmpty else { return useScope([:], since: start) }
        let origins = await line.origins(of: Array(products.values))
        useScope(products.compactMapValues { origins[$0] }, since: start)
    }

    private func useScope(_ origins: [String: ProductOrigins], since start: timespec?) {
        guard !isStopped else { return }
        var plugins: [String: WatchScope.Plugin] = [:]
        for plugin in configuration.plugins {
            switch plugin.source {
            case .library(let path): plugins[plugin.name] = WatchScope.Plugin(files: [path])
            case .product:
                guard let package = line?.package else { continue }
                // Until the first build has a plan, any file in the package may belong to the plugin.
                let unknown = WatchScope.Plugin(files: ["\(package.directory)/Package.swift"], trees: ["\(package.directory)/Sources"])
                let planned = origins[plugin.name].map { WatchScope.Plugin(files: $0.files, trees: $0.trees) }
                plugins[plugin.name] = planned ?? scope.plugins[plugin.name] ?? unknown
            }
        }
        replacePlugins(plugins, since: start)
    }

    /// Replaces the watched files.
    ///
    /// - Parameter start: new files among them that were modified after this time count as changed; nil for now.
    func replacePlugins(_ plugins: [String: WatchScope.Plugin], since start: timespec?) {
        let settings = configuration.environmentFiles.union([configuration.file])
        let renewed = WatchScope(plugins: plugins, settings: settings)
        guard renewed != scope else { return }
        scope = renewed
        scopeStart = start ?? scopeStart ?? FileStamp.now()
        look()
    }

    // MARK: Processing

    /// Processes the waiting plugins one after the other, unless this is already running.
    func goOn() {
        guard !isStopped, !isWorking, !waiting.isEmpty else { return }
        isWorking = true
        loop.task { [self] in
            while !isStopped, !waiting.isEmpty { await work(on: waiting.removeFirst()) }
            isWorking = false
        }
    }

    private func work(on name: String) async {
        guard let plugin = configuration.plugins.first(where: { $0.name == name }) else { return }
        current = name
        switch plugin.source {
        case .product(let product): await build(name, product)
        case .library(let path): await load(name, path)
        }
        current = nil
        isFirst.remove(name)
    }
}
