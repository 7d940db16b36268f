import Glibc
internal import Synchronization

/// A place in the database. Creating one does not use the database.
public struct DatabaseReference: Sendable, Hashable, CustomStringConvertible, DatabaseQueryable {
    /// The database that the place is in.
    public let database: Database
    /// The path from the root, beginning with "/"; "/" for the root itself.
    public let path: String

    /// Slashes at the ends and runs of slashes do not count. The host checks the keys when the path is used.
    init(_ database: Database, _ path: String) {
        self.database = database
        self.path = "/" + path.split(separator: "/").joined(separator: "/")
    }

    /// The last part of the path; nil for the root.
    public var key: String? { path.split(separator: "/").last.map(String.init) }

    /// The place above; nil for the root.
    public var parent: DatabaseReference? {
        let keys = path.split(separator: "/")
        return keys.isEmpty ? nil : DatabaseReference(database, keys.dropLast().joined(separator: "/"))
    }

    /// The root of the database.
    public var root: DatabaseReference { DatabaseReference(database, "") }

    /// The place `path` below this one: a key, or several with slashes between.
    public func child(_ path: String) -> DatabaseReference { DatabaseReference(database, self.path + "/" + path) }

    /// A child with a new key. Keys that are made later sort after it, so that children keep the order of their creation.
    ///
    ///     let message = database.reference("messages").childByAutoID()
    ///     try await message.setValue(["text": "hello"])
    ///
    /// The key is made without the host, and is unique among all clients and workers.
    public func childByAutoID() -> DatabaseReference { child(AutoID.next()) }

    /// The path.
    public var description: String { path }

    /// The whole value here.
    public var query: DatabaseQuery { DatabaseQuery(ref: self) }
}

/// Makes keys that sort in the order of their creation: eight characters of time, twelve at random (spec database 4).
struct AutoID {
    /// In the order of ASCII, so that texts sort as the numbers do.
    private static let digits = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
    private static let shared = Mutex(AutoID())

    private var milliseconds: Int64 = 0
    private var random: [UInt8] = []

    /// A key that sorts after all earlier keys of this process.
    static func next() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        return shared.withLock { $0.next(now: now) }
    }

    /// The next key. The clock may have stopped or gone back.
    mutating func next(now: Int64) -> String {
        if now > milliseconds || random.isEmpty {
            milliseconds = now
            random = (0..<12).map { _ in UInt8.random(in: 0..<64) }
        } else if !increment() {
            // All of this millisecond's keys after the first are used: the next millisecond's follow them.
            milliseconds += 1
        }
        let time = stride(from: 42, through: 0, by: -6).map { UInt8(truncatingIfNeeded: milliseconds >> $0) & 63 }
        return String(decoding: (time + random).map { Self.digits[Int($0)] }, as: UTF8.self)
    }

    /// Adds one to the random part. False on overflow.
    private mutating func increment() -> Bool {
        for index in random.indices.reversed() {
            random[index] = (random[index] + 1) & 63
            if random[index] != 0 { return true }
        }
        return false
    }
}

// Each of these returns when the write is durable, or throws and nothing has been written.
extension DatabaseReference {
    /// Replaces the value here, children included. A value that is null, or holds only nulls, removes it.
    ///
    /// - Parameters:
    ///   - value: any `Encodable`; `ServerValue`s in it are filled in by the database.
    ///   - priority: a number or a text that children are ordered by in queries that ask for no other order.
    public func setValue(_ value: some Encodable, andPriority priority: JSONValue? = nil) async throws(DatabaseError) {
        var call = DatabaseCall("set", at: self)
        try call.add("value", encoding: value)
        if let priority { call.add("priority", priority) }
        _ = try await call.send()
    }

    /// The same with a JSON literal: `setValue(["text": "hello", "likes": 0])`. `nil` removes the value.
    public func setValue(_ value: JSONValue, andPriority priority: JSONValue? = nil) async throws(DatabaseError) {
        var call = DatabaseCall("set", at: self)
        call.add("value", value)
        if let priority { call.add("priority", priority) }
        _ = try await call.send()
    }

    /// Replaces the priority of the value here; nil removes the priority. Does nothing where there is no value.
    public func setPriority(_ priority: JSONValue) async throws(DatabaseError) {
        var call = DatabaseCall("setPriority", at: self)
        call.add("priority", priority)
        _ = try await call.send()
    }

    /// Replaces the values at the paths in `values` and leaves all others, in one step: all of them or none.
    ///
    ///     try await database.reference().updateChildValues([
    ///         "posts/\(key)": ["author": uid, "text": text],
    ///         "users/\(uid)/posts/\(key)": true,
    ///     ])
    ///
    /// - Parameter values: an object. Its names may be paths below this place; no name may lie below another. Null removes.
    public func updateChildValues(_ values: some Encodable) async throws(DatabaseError) {
        var call = DatabaseCall("update", at: self)
        try call.add("value", encoding: values)
        _ = try await call.send()
    }

    /// The same with values written down as JSON.
    public func updateChildValues(_ values: JSONValue) async throws(DatabaseError) {
        var call = DatabaseCall("update", at: self)
        call.add("value", values)
        _ = try await call.send()
    }

    /// Removes the value here, with all of its children.
    public func removeValue() async throws(DatabaseError) {
        _ = try await DatabaseCall("remove", at: self).send()
    }
}

/// Values that the database fills in when it writes, at any depth.
///
///     try await post.updateChildValues(["editedAt": ServerValue.timestamp, "edits": ServerValue.increment(1)])
///
///     struct NewPost: Encodable {
///         var text: String
///         var createdAt = ServerValue.timestamp
///     }
///     try await post.setValue(NewPost(text: "hello"))
///
/// Each is a `JSONValue`, so that it stands wherever one may.
public enum ServerValue {
    /// The time of the write, in milliseconds since 1970: the same for all of one write, and `now` of the rules.
    public static let timestamp: JSONValue = [".sv": "timestamp"]

    /// The current number plus `delta`, or `delta` if there is no number. No other write comes between.
    public static func increment(_ delta: Int) -> JSONValue { [".sv": ["increment": JSONValue(delta)]] }

    /// The current number plus `delta`, or `delta` if there is no number. No other write comes between.
    public static func increment(_ delta: Double) -> JSONValue { [".sv": ["increment": .double(delta)]] }
}
