/// Why a request is turned down before, or instead of, the handler: the status and one sentence for the client.
struct HTTPRefusal: Error, Sendable {
    let status: HTTPStatus
    let message: StaticString
    /// When the same request may be served, where it may.
    let retryAfterSeconds: Int?

    init(_ status: HTTPStatus, _ message: StaticString, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }

    static func badRequest(_ message: StaticString) -> HTTPRefusal { HTTPRefusal(.badRequest, message) }

    static let headTooLarge = HTTPRefusal(.headerFieldsTooLarge, "the request head is too large")
    static let tooManyFields = HTTPRefusal(.headerFieldsTooLarge, "there are too many header fields")
    static let targetTooLong = HTTPRefusal(.uriTooLong, "the request target is too long")
    static let bodyTooLarge = HTTPRefusal(.contentTooLarge, "the request body is too large")
    static let headTooSlow = HTTPRefusal(.requestTimeout, "the request head took too long")
    static let bodyTooSlow = HTTPRefusal(.requestTimeout, "the request body took too long")
    static let unknownCoding = HTTPRefusal(.unsupportedMediaType, "the content coding is not supported")
    static let badCompression = HTTPRefusal(.badRequest, "the compressed body is damaged")
    static let unknownExpectation = HTTPRefusal(.expectationFailed, "the expectation cannot be met")
    static let plainToTLS = HTTPRefusal(.badRequest, "this port speaks TLS only; use https:// in the address")
    static let hostIsFull = HTTPRefusal(
        .serviceUnavailable, "too much is being sent to this host at this moment; nothing was done, try again", retryAfterSeconds: 1)
    static let clientIsFull = HTTPRefusal(
        .tooManyRequests, "this client sends too much at the same time; nothing was done, try again", retryAfterSeconds: 1)
    static let tooManyConnections = HTTPRefusal(.serviceUnavailable, "too many connections are open")
    static let noDescriptors = HTTPRefusal(.serviceUnavailable, "the host has no file descriptor left for another connection; try again")
}
