import AdminProtocol
import HearthBytes
import HearthJSON

/// An error in the form that clients of callables read.
package struct CallableError: Error, Sendable {
    package var code: FunctionErrorCode
    package var message: String
    /// The details. Sent unless nil, also if they are JSON's null.
    package var details: JSONValue?
    /// An explanation for people, sent in a header because the protocol fixes the body.
    package var reason: String?

    /// A request that is not a callable request. The protocol fixes its body (spec functions 1.2); `reason` is sent beside it.
    package static func badRequest(_ reason: String) -> CallableError {
        var error = CallableError(code: .invalidArgument, message: "Bad Request")
        error.reason = reason
        return error
    }
    package static let unauthenticated = CallableError(code: .unauthenticated, message: "Unauthenticated")
    package static let tooManyValues = CallableError(
        code: .invalidArgument, message: "data with an Int64Value or UInt64Value may have at most \(CallableLimits.valuesMax) values")
    package static let tooMuchUnread = CallableError(
        code: .resourceExhausted, message: "too many answers wait for clients that do not read them; try again later")
    package static let `internal` = CallableError(code: .internal, message: "INTERNAL")

    package init(code: FunctionErrorCode, message: String, details: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.details = details
    }

    package init(_ failure: InvocationFailure) {
        self.init(code: failure.code, message: failure.message)
        if case .crashed(let crash) = failure { details = crash.details }
    }

    /// Parses a function's `HEARTH_ERROR`. Anything malformed becomes INTERNAL.
    package init(functionError body: Span<UInt8>) {
        guard let object = (try? JSONValue(parsing: body, limits: CallableLimits.json))?.object,
            let code = object["code"]?.string.flatMap(FunctionErrorCode.init(name:)), let message = object["message"]?.string
        else {
            self = .internal
            return
        }
        self.init(code: code, message: message, details: object["details"])
    }
}

/// Limits for the values of callables.
package enum CallableLimits {
    /// For data, results and the details of errors.
    package static let json = JSONLimits(depthMax: 512)
    /// The most values in data with 64-bit wrappers, because unwrapping builds all values in memory.
    package static let valuesMax = 1 << 20
}
