import SQLite

extension MessagingStore {
    func topicID(_ name: String, project: String) throws(SQLiteError) -> Int64? {
        guard case .integer(let id)? = try connection.value("SELECT id FROM topic WHERE project = ?1 AND name = ?2", .text(project), .text(name))
        else { return nil }
        return id
    }

    func makeTopic(_ name: String, project: String) throws(SQLiteError) -> Int64 {
        if let id = try topicID(name, project: project) { return id }
        try connection.run("INSERT INTO topic(project, name, subscribers) VALUES(?1, ?2, 0)", .text(project), .text(name))
        guard case .integer(let id)? = try connection.value("SELECT last_insert_rowid()") else { return 0 }
        return id
    }

    /// The topics of a project by name, with the numbers of subscribers.
    func topics(project: String, after name: String, limit: Int) throws(SQLiteError) -> [(name: String, subscribers: Int64)] {
        let sql = "SELECT name, subscribers FROM topic WHERE project = ?1 AND name > ?2 ORDER BY name LIMIT ?3"
        return try connection.with(sql) { row throws(SQLiteError) in
            row.bind([.text(project), .text(name), .integer(Int64(limit))])
            var found: [(name: String, subscribers: Int64)] = []
            while try row.step() { found.append((row.text(at: 0), row.integer(at: 1))) }
            return found
        }
    }

    func subscription(_ device: Int64, _ topic: Int64) throws(SQLiteError) -> Int64? {
        let sql = "SELECT created FROM subscription WHERE topic = ?1 AND device = ?2"
        guard case .integer(let created)? = try connection.value(sql, .integer(topic), .integer(device)) else { return nil }
        return created
    }

    func subscriptionCount(_ device: Int64) throws(SQLiteError) -> Int {
        guard case .integer(let count)? = try connection.value("SELECT count(*) FROM subscription WHERE device = ?1", .integer(device)) else {
            return 0
        }
        return Int(count)
    }

    func subscribe(_ device: Int64, _ topic: Int64, now: Int64) throws(SQLiteError) {
        let sql = "INSERT OR IGNORE INTO subscription(topic, device, created) VALUES(?1, ?2, ?3)"
        guard try connection.run(sql, .integer(topic), .integer(device), .integer(now)) > 0 else { return }
        try connection.run("UPDATE topic SET subscribers = subscribers + 1 WHERE id = ?1", .integer(topic))
    }

    /// - Returns: whether there was a subscription.
    func unsubscribe(_ device: Int64, _ topic: Int64) throws(SQLiteError) -> Bool {
        let sql = "DELETE FROM subscription WHERE topic = ?1 AND device = ?2"
        guard try connection.run(sql, .integer(topic), .integer(device)) > 0 else { return false }
        try connection.run("UPDATE topic SET subscribers = subscribers - 1 WHERE id = ?1", .integer(topic))
        try connection.run("DELETE FROM topic WHERE id = ?1 AND subscribers <= 0", .integer(topic))
        return true
    }

    func subscriptions(of device: Int64) throws(SQLiteError) -> [SubscribedTopic] {
        let sql = """
            SELECT topic.name, subscription.created FROM subscription JOIN topic ON topic.id = subscription.topic
            WHERE subscription.device = ?1 ORDER BY topic.name
            """
        return try connection.with(sql) { row throws(SQLiteError) -> [SubscribedTopic] in
            row.bind(device, at: 1)
            var found: [SubscribedTopic] = []
            while try row.step() { found.append(SubscribedTopic(topic: row.text(at: 0), created: row.integer(at: 1))) }
            return found
        }
    }

    // MARK: Subscribers

    /// The devices with a topic whose ids are above `cursor`, in order.
    func subscribers(_ topic: Int64, after cursor: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
        try ids("SELECT device FROM subscription WHERE topic = ?1 AND device > ?2 ORDER BY device LIMIT ?3", topic, cursor, limit)
    }

    /// The devices with any topic whose ids are above `cursor`, in order.
    func subscribers(after cursor: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
        try ids(
            "SELECT DISTINCT device FROM subscription INDEXED BY subscriptionDevice WHERE ?1 = 0 AND device > ?2 ORDER BY device LIMIT ?3", 0,
            cursor, limit)
    }

    private func ids(_ sql: String, _ topic: Int64, _ cursor: Int64, _ limit: Int) throws(SQLiteError) -> [Int64] {
        try connection.with(sql) { row throws(SQLiteError) -> [Int64] in
            row.bind([.integer(topic), .integer(cursor), .integer(Int64(limit))])
            var found: [Int64] = []
            found.reserveCapacity(limit)
            while try row.step() { found.append(row.integer(at: 0)) }
            return found
        }
    }
}
