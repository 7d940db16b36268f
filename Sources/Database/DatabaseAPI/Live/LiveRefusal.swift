import RealtimeDatabase

/// The place of an answer among those of a connection, which are sent in the order of the requests.
final class LiveReply {
    let number: Int
    /// The size of the request.
    let bytes: Int
    /// The whole message, when it is known.
    var message: [UInt8]?
    /// The state whose changes must be sent before the answer.
    var commit: UInt64 = 0

    init(_ number: Int, bytes: Int) {
        self.number = number
        self.bytes = bytes
    }
}

/// A request of a connection that waits.
final class LiveRequest {
    let reply: LiveReply
    /// Nil while the request is being parsed.
    var action: LiveAction?

    init(_ reply: LiveReply, _ action: LiveAction? = nil) {
        self.reply = reply
        self.action = action
    }
}

/// An error answer: a status of the protocol, and a sentence for the client (spec database 3.4).
struct LiveRefusal: Error, Equatable {
    var status: StaticString
    var message: String

    static func == (left: LiveRefusal, right: LiveRefusal) -> Bool {
        "\(left.status)" == "\(right.status)" && left.message == right.message
    }

    /// An invalid request.
    static func badRequest(_ message: String) -> LiveRefusal { LiveRefusal(status: "failure", message: message) }

    static let permissionDenied = LiveRefusal(status: "permission_denied", message: "Permission denied")
    static let expired = LiveRefusal(status: "expired_token", message: "Auth token is expired")

    /// The client has no App Check token. The text is the hosted service's.
    static let appIsMissing = LiveRefusal(status: "permission_denied", message: RESTError.appIsMissing.message)
    static let appHasExpired = LiveRefusal(status: "expired_token", message: RESTError.appHasExpired.message)

    static func invalidToken(_ message: String) -> LiveRefusal { LiveRefusal(status: "invalid_token", message: message) }
}

extension LiveRefusal {
    /// The answer to a listen or read.
    init(listen error: DatabaseError) {
        status =
            switch error.kind {
            case .permissionDenied: "permission_denied"
            case .tooLarge: "too_big"
            case .unavailable, .storageUnavailable, .timedOut: "unavailable"
            default: "failure"
            }
        message = error.message
    }

    /// The answer to a write.
    init(write error: DatabaseError) {
        self.init(listen: error)
        if error.kind == .tooLarge { status = "failure" }
    }
}

extension DatabaseError {
    static let tooMuchIsListened = DatabaseError(
        .unavailable, "The values that clients listen to take all memory there is for them; try again")

    /// Whether the same request may succeed a moment later, without anything being changed.
    var isPassing: Bool { kind == .unavailable && !isShortage }

    /// Whether it is ``tooMuchIsListened``.
    var isShortage: Bool { message == Self.tooMuchIsListened.message }
}
