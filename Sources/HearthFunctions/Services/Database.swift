/// The host's Realtime Database.
public let database = Database()

/// The host's Realtime Database, with the rights of the plugin and not those of the caller.
public struct Database: Sendable {
    /// The place `path`, such as "rooms/blue"; the root without one.
    public func reference(_ path: String = "") -> DatabaseReference { DatabaseReference(path: path) }
}

/// A place in the database.
public struct DatabaseReference: Sendable {
    /// From the root, beginning with "/".
    public let path: String

    init(path: String) {
        self.path = "/" + path.split(separator: "/").joined(separator: "/")
    }

    /// The last part of the path; nil for the root.
    public var key: String? { path.split(separator: "/").last.map(String.init) }

    /// The place `path` below this one.
    public func child(_ path: String) -> DatabaseReference { DatabaseReference(path: self.path + "/" + path) }

    /// The value here; null where there is none.
    public func get() async throws -> JSONValue {
        try await services.call("database", "get", PathOnly(path: path))
    }

    /// Replaces what is here.
    public func set(_ value: some Encodable) async throws {
        _ = try await services.call("database", "set", PathAndValue(path: path, value: value))
    }

    /// Replaces the children that `value` names and leaves the others.
    public func update(_ value: some Encodable) async throws {
        _ = try await services.call("database", "update", PathAndValue(path: path, value: value))
    }

    /// Adds a child with a new key that sorts after those before it, and returns its place.
    @discardableResult
    public func push(_ value: some Encodable) async throws -> DatabaseReference {
        let answer = try await services.call("database", "push", PathAndValue(path: path, value: value))
        guard let key = answer["name"]?.string else {
            throw HttpsError(.internal, "The database did not say where it put the value.")
        }
        return child(key)
    }

    /// Removes what is here.
    public func remove() async throws {
        _ = try await services.call("database", "remove", PathOnly(path: path))
    }
}

private struct PathOnly: Encodable {
    var path: String
}

private struct PathAndValue<Value: Encodable>: Encodable {
    var path: String
    var value: Value
}
