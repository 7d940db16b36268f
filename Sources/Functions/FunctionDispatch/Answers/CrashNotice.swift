import HearthJSON

/// The crash of a worker as its callers see it in development mode.
public struct CrashNotice: Sendable, Equatable {
    /// The cause, as in the log.
    public let message: String
    /// The author's calls, innermost first, as in the log.
    public let calls: [String]
    /// The function whose code crashed; nil if unknown.
    public let function: String?

    private static let messageLengthMax = 2000

    init(message: String, calls: [String], function: String?) {
        self.message = String(message.prefix(Self.messageLengthMax))
        self.calls = calls
        self.function = function
    }

    /// For the details of a callable's error.
    package var details: JSONValue {
        var crash: JSONObject = ["message": .string(message), "calls": .array(calls.map { .string($0) })]
        if let function { crash["function"] = .string(function) }
        return .object(["crash": .object(crash)])
    }

    /// For the answer of a plain HTTP function.
    package var text: String {
        let place = function.map { "\($0): " } ?? ""
        return ([place + message] + calls.map { "    at \($0)" }).joined(separator: "\n") + "\n"
    }
}
