import AdminProtocol
import HTTP
import WorkerProtocol

/// Why the host answers in a function's place.
public enum InvocationFailure: Sendable, Equatable {
    /// The queue of the function's pool holds as many invocations as it may.
    case queueFull(length: Int)
    /// There is no memory to keep it until a worker is free.
    case memoryIsFull
    /// No message to a worker carries its body.
    case payloadTooLarge(bytes: Int)
    /// It waited for a worker longer than the pool lets anybody wait.
    case waitedTooLong(milliseconds: UInt64, blockedBy: String?)
    /// No worker runs and none can be started now.
    case cannotStart(retryAfterSeconds: Int)
    /// The plugin cannot be loaded into the host, where it is to run.
    case cannotLoad
    /// The function's `timeoutSeconds` have passed.
    case deadlineExceeded(seconds: Double)
    /// The worker ended with the invocation in it.
    case workerEnded
    /// This invocation's function did not give the worker's event loop back, and held others up: the worker was ended.
    case hasBlockedInstance(function: String, seconds: Double)
    /// Another function did that; unknown where no invocation was to blame.
    case instanceWasBlocked(function: String?, seconds: Double)
    /// The host is stopping.
    case shuttingDown

    /// The callable protocol's code.
    var code: FunctionErrorCode {
        switch self {
        case .queueFull, .memoryIsFull, .waitedTooLong: .resourceExhausted
        case .payloadTooLarge: .invalidArgument
        case .cannotStart, .cannotLoad, .shuttingDown, .instanceWasBlocked: .unavailable
        case .deadlineExceeded: .deadlineExceeded
        case .workerEnded, .hasBlockedInstance: .internal
        }
    }

    /// What the client reads. Says which limit was met and its value; nothing of the function's own.
    package var message: String {
        switch self {
        case .queueFull(let length): "\(length) requests are waiting for this function already; try again later"
        case .memoryIsFull: "too much waits in this host's memory for instances of functions; try again later"
        case .payloadTooLarge(let bytes): "the body has \(bytes) bytes; a function takes at most \(FrameHeader.bodySizeMax)"
        case .waitedTooLong(let milliseconds, nil): "no instance of this function became free within \(milliseconds) ms; try again later"
        case .waitedTooLong(let milliseconds, let function?):
            "no instance of this function became free within \(milliseconds) ms: \"\(function)\" blocks the event loop; try again later"
        case .cannotStart(let seconds): "no instance of this function can be started now; try again in \(seconds) s"
        case .cannotLoad: "this function's plugin cannot be loaded into the host; the host's log says why"
        case .deadlineExceeded(let seconds): "the function did not answer within its timeoutSeconds of \(Self.text(seconds))"
        case .workerEnded: "INTERNAL"
        case .hasBlockedInstance(let function, let seconds):
            "the function \"\(function)\" blocked the event loop of its instance for \(Self.text(seconds)) s and was ended"
        case .instanceWasBlocked(let function?, let seconds):
            "the instance was ended: the function \"\(function)\" blocked its event loop for \(Self.text(seconds)) s"
        case .instanceWasBlocked(nil, let seconds): "the instance was ended: its event loop was blocked for \(Self.text(seconds)) s"
        case .shuttingDown: "the host is stopping; try again"
        }
    }

    /// The status of an answer that is not a callable's.
    package var httpStatus: HTTPStatus {
        if case .payloadTooLarge = self { .contentTooLarge } else { HTTPStatus(rawValue: code.httpStatus) }
    }

    /// The `Retry-After` header's value, where one makes sense.
    package var retryAfterSeconds: Int? {
        switch self {
        case .cannotStart(let seconds): seconds
        case .queueFull, .memoryIsFull, .waitedTooLong, .shuttingDown: 1
        case .cannotLoad, .deadlineExceeded, .workerEnded, .hasBlockedInstance, .instanceWasBlocked, .payloadTooLarge: nil
        }
    }

    private static func text(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }
}
