import EventLoop
import Files
import Glibc
import HearthJSON
import SQLite

/// The store's statements. Belongs to the thread of its writer.
final class MessagingStore {
    let connection: Connection
    /// No other process writes meanwhile; nil in memory.
    private let lock: FileLock?
    private let beginning: Statement
    private let committing: Statement
    /// How many devices there are, where that is known.
    private var counted: Int?
    /// At most so many of them are new, where that is known.
    private var newCounted: Int?
    var figures: StoreFigures
    /// What `figures` said of waiting messages when the transaction began.
    private var pendingBefore = 0
    /// So many pages are in the log before they are moved.
    private var checkpointPages = 1024
    private var checkpointAfter: UInt64 = 0

    /// - Parameter figures: what was counted when the store was open before.
    init(path: String, figures: StoreFigures) throws(StoreOpenError) {
        self.figures = figures
        let isFile = path != ":memory:"
        do throws(FileFailure) {
            lock = isFile ? try FileLock("\(path).lock") : nil
        } catch {
            throw StoreOpenError(
                error.isBusy ? "another process has the messages of this data directory open; stop it first" : "\(path).lock \(error)")
        }
        if isFile { Self.makeFile(path) }
        connection = try StoreSchema.open(path)
        do throws(SQLiteError) {
            beginning = try connection.prepare("BEGIN IMMEDIATE")
            committing = try connection.prepare("COMMIT")
            if case .integer(let count)? = try connection.value("SELECT count(*) FROM pending") { self.figures.pendingMessages = Int(count) }
        } catch {
            throw StoreOpenError("\(path) cannot be used: \(error)")
        }
    }

