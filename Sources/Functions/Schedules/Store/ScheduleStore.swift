import EventDelivery
import RealtimeDatabase
import SQLite
import Store
import Tree

/// The stored state of a schedule.
struct ScheduleRow: Sendable, Equatable {
    /// The function's name.
    var name: String
    /// Schedule and time zone. Due times before a change of it do not count.
    var declaration: String
    /// The second from which due times count.
    var since: Int64
    /// The last due time that was begun or skipped, in seconds since 1970.
    var due: Int64?
    /// The end of the last run, in milliseconds since 1970.
    var ended: Int64?
    /// The error of the last run; nil after a success.
    var error: String?
    var isPaused = false
    /// Whether the run of ``due`` is not settled.
    var isOpen = false
}

/// A run that is due: the function and the second.
struct DueRun: Sendable, Hashable {
    var name: String
    var due: Int64

    /// The id of its event, the same in every attempt.
    var eventID: String { "\(name)-\(due)" }
}

/// The end of a run.
struct RunEnd: Sendable {
    var name: String
    /// In milliseconds since 1970.
    var time: Int64
    var error: String?
}

/// The open store of schedules. Belongs to the writer's thread.
package final class ScheduleStore: OutboxContent {
    private let file: StoreFile
    private let connection: Connection
    private let tables: SQLiteWriter
    /// The runs that are begun and not settled.
    package private(set) var outbox: Outbox
    /// The connection's total of changed rows before this turn's transaction.
    private var changesBefore = 0

    init(path: String) throws(StoreError) {
        file = try StoreFile(path, .schedules, StoreSettings(), claim: try StoreFile.lock(path, of: "schedules"))
        connection = file.connection
        tables = SQLiteWriter(sharing: file)
        outbox = try Outbox(tables, namespace: Outbox.schedules)
        noteState()
    }

    package func renew() throws(StoreError) { outbox = try Outbox(tables, namespace: Outbox.schedules) }

    package var transactions: any TransactionalStore { file }

    package var hasChanges: Bool { connection.totalChanges != changesBefore }

    package func noteState() { changesBefore = connection.totalChanges }

    @discardableResult
    private func run(_ sql: String, _ values: Value...) throws(StoreError) -> Int {
        do throws(SQLiteError) { return try connection.run(sql, values: values) } catch { throw StoreError(error) }
    }

    // MARK: Schedules

    /// All schedules, also of functions that do not run now.
    func rows() throws(StoreError) -> [ScheduleRow] {
        var rows: [ScheduleRow]
        do throws(SQLiteError) {
            rows = try connection.rows("SELECT name, declaration, since, due, ended, error, paused FROM schedule ORDER BY name", values: []) { row in
                ScheduleRow(
                    name: row.text(at: 0), declaration: row.text(at: 1), since: row.integer(at: 2),
                    due: row.value(at: 3) == .null ? nil : row.integer(at: 3), ended: row.value(at: 4) == .null ? nil : row.integer(at: 4),
                    error: row.value(at: 5) == .null ? nil : row.text(at: 5), isPaused: row.integer(at: 6) != 0)
            }
        } catch {
            throw StoreError(error)
        }
        guard let pending = try outbox.pending() else { return rows }
        for index in rows.indices where pending.newest[rows[index].name] != nil {
            guard let due = rows[index].due else { continue }
            let id = DueRun(name: rows[index].name, due: due).eventID
            rows[index].isOpen = try hasEvent(id, of: rows[index].name)
        }
        return rows
    }

    /// Whether a run is not settled. A function has few events: runs by hand and replayed ones besides the due one.
    private func hasEvent(_ id: String, of function: String) throws(StoreError) -> Bool {
        var after: UInt64 = 0
        while true {
            let page = try outbox.page(of: function, after: after, limit: 100, bytesMax: 1 << 20)
            if page.events.contains(where: { $0.id == id }) { return true }
            guard page.hasMore else { return false }
            after = page.through
        }
    }

    /// Adds a schedule, or changes its declaration: then due times count from `since` on.
    func declare(_ name: String, _ declaration: String, since: Int64) throws(StoreError) {
        try run(
            """
            INSERT INTO schedule(name, declaration, since, paused) VALUES (?1, ?2, ?3, 0)
            ON CONFLICT DO UPDATE SET declaration = excluded.declaration, since = excluded.since WHERE declaration <> excluded.declaration
            """, .text(name), .text(declaration), .integer(since))
    }

    /// Removes a schedule whose function was deleted.
    func remove(_ name: String) throws(StoreError) { try run("DELETE FROM schedule WHERE name = ?1", .text(name)) }

    func pause(_ name: String) throws(StoreError) { try run("UPDATE schedule SET paused = 1 WHERE name = ?1", .text(name)) }

    /// Resumes a schedule. Due times count from `since` on.
    func resume(_ name: String, since: Int64) throws(StoreError) {
        try run("UPDATE schedule SET paused = 0, since = ?2 WHERE name = ?1", .text(name), .integer(since))
    }

    // MARK: Runs

    /// Begins a run of each due time, unless it has begun before.
    ///
    /// - Returns: the ones that begin.
    func begin(_ runs: [DueRun], now: Int64) throws(StoreError) -> Set<DueRun> {
        var begun: Set<DueRun> = []
        for run in runs where try skip(run) {
            try outbox.append(Self.event(id: run.eventID, of: run.name, time: run.due * 1000, now: now))
            begun.insert(run)
        }
        return begun
    }

    /// Notes a due time for which the function does not run.
    ///
    /// - Returns: whether it was the first time that this due time, or a later one, was noted.
    @discardableResult
    func skip(_ due: DueRun) throws(StoreError) -> Bool {
        try run(
            "UPDATE schedule SET due = ?2 WHERE name = ?1 AND (due IS NULL OR due < ?2)", .text(due.name), .integer(due.due)) > 0
    }

    /// Begins a run that an administrator asks for.
    func begin(byHand id: String, of name: String, now: Int64) throws(StoreError) {
        try outbox.append(Self.event(id: id, of: name, time: now, now: now))
    }

    func end(_ end: RunEnd) throws(StoreError) {
        try run(
            "UPDATE schedule SET ended = ?2, error = ?3 WHERE name = ?1", .text(end.name), .integer(end.time),
            end.error.map { .text($0) } ?? .null)
    }

    private static func event(id: String, of name: String, time: Int64, now: Int64) -> OutboxEvent {
        var event = OutboxEvent(
            byHand: id, namespace: Outbox.schedules, function: name, kind: .scheduled, path: Path([name]), params: [],
            payload: Array("{}".utf8), time: time, origin: EventOrigin(.unknown))
        event.progress = DeliveryProgress(since: now)
        return event
    }
}
