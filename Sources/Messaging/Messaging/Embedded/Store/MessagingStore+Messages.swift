import HearthJSON
import SQLite

/// An accepted message.
struct StoredMessage {
    var id: Int64
    var project: String
    var form: MessageID.Form
    /// Milliseconds since 1970.
    var sent: Int64
    var message: Message

    /// The last part of the message's name.
    var name: String { MessageID.text(id, form) }
}

/// A message that waits for a device.
struct PendingRow {
    var message: Int64
    var collapseKey: String?
    var isHighPriority: Bool
    var ttlSeconds: Int
    /// When it expires, in milliseconds since 1970.
    var expires: Int64
}

extension MessagingStore {
    func add(_ stored: StoredMessage, body: [UInt8], remaining: Int) throws(SQLiteError) {
        let sql = "INSERT INTO message(id, project, form, body, sent, remaining) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
        try connection.with(sql) { row throws(SQLiteError) in
            row.bind(stored.id, at: 1)
            row.bind(.text(stored.project), at: 2)
            row.bind(stored.form.rawValue, at: 3)
            row.bind(body.span, at: 4)
            row.bind(stored.sent, at: 5)
            row.bind(Int64(remaining), at: 6)
            try row.run()
        }
    }

    func message(_ id: Int64) throws(SQLiteError) -> StoredMessage? {
        try connection.with("SELECT project, form, body, sent FROM message WHERE id = ?1") { row throws(SQLiteError) -> StoredMessage? in
            row.bind(id, at: 1)
            guard try row.step(), let message = Message(stored: Span(_unsafeElements: row.bytes(at: 2))) else { return nil }
            return StoredMessage(
                id: id, project: row.text(at: 0), form: MessageID.Form(rawValue: row.integer(at: 1)) ?? .clock, sent: row.integer(at: 3),
                message: message)
        }
    }

    func lastMessage() throws(SQLiteError) -> Int64 {
        guard case .integer(let id)? = try connection.value("SELECT max(id) FROM message") else { return 0 }
        return id
    }

    func addRemaining(_ message: Int64, _ difference: Int) throws(SQLiteError) {
        guard difference != 0 else { return }
        try connection.run("UPDATE message SET remaining = remaining + ?2 WHERE id = ?1", .integer(message), .integer(Int64(difference)))
    }

    // MARK: Waiting messages

    func add(_ row: PendingRow, device: Int64) throws(SQLiteError) {
        let sql = "INSERT OR IGNORE INTO pending(device, message, collapse, priority, ttl, expires) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
        try connection.with(sql) { statement throws(SQLiteError) in
            statement.bind(device, at: 1)
            statement.bind(row.message, at: 2)
            statement.bind(row.collapseKey.map { Value.text($0) } ?? .null, at: 3)
            statement.bind(row.isHighPriority ? Int64(1) : 0, at: 4)
            statement.bind(Int64(row.ttlSeconds), at: 5)
            statement.bind(row.expires, at: 6)
            try statement.run()
        }
        if connection.changes > 0 { figures.pendingMessages += 1 }
    }

    /// The messages that wait for a device, in the order of delivery; with `onlyCollapsible`, only those with a collapse key.
    func pending(_ device: Int64, onlyCollapsible: Bool = false) throws(SQLiteError) -> [PendingRow] {
        let sql =
            onlyCollapsible
            ? "SELECT message, collapse, priority, ttl, expires FROM pending WHERE device = ?1 AND collapse IS NOT NULL ORDER BY message"
            : "SELECT message, collapse, priority, ttl, expires FROM pending WHERE device = ?1 ORDER BY message"
        return try connection.with(sql) { row throws(SQLiteError) -> [PendingRow] in
            row.bind(device, at: 1)
            var found: [PendingRow] = []
            while try row.step() {
                let key = row.value(at: 1)
                let collapse: String? = if case .text(let text) = key { text } else { nil }
                found.append(
                    PendingRow(
                        message: row.integer(at: 0), collapseKey: collapse, isHighPriority: row.integer(at: 2) != 0,
                        ttlSeconds: Int(row.integer(at: 3)), expires: row.integer(at: 4)))
            }
            return found
        }
    }

