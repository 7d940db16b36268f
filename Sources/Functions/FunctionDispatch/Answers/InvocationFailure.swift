import AdminProtocol
import HTTP
import WorkerProtocol

/// The reason why the host answers in place of a function.
public enum InvocationFailure: Sendable, Equatable {
    /// The pool's queue is full.
    case queueFull(length: Int)
    /// No memory is left to hold the invocation until a worker is free.
    case memoryIsFull
    /// The body does not fit into a message to a worker.
    case payloadTooLarge(bytes: Int)
    /// The invocation waited for a worker longer than the pool allows.
    case waitedTooLong(milliseconds: UInt64, blockedBy: String?)
    /// No worker runs, and none can be started now.
    case cannotStart(retryAfterSeconds: Int)
    /// The plugin is configured to run inside the host and cannot be loaded.
    case cannotLoad
    /// The function's `timeoutSeconds` have passed.
    case deadlineExceeded(seconds: Double)
    /// The worker ended while the invocation was running in it.
    case workerEnded
    /// The same because of a crash; for development mode only.
    case crashed(CrashNotice)
    /// The function of this invocation blocked the worker's event loop and delayed other calls, so the worker was ended.
    case hasBlockedInstance(function: String, seconds: Double)
    /// Another function did so; nil if no invocation was running.
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
        case .workerEnded, .crashed, .hasBlockedInstance: .internal
        }
    }

    /// The message for the client. States the limit and its value, and nothing about the function's internals.
    package var message: String {
        switch self {
        case .queueFull(let length): "\(length) requests are waiting for this function already; try again later"
        case .memoryIsFull: "the host has no memory left for requests that wait for an instance; try again later"
        case .payloadTooLarge(let bytes): "the body has \(bytes) bytes; a function takes at most \(FrameHeader.bodySizeMax)"
        case .waitedTooLong(let milliseconds, nil): "no instance of this function became free within \(milliseconds) ms; try again later"
        case .waitedTooLong(let milliseconds, let function?):
            "no instance of this function became free within \(milliseconds) ms: \"\(function)\" blocks the event loop; try again later"
        case .cannotStart(let seconds): "no instance of this function can be started now; try again in \(seconds) s"
        case .cannotLoad: "this function's plugin cannot be loaded into the host; the host's log says why"
        case .deadlineExceeded(let seconds): "the function did not answer within its timeoutSeconds of \(Self.text(seconds))"
        case .workerEnded, .crashed: "INTERNAL"
        case .hasBlockedInstance(let function, let seconds):
            "the function \"\(function)\" blocked the event loop of its instance for \(Self.text(seconds)) s and was ended"
        case .instanceWasBlocked(let function?, let seconds):
            "the instance was ended: the function \"\(function)\" blocked its event loop for \(Self.text(seconds)) s"
        case .instanceWasBlocked(nil, let seconds): "the instance was ended: its event loop was blocked for \(Self.text(seconds)) s"
        case .shuttingDown: "the host is stopping; try again"
        }
    }

    /// The status for clients of plain HTTP functions.
    package var httpStatus: HTTPStatus {
        if case .payloadTooLarge = self { .contentTooLarge } else { HTTPStatus(rawValue: code.httpStatus) }
    }

    /// The value of the `Retry-After` header; nil if a retry is not useful.
    package var retryAfterSeconds: Int? {
        switch self {
        case .cannotStart(let seconds): seconds
        case .queueFull, .memoryIsFull, .waitedTooLong, .shuttingDown: 1
        case .cannotLoad, .deadlineExceeded, .workerEnded, .crashed, .hasBlockedInstance, .instanceWasBlocked, .payloadTooLarge: nil
        }
    }

    private static func text(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }
}
