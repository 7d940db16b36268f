import AdminProtocol
import HearthBytes
import HearthJSON

/// An error as clients read it.
package struct CallableError: Error, Sendable {
    package var code: FunctionErrorCode
    package var message: String
    /// Sent where it is there, also when it is null.
    package var details: JSONValue?
    /// Sent beside the body, for people: the body is the protocol's.
    package var reason: String?

    /// A request that is not one of the callable protocol. The body is the protocol's (spec functions 1.2), which says no more.
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

    package init(_ failure: InvocationFailure) { self.init(code: failure.code, message: failure.message) }

    /// What a function's `HEARTH_ERROR` says; INTERNAL for what is not of that form.
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

/// The bounds of what a callable takes and answers.
package enum CallableLimits {
    /// For data, results and the details of errors.
    package static let json = JSONLimits(depthMax: 512)
    /// The most values in data that has 64-bit wrappers, which is unwrapped in memory.
    package static let valuesMax = 1 << 20
}
