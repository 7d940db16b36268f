import Files
import Configuration
import EventLoop
import Glibc
import Logging
import PluginBuild

/// Brings what was saved into service: sources are built, libraries loaded, settings read again (docs/hot-reload.md).
///
/// Whatever the kernel says of a file only makes it look: what counts is how the files compare with the last look. So no event that
/// is lost or misunderstood changes the result. Belongs to the home loop.
package final class PluginWatch {
    /// What stands in `functions.json` now.
    var configuration: Configuration
    let deployer: Deployer
    /// Takes the path of the rules file that the configuration names now.
    let useRules: (String?) -> Void
    let ledger: BuildLedger
    let loop: EventLoop
    let log: Logger
    let report: (WatchReport) -> Void
    /// Plugins that wait for being built or loaded, in order.
    var waiting: [String] = []
    /// The plugin that is being built or loaded.
    private(set) var current: String?
    var line: BuildLine?
    var scope = WatchScope()
    private var folders: FolderWatch?
    private var seen: [String: FileStamp] = [:]
    private var debounce: Timer?
    private var retry: Timer?
    private var firstHeard: UInt64?
    private var isLooking = false
    private var mustLookAgain = false
    /// Whether it was said that not everything is watched.
    private var isFull = false
    /// When the scope was last made anew: what is new in it and changed since counts as changed.
    private var scopeStart: timespec?
    /// Plugins whose first build has not ended: that nothing changes is no news.
    var isFirst: Set<String> = []
    /// Plugins whose library is not the one that their settings ask for until they are built: it is of any age, or not there.
    var unbuilt: Set<String> = []
    /// Plugins whose last build or load did not come into service.
    var failed: Set<String> = []
    /// Libraries that are not whole, with the time at which that is said.
    var halfWritten: [String: Timer] = [:]
    /// How often the settings were read.
    var readings = 0
    private(set) var isStopped = false

    /// It is quiet when nothing happened for this long.
    private static let quietMilliseconds: UInt64 = 50
    /// What goes on for longer is looked at in between.
    private static let longestMilliseconds: UInt64 = 1000

    /// - Parameter report: told what the user should see.
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
        if line == nil, !unbuilt.isEmpty { deployUnbuilt() }
        renewScope(since: nil) { [self] in
            waiting += configuration.plugins.map(\.name).filter { products[$0] != nil }
            goOn()
        }
    }

    /// Watches no more; a compiler that runs is killed.
    package func stop() {
        isStopped = true
        folders = nil
        debounce = nil
        retry = nil
        halfWritten = [:]
        line?.stop()
        line = nil
    }

    /// The product of each plugin that is built.
    var products: [String: String] {
        guard line != nil else { return [:] }
        return Dictionary(
            configuration.plugins.compactMap { plugin in
                if case .product(let product) = plugin.source { (plugin.name, product) } else { nil }
            }
        ) { $1 }
    }

    /// Finds what builds products, where there are any; says why there is nothing.
    func openLine() {
        line?.stop()
        line = nil
        let hasProducts = configuration.plugins.contains { if case .product = $0.source { true } else { false } }
        guard hasProducts else { return }
        do throws(BuildFailure) {
            let kind: PackageBuild.Configuration = configuration.watch.configuration == .release ? .release : .debug
            let package = try PackageBuild(directory: configuration.directory, configuration: kind)
            do throws(LoopError) {
                line = try BuildLine(package, home: loop)
            } catch {
                report(WatchReport(.failure, "sources are not built: \(error)"))
            }
        } catch {
            report(WatchReport(.notice, "Sources are not built, only libraries and settings are watched: \(error)"))
        }
    }

    // MARK: Looking

    private func hear() {
        let now = loop.nowMilliseconds
        let first = firstHeard ?? now
        firstHeard = first
        let left = first + Self.longestMilliseconds
        debounce?.start(afterMilliseconds: now >= left ? 0 : min(Self.quietMilliseconds, left - now))
    }

    /// Compares what is with what was.
    func look() {
        firstHeard = nil
        guard !isStopped else { return }
        guard !isLooking else {
            mustLookAgain = true
            return
        }
        isLooking = true
        let scope = scope
        loop.offload { scope.snapshot() } then: { [self] in didLook($0, scope) }
    }

    private func didLook(_ snapshot: WatchSnapshot, _ looked: WatchScope) {
        isLooking = false
        guard !isStopped else { return }
        guard looked == scope else { return look() }
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
        // What happened between the look and the watch is seen by another look.
        let isNew = folders?.watch(snapshot.folders) ?? false
        if isNew || mustLookAgain {
            mustLookAgain = false
            look()
        }
        if snapshot.isFull, !isFull {
            let most = "\(WatchScope.filesMax) files in \(WatchScope.foldersMax) folders"
            report(WatchReport(.notice, "There is more to watch than \(most), or folders in each other without end; the rest is not watched."))
        }
        isFull = snapshot.isFull
        // A folder that is away for a moment, as while branches change, comes back unheard.
        if snapshot.isIncomplete { retry?.start(afterMilliseconds: 1000) } else { retry?.stop() }
        if !changed.isEmpty { didChange(changed) }
    }

    private func didChange(_ paths: Set<String>) {
        if !paths.isDisjoint(with: scope.settings) { readSettings() }
        let names = configuration.plugins.map(\.name).filter { name in
            scope.plugins[name].map { plugin in paths.contains(where: plugin.owns) } ?? false
        }
        for name in names { halfWritten[name] = nil }
        if let current, names.contains(current) { line?.cancel() }
        waiting += names.filter { !waiting.contains($0) }
        goOn()
    }

    /// Works out anew what belongs to which plugin.
    ///
    /// - Parameter start: when the build began after which this is done.
    func renewScope(since start: timespec?, completion: @escaping () -> Void = {}) {
        let products = products
        guard let line, !products.isEmpty else {
            useScope([:], since: start)
            return completion()
        }
        line.origins(of: Array(products.values)) { [self] origins in
            useScope(products.compactMapValues { origins[$0] }, since: start)
            completion()
        }
    }

    private func useScope(_ origins: [String: ProductOrigins], since start: timespec?) {
        guard !isStopped else { return }
        var plugins: [String: WatchScope.Plugin] = [:]
        for plugin in configuration.plugins {
            switch plugin.source {
            case .library(let path): plugins[plugin.name] = WatchScope.Plugin(files: [path])
            case .product:
                guard let package = line?.package else { continue }
                // Until there is a plan, everything in the package may belong to it.
                let unknown = WatchScope.Plugin(files: ["\(package.directory)/Package.swift"], trees: ["\(package.directory)/Sources"])
                let planned = origins[plugin.name].map { WatchScope.Plugin(files: $0.files, trees: $0.trees) }
                plugins[plugin.name] = planned ?? scope.plugins[plugin.name] ?? unknown
            }
        }
        replacePlugins(plugins, since: start)
    }

    /// Watches these files from now on.
    ///
    /// - Parameter start: what is new among them and changed after this counts as changed; nil for what changes from now on.
    func replacePlugins(_ plugins: [String: WatchScope.Plugin], since start: timespec?) {
        let settings = configuration.environmentFiles.union([configuration.file])
        let renewed = WatchScope(plugins: plugins, settings: settings)
        guard renewed != scope else { return }
        scope = renewed
        scopeStart = start ?? scopeStart ?? FileStamp.now()
        look()
    }

    // MARK: One after the other

    func goOn() {
        guard !isStopped, current == nil, !waiting.isEmpty else { return }
        let name = waiting.removeFirst()
        guard let plugin = configuration.plugins.first(where: { $0.name == name }) else { return goOn() }
        current = name
        switch plugin.source {
        case .product(let product): build(name, product)
        case .library(let path): load(name, path)
        }
    }

    /// The plugin that was worked on is done with.
    func finish(_ name: String) {
        current = nil
        isFirst.remove(name)
        goOn()
    }
}
