import HearthJSON
import SQLite
import Store

/// The statements of the store. Belongs to the writer's thread.
final class MessagingStore: StoreContent {
    private let file: StoreFile
    let connection: Connection
    /// The number of devices, if known.
    private var counted: Int?
    /// An upper bound of the number of new devices, if known.
    private var newCounted: Int?
    var figures: StoreFigures
    /// The number of waiting messages in `figures` before this turn's transaction.
    private var pendingBefore = 0
    /// The connection's total of changed rows before this turn's transaction.
    private var changesBefore = 0

    /// - Parameter figures: the metrics of an earlier opening of the store.
    init(path: String, figures: StoreFigures) throws(StoreError) {
        self.figures = figures
        var settings = StoreSettings()
        // Messages for many devices change the same pages repeatedly.
        settings.pace = .thorough
        file = try StoreFile(path, .messaging, settings, claim: try StoreFile.lock(path, of: "messages"))
        connection = file.connection
        do throws(SQLiteError) {
            if case .integer(let count)? = try connection.value("SELECT count(*) FROM pending") { self.figures.pendingMessages = Int(count) }
        } catch {
            throw StoreError(error)
        }
        noteState()
    }

    // MARK: Transactions

    var transactions: any TransactionalStore { file }

    /// Whether this turn's transaction has changed any row.
    var hasChanges: Bool { connection.totalChanges != changesBefore }

    /// Counts a durable transaction, with the duration of its commit.
    func didCommit(nanoseconds: UInt64) {
        figures.didCommit(nanoseconds: nanoseconds)
        noteState()
    }

    func didRollBack() {
        forgetCounts()
        figures.pendingMessages = pendingBefore
        figures.didFail()
        noteState()
    }

    private func noteState() {
        pendingBefore = figures.pendingMessages
        changesBefore = connection.totalChanges
    }

    // MARK: Devices

    private static let deviceColumns =
        "id, project, fid, token, platform, package, name, address, created, seen, uninstalled, overflowed"

    private static func device(_ row: Statement) -> Device {
        // Most devices have no address, and a message to many devices reads many of them.
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

    /// Finds a device by its token or installation id, depending on the form of the text.
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

    /// The number of devices.
    func deviceCount() throws(SQLiteError) -> Int {
        if let counted { return counted }
        guard case .integer(let count)? = try connection.value("SELECT count(*) FROM device") else { return 0 }
        counted = Int(count)
        return Int(count)
    }

    /// The number of devices that have not connected again since they were registered. Exact only if it is at least `limit`.
    func newDeviceCount(upTo limit: Int) throws(SQLiteError) -> Int {
        // The bound grows with each added device, and is not reduced when one connects again. The devices are counted anew when it reaches the limit.
        if let newCounted, newCounted < limit { return newCounted }
        guard case .integer(let count)? = try connection.value("SELECT count(*) FROM device WHERE seen = created") else { return 0 }
        newCounted = Int(count)
        return Int(count)
    }

    /// The new devices that were registered first.
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

    /// Adds or replaces a device. Its id is 0 if it is new.
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

    /// Sets the time of the device's last contact.
    func setSeen(_ id: Int64, _ now: Int64) throws(SQLiteError) {
        try connection.run("UPDATE device SET seen = max(?2, created + 1) WHERE id = ?1", .integer(id), .integer(now))
    }

    /// Notes that a sender has named the device, so that it is no longer among the new ones, which are deleted first.
    func confirm(_ device: Device) throws(SQLiteError) {
        guard device.isNew else { return }
        try connection.run("UPDATE device SET seen = created + 1 WHERE id = ?1 AND seen = created", .integer(device.id))
    }

    func setOverflowed(_ id: Int64, _ time: Int64) throws(SQLiteError) {
        try connection.run("UPDATE device SET overflowed = ?2 WHERE id = ?1", .integer(id), .integer(time))
    }

    /// Deletes a device with its subscriptions. Its waiting messages must have been removed before.
    func remove(_ device: Device) throws(SQLiteError) {
        let topics = "id IN (SELECT topic FROM subscription WHERE device = ?1)"
        try connection.run("UPDATE topic SET subscribers = subscribers - 1 WHERE \(topics)", .integer(device.id))
        try connection.run("DELETE FROM topic WHERE \(topics) AND subscribers <= 0", .integer(device.id))
        try connection.run("DELETE FROM subscription WHERE device = ?1", .integer(device.id))
        try connection.run("DELETE FROM device WHERE id = ?1", .integer(device.id))
        counted = counted.map { $0 - 1 }
        if device.isNew { newCounted = newCounted.map { max(0, $0 - 1) } }
    }

    /// The devices without contact since `time`, oldest first.
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
