import Files
public import Store
import Synchronization

/// Namespaces in a folder, each in a separate SQLite database: `NAME.sqlite`, readable by its owner only.
///
/// At any time, one process writes to a folder, and one `SQLiteWriter` to a namespace.
public final class SQLiteStorage: StorageEngine {
    /// The folder of the databases.
    public let directory: String
    private let settings: StoreSettings
    private let writers = Mutex(Writers())

    private struct Writers {
        var lock: FileLock?
        var names: Set<String> = []
    }

    private static let suffix = ".sqlite"

    /// The folder is created together with the first namespace.
    public init(directory: String, settings: StoreSettings = StoreSettings()) {
        self.directory = directory
        self.settings = settings
    }

    public func openWriter(namespace: String) throws(StoreError) -> any OrderedStore {
        let path = try path(namespace)
        let claim = try claim(namespace)
        return try SQLiteWriter(path: path, settings: settings, claim: claim)
    }

    public func openReader(namespace: String) throws(StoreError) -> sending any SnapshotStore {
        let path = try path(namespace)
        guard StoreFiles.isFile(path) else { throw StoreError(.notFound, "there is no namespace \(namespace)") }
        return try SQLiteReader(path: path, settings: settings)
    }

    public func namespaces() throws(StoreError) -> [String] {
        try StoreFiles.names(in: directory)
            .filter { $0.hasSuffix(SQLiteStorage.suffix) }
            .map { String($0.dropLast(SQLiteStorage.suffix.count)) }
            .filter(NamespaceName.isValid)
            .sorted()
    }

    public func exists(namespace: String) -> Bool {
        guard let path = try? path(namespace) else { return false }
        return StoreFiles.isFile(path)
    }

    public func deleteNamespace(_ namespace: String) throws(StoreError) {
        let path = try path(namespace)
        let claim = try claim(namespace)
        guard StoreFiles.isFile(path) else { return }
        do {
            // A log without its database would be used for the next database of this name, and a database that lost half of its log would be
            // damaged. Opening and closing it moves everything into the database, so that the log can be removed first.
            let writer = try SQLiteWriter(path: path, settings: settings, claim: claim)
            _ = try writer.checkpoint(.idle)
        } catch {
            guard error.kind == .corrupt else { throw error }
        }
        for file in ["\(path)-wal", "\(path)-shm", path] { try StoreFiles.remove(file) }
        try StoreFiles.sync(directory)
        withExtendedLifetime(claim) {}
    }

    /// Opening a database needs room, because the index of its log is created again.
    public var canReopen: Bool { StoreFiles.hasRoom(bytes: 1 << 20, in: directory) }

    /// Always true: a process that opens the folder after ``letGo()`` finds all committed data.
    public var canChangeHands: Bool { true }

    public func hold() throws(StoreError) {
        try writers.withLock { writers throws(StoreError) in
            if writers.lock == nil { writers.lock = try Self.lock(directory) }
        }
    }

    private static func lock(_ directory: String) throws(StoreError) -> FileLock {
        try StoreFiles.makeDirectory(directory)
        do throws(FileFailure) { return try FileLock("\(directory)/lock") } catch {
            guard !error.isBusy else { throw StoreError(.busy, "another process has the databases in \(directory) open") }
            throw StoreError(systemError: error.code, "lock \(directory)/lock")
        }
    }

    public func letGo() { writers.withLock { if $0.names.isEmpty { $0.lock = nil } } }

    private func path(_ namespace: String) throws(StoreError) -> String {
        try NamespaceName.check(namespace)
        return "\(directory)/\(namespace)\(SQLiteStorage.suffix)"
    }

    private func claim(_ namespace: String) throws(StoreError) -> WriterClaim {
        let lock = try writers.withLock { writers throws(StoreError) in
            let lock = if let lock = writers.lock { lock } else { try Self.lock(directory) }
            writers.lock = lock
            guard writers.names.insert(namespace).inserted else {
                throw StoreError(.busy, "the namespace \(namespace) has a writer already")
            }
            return lock
        }
        return WriterClaim { [weak self] in
            self?.release(namespace)
            // The folder stays locked as long as there is a writer, even after the storage is released.
            withExtendedLifetime(lock) {}
        }
    }

    private func release(_ namespace: String) {
        writers.withLock { _ = $0.names.remove(namespace) }
    }
}

/// Held by a writer. While it exists, its namespace has no other writer.
final class WriterClaim: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
