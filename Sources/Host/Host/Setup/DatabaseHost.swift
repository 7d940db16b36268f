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

/// The databases of the host, with the rules of the configured file kept current. Belongs to the home loop.
final class DatabaseHost {
    let database: RealtimeDatabase
    private var settings: DatabaseSettings {
        didSet { rulesPath.value = settings.rules }
    }
    /// For every loop.
    let rulesPath: RulesPath
    private let loop: EventLoop
    private let log: Logger
    private var watcher: FileWatcher?
    private var timer: Timer?
    /// Databases of an earlier run that there was no room for yet.
    private var unopened: ArraySlice<String> = []
    private lazy var openTimer = Timer(loop: loop) { [unowned self] in openFurther() }
    private lazy var idleTimer = Timer(loop: loop) { [unowned self] in database.closeIdle(on: loop) }
    private var isReading = false
    /// The mark of the file whose rules every database was given; nil where one of them did not take them.
    private var mark: [UInt8]?
    private var isFailing = false
    /// Rules that a database does not take, for want of room on the disk, are given to it again after so long.
    private static let retryMilliseconds: UInt64 = 2000
    /// Of databases that there was no room for, a few are opened at a time: the host has other things to do.
    private static let (openCount, openMilliseconds) = (8, UInt64(50))

    /// - Parameter didRaiseEvents: told, on any thread, of events that wait in a namespace's outbox.
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
            allowed: configuration.mode == .development ? nil : Set(settings.namespaces), rulesFile: file, limits: DatabaseLimits(settings),
            awaitsTriggers: true, log: log, didRaiseEvents: didRaiseEvents)
        watchRules()
        let idle = UInt64(settings.idleSeconds * 1000)
        idleTimer.start(afterMilliseconds: idle, repeatMilliseconds: idle)
    }

    // MARK: Opening

    /// Opens every database that there is once, for the events that wait in it: as many as can be open now, the others one after another
    /// in the places of those that are idle.
    func openStored() {
        unopened = database.openStored()
        openLater()
    }

    /// Opens those that are closed and have events, which are told of again: who delivers them has begun anew.
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

    // MARK: The end

    /// The rules' file and the databases are somebody else's business from now on.
    func stopWatching() {
        watcher = nil
        timer = nil
        openTimer.close()
        idleTimer.close()
    }

    /// Lets go of the files, once nobody asks any more.
    func stop() {
        stopWatching()
        database.stop()
    }

    // MARK: Rules

    /// Takes the rules from another file from now on; without one, those of the last stay in force until the next start.
    func useRules(_ path: String?) {
        watcher = nil
        timer = nil
        settings.rules = path
        watchRules()
        if let path { reloadRules(path) } else { log.warning("database.rules was removed; the previous rules stay in force until the next start") }
    }

    private func watchRules() {
        guard let path = settings.rules else { return }
        // An editor saves in several steps: wait until it is quiet.
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

    /// Reads and compiles beside the loop, one file at a time, so that the newest one is the last.
    private func reloadRules(_ path: String) {
        guard !isReading else { return timer?.start(afterMilliseconds: 100) ?? () }
        isReading = true
        loop.offload { [settings, log] in DatabaseHost.read(path, settings, log) } then: { [self] in didRead($0, path) }
    }

    private func didRead(_ file: RulesFile?, _ path: String) {
        isReading = false
        // Rules that were uploaded stay until the file is another one, also when it was only touched.
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

    /// The rules in a file; nil, after a line in the log, where they cannot be used: then those before stay in force.
    private static func read(_ path: String, _ settings: DatabaseSettings, _ log: Logger) -> RulesFile? {
        let source: [UInt8]
        do throws(FileFailure) {
            source = try WholeFile.read(path, sizeBytesMax: settings.limits.rulesBytes)
        } catch {
            log.error(
                "the database rules cannot be read; the previous ones stay in force",
                metadata: ["file": "\(path)", "reason": "\(error.reason)"])
            return nil
        }
        do throws(RulesError) {
            let rules = try RuleSet(parsing: source, limits: DatabaseLimits(settings).rules)
            return RulesFile(rules: rules, mark: Array(SHA256.hash(data: source)))
        } catch {
            log.error("the database rules have an error; the previous ones stay in force", metadata: ["at": "\(path):\(error)"])
            return nil
        }
    }
}

/// The path of the file that the rules come from; nil where `functions.json` names none. Read on every loop.
final class RulesPath: Sendable {
    private let path: Mutex<String?>

    init(_ path: String?) { self.path = Mutex(path) }

    var value: String? {
        get { path.withLock { $0 } }
        set { path.withLock { $0 = newValue } }
    }
}

extension DatabaseLimits {
    init(_ settings: DatabaseSettings) {
        self.init()
        writeBytesMax = settings.limits.writeBytes
        readBytesMax = settings.limits.readBytes
        rules.documentBytesMax = settings.limits.rulesBytes
        streamsMax = settings.limits.streams
        bodyBytesInFlightMax = settings.limits.uploadBytes
        // Where there are few descriptors, those that are left for databases must do for all that may be open.
        let files = DescriptorLimit.current
        namespacesMax = min(settings.limits.openNamespaces, max(files / 64, 2))
        longReadsMax = min(settings.limits.longReads, max(files / 16, 4))
        longReadsPerClientMax = settings.limits.longReadsPerClient
        readSeconds = settings.limits.readSeconds
        logBytesMax = settings.limits.logBytes
        triggers = TriggerLimits(
            functionsMax: settings.triggers.functionsPerWrite, eventBytesMax: settings.triggers.eventBytes, isStrict: settings.triggers.isStrict)
    }
}
