internal import HearthJSON

/// The routes of a router as a tree of segments. A request visits a node at most once.
struct RouteTable: Sendable {
    private struct Endpoint: Sendable {
        /// The names of the parameters, in the order of the path.
        var names: [String]
        var handle: RequestHandling
    }

    private struct Node: Sendable {
        var fixed: [String: Int] = [:]
        var parameter: Int?
        /// The methods of the path that ends here.
        var endpoints: [RouteMethod: Endpoint] = [:]
        /// The methods of paths whose rest begins here.
        var rest: [RouteMethod: Endpoint] = [:]
    }

    private var nodes = [Node()]

    // MARK: Making

    /// Adds the parts of a block.
    ///
    /// - Parameters:
    ///   - prefix: the path around the block.
    ///   - outer: the middlewares around the block, outermost first.
    mutating func add(_ parts: [RouterPart], prefix: [RoutePattern.Segment], within outer: [Middleware], _ problems: inout [String]) {
        var middlewares = outer
        for part in parts {
            switch part.kind {
            case .use(let middleware): middlewares.append(middleware)
            case .routes(let path, let parts):
                guard let pattern = pattern(path, after: prefix, &problems) else { continue }
                if case .rest = pattern.last {
                    problems.append("the routes below \"\(path)\" follow a parameter that stands for all that is left")
                    continue
                }
                add(parts, prefix: pattern, within: middlewares, &problems)
            case .route(let method, let path, let handler):
                guard let pattern = pattern(path, after: prefix, &problems) else { continue }
                if !insert(method, pattern, Middleware.wrap(middlewares, handler)) {
                    problems.append("two routes answer \(method.name) \(Self.text(pattern))")
                }
            }
        }
    }

    private func pattern(_ path: String, after prefix: [RoutePattern.Segment], _ problems: inout [String]) -> [RoutePattern.Segment]? {
        do throws(RoutePattern.Problem) {
            // Read again as a whole, so that a name which occurs in the prefix too is found.
            let own = try RoutePattern(path)
            return try RoutePattern(Self.text(prefix + own.segments)).segments
        } catch {
            problems.append("the route \"\(path)\" is invalid: \(error.text)")
            return nil
        }
    }

    private static func text(_ segments: [RoutePattern.Segment]) -> String {
        "/"
            + segments.map { segment in
                switch segment {
                case .fixed(let text): text
                case .parameter(let name): "{\(name)}"
                case .rest(let name): "{\(name)...}"
                }
            }.joined(separator: "/")
    }

    /// - Returns: false if there is such a route already.
    private mutating func insert(_ method: RouteMethod, _ pattern: [RoutePattern.Segment], _ handle: @escaping RequestHandling) -> Bool {
        var place = 0
        var names: [String] = []
        for segment in pattern {
            switch segment {
            case .fixed(let text): place = child(of: place, nodes[place].fixed[text]) { $0.fixed[text] = $1 }
            case .parameter(let name):
                names.append(name)
                place = child(of: place, nodes[place].parameter) { $0.parameter = $1 }
            case .rest(let name):
                names.append(name)
                return nodes[place].rest.updateValue(Endpoint(names: names, handle: handle), forKey: method) == nil
            }
        }
        return nodes[place].endpoints.updateValue(Endpoint(names: names, handle: handle), forKey: method) == nil
    }

    private mutating func child(of place: Int, _ known: Int?, _ link: (inout Node, Int) -> Void) -> Int {
        if let known { return known }
        nodes.append(Node())
        link(&nodes[place], nodes.count - 1)
        return nodes.count - 1
    }

    // MARK: Answering

    /// A search, with the values and methods found on its way.
    private struct Search {
        let segments: [String]
        let method: RouteMethod
        var values: [String] = []
        /// The methods of routes with this path.
        var methods: Set<String> = []
    }

    func answer(_ request: Request) async throws -> Response {
        let segments = try RoutePath.segments(request.path)
        let method = RouteMethod(request.method)
        var search = Search(segments: segments, method: method)
        if let endpoint = find(0, 0, &search) { return try await endpoint.handle(request.with(endpoint.names, search.values)) }
        guard !search.methods.isEmpty else { throw HttpsError(.notFound, "There is no route for \(request.path).") }
        if method == .head {
            var get = Search(segments: segments, method: .get)
            if let endpoint = find(0, 0, &get) { return try await endpoint.handle(request.with(endpoint.names, get.values)) }
        }
        if search.methods.contains("GET") { search.methods.insert("HEAD") }
        let allowed: Headers = ["allow": search.methods.union(["OPTIONS"]).sorted().joined(separator: ", ")]
        if method == .options { return Response(status: 204, headers: allowed) }
        let message = "\(request.path) has no method \(request.method)."
        return Response(json: ["error": ["message": .string(message), "status": "METHOD_NOT_ALLOWED"]], status: 405, headers: allowed)
    }

    /// The endpoint of a request, with the values of its parameters in the search.
    private func find(_ place: Int, _ depth: Int, _ search: inout Search) -> Endpoint? {
        let node = nodes[place]
        guard depth < search.segments.count else {
            search.methods.formUnion(node.endpoints.keys.lazy.map(\.name))
            return node.endpoints[search.method]
        }
        let segment = search.segments[depth]
        if let next = node.fixed[segment], let found = find(next, depth + 1, &search) { return found }
        let count = search.values.count
        if let next = node.parameter, !segment.isEmpty {
            search.values.append(segment)
            if let found = find(next, depth + 1, &search) { return found }
            search.values.removeLast(search.values.count - count)
        }
        search.methods.formUnion(node.rest.keys.lazy.map(\.name))
        guard let endpoint = node.rest[search.method] else { return nil }
        search.values.append(search.segments[depth...].joined(separator: "/"))
        return endpoint
    }
}

extension Request {
    fileprivate func with(_ names: [String], _ values: [String]) -> Request {
        guard !names.isEmpty else { return self }
        var request = self
        request.parameters = Dictionary(zip(names, values)) { $1 }
        return request
    }

    /// The parameter of the route's path with this name, decoded.
    ///
    /// - Throws: `internal` where the route has no such parameter, a mistake of the function.
    public func parameter(_ name: String) throws(HttpsError) -> String {
        guard let value = parameters[name] else { throw HttpsError(.internal, "The route has no parameter \"\(name)\".") }
        return value
    }

    /// The parameter of the route's path with this name, as a number or another value that is made of text.
    ///
    /// - Throws: `not-found` where it is no such value: no such thing can exist.
    public func parameter<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type) throws(HttpsError) -> Value {
        let text = try parameter(name)
        guard let value = Value(text) else { throw HttpsError(.notFound, "There is no \(name) \"\(text)\": it must be of type \(type).") }
        return value
    }

    /// A value that a middleware has added for what it passes the request on to, one for each type. For example a user:
    ///
    ///     var request = request
    ///     request[User.self] = try await user(of: request)
    ///     return try await next(request)
    public subscript<Value: Sendable>(_ type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)] as? Value }
        set { values[ObjectIdentifier(type)] = newValue }
    }
}
