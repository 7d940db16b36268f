public import HearthFunctions
public import HearthJSON

/// Something that keeps a test from running, such as a missing program or invalid functions.
public struct TestFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// A sentence that says what is wrong.
    public let description: String

    /// A failure with its sentence.
    public init(_ description: String) { self.description = description }
}

/// A change of a database value that is to run functions.
public struct TestWrite: Sendable {
    let before: JSONValue
    let after: JSONValue

    var verb: String { after.isNull ? "deleted" : before.isNull ? "created" : "updated" }

    /// A value where there was none.
    public static func created(_ value: JSONValue) -> TestWrite { TestWrite(before: .null, after: value) }
    /// Another value. The value before is written first, and may run functions itself.
    public static func updated(from before: JSONValue, to after: JSONValue) -> TestWrite { TestWrite(before: before, after: after) }
    /// No value where there was one. The value is written first, and may run functions itself.
    public static func deleted(_ value: JSONValue) -> TestWrite { TestWrite(before: value, after: .null) }
}

/// An event for which a function has failed.
public struct FailedEvent: Sendable, Equatable {
    /// The name of the function.
    public var function: String
    /// The path of the value.
    public var path: String
    /// The text of the error.
    public var message: String
}

/// The answer of a plain HTTP function.
public struct TestResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields.
    public var headers: Headers
    /// The bytes of the body.
    public var body: [UInt8]

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON. Throws where it is not.
    public func json() throws -> JSONValue { try JSONValue(parsing: body) }
}

/// A line of the log.
public struct TestLogLine: Sendable, Equatable {
    /// The function that wrote it; nil where none is known.
    public var function: String?
    /// The severity.
    public var level: FunctionLogger.Level
    /// The text.
    public var message: String
    /// The fields.
    public var fields: JSONObject

    static func level(_ number: UInt32) -> FunctionLogger.Level {
        let levels = FunctionLogger.Level.allCases
        return levels[min(Int(number), levels.count - 1)]
    }
}

/// A device that is registered for push messages.
public struct TestDevice: Sendable {
    /// Its registration token, to send messages to.
    public let token: String
    let backend: any TestBackend

    /// The messages that it has received, oldest first, each with `data`, `notification` and so on.
    public func messages() async throws -> [JSONValue] { try await backend.messages(for: token) }

    /// Ends the registration. A message to the token is then refused as unregistered.
    public func unregister() async throws { try await backend.unregister(token) }
}

/// The outcome of a call.
struct TestOutcome: Sendable {
    var messages: [JSONValue]
    var result: Result<JSONValue, HttpsError>
}

/// A way to run functions.
protocol TestBackend: Sendable {
    /// Calls a callable function, which exists.
    func call(_ name: String, _ data: JSONValue, _ caller: TestCaller, streams: Bool) async throws -> TestOutcome
    /// Sends a request to a plain HTTP function, which exists.
    func request(_ method: String, _ name: String, _ path: String, _ headers: Headers, _ body: [UInt8]) async throws -> TestResponse
    /// Runs a function for an event of a user, and returns the text of its error.
    func deliver(_ event: TestUserEvent, to function: String) async throws -> String?
    /// Runs a scheduled function, which exists, and returns the text of its error.
    func runSchedule(_ name: String) async throws -> String?
    /// Runs a function with a task queue, which exists, and returns the text of its error.
    func runTask(_ name: String, _ data: JSONValue) async throws -> String?
    func waitForEvents() async throws
    /// The number of attempts to deliver events to functions.
    func eventDeliveries() async throws -> Int
    func failedEvents() async throws -> [FailedEvent]
    func registerDevice() async throws -> String
    func messages(for token: String) async throws -> [JSONValue]
    func unregister(_ token: String) async throws
    func logs() async throws -> [TestLogLine]
}

extension HttpsError {
    /// The error of the form `{"code" or "status", "message", "details"}`.
    init(parsing error: JSONValue) {
        let name = error["code"]?.string ?? (error["status"]?.string ?? "INTERNAL").lowercased().split(separator: "_").joined(separator: "-")
        let (code, message) = (Code(rawValue: name) ?? .internal, error["message"]?.string ?? "")
        if let details = error["details"] { self.init(code, message, details: details) } else { self.init(code, message) }
    }
}
