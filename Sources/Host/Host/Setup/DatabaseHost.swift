import Configuration
import Crypto
import EventLoop
import Files
import Glibc
import HearthBytes
import Logging
import RealtimeDatabase
import Rules
import Synchronization

/// The databases of the host, and the rules file, which is watched for changes. Belongs to the home loop.
final class DatabaseHost {
    let database: RealtimeDatabase
    private var settings: DatabaseSettings {
        didSet { rulesPath.value = settings.rules }
    }
    /// The path of the rules file, readable on all loops.
    let rulesPath: RulesPath
    private let loop: EventLoop
    private let log: Logger
    private var watcher: FileWatcher?
    private var timer: Timer?
    /// Existing databases that were not opened yet, because too many are open.
    private var unopened: ArraySlice<String> = []
    private lazy var openTimer = Timer(loop: loop) { [unowned self] in openFurther() }
    private lazy var idleTimer = Timer(loop: loop) { [unowned self] in database.closeIdle(on: loop) }
    private var isReading = false
    /// The hash of the rules file that all databases use; nil if one of them could not use it.
    private var mark: [UInt8]?
    private var isFailing = false
    /// The time after which rules are applied again that a database could not store, for example on a full disk.
    private static let retryMilliseconds: UInt64 = 2000
    /// The number of such databases to open at a time, and the interval, so that the host can do other work in between.
    private static let (openCount, openMilliseconds) = (8, UInt64(50))

    /// - Parameter didRaiseEvents: called, on any thread, when events wait in the outbox of a namespace.
    init(
        _ configuration: Configuration, directory: String, loop: EventLoop, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) {
        let settings = configuration.database
        self.settings = settings
        rulesPath = RulesPath(settings.rules)
        self.loop = loop
        self.log = log
        let storage: any StorageEngine =
            switch settings.storage {
            case .sqlite: SQLiteStorage(directory: directory)
            case .memory: MemoryStorage()
            }
        let file = settings.rules.flatMap { Self.read($0, settings, log) }
        mark = file?.mark
        database = RealtimeDatabase(
            storage: storage, defaultNamespace: settings.defaultNamespace,
            allowed: configuration.mode == .development ? nil : Set(settings.namespaces), rulesFile: file,
            limits: DatabaseLimits(settings, loops: configuration.server.loops),
            awaitsTriggers: true, log: log, didRaiseEvents: didRaiseEvents)
        watchRules()
        let idle = UInt64(settings.idleSeconds * 1000)
        idleTimer.start(afterMilliseconds: idle, repeatMilliseconds: idle)
    }

    // MARK: Opening

    /// Opens every existing database once, because of the events that may wait in it: first as many as may be open, then the others in place of
    /// idle ones.
    func openStored() {
        unopened = database.openStored()
        openLater()
    }

    /// Opens closed databases with waiting events, which announce them again for a delivery that has restarted.
    func openWaiting() {
        unopened += database.closedWithEvents
        openFurther()
    }

    private func openFurther() {
        unopened = database.open(unopened, atMost: Self.openCount)
        openLater()
    }

    private func openLater() {
        if !unopened.isEmpty { openTimer.start(afterMilliseconds: Self.openMilliseconds) }
    }

    // MARK: Stopping

    /// Stops watching the rules file and opening databases, because another process does this now.
    func stopWatching() {
        watcher = nil
        timer = nil
        openTimer.close()
        idleTimer.close()
    }

    /// Closes the databases, when no more requests are handled.
    func stop() {
        stopWatching()
        database.stop()
    }

    // MARK: Rules

    /// Uses the rules in another file. Without a file, the previous rules stay in force until the next start.
    func useRules(_ path: String?) {
        watcher = nil
        timer = nil
        settings.rules = path
        watchRules()
        if let path { reloadRules(path) } else { log.warning("database.rules was removed; the previous rules stay in force until the next start") }
    }

    private func watchRules() {
        guard let path = settings.rules else { return }
        // Waits until there are no more changes, because editors save in several steps.
        timer = Timer(loop: loop) { [unowned self] in reloadRules(path) }
        do throws(LoopError) {
            watcher = try FileWatcher(loop: loop, path: Folder.parent(of: path)) { [unowned self] name in
                guard name == nil || path.hasSuffix("/\(name ?? "")") || path == name else { return }
                timer?.start(afterMilliseconds: 100)
            }
        } catch {
            log.warning("the rules are not watched for changes", metadata: ["reason": "\(error)"])
        }
    }

