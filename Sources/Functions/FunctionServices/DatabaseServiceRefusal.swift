import AdminProtocol
import FunctionDispatch
import HearthJSON
import RealtimeDatabase
import Tree

/// The reason why the database service refuses a call.
struct DatabaseServiceRefusal: Error {
    /// The kind of refusal, which functions find in the details of the error.
    enum Reason: String {
        case permissionDenied = "permission-denied"
        case invalidArgument = "invalid-argument"
        case indexNotDefined = "index-not-defined"
        case tooLarge = "too-large"
        case tooManyTriggers = "too-many-triggers"
        case unknownInstance = "unknown-instance"
        case unknownMethod = "unknown-method"
        case storageUnavailable = "storage-unavailable"
        case deadlineExceeded = "deadline-exceeded"
        case tooManyObservers = "too-many-observers"
        case cancelled
        case unavailable
        case `internal`
    }

    var reason: Reason
    var message: String
    /// The path that the refusal refers to.
    var path: String

    static func invalid(_ message: String, at path: Path = .root) -> DatabaseServiceRefusal {
        DatabaseServiceRefusal(reason: .invalidArgument, message: message, path: path.description)
    }

    /// The refusal of a text that is not a valid path.
    static func invalid(_ message: String, named text: String) -> DatabaseServiceRefusal {
        DatabaseServiceRefusal(reason: .invalidArgument, message: message, path: text)
    }

    static func unknownMethod(_ name: String, _ known: [String]) -> DatabaseServiceRefusal {
        let all = known.joined(separator: ", ")
        return DatabaseServiceRefusal(reason: .unknownMethod, message: "database has no method \"\(name)\"; it has \(all)", path: "/")
    }

    /// The refusal of a wait at `path`.
    static func observe(_ reason: Reason, _ message: String, at path: Path) -> DatabaseServiceRefusal {
        DatabaseServiceRefusal(reason: reason, message: message, path: path.description)
    }

    static let payloadTooLarge = DatabaseServiceRefusal(
        reason: .tooLarge, message: "the payload has more than \(DatabaseService.payloadBytesMax >> 20) MiB", path: "/")

    /// Converts an error of the database.
    init(_ error: DatabaseError, at path: Path) {
        self.path = path.description
        message = error.message
        reason =
            switch error.kind {
            case .permissionDenied: .permissionDenied
            case .invalidData: .invalidArgument
            case .indexNotDefined: .indexNotDefined
            case .tooLarge: .tooLarge
            case .tooManyTriggers: .tooManyTriggers
            case .timedOut: .deadlineExceeded
            case .unknownNamespace: .unknownInstance
            case .storageUnavailable: .storageUnavailable
            case .unavailable: .unavailable
            case .internal: .internal
            }
    }

    private init(reason: Reason, message: String, path: String) {
        self.reason = reason
        self.message = message
        self.path = path
    }

    private var code: FunctionErrorCode {
        switch reason {
        case .permissionDenied: .permissionDenied
        case .invalidArgument: .invalidArgument
        case .indexNotDefined, .tooManyTriggers: .failedPrecondition
        case .tooLarge, .storageUnavailable, .tooManyObservers: .resourceExhausted
        case .unknownInstance: .notFound
        case .unknownMethod: .unimplemented
        case .deadlineExceeded: .deadlineExceeded
        case .cancelled: .cancelled
        case .unavailable: .unavailable
        case .internal: .internal
        }
    }

    /// The error for the function: `{"code", "message", "details": {"reason", "path"}}`.
    var answer: ServiceAnswer {
        let error: JSONValue = [
            "code": .string(code.name), "message": .string(message),
            "details": ["reason": .string(reason.rawValue), "path": .string(path)],
        ]
        return ServiceAnswer(succeeded: false, body: error.serialized())
    }
}
