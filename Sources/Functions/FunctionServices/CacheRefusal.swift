import AdminProtocol
import FunctionDispatch
import HearthJSON

/// The reason why the service `cache` refuses a call.
struct CacheRefusal: Error {
    let code: FunctionErrorCode
    let reason: String
    let message: String

    init(_ code: FunctionErrorCode, _ reason: String, _ message: String) { (self.code, self.reason, self.message) = (code, reason, message) }

    static func tooLarge(_ valueBytesMax: Int, _ bytesMax: Int) -> CacheRefusal {
        CacheRefusal(.resourceExhausted, "too-large", "a value may have \(valueBytesMax) bytes as JSON, and must fit into \(bytesMax) bytes")
    }

    static func invalid(_ message: String) -> CacheRefusal { CacheRefusal(.invalidArgument, "invalid-argument", message) }

    /// The error for the function: `{"code", "message", "details": {"reason"}}`.
    var answer: ServiceAnswer {
        let error: JSONValue = ["code": .string(code.name), "message": .string(message), "details": ["reason": .string(reason)]]
        return ServiceAnswer(succeeded: false, body: error.serialized())
    }
}
