/// A status code of an answer, with its phrase.
public struct HTTPStatus: Sendable, Hashable, RawRepresentable {
    /// The three-digit code.
    public let rawValue: Int

    /// The status of a three-digit code.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The status codes that the host itself uses.
    public static let ok = HTTPStatus(rawValue: 200)
    public static let noContent = HTTPStatus(rawValue: 204)
    public static let notModified = HTTPStatus(rawValue: 304)
    public static let badRequest = HTTPStatus(rawValue: 400)
    public static let unauthorized = HTTPStatus(rawValue: 401)
    public static let forbidden = HTTPStatus(rawValue: 403)
    public static let notFound = HTTPStatus(rawValue: 404)
    public static let methodNotAllowed = HTTPStatus(rawValue: 405)
    public static let requestTimeout = HTTPStatus(rawValue: 408)
    public static let contentTooLarge = HTTPStatus(rawValue: 413)
    public static let uriTooLong = HTTPStatus(rawValue: 414)
    public static let unsupportedMediaType = HTTPStatus(rawValue: 415)
    public static let expectationFailed = HTTPStatus(rawValue: 417)
    public static let tooManyRequests = HTTPStatus(rawValue: 429)
    public static let headerFieldsTooLarge = HTTPStatus(rawValue: 431)
    public static let internalServerError = HTTPStatus(rawValue: 500)
    public static let notImplemented = HTTPStatus(rawValue: 501)
    public static let serviceUnavailable = HTTPStatus(rawValue: 503)
    public static let gatewayTimeout = HTTPStatus(rawValue: 504)
    public static let versionNotSupported = HTTPStatus(rawValue: 505)

    /// Whether an answer with this status never has a body (RFC 9110 sections 15.2, 15.3.5 and 15.4.5).
    public var isBodyless: Bool { rawValue < 200 || rawValue == 204 || rawValue == 304 }

    /// The phrase of RFC 9110 section 15; a general one for other codes.
    public var phrase: StaticString {
        switch rawValue {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 300...399: redirectionPhrase
        case 400...499: clientErrorPhrase
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        case 511: "Network Authentication Required"
        default: "Status"
        }
    }

    private var redirectionPhrase: StaticString {
        switch rawValue {
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        default: "Redirection"
        }
    }

    private var clientErrorPhrase: StaticString {
        switch rawValue {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 418: "I'm a teapot"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        default: "Client Error"
        }
    }
}
