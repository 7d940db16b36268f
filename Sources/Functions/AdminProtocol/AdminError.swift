package import HearthJSON

/// A refusal of the admin API.
package struct AdminError: Error, Sendable {
    package let code: FunctionErrorCode
    /// One sentence for a person.
    package let message: String
    /// The status of the HTTP answer.
    package let status: Int
    /// Facts for programs beside the message.
    package let details: JSONObject?

    /// - Parameter status: the HTTP status, if it is not that of the code.
    package init(_ code: FunctionErrorCode, _ message: String, status: Int? = nil, details: JSONObject? = nil) {
        self.code = code
        self.message = message
        self.details = details
        self.status = status ?? code.httpStatus
    }

    /// A refusal because of a request that makes no sense.
    package static func invalid(_ message: String) -> AdminError { AdminError(.invalidArgument, message) }

    package static let unauthenticated = AdminError(
        .unauthenticated, "the administration asks for the admin token of the host's data directory, as Authorization: Bearer TOKEN")
    package static let noSuchResource = AdminError(.notFound, "there is nothing at this address; docs/admin-api.md lists what there is")

    /// The answer's body: `{"error":{"status":"NOT_FOUND","message":"..."}}`, as callables refuse.
    package var json: JSONValue {
        var object: JSONObject = ["status": .string("\(code.status)"), "message": .string(message)]
        if let details { object["details"] = .object(details) }
        return ["error": .object(object)]
    }
}

/// The facts in the refusal of a deployment.
package struct DeploymentRefusalDetails: AdminMessage {
    /// A sentence for each plugin or function that is refused.
    package var refusals: [String]
    /// The SHA-256 of libraries that have not been uploaded.
    package var absent: [String]?

    package init(refusals: [String], absent: [String]) {
        self.refusals = refusals
        self.absent = absent.isEmpty ? nil : absent
    }
}
