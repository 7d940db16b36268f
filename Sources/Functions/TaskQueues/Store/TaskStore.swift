import EventDelivery
import RealtimeDatabase
import SQLite
import Store

/// The open store of tasks. Belongs to the writer's thread.
package final class TaskStore: OutboxContent {
    private let file: StoreFile
    private let connection: Connection
    private let tables: SQLiteWriter
    /// The tasks that are due and not settled.
    package private(set) var outbox: Outbox
    private let limits: TaskLimits
    /// Milliseconds since 1970.
    let clock: () -> Int64
    /// The queues in numbers, and those whose numbers are not stored yet.
    private(set) var queues: [String: QueueCounts] = [:]
    private var changed: Set<String> = []
    /// When the next task is due; nil if that is not known.
    private var nextDue: Int64?
    /// The connection's total of changed rows before this turn's transaction.
    private var changesBefore = 0

    /// How long a name stays in use after the end of its task.
    static let nameMilliseconds: Int64 = 3_600_000
    /// The most tasks that become due in one transaction.
    static let releasedMax = 500
    /// The most ended names that are forgotten in one transaction.
    private static let forgottenMax = 100

    init(path: String, limits: TaskLimits, clock: @escaping () -> Int64) throws(StoreError) {
        file = try StoreFile(path, .tasks, StoreSettings(), claim: try StoreFile.lock(path, of: "tasks"))
        connection = file.connection
        tables = SQLiteWriter(sharing: file)
        self.limits = limits
        self.clock = clock
        outbox = try Outbox(tables, namespace: Outbox.tasks)
        try readState()
    }

    package func renew() throws(StoreError) {
        outbox = try Outbox(tables, namespace: Outbox.tasks)
        try readState()
    }

    private func readState() throws(StoreError) {
        outbox.keeper = self
        queues = [:]
        changed = []
        nextDue = nil
        for (name, counts) in try rows("SELECT name, paused, count, bytes FROM queue", [], { row in
            (row.text(at: 0), QueueCounts(isPaused: row.integer(at: 1) != 0, count: Int(row.integer(at: 2)), bytes: Int(row.integer(at: 3))))
        }) {
            queues[name] = counts
        }
        noteState()
    }

    package var transactions: any TransactionalStore { file }

    package var hasChanges: Bool { connection.totalChanges != changesBefore || !changed.isEmpty }

    package func noteState() { changesBefore = connection.totalChanges }

    package func willCommit() throws(StoreError) {
        for name in changed {
            guard let counts = queues[name] else { continue }
            try run(
                """
                INSERT INTO queue(name, paused, count, bytes) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT DO UPDATE SET paused = excluded.paused, count = excluded.count, bytes = excluded.bytes
                """, .text(name), .integer(counts.isPaused ? 1 : 0), .integer(Int64(counts.count)), .integer(Int64(counts.bytes)))
        }
        changed = []
        try outbox.willCommit()
    }

    @discardableResult
    func run(_ sql: String, _ values: Value...) throws(StoreError) -> Int {
        do throws(SQLiteError) { return try connection.run(sql, values: values) } catch { throw StoreError(error) }
    }

    func rows<Row>(_ sql: String, _ values: [Value], _ read: (Statement) -> Row?) throws(StoreError) -> [Row] {
        do throws(SQLiteError) { return try connection.rows(sql, values: values, read) } catch { throw StoreError(error) }
    }

    // MARK: Queues

    private func change(_ queue: String, _ body: (inout QueueCounts) -> Void) {
        body(&queues[queue, default: QueueCounts()])
        changed.insert(queue)
    }

    func setPaused(_ isPaused: Bool, _ queue: String) { change(queue) { $0.isPaused = isPaused } }

    /// Makes the tasks of a deleted function due, so that they become dead letters, and forgets its queue if it is empty.
    func retire(_ queue: String) throws(StoreError) {
        try run("UPDATE later SET due = 0 WHERE queue = ?1", .text(queue))
        nextDue = 0
        change(queue) { $0.isPaused = false }
        guard queues[queue]?.count == 0 else { return }
        queues[queue] = nil
        try run("DELETE FROM queue WHERE name = ?1", .text(queue))
    }

    /// Deletes all tasks of a queue. Those that run may end, and are not repeated.
    ///
    /// - Returns: their number, and the sequence up to which the tasks were deleted.
    func purge(_ queue: String) throws(StoreError) -> (count: Int, through: UInt64) {
        let through = try outbox.takeSequence()
        let count = try outbox.removeAll(of: queue) + run("DELETE FROM later WHERE queue = ?1", .text(queue))
        try run("DELETE FROM name WHERE queue = ?1 AND given = 0", .text(queue))
        try run("UPDATE name SET ended = ?2, sequence = 0 WHERE queue = ?1 AND ended IS NULL", .text(queue), .integer(clock()))
        change(queue) { ($0.count, $0.bytes) = (0, 0) }
        return (count, through)
    }

    // MARK: Tasks

    func enqueue(_ task: NewTask) throws(StoreError) -> Result<EnqueuedTask, TaskRefusal> {
        let now = clock()
        let counts = queues[task.queue] ?? QueueCounts()
        guard counts.count < limits.tasksMax, counts.bytes + task.size <= limits.bytesMax else { return .failure(.full) }
        if let id = task.id, let ended = try ending(ofName: id, in: task.queue) {
            // A time far ahead means that the clock was set back.
            guard let time = ended.time, abs(now - time) >= Self.nameMilliseconds else { return .failure(.exists) }
            try run("DELETE FROM name WHERE queue = ?1 AND id = ?2", .text(task.queue), .text(id))
        }
        // Faster than names are added, so that a busy queue does not keep old ones.
        if task.id != nil { try forgetNames(2) }
        let id = task.id ?? outbox.nextID()
        let due = task.due ?? now
        var event = OutboxEvent(task, id: id, due: due)
        event.progress = DeliveryProgress(since: max(now, due))
        if due > now {
            event.sequence = try outbox.takeSequence()
            let row = event.stored
            try keep(row, of: event.key, due: due)
            try setName(id, of: event.key, isGiven: task.id != nil)
            didAppend(event.key, size: row.count)
        } else {
            event.sequence = try outbox.append(event)
            if task.id != nil { try setName(id, of: event.key, isGiven: true) }
        }
        return .success(EnqueuedTask(id: id, due: due))
    }

    /// Deletes a task. If it runs, it may end, and is not repeated.
    ///
    /// - Returns: false if there is no such task.
    func delete(_ id: String, of queue: String) throws(StoreError) -> Bool {
        guard let sequence = try sequence(of: id, in: queue) else { return false }
        let key = EventKey(function: queue, sequence: sequence)
        if let row = try storedRow(sequence) {
            try run("DELETE FROM later WHERE sequence = ?1", .integer(Int64(sequence)))
            try willRemove(key, size: row.count)
            return true
        }
        guard try outbox.event(key) != nil else { return false }
        try outbox.acknowledge(key)
        return true
    }

    /// Makes a task due whose time has not come.
    ///
    /// - Returns: false if there is no such task. One that is due already stays as it is.
    func hasten(_ id: String, of queue: String) throws(StoreError) -> Bool {
        guard let sequence = try sequence(of: id, in: queue) else { return false }
        guard try storedRow(sequence) != nil else { return try outbox.event(EventKey(function: queue, sequence: sequence)) != nil }
        try run("UPDATE later SET due = 0 WHERE sequence = ?1", .integer(Int64(sequence)))
        try release()
        return true
    }

    private func storedRow(_ sequence: UInt64) throws(StoreError) -> [UInt8]? {
        try rows("SELECT row FROM later WHERE sequence = ?1", [.integer(Int64(sequence))]) { Array($0.bytes(at: 0)) }.first
    }

    // MARK: Names

    private func setName(_ id: String, of key: EventKey, isGiven: Bool) throws(StoreError) {
        try run(
            """
            INSERT INTO name(queue, id, sequence, given) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET sequence = excluded.sequence, ended = NULL
            """, .text(key.function), .text(id), .integer(Int64(key.sequence)), .integer(isGiven ? 1 : 0))
    }

    /// The end of the task with a name: nil if there is no such name, a time of nil if it has not ended.
    private func ending(ofName id: String, in queue: String) throws(StoreError) -> (time: Int64?, sequence: UInt64)? {
        try rows("SELECT ended, sequence FROM name WHERE queue = ?1 AND id = ?2", [.text(queue), .text(id)]) { row in
            (row.value(at: 0) == .null ? nil : row.integer(at: 0), UInt64(row.integer(at: 1)))
        }.first
    }

    private func sequence(of id: String, in queue: String) throws(StoreError) -> UInt64? {
        if let name = try ending(ofName: id, in: queue) { return name.time == nil ? name.sequence : nil }
        // The ids that the outbox makes end with the sequence.
        guard let dash = id.lastIndex(of: "-"), let sequence = UInt64(id[id.index(after: dash)...]), sequence <= UInt64(Int64.max) else { return nil }
        return try outbox.event(EventKey(function: queue, sequence: sequence))?.id == id ? sequence : nil
    }

    // MARK: Due times

    private func keep(_ row: [UInt8], of key: EventKey, due: Int64) throws(StoreError) {
        try run(
            "INSERT INTO later(sequence, queue, due, row) VALUES (?1, ?2, ?3, ?4)", .integer(Int64(key.sequence)), .text(key.function),
            .integer(due), .blob(row))
        nextDue = nextDue.map { min($0, due) }
    }

    /// When the next task is due; nil if all are.
    func firstDue() throws(StoreError) -> Int64? {
        if let nextDue { return nextDue == .max ? nil : nextDue }
        let due = try rows("SELECT due FROM later ORDER BY due LIMIT 1", []) { $0.integer(at: 0) }.first
        nextDue = due ?? .max
        return due
    }

    /// Appends tasks that are due to the outbox, and forgets some names that have ended long ago.
    func release() throws(StoreError) {
        let now = clock()
        let found = try rows(
            "SELECT sequence, queue, row FROM later WHERE due <= ?1 ORDER BY due LIMIT \(Self.releasedMax)", [.integer(now)]
        ) { row in (EventKey(function: row.text(at: 1), sequence: UInt64(row.integer(at: 0))), Array(row.bytes(at: 2))) }
        for (key, row) in found {
            try run("DELETE FROM later WHERE sequence = ?1", .integer(Int64(key.sequence)))
            change(key.function) { counts in
                counts.count = max(0, counts.count - 1)
                counts.bytes = max(0, counts.bytes - row.count)
            }
            guard var event = OutboxEvent(stored: row, key: key, namespace: Outbox.tasks) else { continue }
            if event.progress.notBefore > now { event.progress.notBefore = 0 }
            event.sequence = try outbox.append(event)
            try run(
                "UPDATE name SET sequence = ?3 WHERE queue = ?1 AND id = ?2", .text(key.function), .text(event.id), .integer(Int64(event.sequence)))
        }
        nextDue = nil
        try forgetNames(Self.forgottenMax)
    }

    /// Forgets names whose tasks have ended long ago.
    private func forgetNames(_ most: Int) throws(StoreError) {
        try run(
            """
            DELETE FROM name WHERE (queue, id) IN
            (SELECT queue, id FROM name WHERE ended IS NOT NULL AND ended <= ?1 ORDER BY ended LIMIT ?2)
            """, .integer(clock() - Self.nameMilliseconds), .integer(Int64(most)))
    }

    // MARK: Lists

    /// Tasks of a queue: first those that are due, then the others in the order of their times.
    func list(_ queue: String, limit: Int) throws(StoreError) -> [TaskStatus] {
        let list = try outbox.page(of: queue, after: 0, limit: limit, bytesMax: 8 << 20).events.map { TaskStatus($0, isLater: false) }
        guard list.count < limit else { return list }
        let later = try rows(
            "SELECT sequence, row, due FROM later WHERE queue = ?1 ORDER BY due LIMIT \(limit - list.count)", [.text(queue)]
        ) { row -> TaskStatus? in
            let key = EventKey(function: queue, sequence: UInt64(row.integer(at: 0)))
            guard let event = OutboxEvent(stored: Array(row.bytes(at: 1)), key: key, namespace: Outbox.tasks) else { return nil }
            var status = TaskStatus(event, isLater: true)
            status.due = row.integer(at: 2)
            return status
        }
        return list + later
    }
}

