public import HearthJSON
public import Tree

/// An onDisconnect operation of a client: for the end of its session (spec database 4).
public enum DisconnectOperation: Sendable {
    /// Writes a value in export form. Replaces the session's operations at and below the path.
    case set(Path, JSONValue)
    /// Writes the members of an object, whose names may be paths, each like ``set(_:_:)``.
    case update(Path, JSONValue)
    /// Removes the operations at and below the path; within a value to be written above, only the part at the path.
    case cancel(Path)

    /// The most places of a session, and the most bytes of its operations.
    public static let placesMax = 1000
    public static let bytesMax = 256 * 1024
    /// The message for an operation beyond these limits.
    public static let limitMessage = "A client can store onDisconnect operations for at most \(placesMax) places and of \(bytesMax) bytes"
}
