import HTTP
import HearthJSON

/// The form of errors on the wire (spec messaging 2.4).
enum ErrorEnvelope {
    static func status(_ error: MessagingError) -> (http: HTTPStatus, name: String) {
        switch error.kind {
        case .malformed, .invalidArgument: (.badRequest, "INVALID_ARGUMENT")
        case .unregistered, .notFound: (.notFound, "NOT_FOUND")
        case .senderMismatch, .permissionDenied, .insufficientScope: (.forbidden, "PERMISSION_DENIED")
        case .unauthenticated, .invalidCredential, .thirdPartyAuthentication: (.unauthorized, "UNAUTHENTICATED")
        case .quotaExceeded: (.tooManyRequests, "RESOURCE_EXHAUSTED")
        case .alreadyExists: (HTTPStatus(rawValue: 409), "ALREADY_EXISTS")
        case .internalError: (.internalServerError, "INTERNAL")
        case .unavailable: (.serviceUnavailable, "UNAVAILABLE")
        }
    }

    static func body(_ error: MessagingError) -> JSONValue {
        let (http, status) = status(error)
        var body: JSONObject = ["code": JSONValue(Int(http.rawValue)), "message": .string(error.message), "status": .string(status)]
        let details = details(error)
        if !details.isEmpty { body["details"] = .array(details) }
        return ["error": .object(body)]
    }

    private static func details(_ error: MessagingError) -> [JSONValue] {
        var details: [JSONValue] = []
        if let code = errorCode(error) {
            details.append(["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code)])
        }
        if !error.violations.isEmpty {
            let violations = error.violations.map { JSONValue.object(["field": .string($0.field), "description": .string($0.description)]) }
            details.append(["@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": .array(violations)])
        }
        if case .quotaExceeded(let quota) = error.kind { details.append(quotaDetail(quota, error.message)) }
        if let reason = reason(error) { details.append(errorInfo(reason)) }
        return details
    }

    /// The code that SDKs check first; nil for errors for which the hosted service sends none.
    private static func errorCode(_ error: MessagingError) -> String? {
        switch error.kind {
        case .invalidArgument: "INVALID_ARGUMENT"
        case .unregistered: "UNREGISTERED"
        case .senderMismatch: "SENDER_ID_MISMATCH"
        case .thirdPartyAuthentication: "THIRD_PARTY_AUTH_ERROR"
        case .quotaExceeded: "QUOTA_EXCEEDED"
        case .internalError: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .malformed, .permissionDenied, .insufficientScope, .unauthenticated, .invalidCredential, .alreadyExists, .notFound: nil
        }
    }

    private static func quotaDetail(_ quota: MessagingError.Quota, _ description: String) -> JSONValue {
        let subject =
            switch quota {
            case .project(let number): "project_number:\(number)"
            case .device(let subject): "device:\(subject)"
            case .topic(let subject): "topic:\(subject)"
            }
        return [
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": .array([.object(["subject": .string(subject), "description": .string(description)])]),
        ]
    }

    private static func reason(_ error: MessagingError) -> String? {
        switch error.kind {
        case .permissionDenied: "IAM_PERMISSION_DENIED"
        case .insufficientScope: "ACCESS_TOKEN_SCOPE_INSUFFICIENT"
        case .unauthenticated: "CREDENTIALS_MISSING"
        case .invalidCredential(let isExpired): isExpired ? "ACCESS_TOKEN_EXPIRED" : "ACCESS_TOKEN_TYPE_UNSUPPORTED"
        case .quotaExceeded(.project): "RATE_LIMIT_EXCEEDED"
        default: nil
        }
    }

    private static func errorInfo(_ reason: String) -> JSONValue {
        [
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason), "domain": "googleapis.com",
            "metadata": ["service": "fcm.googleapis.com", "method": "google.firebase.fcm.v1.FcmService.SendMessage"],
        ]
    }
}