    /// Makes an empty file for its owner only, and does nothing where there is one: SQLite would let everybody read it.
    private static func makeFile(_ path: String) {
        // One that is there is not opened: to close it would end SQLite's own locks.
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    // MARK: Transactions

    func begin() throws(SQLiteError) {
        try beginning.run()
        pendingBefore = figures.pendingMessages
    }

    func commit() throws(SQLiteError) {
        let start = figures.hasSends ? EventLoop.monotonicNanoseconds() : 0
        do throws(SQLiteError) {
            try committing.run()
        } catch {
            connection.undo(error)
            throw error
        }
        figures.didCommit(nanoseconds: figures.hasSends ? EventLoop.monotonicNanoseconds() - start : 0)
    }

    func rollback() {
        // Some failures have ended it by themselves.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        forgetCounts()
        figures.pendingMessages = pendingBefore
        figures.didFail()
    }

    /// Keeps the write-ahead log short. Nobody reads meanwhile, and sends wait: each time is measured, and the next comes sooner or later.
    ///
    /// Messages for many devices change the same pages again and again: the more commits share a checkpoint, the less is written.
    ///
    /// - Parameter isDue: whether it is time for it however short the log is.
    func checkpoint(isDue: Bool = false) throws(SQLiteError) {
        let start = EventLoop.monotonicNanoseconds()
        guard isDue || connection.logPages >= checkpointPages, start >= checkpointAfter else { return }
        // A disk that is full is not asked again at once.
        checkpointAfter = start + 1_000_000_000
        _ = try connection.checkpoint()
        checkpointAfter = 0
        let milliseconds = (EventLoop.monotonicNanoseconds() - start) / 1_000_000
        if milliseconds > Self.goodMilliseconds.upperBound {
            checkpointPages = max(checkpointPages * 2 / 3, Self.checkpointPagesMin)
        } else if milliseconds < Self.goodMilliseconds.lowerBound {
            checkpointPages = min(checkpointPages * 5 / 4, StoreSchema.logPagesMax)
        }
    }

    private static let goodMilliseconds: ClosedRange<UInt64> = 4...8
    private static let checkpointPagesMin = 512

    // MARK: Devices

    private static let deviceColumns =
        "id, project, fid, token, platform, package, name, address, created, seen, uninstalled, overflowed"

    private static func device(_ row: Statement) -> Device {
        // Most devices have none, and a message to many reads many devices.
        let address = row.bytes(at: 7).count > 2 ? (try? JSONValue(parsing: row.text(at: 7)))?.object : nil
        return Device(
            id: row.integer(at: 0), project: row.text(at: 1), fid: row.text(at: 2), token: row.text(at: 3),
            platform: DevicePlatform(rawValue: row.text(at: 4)) ?? .android, package: row.text(at: 5), name: row.text(at: 6),
            address: address ?? JSONObject(), created: row.integer(at: 8), seen: row.integer(at: 9),
            isUninstalled: row.integer(at: 10) != 0, overflowed: row.integer(at: 11))
    }

    private static let deviceByID = "SELECT \(deviceColumns) FROM device WHERE id = ?1"
    private static let deviceByToken = "SELECT \(deviceColumns) FROM device WHERE token = ?1"
    private static let deviceByFid = "SELECT \(deviceColumns) FROM device WHERE fid = ?1"

    private func device(_ sql: String, _ value: Value) throws(SQLiteError) -> Device? {
        try connection.with(sql) { row throws(SQLiteError) -> Device? in
            row.bind(value, at: 1)
            return try row.step() ? Self.device(row) : nil
        }
    }

    func device(id: Int64) throws(SQLiteError) -> Device? { try device(Self.deviceByID, .integer(id)) }
    func device(token: String) throws(SQLiteError) -> Device? { try device(Self.deviceByToken, .text(token)) }
    func device(fid: String) throws(SQLiteError) -> Device? { try device(Self.deviceByFid, .text(fid)) }

    /// By token or installation id, whichever the text looks like.
    func device(registration: String) throws(SQLiteError) -> Device? {
        registration.contains(":") ? try device(token: registration) : try device(fid: registration)
    }

    func devices(project: String, after id: Int64, limit: Int) throws(SQLiteError) -> [Device] {
        let sql = "SELECT \(Self.deviceColumns) FROM device WHERE id > ?2 AND project = ?1 ORDER BY id LIMIT ?3"
        return try connection.with(sql) { row throws(SQLiteError) -> [Device] in
            row.bind([.text(project), .integer(id), .integer(Int64(limit))])
            var found: [Device] = []
            while try row.step() { found.append(Self.device(row)) }
            return found
        }
    }

    /// How many there are.
    func deviceCount() throws(SQLiteError) -> Int {
        if let counted { return counted }
        guard case .integer(let count)? = try connection.value("SELECT count(*) FROM device") else { return 0 }
        counted = Int(count)
        return Int(count)
    }

    /// How many have not come back since they were registered; exact only from `limit` on.
    func newDeviceCount(upTo limit: Int) throws(SQLiteError) -> Int {
        // It is counted anew when what was added since then may have reached the limit: devices that came back were not taken off.
        if let newCounted, newCounted < limit { return newCounted }
        guard case .integer(let count)? = try connection.value("SELECT count(*) FROM device WHERE seen = created") else { return 0 }
        newCounted = Int(count)
        return Int(count)
    }

    /// Those of them that were registered first.
    func oldestNewDevices(limit: Int) throws(SQLiteError) -> [Device] {
        let sql = "SELECT \(Self.deviceColumns) FROM device WHERE seen = created ORDER BY created LIMIT ?1"
        return try connection.with(sql) { row throws(SQLiteError) -> [Device] in
            row.bind(Int64(limit), at: 1)
            var found: [Device] = []
            while try row.step() { found.append(Self.device(row)) }
            return found
        }
    }

    func forgetCounts() {
        counted = nil
        newCounted = nil
    }

    /// Adds a device, or replaces what is known of it; its id is 0 where it is new.
    func put(_ device: Device) throws(SQLiteError) -> Int64 {
        let id: Value = device.id == 0 ? .null : .integer(device.id)
        try connection.run(
            "INSERT OR REPLACE INTO device(\(Self.deviceColumns)) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)", id,
            .text(device.project), .text(device.fid), .text(device.token), .text(device.platform.rawValue), .text(device.package),
            .text(device.name), .text("\(JSONValue.object(device.address))"), .integer(device.created), .integer(device.seen),
            .integer(device.isUninstalled ? 1 : 0), .integer(device.overflowed))
        guard device.id == 0 else { return device.id }
        counted = counted.map { $0 + 1 }
        if device.isNew { newCounted = newCounted.map { $0 + 1 } }
        guard case .integer(let made)? = try connection.value("SELECT last_insert_rowid()") else { return 0 }
        return made
    }

    /// The device has come back.
    func setSeen(_ id: Int64, _ now: Int64) throws(SQLiteError) {
        try connection.run("UPDATE device SET seen = max(?2, created + 1) WHERE id = ?1", .integer(id), .integer(now))
    }

    /// A sender knows the device: it does not go before others because it has not come back.
    func confirm(_ device: Device) throws(SQLiteError) {
        guard device.isNew else { return }
        try connection.run("UPDATE device SET seen = created + 1 WHERE id = ?1 AND seen = created", .integer(device.id))
    }

    func setOverflowed(_ id: Int64, _ time: Int64) throws(SQLiteError) {
        try connection.run("UPDATE device SET overflowed = ?2 WHERE id = ?1", .integer(id), .integer(time))
    }

    /// Forgets a device with its subscriptions; what waits for it has been taken away before.
    func remove(_ device: Device) throws(SQLiteError) {
        let topics = "id IN (SELECT topic FROM subscription WHERE device = ?1)"
        try connection.run("UPDATE topic SET subscribers = subscribers - 1 WHERE \(topics)", .integer(device.id))
        try connection.run("DELETE FROM topic WHERE \(topics) AND subscribers <= 0", .integer(device.id))
        try connection.run("DELETE FROM subscription WHERE device = ?1", .integer(device.id))
        try connection.run("DELETE FROM device WHERE id = ?1", .integer(device.id))
        counted = counted.map { $0 - 1 }
        if device.isNew { newCounted = newCounted.map { max(0, $0 - 1) } }
    }

    /// Devices that were not heard of since `time`, oldest first.
    func devices(unseenSince time: Int64, limit: Int) throws(SQLiteError) -> [Device] {
        let sql = "SELECT \(Self.deviceColumns) FROM device WHERE seen <= ?1 ORDER BY seen LIMIT ?2"
        return try connection.with(sql) { row throws(SQLiteError) -> [Device] in
            row.bind([.integer(time), .integer(Int64(limit))])
            var found: [Device] = []
            while try row.step() { found.append(Self.device(row)) }
            return found
        }
    }
}
