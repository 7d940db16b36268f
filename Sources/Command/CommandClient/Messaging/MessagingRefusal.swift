import HearthJSON

/// Why the messaging service did not take a message: what its answer says, and what to do about it.
struct MessagingRefusal {
    /// A field that breaks a rule.
    struct Violation {
        let field: String
        let description: String
    }

    private let status: Int
    /// `UNREGISTERED`, `INVALID_ARGUMENT`, ...
    let code: String
    let message: String
    let violations: [Violation]
    let retryAfterSeconds: Int?

    /// - Returns: nil where the answer does not have the service's form, or is about the caller and not about the message.
    init?(_ answer: HostAnswer) {
        guard let error = (try? JSONValue(parsing: answer.body))?["error"], let status = error["status"]?.string else { return nil }
        let details = error["details"]?.array ?? []
        let named = details.lazy.compactMap { $0["errorCode"]?.string }.first
        if named == nil, status == "UNAUTHENTICATED" || status == "PERMISSION_DENIED" { return nil }
        self.status = answer.status
        code = named ?? status
        message = error["message"]?.string ?? ""
        violations = details.flatMap { $0["fieldViolations"]?.array ?? [] }.map {
            Violation(field: $0["field"]?.string ?? "", description: $0["description"]?.string ?? "")
        }
        retryAfterSeconds = answer.head.header("retry-after").flatMap { Int($0) }
    }

    func failure(project: String) -> ClientFailure {
        var details: JSONObject = ["code": .string(code), "message": .string(message)]
        if !violations.isEmpty {
            details["fields"] = .array(violations.map { ["field": .string($0.field), "description": .string($0.description)] })
        }
        if let retryAfterSeconds { details["retryAfterSeconds"] = .int(Int64(retryAfterSeconds)) }
        return ClientFailure(.refused(status: status), sentence(project), details: .object(details))
    }

    private func sentence(_ project: String) -> String {
        switch code {
        case "UNREGISTERED": "the receiver is not, or no longer, registered: forget its token, and take the one that the device has now"
        case "SENDER_ID_MISMATCH": "the receiver is registered with another project than \(project): send through the host of that one"
        case "THIRD_PARTY_AUTH_ERROR":
            "the push service of the device refuses this host's credentials: check messaging.apns and messaging.webPush in functions.json"
        case "QUOTA_EXCEEDED": "there are too many messages (\(Self.clause(message))); try again \(moment)"
        case "UNAVAILABLE": "the messaging service cannot take messages now (\(Self.clause(message))); try again \(moment), or see the host's log"
        case "INTERNAL": "the messaging service failed (\(Self.clause(message))); see the host's log"
        default: "the message is refused: \(reasons)"
        }
    }

    /// Every field with what is wrong with it, or what the service says where it names none.
    private var reasons: String {
        let named = violations.filter { !$0.field.isEmpty }.map { violation in
            message.contains("'\(violation.field)'") ? Self.clause(message) : "\(violation.field): \(Self.clause(violation.description))"
        }
        return named.isEmpty ? Self.clause(message) : named.joined(separator: "; ")
    }

    private var moment: String { retryAfterSeconds.map { "in \($0) \($0 == 1 ? "second" : "seconds")" } ?? "later" }

    private static func clause(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }
}
