/// Handles a request: a route, or what a middleware passes a request on to.
public typealias RequestHandling = @Sendable (Request) async throws -> Response

/// A table of routes for one function.
///
///     OnRequest("api", routes: Router {
///         Use(.requestLog)
///         Route(.get, "rooms/{room}") { request in
///             Response(json: ["room": .string(try request.parameter("room"))])
///         }
///         Routes("admin") {
///             Use(.bearerToken { token in try constantTimeEquals(token, adminToken.value) })
///             Route(.delete, "rooms/{room}") { request in ... }
///         }
///     })
///
/// A fixed segment is preferred to a parameter, and a parameter to the rest of the path, whatever the order of the routes. An unknown path is
/// answered with 404, and a method that its path does not have with 405 and the methods that it has. `HEAD` is answered by the route of `GET`, and
/// `OPTIONS` with the methods, unless there are routes of their own.
public struct Router: Sendable {
    private let table: RouteTable
    private let handle: RequestHandling
    /// The mistakes in patterns, each as a phrase. A plugin with such a router is refused when it is loaded.
    let problems: [String]

    /// Makes the table of these routes.
    ///
    /// - Parameter content: `Route`, `Routes` and `Use`, one after the other. What is used before the first route also sees requests without a
    ///   route; what is used later, and within `Routes`, sees the requests of the routes that follow it there.
    public init(@RouterBuilder _ content: () -> [RouterPart]) {
        let parts = content()
        let outer = parts.prefix { $0.middleware != nil }
        var table = RouteTable()
        var problems: [String] = []
        table.add(Array(parts.dropFirst(outer.count)), prefix: [], within: [], &problems)
        self.table = table
        self.problems = problems
        let found = table
        handle = Middleware.wrap(outer.compactMap(\.middleware)) { request in try await found.answer(request) }
    }

    /// Answers a request with the route of its path and method.
    public func answer(_ request: Request) async throws -> Response { try await handle(request) }
}

/// A method of HTTP.
public struct RouteMethod: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, in capital letters as a rule.
    public let name: String

    /// Any method.
    public init(_ name: String) { self.name = name }

    /// Any method.
    public init(stringLiteral name: String) { self.name = name }

    /// Reads.
    public static let get = RouteMethod("GET")
    /// Reads without the body.
    public static let head = RouteMethod("HEAD")
    /// Creates, or does anything else.
    public static let post = RouteMethod("POST")
    /// Replaces.
    public static let put = RouteMethod("PUT")
    /// Changes a part.
    public static let patch = RouteMethod("PATCH")
    /// Removes.
    public static let delete = RouteMethod("DELETE")
    /// Asks which methods there are.
    public static let options = RouteMethod("OPTIONS")
}

/// A part between the braces of `Router` and `Routes`.
public struct RouterPart: Sendable {
    enum Kind: Sendable {
        case route(RouteMethod, String, RequestHandling)
        case routes(String, [RouterPart])
        case use(Middleware)
    }

    let kind: Kind

    var middleware: Middleware? {
        if case .use(let middleware) = kind { middleware } else { nil }
    }
}

/// A part of a router that makes a ``RouterPart``.
public protocol RouterContent {
    /// The part.
    var part: RouterPart { get }
}

/// A route: what a method does at a path.
///
/// The path is relative to the function, and to the `Routes` around it. `{name}` is a parameter of one segment, and `{name...}` at the end stands
/// for one or more segments.
public struct Route: RouterContent {
    /// The part.
    public let part: RouterPart

    /// A route with its handler.
    public init(_ method: RouteMethod, _ path: String, _ handler: @escaping RequestHandling) {
        part = RouterPart(kind: .route(method, path, handler))
    }
}

/// Routes whose paths begin alike.
public struct Routes: RouterContent {
    /// The part.
    public let part: RouterPart

    /// Puts `path` before the paths of the routes in `content`.
    public init(_ path: String, @RouterBuilder _ content: () -> [RouterPart]) { part = RouterPart(kind: .routes(path, content())) }
}

/// Puts a middleware around the routes that follow between the same braces.
public struct Use: RouterContent {
    /// The part.
    public let part: RouterPart

    /// Uses a middleware.
    public init(_ middleware: Middleware) { part = RouterPart(kind: .use(middleware)) }

    /// Uses a closure, which answers itself or passes the request on to `next`.
    public init(_ body: @escaping @Sendable (_ request: Request, _ next: RequestHandling) async throws -> Response) { self.init(Middleware(body)) }
}

/// Gathers the parts between the braces of `Router` and `Routes`; `if` and `for` work there too.
@resultBuilder
public enum RouterBuilder {
    /// One `Route`, `Routes` or `Use`.
    public static func buildExpression(_ content: some RouterContent) -> [RouterPart] { [content.part] }
    /// A property that gathers parts itself.
    public static func buildExpression(_ parts: [RouterPart]) -> [RouterPart] { parts }
    /// All parts, in their order.
    public static func buildBlock(_ parts: [RouterPart]...) -> [RouterPart] { parts.flatMap { $0 } }
    /// An `if` without `else`; no routes where it does not hold.
    public static func buildOptional(_ part: [RouterPart]?) -> [RouterPart] { part ?? [] }
    /// The first branch of an `if` with `else`, or of a `switch`.
    public static func buildEither(first: [RouterPart]) -> [RouterPart] { first }
    /// The other branch.
    public static func buildEither(second: [RouterPart]) -> [RouterPart] { second }
    /// A `for`: the parts of all rounds.
    public static func buildArray(_ parts: [[RouterPart]]) -> [RouterPart] { parts.flatMap { $0 } }
}

extension OnRequest {
    /// A function whose requests are handled by the routes of a table.
    public init(_ name: String, options: Options = Options(), routes: Router) {
        self.init(name, options: options, routeProblems: routes.problems) { request in try await routes.answer(request) }
    }
}