    /// The devices with waiting messages, in the order of their rows.
    func devicesWithPending(after device: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
        let sql = "SELECT DISTINCT device FROM pending WHERE device > ?1 ORDER BY device LIMIT ?2"
        return try connection.with(sql) { row throws(SQLiteError) -> [Int64] in
            row.bind(device, at: 1)
            row.bind(Int64(limit), at: 2)
            var found: [Int64] = []
            while try row.step() { found.append(row.integer(at: 0)) }
            return found
        }
    }

    /// The number of unexpired messages without a collapse key that wait for a device, counted up to `limit`.
    func plainCount(_ device: Int64, at now: Int64, upTo limit: Int) throws(SQLiteError) -> Int {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM pending WHERE device = ?1 AND collapse IS NULL AND expires > ?2 LIMIT ?3)"
        return try connection.with(sql) { row throws(SQLiteError) -> Int in
            row.bind(device, at: 1)
            row.bind(now, at: 2)
            row.bind(Int64(limit), at: 3)
            return try row.step() ? Int(row.integer(at: 0)) : 0
        }
    }

    func pendingCount(_ device: Int64) throws(SQLiteError) -> Int {
        guard case .integer(let count)? = try connection.value("SELECT count(*) FROM pending WHERE device = ?1", .integer(device)) else { return 0 }
        return Int(count)
    }

    /// Removes a message that waits for a device.
    ///
    /// - Returns: whether it was waiting.
    func removePending(_ device: Int64, _ message: Int64) throws(SQLiteError) -> Bool {
        let sql = "DELETE FROM pending WHERE device = ?1 AND message = ?2"
        try connection.with(sql) { row throws(SQLiteError) in
            row.bind(device, at: 1)
            row.bind(message, at: 2)
            try row.run()
        }
        guard connection.changes > 0 else { return false }
        figures.pendingMessages -= 1
        return true
    }

    /// The waiting messages that have expired.
    func expired(at now: Int64, limit: Int) throws(SQLiteError) -> [(device: Int64, message: Int64)] {
        let sql = "SELECT device, message FROM pending WHERE expires <= ?1 ORDER BY expires LIMIT ?2"
        return try connection.with(sql) { row throws(SQLiteError) in
            row.bind([.integer(now), .integer(Int64(limit))])
            var found: [(device: Int64, message: Int64)] = []
            while try row.step() { found.append((row.integer(at: 0), row.integer(at: 1))) }
            return found
        }
    }

    // MARK: Fan-outs

    func setFanOut(_ message: Int64, cursor: Int64) throws(SQLiteError) {
        try connection.run("INSERT OR REPLACE INTO fanout(message, cursor) VALUES(?1, ?2)", .integer(message), .integer(cursor))
    }

    func removeFanOut(_ message: Int64) throws(SQLiteError) {
        try connection.run("DELETE FROM fanout WHERE message = ?1", .integer(message))
    }

    func fanOuts() throws(SQLiteError) -> [(message: Int64, cursor: Int64)] {
        try connection.with("SELECT message, cursor FROM fanout ORDER BY message") { row throws(SQLiteError) in
            var found: [(message: Int64, cursor: Int64)] = []
            while try row.step() { found.append((row.integer(at: 0), row.integer(at: 1))) }
            return found
        }
    }
}

extension Message {
    /// Parses the stored fields of a message, which were checked when it was accepted.
    init?(stored body: Span<UInt8>) {
        guard let fields = (try? JSONValue(parsing: body))?.object else { return nil }
        if let fid = fields["fid"]?.string {
            self.init(target: .fid(fid), fields: fields)
        } else if let token = fields["token"]?.string {
            self.init(target: .token(token), fields: fields)
        } else if let topic = fields["topic"]?.string.flatMap({ TopicName($0) }) {
            self.init(target: .topic(topic), fields: fields)
        } else if let condition = fields["condition"]?.string.flatMap({ TopicCondition($0) }) {
            self.init(target: .condition(condition), fields: fields)
        } else {
            return nil
        }
    }
}
