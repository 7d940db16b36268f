import AdminProtocol
import HearthJSON
import Store

/// The reason why a request for a task is refused, in the form of Google's interfaces.
package struct TaskError: Error, Sendable, Equatable {
    package var code: FunctionErrorCode
    package var message: String
    /// When the client should ask again, if that is useful.
    package var retryAfterSeconds: Int?

    package init(_ code: FunctionErrorCode, _ message: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }

    static func invalid(_ message: String) -> TaskError { TaskError(.invalidArgument, message) }
    static let noTask = TaskError(.notFound, "Requested entity was not found.")
    static let starting = TaskError(.unavailable, "The functions are being loaded. Try again.", retryAfterSeconds: 1)

    /// The error for a queue that the store refuses.
    init(_ refusal: TaskRefusal, limits: TaskLimits) {
        switch refusal {
        case .exists: self.init(.alreadyExists, "Requested entity already exists")
        case .missing: self = .noTask
        case .full:
            self.init(
                .resourceExhausted, "The queue is full: it has at most \(limits.tasksMax) tasks of together \(limits.bytesMax) bytes.",
                retryAfterSeconds: 10)
        }
    }

    init(_ error: StoreError) {
        self.init(.unavailable, "The store of tasks cannot be used: \(error.message)", retryAfterSeconds: 1)
    }

    /// `{"error": {"code", "message", "status"}}`.
    var body: JSONValue {
        ["error": ["code": .int(Int64(code.httpStatus)), "message": .string(message), "status": .string("\(code.status)")]]
    }
}