    /// Reads and compiles the rules on another thread. One file at a time, so that the newest one is applied last.
    private func reloadRules(_ path: String) {
        guard !isReading else { return timer?.start(afterMilliseconds: 100) ?? () }
        isReading = true
        loop.offload { [settings, log] in DatabaseHost.read(path, settings, log) } then: { [self] in didRead($0, path) }
    }

    private func didRead(_ file: RulesFile?, _ path: String) {
        isReading = false
        // Uploaded rules stay in force until the content of the file changes.
        guard let file, timer != nil, path == settings.rules, file.mark != mark else { return }
        mark = nil
        database.useRulesFile(file, on: loop) { [weak self] error in self?.didUse(file, path, error) }
    }

    private func didUse(_ file: RulesFile, _ path: String, _ error: DatabaseError?) {
        guard let error else {
            mark = file.mark
            isFailing = false
            return log.notice("the database rules were reloaded", metadata: ["file": "\(path)"])
        }
        if !isFailing { log.error("the database rules could not be applied; trying again", metadata: ["reason": "\(error)"]) }
        isFailing = true
        timer?.start(afterMilliseconds: Self.retryMilliseconds)
    }

    /// Reads and compiles a rules file. Logs an error and returns nil if it cannot be used; then the previous rules stay in force.
    private static func read(_ path: String, _ settings: DatabaseSettings, _ log: Logger) -> RulesFile? {
        do throws(RulesFileFailure) {
            return try RulesFile(reading: path, settings)
        } catch {
            switch error {
            case .unreadable(let reason):
                log.error(
                    "the database rules cannot be read; the previous ones stay in force", metadata: ["file": "\(path)", "reason": "\(reason)"])
            case .wrong(let error):
                log.error("the database rules have an error; the previous ones stay in force", metadata: ["at": "\(path):\(error)"])
            }
            return nil
        }
    }
}

/// The reason why a rules file cannot be used.
enum RulesFileFailure: Error {
    case unreadable(String)
    case wrong(RulesError)
}

extension RulesFile {
    /// Reads and compiles a rules file.
    init(reading path: String, _ settings: DatabaseSettings) throws(RulesFileFailure) {
        let source: [UInt8]
        do throws(FileFailure) {
            source = try WholeFile.read(path, sizeBytesMax: settings.limits.rulesBytes)
        } catch {
            throw .unreadable(error.reason)
        }
        do throws(RulesError) {
            self.init(rules: try RuleSet(parsing: source, limits: DatabaseLimits(settings).rules), mark: Array(SHA256.hash(data: source)))
        } catch {
            throw .wrong(error)
        }
    }
}

/// The path of the rules file; nil if `functions.json` names none. Readable on all loops.
final class RulesPath: Sendable {
    private let path: Mutex<String?>

    init(_ path: String?) { self.path = Mutex(path) }

    var value: String? {
        get { path.withLock { $0 } }
        set { path.withLock { $0 = newValue } }
    }
}

extension DatabaseLimits {
    /// - Parameter loops: the number of the host's loops.
    init(_ settings: DatabaseSettings, loops: Int = 1) {
        self.init()
        writeBytesMax = settings.limits.writeBytes
        readBytesMax = settings.limits.readBytes
        rules.documentBytesMax = settings.limits.rulesBytes
        readersMax = settings.readers ?? min(Processors.available, 8)
        streamsMax = settings.limits.streams
        streamsPerNamespaceMax = settings.limits.streamsPerNamespace
        bodyBytesInFlightMax = settings.limits.uploadBytes
        // If there are few descriptors, fewer databases may be open.
        let files = DescriptorLimit.current
        namespacesMax = min(settings.limits.openNamespaces, max(files / (2 * Self.descriptors(readers: readersMax, loops: loops)), 2))
        longReadsMax = min(settings.limits.longReads, max(files / 16, 4))
        longReadsPerClientMax = settings.limits.longReadsPerClient
        readSeconds = settings.limits.readSeconds
        logBytesMax = settings.limits.logBytes
        viewBytesMax = settings.limits.viewBytes
        triggers = TriggerLimits(
            functionsMax: settings.triggers.functionsPerWrite, eventBytesMax: settings.triggers.eventBytes, isStrict: settings.triggers.isStrict)
    }

    /// The descriptors of a namespace that is read much: 13 with one reader, 6 for each further one, quick or slow, and 3 for each loop.
    private static func descriptors(readers: Int, loops: Int) -> Int { 13 + 6 * (2 * readers - 1) + 3 * loops }
}
