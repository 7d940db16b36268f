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

extension DisconnectOperation {
    /// The write that the operation stands for, for judging it; nil for one that only removes others.
    func request(principal: Principal, limits: DatabaseLimits) throws(DatabaseError) -> WriteRequest? {
        var draftLimits = DraftLimits()
        draftLimits.stringBytesMax = limits.stringBytesMax
        do throws(NodeError) {
            switch self {
            case .set(let path, let value):
                let draft = try DisconnectPlan.draft(value, at: path, limits: draftLimits)
                return WriteRequest(.set(path, draft), principal: principal, origin: EventOrigin(of: principal))
            case .update(let path, let members):
                draftLimits.depthAbove = path.count
                let update = try UpdateDraft(parsing: members.serialized().span, limits: draftLimits)
                return WriteRequest(.update(base: path, update), principal: principal, origin: EventOrigin(of: principal))
            case .cancel: return nil
            }
        } catch {
            throw DatabaseError(.invalidData, error.message)
        }
    }
}
