import CHearth
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct Routing {
        private static let echo: RequestHandling = { request in
            let parameters = request.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return Response(text: parameters.joined(separator: ";"))
        }

        private static func say(_ text: String) -> RequestHandling { { _ in Response(text: text) } }

        private static let table = Router {
            Route(.get, "/", say("root"))
            Route(.get, "rooms", say("rooms"))
            Route(.get, "rooms/new", say("new"))
            Route(.post, "rooms/{room}", say("post"))
            Route(.get, "/rooms/{room}", echo)
            Route(.get, "rooms/{room}/messages/{id}", echo)
            Route(.put, "rooms/new", say("put"))
            Route(.get, "files/{path...}", echo)
            Route(.get, "files/list", say("list"))
            Route("PURGE", "rooms", say("purged"))
            Routes("v1") {
                Route(.get, "{first}/{second}", echo)
                Routes("deep") { Route(.delete, "{id}", echo) }
            }
        }

        /// Status and text of the answer of a router.
        private func answer(
            _ method: String, _ path: String, _ router: Router = table, headers: [String] = [], body: String = ""
        ) throws -> String {
            let host = try #require(FakeHost(Functions { OnRequest("f", routes: router) }))
            let fields = headers.map { "\"\($0)\"" }.joined(separator: ",")
            let answer = try #require(host.call("f", body, context: #"{"method":"\#(method)","path":"\#(path)","headers":[\#(fields)]}"#))
            if answer.kind == HEARTH_ERROR.rawValue {
                let code = try #require(try JSONValue(parsing: answer.body)["code"]?.string)
                return "error \(code)"
            }
            let head = try JSONValue(parsing: answer.head)
            let headers = head["headers"]?.array?.map { $0.string ?? "" } ?? []
            let allow = headers.firstIndex(of: "allow").map { " [\(headers[$0 + 1])]" } ?? ""
            let isText = headers.contains("text/plain; charset=utf-8")
            return "\(head["status"]?.int ?? 0)\(allow)\(isText ? " \(answer.body)" : "")"
        }

        @Test(arguments: [
            ("GET", "/", "200 root"), ("GET", "/rooms", "200 rooms"), ("GET", "/rooms/", "200 rooms"), ("GET", "/rooms/new", "200 new"),
            // A fixed segment comes first, unless only the parameter has the method.
            ("GET", "/rooms/blue", "200 room=blue"), ("POST", "/rooms/new", "200 post"), ("PUT", "/rooms/new", "200 put"),
            ("GET", "/rooms/a/messages/1", "200 id=1;room=a"), ("GET", "/rooms/new/messages/1", "200 id=1;room=new"),
            ("GET", "/files/a/b.txt", "200 path=a/b.txt"), ("GET", "/files/list", "200 list"), ("GET", "/files/list/x", "200 path=list/x"),
            ("PURGE", "/rooms", "200 purged"), ("GET", "/v1/a/b", "200 first=a;second=b"), ("DELETE", "/v1/deep/7", "200 id=7"),
            ("GET", "/v1/deep/7", "200 first=deep;second=7"),
            // Segments are decoded one by one.
            ("GET", "/rooms/a%2Fb", "200 room=a/b"), ("GET", "/rooms/%C3%A9%20+", "200 room=é +"), ("GET", "/r%6Foms", "200 rooms"),
            // Paths that do not exist.
            ("GET", "/nowhere", "error not-found"), ("GET", "/rooms/a/messages", "error not-found"), ("GET", "//rooms", "error not-found"),
            ("GET", "/files", "error not-found"), ("GET", "/rooms//messages/1", "error not-found"), ("GET", "/Rooms", "error not-found"),
            // Other methods.
            ("HEAD", "/rooms", "200 rooms"), ("DELETE", "/rooms", "405 [GET, HEAD, OPTIONS, PURGE]"),
            ("DELETE", "/rooms/new", "405 [GET, HEAD, OPTIONS, POST, PUT]"), ("HEAD", "/v1/deep/x", "200 first=deep;second=x"),
            ("POST", "/files/a/b", "405 [GET, HEAD, OPTIONS]"), ("OPTIONS", "/rooms/x", "204 [GET, HEAD, OPTIONS, POST]"),
            ("OPTIONS", "/nowhere", "error not-found"), ("get", "/rooms", "405 [GET, HEAD, OPTIONS, PURGE]"),
            // Invalid paths.
            ("GET", "/rooms/%", "error invalid-argument"), ("GET", "/rooms/%4", "error invalid-argument"),
            ("GET", "/rooms/%zz", "error invalid-argument"), ("GET", "/rooms/%FF", "error invalid-argument"),
            ("GET", "/files/../etc", "error invalid-argument"), ("GET", "/files/%2e%2e/etc", "error invalid-argument"),
            ("GET", "/files/a/./b", "error invalid-argument"), ("GET", "/files/..%2Fetc", "200 path=../etc"),
        ])
        func requests(_ method: String, _ path: String, _ expected: String) throws { #expect(try answer(method, path) == expected) }

        @Test func longPathsAreRefused() throws {
            #expect(try answer("GET", "/files" + String(repeating: "/a", count: 63)).hasPrefix("200"))
            #expect(try answer("GET", "/files" + String(repeating: "/a", count: 64)) == "error invalid-argument")
        }

        @Test(arguments: [
            ("a/{x}/b/{x}", "two parameters named"), ("{rest...}/a", "must be the last"), ("a//b", "empty segment"), ("a/{}", "no name"),
            ("a/{1x}", "no name"), ("a/{x y}", "no name"), ("a/x{y}", "no whole segment"), ("a?b=1", "stands in no path"),
            ("a/../b", "occurs in no request"),
        ])
        func invalidPatterns(_ pattern: String, _ reason: String) {
            let functions = Functions { OnRequest("f", routes: Router { Route(.get, pattern, Self.echo) }) }
            #expect(functions.problems.count == 1 && functions.problems[0].contains(reason), "\(functions.problems)")
        }

        @Test func invalidTables() {
            let router = Router {
                Route(.get, "a/{x}", Self.echo)
                Route(.get, "/a/{y}/", Self.echo)
                Routes("b/{rest...}") { Route(.get, "c", Self.echo) }
                Routes("{x}") { Route(.get, "{x}", Self.echo) }
            }
            #expect(router.problems.count == 3)
            #expect(router.problems[0].contains("two routes answer GET /a/{y}"))
            #expect(FakeHost(Functions { OnRequest("f", routes: router) }) == nil)
        }

        @Test func middlewaresSeeWhatFollowsThem() throws {
            struct User: Sendable { var name: String }
            func mark(_ text: String) -> Use {
                Use { request, next in
                    var response = try await next(request)
                    response.body += Array(text.utf8)
                    return response
                }
            }
            let router = Router {
                mark("<outer")
                Route(.get, "early", Self.say("early"))
                mark("<late")
                Routes("in") {
                    mark("<in")
                    Use { request, next in
                        guard request.headers["x-user"] != nil else { return Response(text: "who?", status: 401) }
                        var request = request
                        request[User.self] = User(name: request.headers["x-user"] ?? "")
                        return try await next(request)
                    }
                    Route(.get, "me") { request in Response(text: request[User.self]?.name ?? "nobody") }
                }
                Route(.get, "last") { request in Response(text: request[User.self]?.name ?? "nobody") }
            }
            #expect(try answer("GET", "/early", router) == "200 early<outer")
            #expect(try answer("GET", "/in/me", router) == "401 who?<in<late<outer")
            #expect(try answer("GET", "/in/me", router, headers: ["x-user", "ada"]) == "200 ada<in<late<outer")
            #expect(try answer("GET", "/last", router, headers: ["x-user", "ada"]) == "200 nobody<late<outer")
        }

        @Test func theRequestLogSeesUnknownPathsAndFailures() throws {
            struct Broken: Error {}
            let router = Router {
                Use(.requestLog)
                Route(.get, "good", Self.say("good"))
                Route(.get, "bad") { _ in throw Broken() }
            }
            let host = try #require(FakeHost(Functions { OnRequest("f", routes: router) }))
            for path in ["/good", "/bad", "/nowhere"] { _ = host.call("f", "", context: #"{"method":"GET","path":"\#(path)","headers":[]}"#) }
            let lines = host.lines.filter { $0.message.hasPrefix("GET ") }
            #expect(lines.map(\.message) == ["GET /good", "GET /bad", "GET /nowhere"])
            #expect(try lines.map { try JSONValue(parsing: $0.fields)["status"]?.int } == [200, 500, 404])
            #expect(lines.map(\.level) == [HEARTH_INFO, HEARTH_WARNING, HEARTH_INFO].map(\.rawValue))
        }

        @Test func limitsTokensAndHeaders() throws {
            let router = Router {
                Use(.headers(["x-frame-options": "DENY", "content-type": "never"]))
                Use(.bodyLimit(3))
                Routes("admin") {
                    Use(.bearerToken { constantTimeEquals($0, "secret") })
                    Route(.post, "do", Self.say("done"))
                }
                Route(.post, "do", Self.say("done"))
            }
            #expect(try answer("POST", "/do", router, body: "abc") == "200 done")
            #expect(try answer("POST", "/do", router, body: "abcd") == "413")
            for (headers, status) in [
                ([], "401"), (["authorization", "Bearer secret"], "200 done"), (["authorization", "bearer  secret"], "200 done"),
                (["authorization", "Bearer secret2"], "401"), (["authorization", "Bearer"], "401"), (["authorization", "Basic secret"], "401"),
                (["authorization", "Bearer secret", "authorization", "Bearer x"], "401"),
            ] {
                #expect(try answer("POST", "/admin/do", router, headers: headers) == status, "\(headers)")
            }
            let host = try #require(FakeHost(Functions { OnRequest("f", routes: router) }))
            let head = try #require(host.call("f", "", context: #"{"method":"POST","path":"/do","headers":[]}"#)).head
            #expect(head == #"{"status":200,"headers":["content-type","text/plain; charset=utf-8","x-frame-options","DENY"]}"#)
        }

        @Test func parametersOfOtherTypes() throws {
            let router = Router {
                Route(.get, "n/{n}") { request in Response(text: "\(try request.parameter("n", as: Int.self) + 1)") }
                Route(.get, "wrong") { request in Response(text: try request.parameter("n")) }
            }
            #expect(try answer("GET", "/n/41", router) == "200 42")
            #expect(try answer("GET", "/n/x", router) == "error not-found")
            #expect(try answer("GET", "/wrong", router) == "error internal")
        }
    }
}
