/// A place in the database. Making one reads and writes nothing.
public struct DatabaseReference: Sendable, Hashable, CustomStringConvertible, DatabaseQueryable {
    /// The database that the place is in.
    public let database: Database
    /// From the root, beginning with "/"; "/" for the root itself.
    public let path: String

    /// Slashes at the ends and runs of them do not count. What the path is made of is checked by the host when it is used.
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

    /// A child with a new key. Keys that are made later sort after it, so that children stay in the order of their making.
    ///
    ///     let message = database.reference("messages").childByAutoID()
    ///     try await message.setValue(["text": "hello"])
    ///
    /// The key is made here, in no time, and is unique among all clients and workers.
    public func childByAutoID() -> DatabaseReference { child(AutoID.next()) }

    /// The path.
    public var description: String { path }

    /// All that is here.
    public var query: DatabaseQuery { DatabaseQuery(ref: self) }
}
