import Testing

@testable import HearthFunctions

private struct Numbers: Decodable {
    var first: Double
    var second: Double
}

private struct PlainError: Error {}

extension SDK {
    @Suite struct Callables {
        private func host() throws -> FakeHost {
            try #require(
                FakeHost(
                    Functions {
                        OnCall("add") { (request: CallableRequest<Numbers>) in request.data.first + request.data.second }
                        OnCall("echo") { (request: CallableRequest<JSONValue>) in request.data }
                        OnCall("nothing") { (_: CallableRequest<JSONValue>) in }
                        OnCall("notANumber") { (_: CallableRequest<JSONValue>) in Double.nan }
                        OnCall("plain") { (_: CallableRequest<JSONValue>) throws -> Int in throw PlainError() }
                        OnCall("plainLater") { (_: CallableRequest<JSONValue>) async throws -> Int in
                            await Task.yield()
                            throw PlainError()
                        }
                        OnCall("fails") { (request: CallableRequest<JSONValue>) throws -> Int in
                            throw HttpsError(.notFound, "no \"such\" room", details: request.data["details"])
                        }
                        OnCall("badDetails") { (_: CallableRequest<JSONValue>) throws -> Int in
                            throw HttpsError(.aborted, "m", details: Double.infinity)
                        }
                    }))
        }

        @Test func decodesRunsAndEncodes() throws {
            let host = try host()
            #expect(host.call("add", #"{"first":3,"second":4}"#) == .result("7"))
            #expect(host.call("nothing") == .result("null"))
        }

        @Test(arguments: ["null", "[1,9007199254740993,18446744073709551615,-0.5]", #"{"b":"é\n","a":{}}"#, "\"\""])
        func dynamicDataStaysAsItIs(_ data: String) throws {
            #expect(try host().call("echo", data) == .result(data))
        }

        @Test(arguments: [
            (#"{"first":3}"#, "data.second is missing."),
            (#"{"first":3,"second":null}"#, "data.second must not be null."),
            ("5", "data must be an object, and is a number."),
            (#"{"first":"3","second":4}"#, "data.first must be a number, and is text."),
        ])
        func dataOfAnotherShapeIsRefused(_ data: String, _ message: String?) throws {
            let answer = try #require(try host().call("add", data))
            #expect(answer.kind == FakeHost.Answer.error("").kind)
            let error = try JSONValue(parsing: answer.body)
            #expect(error["code"] == "invalid-argument")
            if let message { #expect(error["message"]?.string == message) }
        }

        @Test(arguments: ["plain", "plainLater"])
        func unknownErrorsAreLoggedAndNotTold(_ function: String) throws {
            let host = try host()
            #expect(host.call(function) == .internalError)
            #expect(host.lines.map(\.message) == ["Unhandled error: PlainError()"])
            #expect(host.lines.map(\.level) == [5])
            #expect(host.lines.map(\.invocation) == [1])
        }

        @Test func aLargeDoubleIsNoInteger() throws {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("double") { (_: CallableRequest<JSONValue>) in 9007199254740994.0 }
                        OnCall("integer") { (_: CallableRequest<JSONValue>) in 9_007_199_254_740_994 }
                    }))
            #expect(host.call("double")?.body.contains("e") == true)
            #expect(host.call("integer") == .result("9007199254740994"))
        }

        @Test func whatJSONCannotHoldIsAnInternalError() throws {
            let host = try host()
            #expect(host.call("notANumber") == .internalError)
            #expect(host.call("badDetails") == .internalError)
            #expect(host.lines.count == 2)
        }

        @Test func detailsAreAbsentNullOrAnything() throws {
            let host = try host()
            let start = #"{"code":"not-found","message":"no \"such\" room""#
            #expect(host.call("fails", "{}") == .error(start + "}"))
            #expect(host.call("fails", #"{"details":null}"#) == .error(start + #","details":null}"#))
            #expect(host.call("fails", #"{"details":{"k":[1]}}"#) == .error(start + #","details":{"k":[1]}}"#))
        }

        @Test(arguments: HttpsError.Code.allCases)
        func codesAreThoseOfTheProtocol(_ code: HttpsError.Code) throws {
            let host = try #require(
                FakeHost(Functions { OnCall("fails") { (_: CallableRequest<JSONValue>) throws -> Int in throw HttpsError(code, "m") } }))
            #expect(host.call("fails") == .error(#"{"code":"\#(code.rawValue)","message":"m"}"#))
        }

        @Test func anAnswerMayBringTheNextCall() throws {
            let host = try host()
            var next: [UInt64] = []
            host.onRespond = { id in if id < 5 { next.append(host.start("echo", "\(id + 1)")) } }
            #expect(host.call("echo", "1") == .result("1"))
            #expect(next.sorted().map { host.answer(of: $0) } == (2...5).map { .result("\($0)") })
        }

        @Test func objectsAreUsedAgainWithoutTraces() throws {
            let host = try #require(
                FakeHost(Functions { OnCall("who") { (request: CallableRequest<JSONValue>) in request.auth?.uid ?? "nobody" } }))
            let signedIn = #"{"auth":{"uid":"ada","token":{},"rawToken":"t"}}"#
            for _ in 0..<3 {
                #expect(host.call("who", context: signedIn) == .result("\"ada\""))
                #expect(host.call("who") == .result("\"nobody\""))
            }
        }
    }
}