extension TaskStore: OutboxKeeper {
    package func didAppend(_ key: EventKey, size: Int) {
        change(key.function) { counts in
            counts.count += 1
            counts.bytes += size
        }
    }

    package func didResize(_ key: EventKey, by bytes: Int) { change(key.function) { $0.bytes = max(0, $0.bytes + bytes) } }

    package func didReplay(_ event: OutboxEvent) throws(StoreError) { try setName(event.id, of: event.key, isGiven: false) }

    package func willRemove(_ key: EventKey, size: Int) throws(StoreError) {
        change(key.function) { counts in
            counts.count = max(0, counts.count - 1)
            counts.bytes = max(0, counts.bytes - size)
        }
        let values: [Value] = [.text(key.function), .integer(Int64(key.sequence))]
        guard let isGiven = try rows("SELECT given FROM name WHERE queue = ?1 AND sequence = ?2", values, { $0.integer(at: 0) != 0 }).first
        else { return }
        if isGiven {
            try run("UPDATE name SET ended = ?3, sequence = 0 WHERE queue = ?1 AND sequence = ?2", values[0], values[1], .integer(clock()))
        } else {
            try run("DELETE FROM name WHERE queue = ?1 AND sequence = ?2", values[0], values[1])
        }
    }

    package func keep(_ event: OutboxEvent) throws(StoreError) {
        let row = event.stored
        try keep(row, of: event.key, due: event.progress.notBefore)
        // Without a name, the id would not lead to the task when it gets another sequence.
        try run(
            "INSERT INTO name(queue, id, sequence, given) VALUES (?1, ?2, ?3, 0) ON CONFLICT DO NOTHING", .text(event.function), .text(event.id),
            .integer(Int64(event.sequence)))
    }
}

extension TaskStatus {
    fileprivate init(_ event: OutboxEvent, isLater: Bool) {
        self.init(
            id: event.id, due: max(event.time, event.progress.notBefore), attempts: event.progress.attempts + event.progress.interruptions,
            lastError: event.progress.lastError, isLater: isLater)
    }
}

/// The limits of a store of tasks.
package struct TaskLimits: Sendable {
    /// The most tasks of a queue.
    package var tasksMax = 1_000_000
    /// The most bytes of the tasks of a queue.
    package var bytesMax = 1 << 30

    package init() {}
}
