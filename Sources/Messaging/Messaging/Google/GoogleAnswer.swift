import HTTP
import HearthJSON

/// Converts answers of Google's messaging service to errors of this module (spec messaging 2.4, 2.6).
enum GoogleAnswer {
    /// The error in an answer that is not a success.
    static func error(_ response: ClientResponse) -> MessagingError {
        let error = (try? JSONValue(parsing: response.body))?["error"]
        let details = error?["details"]?.array ?? []
        let code = details.lazy.compactMap { $0["errorCode"]?.string }.first
        let message = error?["message"]?.string ?? "the messaging service answered \(response.status) without a reason"
        let violations = details.flatMap { $0["fieldViolations"]?.array ?? [] }.map {
            MessagingError.Violation(field: $0["field"]?.string ?? "", description: $0["description"]?.string ?? "")
        }
        let kind = kind(response.status, code: code, status: error?["status"]?.string)
        return MessagingError(kind, message, violations: violations, retryAfterSeconds: retryAfter(response))
    }

    private static func kind(_ status: Int, code: String?, status name: String?) -> MessagingError.Kind {
        switch (code, status) {
        case ("UNREGISTERED"?, _): .unregistered
        // Without an FCM code, only a NOT_FOUND of the service itself means an ended registration: a proxy may answer 404 too.
        case (nil, 404) where name == "NOT_FOUND": .unregistered
        case ("SENDER_ID_MISMATCH"?, _): .senderMismatch
        case ("THIRD_PARTY_AUTH_ERROR"?, _), ("APNS_AUTH_ERROR"?, _): .thirdPartyAuthentication
        case ("QUOTA_EXCEEDED"?, _), (_, 429): .quotaExceeded(.project(number: ""))
        case ("INVALID_ARGUMENT"?, _), (_, 400): .invalidArgument
        case (_, 401): .invalidCredential(isExpired: false)
        case (_, 403): .permissionDenied
        case ("UNAVAILABLE"?, _), (_, 502...504): .unavailable
        default: .internalError
        }
    }

    /// The value of Retry-After in seconds. A date is relative to the server's own clock.
    static func retryAfter(_ response: ClientResponse) -> Int? {
        guard let text = response.header("retry-after") else { return nil }
        if let seconds = Int(text) { return max(0, seconds) }
        guard let date = HTTPDate.unixSeconds(text), let now = response.header("date").flatMap({ HTTPDate.unixSeconds($0) }) else { return nil }
        return Int(max(0, date - now))
    }

    /// Whether the access token was refused, and not the credential for a device's push service.
    static func isRefusedToken(_ response: ClientResponse) -> Bool {
        guard response.status == 401 else { return false }
        let details = (try? JSONValue(parsing: response.body))?["error"]?["details"]?.array ?? []
        return !details.contains { $0["errorCode"]?.string != nil }
    }
}

/// Dates of HTTP headers (RFC 9110 section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    static func unixSeconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else { return nil }
        let number = String("0\(month + 1)".suffix(2))
        return Timestamp("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z").map { $0.milliseconds / 1000 }
    }
}
