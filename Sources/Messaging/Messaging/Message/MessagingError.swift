import HearthJSON

/// Why a message was not taken, or a call of the messaging API was refused (spec messaging 2.4).
///
/// Every back end answers with these; how they look on the wire is ``ErrorEnvelope``'s affair.
public struct MessagingError: Error, Sendable, Hashable {
    /// What a caller can act on.
    public enum Kind: Sendable, Hashable {
        /// The request is not what the schema says: no message was looked at.
        case malformed
        /// The message breaks a rule; the violations say where.
        case invalidArgument
        /// The target is not, or no longer, registered: forget it.
        case unregistered
        /// The target belongs to another project.
        case senderMismatch
        /// The credential's owner may not send for this project.
        case permissionDenied
        /// The credential is good, but not for sending.
        case insufficientScope
        /// There is no credential.
        case unauthenticated
        /// The credential is not one, or is too old.
        case invalidCredential(isExpired: Bool)
        /// The next service (APNs, a push service) refused this server's own credential.
        case thirdPartyAuthentication
        /// Too much of something; ``retryAfterSeconds`` says when to try again.
        case quotaExceeded(Quota)
        /// Something that must not be there is there already.
        case alreadyExists
        /// Something other than a message's target is missing.
        case notFound
        /// What should not happen.
        case internalError
        /// Nothing was done; try again.
        case unavailable
    }

    /// What there was too much of.
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

        /// A violation as it is answered.
        public init(field: String, description: String) {
            self.field = field
            self.description = description
        }
    }

    /// What a caller can act on.
    public var kind: Kind
    /// One sentence, in the hosted service's words where it has some.
    public var message: String
    /// Each field at fault; empty where none is.
    public var violations: [Violation]
    /// When to try again, for quotas and for what is unavailable.
    public var retryAfterSeconds: Int?

    /// An error with no field at fault, unless there are violations.
    public init(_ kind: Kind, _ message: String, violations: [Violation] = [], retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.message = message
        self.violations = violations
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// A rule that one field breaks.
    init(_ kind: Kind, _ message: String, field: String, _ description: String? = nil) {
        self.init(kind, message, violations: [Violation(field: field, description: description ?? message)])
    }
}

// MARK: What the schema says

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
        // A value may be as long as the request.
        let text = String(decoding: value.serialized().prefix(200), as: UTF8.self)
        return wrongValue("(\(type)), \(text)", at: path)
    }

    static func wrongValue(_ what: String, at path: String, comma: Bool = false) -> MessagingError {
        MessagingError(.malformed, "Invalid value at '\(path)'\(comma ? "," : "") \(what)", field: path)
    }
}

// MARK: What the rules say

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

    /// A field that breaks a rule which the hosted service has no words for.
    static func field(_ path: String, _ description: String) -> MessagingError {
        MessagingError(.invalidArgument, bareMessage, field: path, description)
    }

    static func tooLarge(_ size: Int, limit: Int, field: String) -> MessagingError {
        let kibibytes = limit % 1024 == 0 ? "\(limit / 1024)K (\(limit) bytes)" : "\(limit) bytes"
        return MessagingError(
            .invalidArgument, "Message is too large. The maximum is \(kibibytes).", field: field, "size \(size) exceeds \(limit)")
    }
}

// MARK: What is found later

extension MessagingError {
    /// The target is not, or no longer, registered.
    public static let unregistered = MessagingError(.unregistered, "Requested entity was not found.")
    /// The target belongs to another project.
    public static let senderMismatch = MessagingError(.senderMismatch, "SenderId mismatch")
    /// The next service refused this server's credential.
    public static let thirdPartyAuthentication = MessagingError(.thirdPartyAuthentication, "Auth error from APNS or Web Push Service")
    /// Something is broken here.
    public static let internalError = MessagingError(.internalError, "Internal error encountered.")

    /// Nothing was done; it may work later.
    public static func unavailable(retryAfterSeconds: Int = 60) -> MessagingError {
        MessagingError(.unavailable, "The service is currently unavailable.", retryAfterSeconds: retryAfterSeconds)
    }

    static func notPermitted(_ permission: String = "cloudmessaging.messages.create", project: String) -> MessagingError {
        MessagingError(
            .permissionDenied,
            "Permission '\(permission)' denied on resource '//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).")
    }
}
