import SQLite

/// The outcome of a message at one device.
struct OutcomeRow {
    var fid: String
    var outcome: String
    var detail: String
    /// In milliseconds since 1970; 0 for a waiting message.
    var at: Int64
}

extension MessagingStore {
    func note(
        _ outcome: DeliveryOutcome, _ message: Int64, device: Int64, fid: String, detail: String = "", now: Int64
    ) throws(SQLiteError) {
        let sql = "INSERT OR REPLACE INTO outcome(message, device, fid, outcome, detail, at) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
        try connection.with(sql) { row throws(SQLiteError) in
            row.bind(message, at: 1)
            row.bind(device, at: 2)
            row.bind(.text(fid), at: 3)
            row.bind(.text(outcome.rawValue), at: 4)
            row.bind(.text(detail), at: 5)
            row.bind(now, at: 6)
            try row.run()
        }
        figures.add(outcome)
    }

    /// The outcomes of a message at up to `limit` devices.
    func outcomes(_ message: Int64, limit: Int) throws(SQLiteError) -> [OutcomeRow] {
        let sql = "SELECT fid, outcome, detail, at FROM outcome WHERE message = ?1 ORDER BY device LIMIT ?2"
        return try connection.with(sql) { row throws(SQLiteError) -> [OutcomeRow] in
            row.bind([.integer(message), .integer(Int64(limit))])
            var found: [OutcomeRow] = []
            while try row.step() {
                found.append(OutcomeRow(fid: row.text(at: 0), outcome: row.text(at: 1), detail: row.text(at: 2), at: row.integer(at: 3)))
            }
            return found
        }
    }

    /// The number of devices for which a message is waiting.
    func remaining(_ message: Int64) throws(SQLiteError) -> Int {
        guard case .integer(let count)? = try connection.value("SELECT remaining FROM message WHERE id = ?1", .integer(message)) else { return 0 }
        return Int(count)
    }

    /// The newest messages of a project before `id`.
    func messages(project: String, before id: Int64, limit: Int) throws(SQLiteError) -> [(id: Int64, form: MessageID.Form, sent: Int64)] {
        let sql = "SELECT id, form, sent FROM message WHERE id < ?2 AND project = ?1 ORDER BY id DESC LIMIT ?3"
        return try connection.with(sql) { row throws(SQLiteError) in
            row.bind([.text(project), .integer(id), .integer(Int64(limit))])
            var found: [(id: Int64, form: MessageID.Form, sent: Int64)] = []
            while try row.step() { found.append((row.integer(at: 0), MessageID.Form(rawValue: row.integer(at: 1)) ?? .clock, row.integer(at: 2))) }
            return found
        }
    }

    /// Deletes messages that wait for no device and were sent before `time`.
    ///
    /// - Returns: the number of deleted messages.
    func removeDone(sentBefore time: Int64, limit: Int) throws(SQLiteError) -> Int {
        let sql = "SELECT id FROM message WHERE remaining = 0 AND sent < ?1 AND id NOT IN (SELECT message FROM fanout) LIMIT ?2"
        let done = try connection.rows(sql, .integer(time), .integer(Int64(limit)))
        for row in done {
            try connection.run("DELETE FROM outcome WHERE message = ?1", row[0])
            try connection.run("DELETE FROM message WHERE id = ?1", row[0])
        }
        return done.count
    }

    // MARK: Idempotency keys

    func name(forKey key: String, since time: Int64) throws(SQLiteError) -> String? {
        guard case .text(let name)? = try connection.value("SELECT name FROM idempotency WHERE key = ?1 AND at > ?2", .text(key), .integer(time))
        else { return nil }
        return name
    }

    func keep(_ name: String, forKey key: String, now: Int64) throws(SQLiteError) {
        try connection.run("INSERT OR REPLACE INTO idempotency(key, name, at) VALUES(?1, ?2, ?3)", .text(key), .text(name), .integer(now))
    }

    func removeKeys(before time: Int64) throws(SQLiteError) {
        try connection.run("DELETE FROM idempotency WHERE at <= ?1", .integer(time))
    }
}
