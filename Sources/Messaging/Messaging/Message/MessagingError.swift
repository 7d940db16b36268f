import HearthJSON

/// The reason why a message or another request to the messaging API was refused (spec messaging 2.4).
///
/// All back ends return these errors. ``ErrorEnvelope`` converts them to HTTP answers.
public struct MessagingError: Error, Sendable, Hashable {
    /// The kind of error, for callers that handle it.
    public enum Kind: Sendable, Hashable {
        /// The request does not match the schema. The message was not checked further.
        case malformed
        /// The message breaks rules, which the violations name.
        case invalidArgument
        /// The target does not exist any more: forget it.
        case unregistered
        /// The target belongs to another project.
        case senderMismatch
        /// The credential's owner may not send for this project.
        case permissionDenied
        /// The credential is valid, but not for sending.
        case insufficientScope
        /// There is no credential.
        case unauthenticated
        /// The credential is invalid or expired.
        case invalidCredential(isExpired: Bool)
        /// The next service (APNs, a push service) refused this server's own credential.
        case thirdPartyAuthentication
        /// A limit was exceeded. ``retryAfterSeconds`` says when to try again.
        case quotaExceeded(Quota)
        /// The entity to create already exists.
        case alreadyExists
        /// An entity other than a message's target does not exist.
        case notFound
        /// An unexpected failure.
        case internalError
        /// Nothing was done. Try again.
        case unavailable
    }

    /// The limit that was exceeded.
    public enum Quota: Sendable, Hashable {
        /// Sends of the project in a minute.
        case project(number: String)
        /// Messages for one device.
        case device(subject: String)
        /// Fan-outs, or changes of subscriptions.
        case topic(subject: String)
    }

    /// A rule that a field breaks.
    public struct Violation: Sendable, Hashable {
        /// The field's path, such as `message.android.ttl`.
        public var field: String
        public var description: String

        /// A violation of one rule.
        public init(field: String, description: String) {
            self.field = field
            self.description = description
        }
    }

    /// The kind of error.
    public var kind: Kind
    /// One sentence, in the hosted service's words if it has this error.
    public var message: String
    /// The invalid fields; empty if the error is about no field.
    public var violations: [Violation]
    /// When to try again, for exceeded limits and unavailability.
    public var retryAfterSeconds: Int?

    /// An error, by default about no field.
    public init(_ kind: Kind, _ message: String, violations: [Violation] = [], retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.message = message
        self.violations = violations
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// A violation of one rule by one field.
    init(_ kind: Kind, _ message: String, field: String, _ description: String? = nil) {
        self.init(kind, message, violations: [Violation(field: field, description: description ?? message)])
    }
}

// MARK: Schema violations

extension MessagingError {
    static func notJSON(_ detail: String = "Unexpected token.") -> MessagingError {
        MessagingError(.malformed, "Invalid JSON payload received. \(detail)")
    }

    static func unknownField(_ name: String, in path: String) -> MessagingError {
        let place = path.isEmpty ? "" : " at '\(path)'"
        let message = "Invalid JSON payload received. Unknown name \(JSONValue.string(name))\(place): Cannot find field."
        return MessagingError(.malformed, message, field: path)
    }

    static func duplicateField(at path: String) -> MessagingError { wrongValue("field already set", at: path, comma: true) }

    static func secondTarget(_ name: String, in path: String) -> MessagingError {
        wrongValue("(oneof), oneof field 'target' is already set. Cannot set '\(name)'", at: path)
    }

    static func wrongType(_ type: String, _ value: JSONValue, at path: String) -> MessagingError {
        // The value may be as long as the request.
        let text = String(decoding: value.serialized().prefix(200), as: UTF8.self)
        return wrongValue("(\(type)), \(text)", at: path)
    }

    static func wrongValue(_ what: String, at path: String, comma: Bool = false) -> MessagingError {
        MessagingError(.malformed, "Invalid value at '\(path)'\(comma ? "," : "") \(what)", field: path)
    }
}

// MARK: Rule violations

extension MessagingError {
    static let bareMessage = "Request contains an invalid argument."

    static let noTarget = MessagingError(.invalidArgument, "Recipient of the message is not set.", field: "message")
    static let badToken = MessagingError(
        .invalidArgument, "The registration token is not a valid FCM registration token", field: "message.token")
    static let badTopic = MessagingError(.invalidArgument, "Topic name contains invalid characters.", field: "message")
    static let badCondition = MessagingError(
        .invalidArgument, bareMessage, field: "message.condition", "Invalid condition expression provided.")
    static let otherPackage = MessagingError(
        .invalidArgument, "The registration token does not match the restricted package name.",
        field: "message.android.restricted_package_name")

    /// A violation of a rule for which the hosted service has no message.
    static func field(_ path: String, _ description: String) -> MessagingError {
        MessagingError(.invalidArgument, bareMessage, field: path, description)
    }

    static func tooLarge(_ size: Int, limit: Int, field: String) -> MessagingError {
        let kibibytes = limit % 1024 == 0 ? "\(limit / 1024)K (\(limit) bytes)" : "\(limit) bytes"
        return MessagingError(
            .invalidArgument, "Message is too large. The maximum is \(kibibytes).", field: field, "size \(size) exceeds \(limit)")
    }
}

// MARK: Errors of back ends

extension MessagingError {
    /// The target does not exist any more.
    public static let unregistered = MessagingError(.unregistered, "Requested entity was not found.")
    /// The target belongs to another project.
    public static let senderMismatch = MessagingError(.senderMismatch, "SenderId mismatch")
    /// The next service refused this server's credential.
    public static let thirdPartyAuthentication = MessagingError(.thirdPartyAuthentication, "Auth error from APNS or Web Push Service")
    /// An unexpected failure of this server.
    public static let internalError = MessagingError(.internalError, "Internal error encountered.")

    /// Nothing was done. The request may succeed later.
    public static func unavailable(retryAfterSeconds: Int = 60) -> MessagingError {
        MessagingError(.unavailable, "The service is currently unavailable.", retryAfterSeconds: retryAfterSeconds)
    }

    static func notPermitted(_ permission: String = "cloudmessaging.messages.create", project: String) -> MessagingError {
        MessagingError(
            .permissionDenied,
            "Permission '\(permission)' denied on resource '//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).")
    }
}
