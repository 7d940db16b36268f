internal import HearthJSON

/// Code around the routes of a router: it answers a request itself, or passes it on and may change the answer.
public struct Middleware: Sendable {
    private let body: @Sendable (Request, RequestHandling) async throws -> Response

    /// Calls `body` for each request. `next` is the next middleware, or the route.
    public init(_ body: @escaping @Sendable (_ request: Request, _ next: RequestHandling) async throws -> Response) { self.body = body }

    /// The handler with middlewares around it, the first one outermost.
    static func wrap(_ middlewares: [Middleware], _ handler: @escaping RequestHandling) -> RequestHandling {
        middlewares.reversed().reduce(handler) { next, middleware in { request in try await middleware.body(request, next) } }
    }
}

extension Middleware {
    /// Writes a line for each request to the function's log: method, path, status and milliseconds. Failures of the function are warnings.
    public static let requestLog = Middleware { request, next in
        let start = ContinuousClock.now
        do {
            let response = try await next(request)
            logRequest(request, response.status, start)
            return response
        } catch {
            logRequest(request, (error as? HttpsError)?.code.httpStatus ?? 500, start)
            throw error
        }
    }

    private static func logRequest(_ request: Request, _ status: Int, _ start: ContinuousClock.Instant) {
        let parts = (ContinuousClock.now - start).components
        let milliseconds = Double(parts.seconds) * 1e3 + Double(parts.attoseconds / 1_000_000_000_000) / 1e3
        logger.log(
            status >= 500 ? .warning : .info, "\(request.method) \(request.path)",
            metadata: ["status": .int(Int64(status)), "milliseconds": .double(milliseconds)])
    }

    /// Adds header fields to each answer that does not have them.
    public static func headers(_ headers: Headers) -> Middleware {
        Middleware { request, next in
            var response = try await next(request)
            for field in headers where response.headers[field.name] == nil { response.headers.append(field.name, field.value) }
            return response
        }
    }

    /// Refuses bodies above a limit, in bytes, with 413. The host's own limit, `server.limits.bodyBytes`, comes first.
    public static func bodyLimit(_ bytes: Int) -> Middleware {
        Middleware { request, next in
            guard request.body.count <= bytes else {
                let message = "The body has \(request.body.count) bytes; \(bytes) are the most."
                return Response(json: ["error": ["message": .string(message), "status": "RESOURCE_EXHAUSTED"]], status: 413)
            }
            return try await next(request)
        }
    }

    /// Passes requests on whose `Authorization: Bearer TOKEN` is accepted. Others are answered with 401.
    ///
    /// - Parameter accepts: decides about a token. Compare secrets with ``constantTimeEquals(_:_:)``.
    public static func bearerToken(_ accepts: @escaping @Sendable (_ token: String) async throws -> Bool) -> Middleware {
        Middleware { request, next in
            guard let token = bearerToken(of: request), try await accepts(token) else {
                return Response(
                    json: ["error": ["message": "A valid token is needed: Authorization: Bearer TOKEN", "status": "UNAUTHENTICATED"]],
                    status: 401, headers: ["www-authenticate": "Bearer"])
            }
            return try await next(request)
        }
    }

    private static func bearerToken(of request: Request) -> String? {
        let fields = request.headers.all("authorization")
        guard fields.count == 1, let field = fields.first else { return nil }
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        let token = words[1].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }
}

/// Compares two secrets in a time that does not depend on where they differ. Their lengths are not secret.
public func constantTimeEquals(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}

extension HttpsError.Code {
    /// The HTTP status that the host answers with.
    var httpStatus: Int {
        switch self {
        case .ok: 200
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .cancelled: 499
        case .unknown, .internal, .dataLoss: 500
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }
}
