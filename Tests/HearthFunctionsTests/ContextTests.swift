import CHearth
import Testing

@testable import HearthFunctions

private let context = #"""
    {"method":"PUT","path":"/a/b","query":"x=1&y=%41+b&z&%zz=%4","headers":["host","h.example","cookie","a","cookie","b"],
     "peer":"127.0.0.1:50000","auth":{"uid":"ada","token":{"email":"ada@x","admin":true,"level":"3"},"rawToken":"raw"},
     "app":{"appId":"1:web","token":{"iss":"i"},"alreadyConsumed":false},"instanceIdToken":"iid","acceptsStreaming":true,
     "trace":"00-1-2-03"}
    """#

extension SDK {
    @Suite struct Context {
        private func host(_ check: @escaping @Sendable (CallableRequest<JSONValue>) -> Void) throws -> FakeHost {
            try #require(FakeHost(Functions { OnCall("f") { (request: CallableRequest<JSONValue>) throws -> Bool in check(request); return true } }))
        }

        @Test func everythingThatTheHostTells() throws {
            let host = try host { request in
                #expect(request.auth?.uid == "ada" && request.auth?.rawToken == "raw")
                #expect(request.auth?.email == "ada@x" && request.auth?.name == nil && request.auth?.picture == nil)
                #expect(request.auth?.token["admin"]?.bool == true)
                #expect(request.app?.appID == "1:web" && request.app?.alreadyConsumed == false)
                #expect(request.app?.token["iss"] == "i")
                #expect(request.instanceIDToken == "iid" && request.acceptsStreaming)
                let raw = request.rawRequest
                #expect(raw.method == "PUT" && raw.path == "/a/b" && raw.peer == "127.0.0.1:50000" && raw.traceparent == "00-1-2-03")
                #expect(raw.headers["Host"] == "h.example" && raw.headers.all("COOKIE") == ["a", "b"] && raw.headers["x"] == nil)
                let items = [("x", "1"), ("y", "A b"), ("z", ""), ("%zz", "%4")].map { QueryItem(name: $0.0, value: $0.1) }
                #expect(raw.queryItems == items)
            }
            #expect(host.call("f", context: context) == .result("true"))
        }

        @Test(arguments: ["{}", "", "nonsense"])
        func whatIsNotToldIsAbsent(_ context: String) throws {
            let host = try host { request in
                #expect(request.auth == nil && request.app == nil && request.instanceIDToken == nil)
                #expect(!request.acceptsStreaming && request.deadline == nil)
                #expect(request.rawRequest.path == "/" && request.rawRequest.query == nil && request.rawRequest.headers.count == 0)
            }
            #expect(host.call("f", context: context) == .result("true"))
        }

        @Test func policies() throws {
            let echo: @Sendable (CallableRequest<JSONValue>) -> JSONValue = { $0.data }
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("signedIn", authPolicy: isSignedIn(), echo)
                        OnCall("admin", authPolicy: hasClaim("admin"), echo)
                        OnCall("level3", authPolicy: hasClaim("level", "3"), echo)
                        OnCall("level4", authPolicy: hasClaim("level", "4"), echo)
                        OnCall("own", authPolicy: AuthPolicy { auth, data in auth?.uid == data["owner"]?.string }, echo)
                    }))
            let refused = FakeHost.Answer.error(#"{"code":"permission-denied","message":"Permission Denied"}"#)
            for function in ["signedIn", "admin", "level3"] {
                #expect(host.call(function, "1", context: context) == .result("1"))
                #expect(host.call(function, "1") == refused)
            }
            #expect(host.call("level4", "1", context: context) == refused)
            #expect(host.call("own", #"{"owner":"ada"}"#, context: context) == .result(#"{"owner":"ada"}"#))
            #expect(host.call("own", #"{"owner":"bob"}"#, context: context) == refused)
        }

        @Test func plainRequests() throws {
            struct Body: Decodable { var a: Int }
            let host = try #require(
                FakeHost(
                    Functions {
                        OnRequest("f") { request in
                            #expect(request.method == "PUT" && request.path == "/a/b" && request.headers["host"] == "h.example")
                            return try Response(encoding: [request.decode(Body.self).a, request.json()["a"]?.int ?? 0], status: 202)
                        }
                        OnRequest("text") { request in
                            Response(text: request.text, headers: ["Content-Type": "text/markdown", "set-cookie": "a"])
                        }
                        OnRequest("away") { _ in .redirect(to: "/there") }
                    }))
            let json = #"["content-type","application/json; charset=utf-8"]"#
            #expect(
                host.call("f", #"{"a":5}"#, context: context)
                    == .init(kind: HEARTH_RESPONSE.rawValue, head: #"{"status":202,"headers":\#(json)}"#, body: "[5,5]"))
            let fields = #"["Content-Type","text/markdown","set-cookie","a"]"#
            #expect(
                host.call("text", "é") == .init(kind: HEARTH_RESPONSE.rawValue, head: #"{"status":200,"headers":\#(fields)}"#, body: "é"))
            #expect(host.call("away")?.head == #"{"status":302,"headers":["location","/there"]}"#)
            #expect(host.call("f", "{", context: context)?.kind == HEARTH_ERROR.rawValue)
        }
    }
}
