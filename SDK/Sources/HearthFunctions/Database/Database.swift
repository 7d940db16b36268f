/// The host's Realtime Database, with the rights of an administrator.
///
///     let room = database.reference("rooms/blue")
///     try await room.child("topic").setValue("weather")
///     let topic = try await room.child("topic").getData(as: String.self)
///
/// The names are those of Apple's client SDK. Everything is answered by the host, durably, before it returns.
public let database = Database()

/// A Realtime Database of the host: which one, and on whose behalf it is used.
public struct Database: Sendable, Hashable {
    /// The actor of a call.
    enum Actor: Sendable, Hashable {
        /// No rules apply.
        case administrator
        /// Rules apply with this `auth`; null is a client that has not signed in.
        case user(JSONValue)
    }

    /// The name of the database; nil for the project's default one.
    public private(set) var instanceName: String?
    private(set) var actor = Actor.administrator

    init() {}

    /// The place `path`, such as "rooms/blue"; the root without one.
    public func reference(_ path: String = "") -> DatabaseReference { DatabaseReference(self, path) }

    /// Another database of the same host: `database.instance("demo-hearth-archive")`.
    ///
    /// Each has data and rules of its own. The first write creates it.
    public func instance(_ name: String) -> Database {
        var other = self
        other.instanceName = name
        return other
    }

    /// The same database on behalf of a caller: the rules decide as if the client itself had asked.
    ///
    ///     let mine = database.acting(as: request.auth)
    ///     try await mine.reference("profiles/\(uid)").setValue(profile)
    ///
    /// - Parameter auth: the caller; nil for a client that has not signed in.
    public func acting(as auth: AuthData?) -> Database {
        acting(auth: auth.map { ["uid": .string($0.uid), "token": $0.token] } ?? .null)
    }

    /// The same database on behalf of a user whose token is not at hand, as in a function that runs on a write.
    ///
    /// - Parameters:
    ///   - uid: the user's id: `auth.uid` in the rules.
    ///   - claims: the claims of `auth.token` in the rules.
    public func acting(asUser uid: String, claims: JSONValue = [:]) -> Database {
        acting(auth: ["uid": .string(uid), "token": claims])
    }

    /// The same database without rules, as `database` itself.
    public func actingAsAdministrator() -> Database {
        var other = self
        other.actor = .administrator
        return other
    }

    private func acting(auth: JSONValue) -> Database {
        var other = self
        other.actor = .user(auth)
        return other
    }
}
