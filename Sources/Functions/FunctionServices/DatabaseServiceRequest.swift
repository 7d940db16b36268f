import FunctionDispatch
import RealtimeDatabase
import Tree

/// The database request for a call of the database service. Has only values, so that a large payload can be parsed on another thread than the
/// dispatcher's.
struct DatabaseServiceRequest: Sendable {
    /// The method of a call.
    private enum Method: String, CaseIterable {
        case get, set, setPriority, update, push, remove, transaction, once, observe, unobserve
    }

    enum Action: Sendable {
        case read(ReadRequest)
        case write(WriteRequest, Answer)
        case observe(ObserveRequest)
        /// Ends the wait with this id.
        case unobserve(String)
    }

    /// The answer to a committed write.
    enum Answer: Sendable {
        case nothing
        /// The new key of the value.
        case key(String)
        /// The written value.
        case outcome
        /// Whether the write was performed.
        case isFirst
    }

    /// The path that the call refers to.
    private(set) var path: Path
    /// The name of the database; nil for the default one.
    let instance: String?
    private(set) var action: Action

    /// Whether the call needs a new key.
    static func needsKey(_ call: ServiceCall) -> Bool { call.method == Method.push.rawValue }

    /// - Parameter key: a new key, if the call needs one.
    init(_ call: ServiceCall, key: String) throws(DatabaseServiceRefusal) {
        guard let method = Method(rawValue: call.method) else { throw .unknownMethod(call.method, Method.allCases.map(\.rawValue)) }
        var payload = try DatabaseServicePayload(call.payload)
        if case .push = method { try payload.descend(to: key) }
        path = payload.path
        instance = payload.instance
        switch method {
        case .get: action = .read(try Self.read(payload))
        case .observe: action = .observe(try ObserveRequest(payload, try Self.read(payload)))
        case .unobserve: action = .unobserve(try payload.requiredID())
        default: action = try Self.writing(method, payload, call, key: key)
        }
    }

    private static func writing(
        _ method: Method, _ payload: DatabaseServicePayload, _ call: ServiceCall, key: String
    ) throws(DatabaseServiceRefusal) -> Action {
        let path = payload.path
        let operation: WriteRequest.Operation =
            switch method {
            case .setPriority: .setPriority(path, try payload.priorityDraft())
            case .update, .once: .update(base: path, try payload.updateDraft())
            case .remove: .set(path, Draft(.empty))
            default: .set(path, try payload.draft())
            }
        var write = WriteRequest(operation, principal: payload.principal, origin: payload.origin, chain: call.chain)
        write.trace = call.trace
        write.bytes = payload.valueBytes
        write.profiledAs =
            switch method {
            case .update, .once: .realtimeUpdate
            case .transaction: .realtimeTransaction
            default: .realtimeWrite
            }
        switch method {
        case .push: return .write(write, .key(key))
        case .once:
            // Plugins have keys of their own.
            write.once = OnceKey(Array(call.artifact.name.utf8) + [0] + Array(try payload.onceKey().utf8), milliseconds: 0)
            return .write(write, .isFirst)
        case .transaction:
            write.ifMatch = try payload.etag()
            write.wantsValue = true
            return .write(write, .outcome)
        default: return .write(write, .nothing)
        }
    }

    /// Parses a call.
    static func result(of call: ServiceCall, _ key: String) -> Result<DatabaseServiceRequest, DatabaseServiceRefusal> {
        Result { () throws(DatabaseServiceRefusal) in try DatabaseServiceRequest(call, key: key) }
    }

    private static func read(_ payload: DatabaseServicePayload) throws(DatabaseServiceRefusal) -> ReadRequest {
        var read = ReadRequest(payload.path, try payload.query().map { .query($0) } ?? .value, principal: payload.principal)
        read.profiledAs = .realtimeRead
        read.form = try payload.form()
        read.wantsETag = try payload.wantsETag()
        return read
    }
}
