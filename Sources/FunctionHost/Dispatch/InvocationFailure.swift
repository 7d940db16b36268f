/// Why the host answers in a function's place.
enum InvocationFailure: Sendable, Equatable {
    /// The queue of the function's pool holds as many invocations as it may.
    case queueFull(length: Int)
    /// It waited for a worker longer than the pool lets anybody wait.
    case waitedTooLong(milliseconds: UInt64)
    /// No worker runs and none can be started now.
    case cannotStart(retryAfterSeconds: Int)
    /// The function's `timeoutSeconds` have passed.
    case deadlineExceeded(seconds: Double)
    /// The worker ended with the invocation in it.
    case workerEnded
    /// The host is stopping.
    case shuttingDown

    /// The callable protocol's code.
    var code: FunctionErrorCode {
        switch self {
        case .queueFull, .waitedTooLong: .resourceExhausted
        case .cannotStart, .shuttingDown: .unavailable
        case .deadlineExceeded: .deadlineExceeded
        case .workerEnded: .internal
        }
    }

    /// What the client reads. Says which limit was met and its value; nothing of the function's own.
    var message: String {
        switch self {
        case .queueFull(let length): "\(length) requests are waiting for this function already; try again later"
        case .waitedTooLong(let milliseconds): "no instance of this function became free within \(milliseconds) ms; try again later"
        case .cannotStart(let seconds): "no instance of this function can be started now; try again in \(seconds) s"
        case .deadlineExceeded(let seconds): "the function did not answer within its timeoutSeconds of \(Self.text(seconds))"
        case .workerEnded: "INTERNAL"
        case .shuttingDown: "the host is stopping; try again"
        }
    }

    /// The `Retry-After` header's value, where one makes sense.
    var retryAfterSeconds: Int? {
        switch self {
        case .cannotStart(let seconds): seconds
        case .queueFull, .waitedTooLong, .shuttingDown: 1
        case .deadlineExceeded, .workerEnded: nil
        }
    }

    private static func text(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }
}
