import HearthBytes
import HearthJSON

/// What a callable answers: bytes of a body and the HTTP status that goes with it (spec functions 2.2 and 4.2).
enum CallableAnswer {
    /// Appends `{"<key>":<value>}` with `value` as a function gave it; an empty value stands for null.
    ///
    /// - Returns: false when it is no JSON, and nothing is appended.
    static func append(_ key: StaticString, _ value: Span<UInt8>, to buffer: inout ByteBuffer) -> Bool {
        guard value.count > 0 else {
            open(key, &buffer)
            buffer.append("null}")
            return true
        }
        guard let facts = try? JSONScan.validate(value, limits: CallableBody.limits) else { return false }
        open(key, &buffer)
        if facts.hasBigInteger, let parsed = try? JSONValue(parsing: value, limits: CallableBody.limits) {
            IntegerWrappers.wrap(parsed).write(to: &buffer)
        } else {
            buffer.append(value)
        }
        buffer.append(UInt8(ascii: "}"))
        return true
    }

    private static func open(_ key: StaticString, _ buffer: inout ByteBuffer) {
        buffer.append("{\"")
        buffer.append(key)
        buffer.append("\":")
    }

    /// Appends `{"error":{...}}`.
    static func append(error: CallableError, to buffer: inout ByteBuffer) {
        buffer.append("{\"error\":{")
        if let details = error.details {
            buffer.append("\"details\":")
            IntegerWrappers.wrap(details).write(to: &buffer)
            buffer.append(",")
        }
        buffer.append("\"message\":")
        buffer.append(jsonString: error.message)
        buffer.append(",\"status\":\"")
        buffer.append(error.code.status)
        buffer.append("\"}}")
    }
}

/// An error as clients read it.
struct CallableError: Error, Sendable {
    var code: FunctionErrorCode
    var message: String
    /// Sent where it is there, also when it is null.
    var details: JSONValue?
    /// Sent beside the body, for people: the body is the protocol's.
    var reason: String?

    /// A request that is not one of the callable protocol. The body is the protocol's (spec functions 1.2), which says no more.
    static func badRequest(_ reason: String) -> CallableError {
        var error = CallableError(code: .invalidArgument, message: "Bad Request")
        error.reason = reason
        return error
    }
    static let unauthenticated = CallableError(code: .unauthenticated, message: "Unauthenticated")
    static let tooManyValues = CallableError(
        code: .invalidArgument, message: "data with an Int64Value or UInt64Value may have at most \(CallableBody.valuesMax) values")
    static let tooMuchUnread = CallableError(
        code: .resourceExhausted, message: "too many answers wait for clients that do not read them; try again later")
    static let `internal` = CallableError(code: .internal, message: "INTERNAL")

    init(code: FunctionErrorCode, message: String, details: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.details = details
    }

    init(_ failure: InvocationFailure) { self.init(code: failure.code, message: failure.message) }

    /// What a function's `HEARTH_ERROR` says; INTERNAL for what is not of that form.
    init(functionError body: Span<UInt8>) {
        guard let object = (try? JSONValue(parsing: body, limits: CallableBody.limits))?.object,
            let code = object["code"]?.string.flatMap(FunctionErrorCode.init(name:)), let message = object["message"]?.string
        else {
            self = .internal
            return
        }
        self.init(code: code, message: message, details: object["details"])
    }
}
